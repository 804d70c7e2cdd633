"""The blindness report as a PDF to attach to a paper: the page's sections, text that can be selected and searched.

Fonts are embedded (DejaVu's ancestor Bitstream Vera, which reportlab brings). Nothing of the moment or the machine is
in the file, so the same report gives the same bytes.
"""

from functools import cache, partial
from html import escape
from io import BytesIO
from typing import Any

from benchmark.blindness_report import Report, Section, Table

REGULAR, BOLD = "Vera", "VeraBd"
_INK, _SOFT, _LINE = "#1f2328", "#57606a", "#d0d7de"


def pdf(report: Report) -> bytes:
    """The report as the bytes of an A4 document, the same for the same report."""
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.units import mm
    from reportlab.platypus import SimpleDocTemplate

    _register()
    buffer = BytesIO()
    document = SimpleDocTemplate(
        buffer,
        pagesize=A4,
        leftMargin=18 * mm,
        rightMargin=18 * mm,
        topMargin=18 * mm,
        bottomMargin=18 * mm,
        title=printable(report.title),
        subject=printable(report.subtitle),
        author="FPCO Studio",
        creator="FPCO Studio",
        lang="en",
        invariant=1,
    )
    footer = partial(_footer, printable(report.title))
    document.build(_story(report, document.width), onFirstPage=footer, onLaterPages=footer)
    return buffer.getvalue()


def printable(text: str) -> str:
    """The text with what the font has no sign for written as its code, such as \\u4e2d, so that nothing is lost."""
    known = _register()
    return "".join(sign if ord(sign) in known or sign in "\n\t" else _code(sign) for sign in text)


def _code(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


@cache
def _register() -> frozenset[int]:
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
    canvas.setFillColor(_SOFT)
    canvas.drawString(document.leftMargin, 28, title[:90])
    canvas.drawRightString(document.pagesize[0] - document.rightMargin, 28, f"page {canvas.getPageNumber()}")
    canvas.restoreState()


def _story(report: Report, width: float) -> list[Any]:
    from reportlab.platypus import Paragraph

    styles = _styles()
    story = [Paragraph(_text(report.title), styles["title"]), Paragraph(_text(report.subtitle), styles["soft"])]
    for section in report.sections:
        story += _section(section, width, styles)
    return story


def _styles() -> dict[str, Any]:
    from reportlab.lib.styles import ParagraphStyle

    body = ParagraphStyle("body", fontName=REGULAR, fontSize=8, leading=11, textColor=_INK, splitLongWords=1)
    return {
        "body": body,
        "title": ParagraphStyle("title", body, fontName=BOLD, fontSize=15, leading=20),
        "heading": ParagraphStyle(
            "heading", body, fontName=BOLD, fontSize=10.5, leading=14, spaceBefore=11, keepWithNext=1
        ),
        "soft": ParagraphStyle("soft", body, textColor=_SOFT, spaceAfter=3),
        "cell": ParagraphStyle("cell", body, fontSize=7, leading=9),
        "head": ParagraphStyle("head", body, fontName=BOLD, fontSize=7, leading=9),
        "number": ParagraphStyle("number", body, fontSize=7, leading=9, alignment=2),
        "number head": ParagraphStyle("number head", body, fontName=BOLD, fontSize=7, leading=9, alignment=2),
    }


def _section(section: Section, width: float, styles: dict[str, Any]) -> list[Any]:
    from reportlab.platypus import Paragraph, Spacer

    story = [Paragraph(_text(section.title), styles["heading"])]
    if section.text:
        story.append(Paragraph(_text(section.text), styles["soft"]))
    if section.facts:
        rows = [
            [Paragraph(_text(name), styles["head"]), Paragraph(_text(value), styles["cell"])]
            for name, value in section.facts
        ]
        story.append(_grid(rows, [width * 0.28, width * 0.72], header=False))
        story.append(Spacer(1, 5))
    if section.table is not None and section.table.rows:
        story.append(_table(section.table, width, styles))
    elif section.empty:
        story.append(Paragraph(_text(section.empty), styles["body"]))
    return story


def _table(table: Table, width: float, styles: dict[str, Any]) -> Any:
    from reportlab.platypus import Paragraph

    kinds = ["number" if at in table.numeric else "cell" for at in range(len(table.columns))]
    heads = ["number head" if kind == "number" else "head" for kind in kinds]
    rows = [
        [Paragraph(_text(value), styles[style]) for value, style in zip(row, named, strict=True)]
        for row, named in [(table.columns, heads), *((row, kinds) for row in table.rows)]
    ]
    return _grid(rows, _widths(table, width), header=True)


def _widths(table: Table, width: float) -> list[float]:
    """Columns as wide as their longest words ask, within bounds, together the width of the page."""
    wanted = [
        min(40, max(7, *(len(part) for row in [table.columns, *table.rows] for part in row[at].split() or [""])))
        + min(20, max(len(row[at]) for row in [table.columns, *table.rows]) // 3)
        for at in range(len(table.columns))
    ]
    return [width * part / sum(wanted) for part in wanted]


def _grid(rows: list[list[Any]], widths: list[float], *, header: bool) -> Any:
    from reportlab.platypus import LongTable, TableStyle

    style = [
        ("VALIGN", (0, 0), (-1, -1), "TOP"),
        ("LINEBELOW", (0, 0), (-1, -1), 0.4, _LINE),
        ("LEFTPADDING", (0, 0), (-1, -1), 2),
        ("RIGHTPADDING", (0, 0), (-1, -1), 4),
        ("TOPPADDING", (0, 0), (-1, -1), 2),
        ("BOTTOMPADDING", (0, 0), (-1, -1), 2),
    ]
    made = LongTable(rows, colWidths=widths, repeatRows=1 if header else 0, hAlign="LEFT")
    made.setStyle(TableStyle(style))
    return made


def _text(text: str) -> str:
    """Plain text for a paragraph, whose markup is reportlab's own."""
    return escape(printable(text)).replace("\n", "<br/>")
