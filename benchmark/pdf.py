"""What PDFs share: fonts, styles, tables. Text can be selected and searched, the same story gives the same bytes.

Fonts are embedded (DejaVu's ancestor Bitstream Vera, which reportlab brings). Nothing of the moment or the machine is
in a file.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from html import escape
from io import BytesIO
from typing import Any

REGULAR, BOLD = "Vera", "VeraBd"
SMALL = 5.8  # points, of a table with many columns
MANY = 8
PADDING = 7.0  # points, both sides of a cell
RIGHT = 2
INK, SOFT, LINE = "#1f2328", "#57606a", "#d0d7de"

_INTERVAL = re.compile(r"\[[^\[\]]{1,40}, [^\[\]]{1,40}\]")


def pdf(title: str, subject: str, story: Callable[[float], list[Any]]) -> bytes:
    """An A4 document with a footer of title and page.

    Parameters
    ----------
    title, subject : str
        What its properties say.
    story : callable
        The width of a line in points -> reportlab's flowables.
    """
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.units import mm
    from reportlab.platypus import SimpleDocTemplate

    known_signs()
    buffer = BytesIO()
    document = SimpleDocTemplate(
        buffer,
        pagesize=A4,
        leftMargin=18 * mm,
        rightMargin=18 * mm,
        topMargin=18 * mm,
        bottomMargin=18 * mm,
        title=printable(title),
        subject=printable(subject),
        author="FPCO Studio",
        creator="FPCO Studio",
        lang="en",
        invariant=1,
    )
    footer = partial(_footer, printable(title))
    document.build(story(document.width), onFirstPage=footer, onLaterPages=footer)
    return buffer.getvalue()


def printable(text: str) -> str:
    """The text with what the font has no sign for written as its code, such as \\u4e2d, so that nothing is lost."""
    known = known_signs()
    return "".join(sign if ord(sign) in known or sign in "\n\t" else _code(sign) for sign in text)


def markup(text: str) -> str:
    """Plain text for a paragraph, whose markup is reportlab's own."""
    return escape(printable(text)).replace("\n", "<br/>")


def _code(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


@cache
def known_signs() -> frozenset[int]:
    """Make the fonts known to reportlab; returns the code points that both have a sign for."""
    from reportlab.pdfbase.pdfmetrics import registerFont
    from reportlab.pdfbase.ttfonts import TTFont

    fonts = [TTFont(name, f"{name}.ttf") for name in (REGULAR, BOLD)]
    for font in fonts:
        registerFont(font)
    return frozenset(fonts[0].face.charToGlyph) & frozenset(fonts[1].face.charToGlyph)


def _footer(title: str, canvas: Any, document: Any) -> None:
    canvas.saveState()
    canvas.setFont(REGULAR, 7)
    canvas.setFillColor(SOFT)
    canvas.drawString(document.leftMargin, 28, title[:90])
    canvas.drawRightString(document.pagesize[0] - document.rightMargin, 28, f"page {canvas.getPageNumber()}")
    canvas.restoreState()


@cache
def styles() -> dict[str, Any]:
    """Paragraph styles: body, title, chapter, heading, soft; cell, head, number, number head, each of these small."""
    from reportlab.lib.styles import ParagraphStyle

    body = ParagraphStyle("body", fontName=REGULAR, fontSize=8, leading=11, textColor=INK, splitLongWords=1)
    made = {
        "body": body,
        "title": ParagraphStyle("title", body, fontName=BOLD, fontSize=15, leading=20),
        "chapter": ParagraphStyle(
            "chapter", body, fontName=BOLD, fontSize=13, leading=17, spaceBefore=16, spaceAfter=2, keepWithNext=1
        ),
        "heading": ParagraphStyle(
            "heading", body, fontName=BOLD, fontSize=10.5, leading=14, spaceBefore=11, keepWithNext=1
        ),
        "soft": ParagraphStyle("soft", body, textColor=SOFT, spaceAfter=3),
    }
    for before, size in (("", 7.0), ("small ", SMALL)):
        cell = ParagraphStyle(f"{before}cell", body, fontSize=size, leading=size + 2)
        head = ParagraphStyle(f"{before}head", cell, fontName=BOLD)
        made |= {
            cell.name: cell,
            head.name: head,
            f"{before}number": ParagraphStyle(f"{before}number", cell, alignment=RIGHT),
            f"{before}number head": ParagraphStyle(f"{before}number head", head, alignment=RIGHT),
        }
    return made


def facts(rows: Sequence[tuple[str, str]], width: float) -> list[Any]:
    """Names with their values."""
    from reportlab.platypus import Paragraph, Spacer

    named = styles()
    made = [[Paragraph(markup(name), named["head"]), Paragraph(markup(value), named["cell"])] for name, value in rows]
    return [grid(made, [width * 0.28, width * 0.72], header=0), Spacer(1, 5)]


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[int], width: float) -> Any:
    """A table of words under their columns, smaller where there are many; `numeric` are those set to the right."""
    from reportlab.platypus import Paragraph

    small = "small " if len(columns) > MANY else ""
    kinds = [f"{small}{'number' if at in numeric else 'cell'}" for at in range(len(columns))]
    heads = [f"{small}{'number head' if at in numeric else 'head'}" for at in range(len(columns))]
    made = [
        [Paragraph(markup(whole(value)), styles()[style]) for value, style in zip(row, named, strict=True)]
        for row, named in [(columns, heads), *((row, kinds) for row in rows)]
    ]
    return grid(made, widths(columns, rows, width, styles()[heads[0]].fontSize), header=1)


def whole(text: str) -> str:
    """The text with no line broken inside an interval."""
    return _INTERVAL.sub(lambda found: found[0].replace(" ", "\u00a0"), text)


def widths(columns: Sequence[str], rows: Sequence[Sequence[str]], width: float, size: float) -> list[float]:
    """Columns that break no word where there is room, the rest shared by what their lines ask; together `width`."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

    known_signs()
    words, lines = [], []
    for at, head in enumerate(columns):
        cells = [(head, BOLD), *((row[at], REGULAR) for row in rows)]
        parts = [(part, font) for text, font in cells for part in whole(text).split(" ")]
        words.append(min(0.6 * width, max(stringWidth(part, font, size) for part, font in parts) + PADDING))
        lines.append(min(0.5 * width, max(stringWidth(text, font, size) for text, font in cells) + PADDING))
    more = [max(0.0, line - word) for line, word in zip(lines, words, strict=True)]
    share = max(0.0, min(1.0, (width - sum(words)) / (sum(more) or 1.0)))
    made = [word + share * extra for word, extra in zip(words, more, strict=True)]
    return [width * part / sum(made) for part in made]


def grid(rows: list[list[Any]], columns: list[float], *, header: int, more: Sequence[tuple[Any, ...]] = ()) -> Any:
    """Rows with a line under each, the first `header` of them again on every page; `more` are reportlab's commands."""
    from reportlab.platypus import LongTable, TableStyle

    style = [
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LINEBELOW", (0, 0), (-1, -1), 0.4, LINE),
        ("LEFTPADDING", (0, 0), (-1, -1), 2),
        ("RIGHTPADDING", (0, 0), (-1, -1), 4),
        ("TOPPADDING", (0, 0), (-1, -1), 2),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 2),
        *more,
    ]
    made = LongTable(rows, colWidths=columns, repeatRows=header, hAlign="LEFT")
    made.setStyle(TableStyle(style))
    return made
