"""A report as a PDF."""

from io import BytesIO
from typing import Any

from benchmark import charts
from benchmark import pdf as made
from benchmark.printed import Printed
from benchmark.reports.content import Document, Part

DOTS = 2.5  # pixels of a drawing per unit: about 300 an inch at the width of a line
SHORT = 24  # rows of a table that is kept on one page
TALL = 0.62  # of a page's height that a drawing may take


def write(document: Document) -> bytes:
    """The document as the bytes of an A4 file, the same for the same document."""
    return made.pdf(document.title, document.subtitle, lambda width: _story(document, width))


def _story(document: Document, width: float) -> list[Any]:
    story = [_said(document.title, "title"), _said(document.subtitle, "soft")]
    for chapter in document.chapters:
        for number, part in enumerate(chapter.parts):
            story += _part(part, width, "" if number else chapter.title)
    return story


def _said(text: str, style: str) -> Any:
    from reportlab.platypus import Paragraph

    return Paragraph(made.markup(text), made.styles()[style])


def _part(part: Part, width: float, chapter: str) -> list[Any]:
    """A part with its heading beside what it heads; only a long table begins on one page and ends on another."""
    from reportlab.platypus import KeepTogether

    story = [_said(text, style) for text, style in ((chapter, "chapter"), (part.title, "heading")) if text]
    story += [_said(text, "body") for text in (part.words, part.gap) if text]
    if part.facts:
        story += made.facts(list(part.facts), width)
    if part.figure is not None:
        story += _drawing(part.figure, width)
    if part.table is not None:
        story += _table(part.table, width)
    return story if part.table is not None and len(part.table.cells) > SHORT else [KeepTogether(story)]


def _drawing(figure: dict[str, Any], width: float) -> list[Any]:
    from reportlab.lib.pagesizes import A4
    from reportlab.platypus import Image, Spacer

    picture = Image(BytesIO(charts.render({**figure, "background": "white"}, "png", scale=DOTS)))
    scale = min(width / picture.imageWidth, TALL * A4[1] / picture.imageHeight, 0.75 / DOTS)
    picture.drawWidth, picture.drawHeight = picture.imageWidth * scale, picture.imageHeight * scale
    picture.hAlign = "LEFT"
    return [Spacer(1, 4), picture, Spacer(1, 6)]


def _table(table: Printed, width: float) -> list[Any]:
    story = [_said(table.caption, "soft")] if table.caption else []
    story.append(_numbers(table, width) if len(table.heads) > made.MANY and table.by_first else _words(table, width))
    return [*story, *(_said(note, "soft") for note in table.notes)]


def _words(table: Printed, width: float) -> Any:
    rows = [row for block in table.blocks for row in _once(block, table.by_first)]
    return made.table(table.heads, rows, range(table.words, len(table.heads)), width)


def _numbers(table: Printed, width: float) -> Any:
    """A table of many short numbers: its cells are set as they are, which no paragraph of its own slows down."""
    rows = [[made.printable(cell) for cell in row] for block in table.blocks for row in _once(block, True)]
    over = [cell for name, span in table.groups for cell in [made.printable(name), *[""] * (span - 1)]]
    heads = [_said(head, "small number head" if at else "small head") for at, head in enumerate(table.heads)]
    first = max(len(row[0]) for row in table.cells) * made.SMALL * 0.62 + 6
    others = (width - first) / (len(table.heads) - 1)
    top = 1 if over else 0
    return made.grid(
        [*([over] if over else []), heads, *rows],
        [first, *[others] * (len(table.heads) - 1)],
        header=top + 1,
        more=[*_type(top + 1), *_spans(table), *_rules(table, top + 1)],
    )


def _once(block: list[list[str]], by_first: bool) -> list[list[str]]:
    """Rows that belong together, their first cell printed once."""
    return [["" if at and by_first else row[0], *row[1:]] for at, row in enumerate(block)]


def _type(heads: int) -> list[tuple[Any, ...]]:
    return [
        ("FONT", (0, 0), (-1, -1), made.REGULAR, made.SMALL, made.SMALL + 1.6),
        ("FONT", (0, 0), (-1, heads - 2), made.BOLD, made.SMALL, made.SMALL + 1.6),
        ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
        ("TOPPADDING", (0, heads), (-1, -1), 0.6),
        ("BOTTOMPADDING", (0, heads), (-1, -1), 0.6),
        ("LINEBELOW", (0, heads), (-1, -1), 0, "#ffffff"),
        ("TEXTCOLOR", (0, 0), (-1, -1), made.INK),
        ("RIGHTPADDING", (0, 0), (-1, -1), 2),
    ]


def _spans(table: Printed) -> list[tuple[Any, ...]]:
    commands: list[tuple[Any, ...]] = []
    at = 0
    for _, span in table.groups:
        commands += [("SPAN", (at, 0), (at + span - 1, 0)), ("ALIGN", (at, 0), (at + span - 1, 0), "CENTER")]
        at += span
    return commands


def _rules(table: Printed, heads: int) -> list[tuple[Any, ...]]:
    """A line under each block of rows, and before each group of columns."""
    commands: list[tuple[Any, ...]] = []
    at = heads
    for block in table.blocks:
        commands.append(("NOSPLIT", (0, at), (0, at + len(block) - 1)))
        at += len(block)
        commands.append(("LINEBELOW", (0, at - 1), (-1, at - 1), 0.4, made.LINE))
    return [*commands, *(("LINEBEFORE", (column, 0), (column, -1), 0.3, made.LINE) for column in sorted(table.starts))]
