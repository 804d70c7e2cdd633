"""The leaderboard as its page shows it: every number is text here, so that a page of forty rows is made quickly."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString

from benchmark import families, progress
from benchmark.comparability import Comparison
from benchmark.families import Mark
from benchmark.frames import LEVELS
from benchmark.leaderboard import LEVEL_NAMES, interval_text
from benchmark.leaderboard_choice import AS_NO, Choice
from benchmark.leaderboard_page import Board, Entry

UNTOLD = "–"
PAPER = "2026-09"  # the month of arXiv 2609.03331v1
OUTCOMES = progress.WORDS
CLASSES = LEVELS["premise_class"]
HEADS = {"n": ("n", "n", "num"), "coverage": ("Labelled", "labelled", "num"), "dates": ("Dates", "started", "")}


@dataclass(frozen=True)
class Head:
    """A column's head; `href` sorts by it, and `sorted` says which way it is sorted now."""

    title: str
    css: str = ""
    href: str = ""
    sorted: str = ""
    span: int = 1
    rows: int = 1


@dataclass(frozen=True)
class Cell:
    text: str
    css: str = "num"
    more: str = ""
    title: str = ""
    span: int = 1


@dataclass(frozen=True)
class Row:
    """A row as text. `at` and `reach` draw the rate and its interval on a line from 0 to 100."""

    rank: str
    name: str
    family: str
    mark: Mark
    published: bool
    badges: tuple[tuple[str, str, str], ...]
    value: str
    undefined: str
    interval: str
    other: str
    at: str
    reach: str
    href: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Shown:
    """The table: `heads` after the rank, `outcomes` below the one head that they share."""

    gaps: bool
    notes: tuple[str, ...]
    heads: tuple[Head, ...]
    outcomes: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]


def shown(made: Board) -> Shown:
    """A board as its page shows it."""
    choice = made.choice
    marks = families.marks(made.families)
    return Shown(
        gaps=made.gaps,
        notes=tuple(made.notes),
        heads=tuple(_heads(choice)),
        outcomes=tuple(OUTCOMES.items()) if "outcomes" in choice.columns else (),
        rows=tuple(_row(entry, choice, marks[entry.family]) for entry in made.entries),
    )


@lru_cache(maxsize=64)
def table(board: Shown, *, blind: bool) -> SafeString:
    """The table's HTML, which is made of these values and nothing else: kept, for rendering it takes longest."""
    return render_to_string("benchmark/_leaderboard_table.html", {"board": board, "blind": blind})


def _heads(choice: Choice) -> Iterator[Head]:
    rows = 2 if "outcomes" in choice.columns else 1
    yield _sortable(choice, "Model", "name", css="stick", rows=rows)
    yield _sortable(choice, choice.metric, "value", css="num", rows=rows, span=2)
    for column in choice.columns:
        if column == "match":
            yield Head("Like the paper", rows=rows)
        elif column == "outcomes":
            yield _sortable(choice, "Turns planned, by outcome", "answered", css="group", span=len(OUTCOMES))
        elif column == "classes":
            yield from (_sortable(choice, LEVEL_NAMES[name], name, css="num", rows=rows) for name in CLASSES)
        else:
            title, name, css = HEADS[column]
            yield _sortable(choice, title, name, css=css, rows=rows)


def _sortable(choice: Choice, title: str, name: str, *, css: str = "", span: int = 1, rows: int = 1) -> Head:
    ways = {name: "ascending", f"-{name}": "descending"}
    return Head(title, css, choice.sorted_by(name), ways.get(choice.sort, ""), span, rows)


def _row(entry: Entry, choice: Choice, mark: Mark) -> Row:
    value = entry.shown
    return Row(
        rank=f"{entry.rank}" if entry.rank else UNTOLD,
        name=entry.name,
        family=entry.family,
        mark=mark,
        published=entry.published,
        badges=tuple(_badges(entry)),
        value=_rate(value.value),
        undefined=value.reason if value.value is None else "",
        interval=interval_text(value),
        other=_other(entry, choice),
        at=f"{100 * value.value:.1f}" if value.value is not None else "",
        reach=f"M{100 * value.low:.1f} 0H{100 * value.high:.1f}"
        if value.low is not None and value.high is not None
        else "",
        href=f"{reverse('results_cell')}?{entry.behind}" if entry.behind and value.value is not None else "",
        cells=tuple(_cells(entry, choice)),
    )


def _badges(entry: Entry) -> Iterator[tuple[str, str, str]]:
    """(words, tone, title) of what marks a row."""
    if entry.published:
        yield "published", "info", "As the paper prints it"
    if entry.run is None:
        return
    if entry.run.simulated:
        yield "simulated", "mark", "Made offline for the demo: not from a real model."
    if entry.run.imported:
        yield "imported", "plain", "From a release"
    if entry.run.state != "complete":
        yield entry.run.state, "warn", f"Run {entry.run.pk} is not complete."


def _other(entry: Entry, choice: Choice) -> str:
    """The rate under the other reading of gaps, where it is another one."""
    if entry.published or entry.complete:
        return ""
    other, words = (entry.estimate, "gaps left out") if choice.gaps == AS_NO else (entry.filled, "gaps as no")
    return f"{words}: {_rate(other.value)} {interval_text(other)}".strip()


def _cells(entry: Entry, choice: Choice) -> Iterator[Cell]:
    """The cells after the rate, in the order of the columns."""
    for column in choice.columns:
        if column == "n":
            yield Cell(f"{entry.estimate.n:,}", more="" if entry.complete else f"of {entry.planned:,}")
        elif column == "match":
            yield Cell(_match(entry.comparison), "leaderboard-match")
        elif column == "dates":
            first, last = _dates(entry)
            yield Cell(first, "leaderboard-dates", more=last)
        elif column == "coverage":
            yield _coverage(entry)
        elif column == "classes":
            yield from (Cell(_rate(entry.classes.get(name))) for name in CLASSES)
        elif column == "outcomes":
            yield from _outcomes(entry)


@lru_cache(maxsize=256)
def _match(comparison: Comparison) -> SafeString:
    """The badge with its reasons; most rows share one."""
    return render_to_string("benchmark/_leaderboard_match.html", {"comparison": comparison})


def _outcomes(entry: Entry) -> Iterator[Cell]:
    if entry.turns is None:
        yield Cell("not printed", "group soft", title="The paper prints no outcomes.", span=len(OUTCOMES))
        return
    for at, name in enumerate(OUTCOMES):
        count = getattr(entry.turns, name)
        yield Cell(f"{count:,}", f"num{' group' if at == 0 else ''}{'' if count else ' is-none'}")


def _coverage(entry: Entry) -> Cell:
    if entry.turns is None or entry.labelled is None:
        return Cell(UNTOLD, title="The paper says that no response was left out.")
    missing = f"{entry.missing:,} missing" if entry.missing else ""
    return Cell(f"{entry.labelled:,} of {entry.turns.with_text:,}", more=missing, title="Of all answers with text")


def _dates(entry: Entry) -> tuple[str, str]:
    """The day of the first call and of the last, where they differ."""
    if entry.published:
        return PAPER, ""
    days = [_day(moment) for moment in (entry.started, entry.finished) if moment]
    if not days:
        return ("not told" if entry.run and entry.run.imported else "not started"), ""
    return days[0], f"to {days[-1]}" if days[0] != days[-1] else ""


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"


def _rate(value: float | None) -> str:
    return UNTOLD if value is None else f"{value:.3f}"
