"""A report's chapters, read from the rows as they stand."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import QuerySet

from benchmark import analysis_page, figures, frames_agreement, tables, tables_agreement
from benchmark.analyses import KINDS
from benchmark.frames_agreement import truths
from benchmark.models import Analysis, ResultSet, ValidationSet
from benchmark.models.results import AnalysisState
from benchmark.printed import Printed
from benchmark.reports import basis
from benchmark.reports.basis import NONE
from benchmark.reports.choice import Choice
from benchmark.study_tables import ENTRIES, Study
from fpco_site.errors import Invalid

KAPPAS = "pairwise_kappa"


@dataclass(frozen=True)
class Part:
    """One part of a chapter: heading, words, facts, table, figure (Vega-Lite spec); `gap` says what is missing."""

    title: str
    words: str = ""
    facts: Sequence[tuple[str, str]] = ()
    table: Printed | None = None
    figure: dict[str, Any] | None = None
    gap: str = ""


@dataclass(frozen=True)
class Chapter:
    title: str
    parts: list[Part]


@dataclass(frozen=True)
class Document:
    """All of a report. The same rows and choice give the same document."""

    title: str
    subtitle: str
    chapters: list[Chapter]


@dataclass(frozen=True)
class _Source:
    """What a report is read from."""

    result_set: ResultSet
    choice: Choice

    @cached_property
    def sets(self) -> list[ValidationSet]:
        rows = ValidationSet.objects.filter(pk__in=self.choice.sets, label_set__dataset=self.result_set.dataset_id)
        return list(rows.select_related("label_set__dataset", "result_set").order_by("id"))

    @cached_property
    def study(self) -> Study:
        return Study(self.result_set, self.sets[-1] if self.sets else None, self.choice.rounding)

    @cached_property
    def tables(self) -> dict[str, Printed | str]:
        """The chosen tables by slug, each made or the reason why it can't be."""
        return {slug: _or_why(self.study, slug) for slug in ENTRIES if slug in self.choice.tables}


def document(result_set: ResultSet, choice: Choice) -> Document:
    """Read a report. What can't be made says why in its place."""
    source = _Source(result_set, choice)
    dataset = result_set.dataset
    chapters = [
        Chapter("What it rests on", [Part("", facts=basis.facts(source.study))]),
        Chapter("Figures", list(_figures(source))),
        Chapter("Tables", list(_tables(source))),
        Chapter("Agreement of people and detectors", [part for row in source.sets for part in _agreement(source, row)]),
        Chapter("Analyses", list(_analyses(source))),
        Chapter("Settings", _settings(source)),
        Chapter("Coverage", _coverage(source)),
        Chapter(
            "Hashes", [Part("", HASHES, table=basis.hashes(source.study, _made(source), basis.prompts(result_set)))]
        ),
    ]
    subtitle = f"Results over {dataset.name}: {basis.summary(source.study)}."
    return Document(f"Report on {dataset.name}", subtitle, [chapter for chapter in chapters if chapter.parts])


HASHES = (
    "SHA-256 of what this report was made from. Labels: a canonical list of every label that counts. Tables: their CSV "
    "files, byte for byte."
)


def unblinded(choice: Choice) -> bool:
    """Whether such a report tells how far people's labels fit those of others."""
    telling = [slug for slug, kind in KINDS.items() if kind.unblinded]
    return (
        bool(choice.sets)
        or any(ENTRIES[slug].unblinded for slug in choice.tables)
        or Analysis.objects.filter(pk__in=choice.analyses, kind__in=telling).exists()
    )


def _or_why(study: Study, slug: str) -> Printed | str:
    try:
        return study.table(slug)
    except Invalid as reason:
        return reason.message


def _made(source: _Source) -> dict[str, Printed]:
    return {slug: table for slug, table in source.tables.items() if isinstance(table, Printed)}


def _tables(source: _Source) -> Iterator[Part]:
    for slug, table in source.tables.items():
        title = f"Table {ENTRIES[slug].number}: {ENTRIES[slug].title}"
        yield Part(title, gap=table) if isinstance(table, str) else Part(title, table=table)


def _figures(source: _Source) -> Iterator[Part]:
    for slug, figure in figures.REGISTER.items():
        if slug in source.choice.figures:
            try:
                drawn = figure.made(source.study.masks)
                yield Part(drawn.title, figure.words, figure=figure.draw(drawn.rows, drawn.options))
            except Invalid as reason:
                yield Part(slug, gap=reason.message)


def _agreement(source: _Source, row: ValidationSet) -> Iterator[Part]:
    found = frames_agreement.frame(row)
    yield Part(row.label_set.name, facts=basis.drawn(row, found))
    if KAPPAS not in source.tables or row != source.sets[-1]:
        table = tables_agreement.kappa_table(found)
        yield Part("Pairwise kappa", table=table) if table.rows else Part("Pairwise kappa", gap="No two raters.")
    truth = next(iter(truths(found)), None)
    if truth is not None and found.n:
        yield Part(f"Detectors against {truth.name}", table=tables_agreement.accuracy_table(found, truth))


def _analyses(source: _Source) -> Iterator[Part]:
    for row in stored(source.result_set).filter(pk__in=source.choice.analyses).order_by("id"):
        kind = KINDS[row.kind]
        yield Part(kind.title, f"{kind.question} {kind.method}", facts=basis.stored(row))
        for part in analysis_page.parts(row):
            section = part.section
            cells = [[cell.text or NONE for cell in line] for line in part.rows]
            table = _cells(kind.slug, part, cells) if part.has_table else None
            yield Part(section.title, section.words, table=table, figure=section.figure)


def stored(result_set: ResultSet) -> QuerySet[Analysis]:
    """The analyses of the dataset that are done, the newest first."""
    rows = Analysis.objects.filter(dataset=result_set.dataset_id, state=AnalysisState.DONE, kind__in=list(KINDS))
    return rows.order_by("-id")


def _cells(name: str, part: analysis_page.Part, cells: list[list[str]]) -> Printed:
    """A section's table; its first columns of text hold words."""
    kinds = [column.kind for column in part.columns]
    words = next((at for at, kind in enumerate(kinds) if kind != "text"), len(kinds))
    reasons = dict.fromkeys(cell.reason for line in part.rows for cell in line if cell.reason)
    return Printed(
        name=f"{name}-{part.number}",
        caption="",
        rows=[],
        heads=[column.title for column in part.columns],
        cells=cells,
        words=words,
        notes=[f"{NONE}: {reason}." for reason in reasons],
    )


def _settings(source: _Source) -> list[Part]:
    if not source.choice.settings:
        return []
    return [
        Part("Models", table=basis.runs(source.result_set)),
        Part("Detectors", table=basis.detectors(source.result_set)),
        *([Part("Software", facts=software)] if (software := basis.software(source.result_set)) else []),
    ]


def _coverage(source: _Source) -> list[Part]:
    return [Part("", table=tables.coverage_table(source.study.masks))] if source.choice.coverage else []
