"""The blindness report as a PDF to attach to a paper: the page's sections."""

from typing import Any

from benchmark import pdf as made
from benchmark.blindness_report import Report, Section


def pdf(report: Report) -> bytes:
    """The report as the bytes of an A4 document, the same for the same report."""
    return made.pdf(report.title, report.subtitle, lambda width: _story(report, width))


def _story(report: Report, width: float) -> list[Any]:
    from reportlab.platypus import Paragraph

    styles = made.styles()
    story = [
        Paragraph(made.markup(report.title), styles["title"]),
        Paragraph(made.markup(report.subtitle), styles["soft"]),
    ]
    for section in report.sections:
        story += _section(section, width)
    return story


def _section(section: Section, width: float) -> list[Any]:
    from reportlab.platypus import Paragraph

    styles = made.styles()
    story = [Paragraph(made.markup(section.title), styles["heading"])]
    if section.text:
        story.append(Paragraph(made.markup(section.text), styles["soft"]))
    if section.facts:
        story += made.facts(section.facts, width)
    if section.table is not None and section.table.rows:
        story.append(made.table(section.table.columns, section.table.rows, section.table.numeric, width))
    elif section.empty:
        story.append(Paragraph(made.markup(section.empty), styles["body"]))
    return story
