"""The rows behind the figures: plain records, one a number, from the masks of a result set.

`model` is the name as a figure prints it: with what is simulated or published, or for several models together.
Every rate is a number of `frames`, so a figure can't disagree with a table; what is only in a figure (cells, models
together, disagreement) is counted here from the same masks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotate.axes import Category, Complexity, PremiseClass
from benchmark import published
from benchmark.frames import AVG, OVERALL, Masks, ModelRow, levels
from benchmark.leaderboard import LEVEL_NAMES
from benchmark.statistics.patterns import ItemCounts, cumulative_windows, item_counts, mean_item_counts, single_windows
from benchmark.statistics.rates import Rates, rates

type Row = dict[str, Any]
AXES = ("premise_class", "complexity", "category")


@dataclass(frozen=True)
class Wanted:
    """What rows are asked for: chosen models of the masks, one detector column, published models beside."""

    found: Masks
    column: str
    published: tuple[str, ...] = ()

    @property
    def together(self) -> str:
        """The name of all chosen models together."""
        count = len(self.found.models)
        return f"All {count} models together" if count != 1 else self.label(self.found.models[0])

    def label(self, model: ModelRow) -> str:
        # A figure travels without its page, so it says itself what is simulated.
        return f"{model.name} (simulated)" if model.simulated else model.name


def chosen(found: Masks, names: Sequence[str]) -> Masks:
    """The masks of these models alone, in this order."""
    place = {model.name: at for at, model in enumerate(found.models)}
    at = [place[name] for name in names if name in place]
    return replace(
        found,
        models=[found.models[index] for index in at],
        labelled=found.labelled[at],
        correction=found.correction[at],
    )


def ranked(found: Masks, column: str) -> list[str]:
    """All models, the highest CorrTP over all false-premise turns first."""
    turns = found.false_turns
    value = rates(_counts(found, column, cumulative_windows(turns)[-1:])).value[:, 0]
    order = sorted(
        range(len(found.models)), key=lambda at: (-np.nan_to_num(value[at], nan=-1.0), found.models[at].name)
    )
    return [found.models[at].name for at in order]


def over_k(wanted: Wanted, measure: str, only_k: int | None = None) -> list[Row]:
    """A measure by premise class and cutoff (one alone if `only_k`), overall first."""
    return by_axis(wanted, measure, "premise_class", only_k)


def by_axis(wanted: Wanted, measure: str, axis: str, only_k: int | None = None) -> list[Row]:
    """A measure by an axis, overall first, and cutoff (one alone if `only_k`); published models last."""
    found = wanted.found
    turns = found.measured_turns(measure)
    counts = _counts(found, wanted.column, _windows(measure, turns))
    of_level = {level: _rates(counts, keep) for level, keep in levels(found, axis).items()}
    made = [
        _row(wanted.label(model), model.family, **{axis: LEVEL_NAMES[level]}, k=k, **_cell(made_of, at, step))
        for at, model in enumerate(found.models)
        for level, made_of in of_level.items()
        for step, k in enumerate(turns)
        if only_k in (None, k)
    ]
    if axis == "premise_class":
        made += [row for row in _published(wanted, measure, turns) if only_k in (None, row["k"])]
    return made


def by_class_and_complexity(wanted: Wanted, k: int, each: bool) -> list[Row]:
    """CorrTP@K of each premise class at each complexity: all models together, then each if asked."""
    made = []
    for name, family, counts in _series(wanted, "corr_tp", k, each):
        for premise_class in PremiseClass.values:
            for complexity in Complexity.values:
                keep = _kept(wanted.found, premise_class=premise_class, complexity=complexity)
                place = {"premise_class": LEVEL_NAMES[premise_class], "complexity": LEVEL_NAMES[complexity]}
                made.append(_row(name, family, **place, k=k, **_cell(_rates(counts, keep), 0)))
    return made


def by_cell(wanted: Wanted, k: int, each: bool) -> list[Row]:
    """CorrTP@K of each of the 36 cells: all models together, then each if asked."""
    made = []
    for name, family, counts in _series(wanted, "corr_tp", k, each):
        for complexity in Complexity.values:
            for category in Category.values:
                for premise_class in PremiseClass.values:
                    place = {"complexity": complexity, "category": category, "premise_class": premise_class}
                    keep = _kept(wanted.found, **place)
                    names = {axis: LEVEL_NAMES[level] for axis, level in place.items()}
                    made.append(_row(name, family, **names, k=k, **_cell(_rates(counts, keep), 0)))
    return made


def first_and_last(wanted: Wanted) -> list[Row]:
    """TurnCorr over all items at the first false-premise turn and at the last."""
    ends = {wanted.found.false_turns[0], wanted.found.false_turns[-1]}
    rows = [row for row in over_k(wanted, "turn_corr") if row["k"] in ends]
    overall = LEVEL_NAMES[OVERALL]
    return [
        {"turn" if key == "k" else key: value for key, value in row.items() if key != "premise_class"}
        for row in rows
        if row["premise_class"] == overall
    ]


def disagreement(wanted: Wanted, each: bool) -> list[Row]:
    """The share of answers that both primary detectors labelled and on which they differ, by turn and class."""
    found = wanted.found
    first, second = found.primary[:2]
    both = found.labelled[:, first] & found.labelled[:, second]
    differ = (found.correction[:, first] ^ found.correction[:, second]) & both
    turns = tuple(range(1, found.turns + 1))
    counts = item_counts(both, differ, single_windows(turns))
    made = []
    for name, family, own in _each(wanted, counts, each):
        for level, keep in levels(found, "premise_class").items():
            of_level = _rates(own, keep)
            for step, turn in enumerate(turns):
                made.append(_row(name, family, premise_class=LEVEL_NAMES[level], k=turn, **_cell(of_level, step)))
    return made


def _series(wanted: Wanted, measure: str, k: int, each: bool) -> Iterator[tuple[str, str, ItemCounts]]:
    """Name, family and counts by item at one cutoff: of all models together, then of each."""
    turns = wanted.found.measured_turns(measure)
    window = _windows(measure, turns)[turns.index(k) : turns.index(k) + 1]
    yield from _each(wanted, _counts(wanted.found, wanted.column, window), each)


def _each(wanted: Wanted, counts: ItemCounts, each: bool) -> Iterator[tuple[str, str, ItemCounts]]:
    models = wanted.found.models
    yield wanted.together, "", ItemCounts(counts.n.sum(axis=0), counts.corrections.sum(axis=0))
    if each and len(models) > 1:
        for at, model in enumerate(models):
            yield wanted.label(model), model.family, ItemCounts(counts.n[at], counts.corrections[at])


def _counts(found: Masks, column: str, windows: Sequence[int]) -> ItemCounts:
    """Counts of shape (model, window, item) of one detector, or of the mean of the pair."""
    which = found.primary if column == AVG else [found.columns.index(column)]
    return mean_item_counts([found.labelled[:, at] for at in which], [found.correction[:, at] for at in which], windows)


def _windows(measure: str, turns: Sequence[int]) -> list[int]:
    return single_windows(turns) if measure == "turn_corr" else cumulative_windows(turns)


def _kept(found: Masks, **place: str) -> NDArray[np.bool_]:
    keep = np.ones(len(found.items), dtype=bool)
    for axis, level in place.items():
        keep &= found.places[axis] == level
    return keep


def _rates(counts: ItemCounts, keep: NDArray[np.bool_]) -> Rates:
    """Rates over the kept items, of the shape of the counts without their items."""
    return rates(ItemCounts(counts.n[..., keep], counts.corrections[..., keep]))


def _cell(made: Rates, *at: int) -> Row:
    """One estimate as the fields of a row."""
    return asdict(made.at(*at))


def _row(model: str, family: str, **values: Any) -> Row:
    return {"model": model, "family": family, **values}


def _published(wanted: Wanted, measure: str, turns: Sequence[int]) -> Iterator[Row]:
    """What the paper prints for the chosen published models, at the cutoffs that are measured here too."""
    families = {model.name: model.family for model in published.models()}
    per_class = published.ITEMS_PER_CLASS
    for row in published.table(measure):
        k = int(row["k"])
        if row["model"] not in wanted.published or k not in turns:
            continue
        labels = (
            1 if measure == "turn_corr" else k if measure == "corr_fp" else k - published.FALSE_PREMISE_TURNS[0] + 1
        )
        for level in (OVERALL, *published.PREMISE_CLASSES):
            n = labels * per_class * (len(published.PREMISE_CLASSES) if level == OVERALL else 1)
            value = float(row[f"{level}_avg"])
            estimate = {"value": value, "low": None, "high": None, "n": n, "corrections": None, "reason": ""}
            name = f"{row['model']} (published)"
            yield _row(name, families[row["model"]], premise_class=LEVEL_NAMES[level], k=k, **estimate)
