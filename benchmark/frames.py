"""The one door from rows to numbers: every table, chart and export starts here."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from annotate.axes import Category, Complexity, PremiseClass
from benchmark import frames_patterns, progress
from benchmark.models import ResultSet
from benchmark.services import patterns
from benchmark.statistics.patterns import (
    ItemCounts,
    by_image,
    cumulative_windows,
    fill_gaps,
    mean_item_counts,
    single_windows,
    window,
)
from benchmark.statistics.rates import NO_LABELS, Estimate, Rates, Sums, rates_of, sums

if TYPE_CHECKING:
    import pandas as pd

AVG = "avg"
OVERALL = "overall"
MEASURES = ("corr_tp", "turn_corr", "corr_fp")
type Estimates = list[list[list[Estimate]]]

BREAKDOWNS = frames_patterns.AXES
LEVELS = {"premise_class": PremiseClass.values, "complexity": Complexity.values, "category": Category.values}


@dataclass(frozen=True)
class ModelRow:
    """A model of a result set as the tables show it."""

    name: str
    family: str
    run_id: int
    simulated: bool
    imported: bool
    state: str
    cap: int | None = None

    @property
    def words(self) -> str:
        """Which run of the model it is."""
        return f"run {self.run_id}{f', {self.cap:,} tokens' if self.cap else ''}"


@dataclass(frozen=True)
class DetectorColumn:
    slug: str
    name: str
    primary: bool
    simulated: bool


@dataclass(frozen=True)
class Masks:
    """All labels of a result set: `labelled` and `correction` have shape (model, detector, item).

    `places` holds, by axis of the benchmark, each item's level, `images` a number for the image of each: labels of
    one image resemble each other. Bit t-1 of a mask stands for turn t. `made` holds what was computed already.
    """

    models: list[ModelRow]
    detectors: list[DetectorColumn]
    items: list[int]
    places: dict[str, NDArray[np.str_]]
    images: NDArray[np.int64]
    labelled: NDArray[np.int64]
    correction: NDArray[np.int64]
    turns: int
    false_turns: tuple[int, ...]
    made: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def true_turns(self) -> tuple[int, ...]:
        return tuple(turn for turn in range(1, self.turns + 1) if turn not in self.false_turns)

    @cached_property
    def primary(self) -> list[int]:
        return [index for index, detector in enumerate(self.detectors) if detector.primary]

    @cached_property
    def columns(self) -> list[str]:
        """The detectors' slugs, then `avg` where there is a pair to average."""
        slugs = [detector.slug for detector in self.detectors]
        return [*slugs, AVG] if len(self.primary) > 1 else slugs

    def measured_turns(self, measure: str) -> tuple[int, ...]:
        return self.true_turns if measure == "corr_fp" else self.false_turns

    def filled(self) -> "Masks":
        """The same with every missing label taken as a non-correction."""
        if "filled" not in self.made:
            planned = window(range(1, self.turns + 1))
            self.made["filled"] = (*fill_gaps(self.labelled, self.correction, planned), {})
        labelled, correction, made = self.made["filled"]
        return replace(self, labelled=labelled, correction=correction, made=made)

    def keeping(self, **chosen: str) -> NDArray[np.bool_]:
        """Which items are at the chosen level of each axis; an axis without a level keeps all."""
        keep = np.ones(len(self.items), dtype=bool)
        for axis, level in chosen.items():
            keep &= (self.places[axis] == level) | (level in ("", OVERALL))
        return keep


def masks(result_set: ResultSet) -> Masks:
    """Read a result set's patterns, rebuilding first those whose labels changed."""
    dataset = result_set.dataset
    held, columns = result_set.held_runs, result_set.held_detectors
    patterns.refresh(runs=[row.run for row in held])
    stored = frames_patterns.read(dataset, [row.run_id for row in held], [column.detector_id for column in columns])
    return Masks(
        models=[
            ModelRow(
                row.model.name,
                row.model.family,
                row.run_id,
                row.run.simulated,
                row.run.imported,
                row.run.state,
                row.run.settings.get("max_output_tokens"),
            )
            for row in held
        ],
        detectors=[
            DetectorColumn(column.detector.slug, str(column.detector), column.primary, column.detector.simulated)
            for column in columns
        ],
        items=stored.items,
        places=stored.places,
        images=stored.images,
        labelled=stored.labelled,
        correction=stored.correction,
        turns=dataset.turns,
        false_turns=tuple(dataset.false_turns),
        made=stored.made,
    )


def measure_rates(found: Masks, measure: str, column: str, keep: NDArray[np.bool_]) -> Rates:
    """One measure for one detector column over the kept items; arrays of shape (model, turn).

    `keep` has shape (item,), or (level, item) to make the rates of several levels at once: then the arrays
    have a last axis of levels.
    """
    turns = found.measured_turns(measure)
    windows = single_windows(turns) if measure == "turn_corr" else cumulative_windows(turns)
    chosen = chosen_detectors(found, column)
    counts = mean_item_counts(
        [found.labelled[:, index] for index in chosen], [found.correction[:, index] for index in chosen], windows
    )
    return rates_of(_by_level(counts, found.images, keep))


def _by_level(counts: ItemCounts, images: NDArray[np.int64], keep: NDArray[np.bool_]) -> Sums:
    """The counts of each level added up, image by image."""
    if len(np.unique(images)) == len(images):
        return sums(counts, keep)
    levels = [keep] if keep.ndim == 1 else list(keep)
    made = [
        sums(by_image(ItemCounts(counts.n[..., kept], counts.corrections[..., kept]), images[kept])) for kept in levels
    ]
    if keep.ndim == 1:
        return made[0]
    return Sums(*(np.stack([getattr(one, part.name) for one in made], axis=-1) for part in fields(Sums)))


def chosen_detectors(found: Masks, column: str) -> list[int]:
    """Which detectors a column averages."""
    return found.primary if column == AVG else [found.columns.index(column)]


def estimates(found: Masks, measure: str, column: str, axis: str) -> Estimates:
    """`measure_rates` of each level of an axis as plain estimates, by model, turn and level; made once."""
    key = (measure, *chosen_detectors(found, column), axis)
    if key not in found.made:
        keep = np.stack(list(levels(found, axis).values()))
        found.made[key] = as_estimates(measure_rates(found, measure, column, keep))
    made: Estimates = found.made[key]
    return made


def levels(found: Masks, axis: str) -> dict[str, NDArray[np.bool_]]:
    """Which items each level of an axis keeps, `overall` first, levels in the order of the study."""
    place = found.places[axis]
    return {OVERALL: np.ones(len(found.items), dtype=bool), **{level: place == level for level in LEVELS[axis]}}


def estimates_at(found: Masks, measure: str, column: str, **chosen: str) -> list[list[Estimate]]:
    """`measure_rates` at one level of each chosen axis as plain estimates, by model and turn; made once."""
    key = (measure, *chosen_detectors(found, column), *chosen.items())
    if key not in found.made:
        keep = found.keeping(**chosen)[np.newaxis]
        of_levels = as_estimates(measure_rates(found, measure, column, keep))
        found.made[key] = [[of_turn[0] for of_turn in of_model] for of_model in of_levels]
    made: list[list[Estimate]] = found.made[key]
    return made


def labelled_by(found: Masks, column: str) -> list[int]:
    """How many answers of each model the column's detectors labelled, all of them where there are several."""
    masks = np.bitwise_and.reduce(found.labelled[:, chosen_detectors(found, column)], axis=1)
    counts: list[int] = np.bitwise_count(masks).sum(axis=1, dtype=np.int64).tolist()
    return counts


@dataclass(frozen=True)
class Cell:
    """One number: whose, of what, over which items; with what it would be if gaps were non-corrections."""

    model: ModelRow
    measure: str
    k: int
    level: str
    column: str
    estimate: Estimate
    planned: int
    filled: float | None

    @property
    def complete(self) -> bool:
        return self.estimate.n == self.planned


def cells(
    found: Masks,
    measure: str,
    axis: str = "premise_class",
    *,
    only_k: int | None = None,
    overall: bool = True,
    columns: Sequence[str] | None = None,
) -> list[Cell]:
    """Every cell of one table: model, cutoff K, level of the axis, detector column.

    Parameters
    ----------
    found : Masks
    measure : str
        `corr_tp`, `turn_corr` or `corr_fp`.
    axis : str
        `premise_class`, `complexity` or `category`.
    only_k : int, optional
        Keep this cutoff alone.
    overall : bool
        Whether the level that keeps all items is there too.
    columns : sequence of str, optional
        These detector columns alone.
    """
    by_column = _with_gaps_filled(found, measure, axis, columns or found.columns)
    return [
        Cell(model, measure, k, level, column, here[row][turn][at], full[row][turn][at].n, full[row][turn][at].value)
        for at, level in enumerate((OVERALL, *LEVELS[axis]))
        if overall or level != OVERALL
        for column, (here, full) in by_column.items()
        for row, model in enumerate(found.models)
        for turn, k in enumerate(found.measured_turns(measure))
        if only_k in (None, k)
    ]


def _with_gaps_filled(
    found: Masks, measure: str, axis: str, columns: Sequence[str]
) -> dict[str, tuple[Estimates, Estimates]]:
    whole = found.filled()
    return {
        column: (estimates(found, measure, column, axis), estimates(whole, measure, column, axis)) for column in columns
    }


def as_estimates(found: Rates) -> Estimates:
    """Rates of shape (model, turn, level) as plain estimates; None where one is undefined, never NaN."""
    arrays = (found.value, found.low, found.high, found.n, found.corrections, found.images)
    return [
        [
            [
                Estimate(value, low, high, n, corrections, images=images)
                if n
                else Estimate(None, None, None, 0, 0.0, NO_LABELS)
                for value, low, high, n, corrections, images in zip(*of_turn, strict=True)
            ]
            for of_turn in zip(*of_model, strict=True)
        ]
        for of_model in zip(*(array.tolist() for array in arrays), strict=True)
    ]


def rows(found: Masks, measure: str, axis: str = "premise_class", *, overall: bool = True) -> list[dict[str, Any]]:
    """The cells as plain records, one a number, for charts, the API and CSV."""
    return [
        {
            "model": cell.model.name,
            "family": cell.model.family,
            "simulated": cell.model.simulated,
            "measure": cell.measure,
            "k": cell.k,
            "axis": axis,
            "level": cell.level,
            "detector": cell.column,
            "value": cell.estimate.value,
            "low": cell.estimate.low,
            "high": cell.estimate.high,
            "n": cell.estimate.n,
            "corrections": cell.estimate.corrections,
            "planned": cell.planned,
            "value_gaps_as_no": cell.filled,
            "reason": cell.estimate.reason,
            "caution": cell.estimate.caution,
        }
        for cell in cells(found, measure, axis, overall=overall)
    ]


def coverage(found: Masks) -> list[dict[str, Any]]:
    """How many answers each detector labelled, one row a model and detector: what every rate rests on.

    `planned` counts turns, `with_text` those that have an answer, `missing` the answers without a label.
    """
    counts = progress.turn_counts_of([model.run_id for model in found.models], found.turns)
    answers = {pk: turns.with_text for pk, turns in counts.items()}
    labelled = np.bitwise_count(found.labelled).sum(axis=2, dtype=np.int64)
    return [
        {
            "model": model.name,
            "family": model.family,
            "simulated": model.simulated,
            "detector": detector.slug,
            "planned": len(found.items) * found.turns,
            "with_text": answers[model.run_id],
            "labelled": int(labelled[row, column]),
            "missing": answers[model.run_id] - int(labelled[row, column]),
        }
        for row, model in enumerate(found.models)
        for column, detector in enumerate(found.detectors)
    ]


def numbers(found: Masks) -> "pd.DataFrame":
    """Every number of a result set, one a row: each measure by each axis, with interval, n and gaps.

    The overall numbers come once, with the first axis.
    """
    import pandas as pd

    return pd.DataFrame.from_records(
        [
            row
            for axis in BREAKDOWNS
            for measure in MEASURES
            for row in rows(found, measure, axis, overall=axis == BREAKDOWNS[0])
        ]
    )
