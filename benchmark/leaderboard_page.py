"""The leaderboard: which numbers an address asks for, and one row a model, own ones and the paper's together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from benchmark import comparability, frames, progress, published
from benchmark.comparability import Comparison
from benchmark.frames import AVG, LEVELS, Masks
from benchmark.leaderboard import LEVEL_NAMES, best_first
from benchmark.leaderboard_choice import AS_NO, Choice, published_turns
from benchmark.models import Detector, ResultSet, Run
from benchmark.progress import TurnCounts
from benchmark.statistics.rates import Estimate

NOT_PRINTED = "the paper prints no interval"


@dataclass(frozen=True)
class Entry:
    """One row. Of a published one the paper prints the rate alone; `reason` says why something isn't there."""

    name: str
    family: str
    published: bool
    estimate: Estimate
    filled: Estimate
    planned: int
    comparison: Comparison
    classes: dict[str, float | None] = field(default_factory=dict)
    run: Run | None = None
    turns: TurnCounts | None = None
    labelled: int | None = None
    behind: str = ""
    shown: Estimate = field(init=False)
    rank: int | None = None
    as_no: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "shown", self.filled if self.as_no else self.estimate)

    @property
    def complete(self) -> bool:
        return self.estimate.n == self.planned

    @property
    def started(self) -> datetime | None:
        return self.run.started_at if self.run else None

    @property
    def finished(self) -> datetime | None:
        return self.run.finished_at if self.run else None

    @property
    def missing(self) -> int | None:
        return self.turns.with_text - self.labelled if self.turns and self.labelled is not None else None


@dataclass(frozen=True)
class Board:
    """The rows of an address, ranked and sorted, with what is left out and why."""

    choice: Choice
    entries: list[Entry]
    families: list[str]
    notes: list[str]

    @cached_property
    def gaps(self) -> bool:
        """Whether any own rate rests on fewer labels than were planned."""
        return any(not entry.complete for entry in self.entries if not entry.published)


def board(result_set: ResultSet | None, found: Masks | None, choice: Choice) -> Board:
    """All rows that the address asks for. Ranks are among own, published or both, before rows are searched."""
    detectors = [row.detector for row in result_set.held_detectors] if result_set else []
    own = _own(result_set, found, choice, detectors) if result_set and found and choice.column and choice.k else []
    theirs, notes = _theirs(found, choice, detectors)
    rows = _ranked((own if choice.who != "published" else []) + (theirs if choice.who != "own" else []))
    families = sorted({row.family for row in rows})
    kept = [row for row in rows if _kept(row, choice)]
    return Board(choice, _sorted(kept, choice.sort), families, notes if choice.who != "own" else [])


def records(made: Board) -> list[dict[str, Any]]:
    """The rows as plain values, for CSV and the API; undefined is None with its reason."""
    return [_record(made.choice, row) for row in made.entries]


def _own(result_set: ResultSet, found: Masks, choice: Choice, detectors: Sequence[Detector]) -> list[Entry]:
    at = found.measured_turns(choice.measure).index(choice.k)
    whole = found.filled()
    here, full = (
        [of_model[at] for of_model in frames.estimates_at(masks, choice.measure, choice.column, **choice.levels)]
        for masks in (found, whole)
    )
    runs = {row.run_id: row.run for row in result_set.held_runs}
    counts = progress.turn_counts_of(list(runs), found.turns)
    labelled, classes = frames.labelled_by(found, choice.column), _classes(found, choice, at)
    protocol = comparability.protocol_of(found)
    return [
        Entry(
            name=model.name,
            family=model.family,
            published=False,
            estimate=here[row],
            filled=full[row],
            planned=full[row].n,
            comparison=comparability.compare(
                runs[model.run_id], protocol=protocol, detectors=_of_column(found, choice.column, detectors)
            ),
            classes=classes[row],
            run=runs[model.run_id],
            turns=counts[model.run_id],
            labelled=labelled[row],
            behind=_behind(result_set, model.name, choice),
            as_no=choice.gaps == AS_NO,
        )
        for row, model in enumerate(found.models)
    ]


def _classes(found: Masks, choice: Choice, at: int) -> list[dict[str, float | None]]:
    """The rate of each premise class at the other chosen levels, one dictionary a model."""
    masks = found.filled() if choice.gaps == AS_NO else found
    made: list[dict[str, float | None]] = [{} for _ in found.models]
    for level in LEVELS["premise_class"]:
        levels = {**choice.levels, "premise_class": level}
        for row, of_model in enumerate(frames.estimates_at(masks, choice.measure, choice.column, **levels)):
            made[row][level] = of_model[at].value
    return made


def _theirs(found: Masks | None, choice: Choice, detectors: Sequence[Detector]) -> tuple[list[Entry], list[str]]:
    """The paper's rows where it prints this choice, else none and a sentence that says so."""
    column = _paper_column(found, choice.column, detectors)
    where = [LEVEL_NAMES[choice.levels[axis]].lower() for axis in ("complexity", "category") if choice.levels[axis]]
    if where:
        return [], [f"The paper prints no rate of single models for {' and '.join(where)}, so its rows are left out."]
    if column is None:
        return [], [f"{choice.column} isn't known to be a detector of the paper, so the paper's rows are left out."]
    if choice.k not in published_turns(choice.measure):
        return [], [f"The paper prints no {choice.metric}, so its rows are left out."]
    return [_their(model, choice, column) for model in published.models()], []


def _their(model: published.PublishedModel, choice: Choice, column: str) -> Entry:
    def rate(level: str) -> float:
        return float(published.cell(choice.measure, model.name, choice.k, f"{level or frames.OVERALL}_{column}"))

    n = _published_n(choice)
    value = Estimate(rate(choice.premise_class), None, None, n, 0.0, NOT_PRINTED)
    return Entry(
        name=model.name,
        family=model.family,
        published=True,
        estimate=value,
        filled=value,
        planned=n,
        comparison=comparability.PUBLISHED,
        classes={level: rate(level) for level in LEVELS["premise_class"]},
    )


def _published_n(choice: Choice) -> int:
    """Answers behind a published rate: its denominators are full."""
    turns = [turn for turn in published_turns(choice.measure) if turn <= choice.k]
    classes = 1 if choice.premise_class else len(published.PREMISE_CLASSES)
    return published.ITEMS_PER_CLASS * classes * (1 if choice.measure == "turn_corr" else len(turns))


def _of_column(found: Masks, column: str, detectors: Sequence[Detector]) -> list[Detector]:
    return [detectors[at] for at in (found.primary if column == AVG else [found.columns.index(column)])]


def _paper_column(found: Masks | None, column: str, detectors: Sequence[Detector]) -> str | None:
    if column == AVG or found is None:
        return column
    return next(map(comparability.published_column, _of_column(found, column, detectors)), None) if detectors else AVG


def _behind(result_set: ResultSet, model: str, choice: Choice) -> str:
    """The query of the page with the dialogues behind an own number."""
    values = {
        "dataset": result_set.dataset_id,
        "model": model,
        "measure": choice.measure,
        "k": choice.k,
        "column": choice.column,
        **{axis: level for axis, level in choice.levels.items() if level},
    }
    return urlencode(values)


def _ranked(rows: list[Entry]) -> list[Entry]:
    """Best first. Rates that print alike share a rank, for the paper prints no more; what is undefined has none."""

    def printed(row: Entry) -> float | None:
        return None if row.shown.value is None else round(row.shown.value, 3)

    ranked: list[Entry] = []
    for number, row in enumerate(sorted(rows, key=lambda row: (*best_first(printed(row)), row.name, row.published)), 1):
        same = bool(ranked) and printed(ranked[-1]) == printed(row)
        rank = None if row.shown.value is None else ranked[-1].rank if same else number
        ranked.append(replace(row, rank=rank))
    return ranked


def _kept(row: Entry, choice: Choice) -> bool:
    words = f"{row.name} {row.family}".lower()
    return (not choice.family or row.family in choice.family) and choice.q.lower() in words


_KEYS: Mapping[str, Any] = {
    "value": lambda row: None if row.rank is None else -row.rank,
    "name": lambda row: row.name.lower(),
    "family": lambda row: row.family.lower(),
    "n": lambda row: row.estimate.n,
    "labelled": lambda row: row.labelled,
    "answered": lambda row: row.turns.answered if row.turns else None,
    "started": lambda row: row.started,
}


def _sorted(rows: list[Entry], sort: str) -> list[Entry]:
    """Rows come ranked, and equal ones stay so; what a column doesn't know is last, whichever way it is sorted."""
    name = sort.removeprefix("-")
    key = _KEYS.get(name) or (lambda row: row.classes.get(name))
    known = [row for row in rows if key(row) is not None]
    return sorted(known, key=key, reverse=sort.startswith("-")) + [row for row in rows if key(row) is None]


def _record(choice: Choice, row: Entry) -> dict[str, Any]:
    outcomes = dict.fromkeys(progress.WORDS) if row.turns is None else {name: n for name, _, n in row.turns.columns}
    return {
        "rank": row.rank,
        "model": row.name,
        "family": row.family,
        "published": row.published,
        "simulated": bool(row.run and row.run.simulated),
        "imported": bool(row.run and row.run.imported),
        "run": row.run.pk if row.run else None,
        "measure": choice.measure,
        "k": choice.k,
        "detector": choice.column,
        **choice.levels,
        "value": row.estimate.value,
        "low": row.estimate.low,
        "high": row.estimate.high,
        "n": row.estimate.n,
        "corrections": None if row.published else row.estimate.corrections,
        "planned": row.planned,
        "value_gaps_as_no": row.filled.value,
        "low_gaps_as_no": row.filled.low,
        "high_gaps_as_no": row.filled.high,
        "reason": row.estimate.reason,
        "caution": row.estimate.caution,
        **{f"value_{level}": row.classes.get(level) for level in LEVELS["premise_class"]},
        "labelled": row.labelled,
        "with_text": row.turns.with_text if row.turns else None,
        **outcomes,
        **{aspect.name: aspect.verdict for aspect in row.comparison.aspects},
        **{f"{aspect.name}_why": aspect.why for aspect in row.comparison.aspects},
        "started_at": row.started.isoformat() if row.started else None,
        "finished_at": row.finished.isoformat() if row.finished else None,
    }
