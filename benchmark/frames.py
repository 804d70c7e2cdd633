"""The one door from rows to numbers: every table, chart and export starts here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db.models import Count
from numpy.typing import NDArray

from annotate.models import DatasetItem
from benchmark.models import Pattern, Response, ResultSet
from benchmark.services import patterns
from benchmark.statistics.patterns import (
    by_image,
    cumulative_windows,
    fill_gaps,
    mean_item_counts,
    single_windows,
    window,
)
from benchmark.statistics.rates import Estimate, Rates, rates

if TYPE_CHECKING:
    import pandas as pd

AVG = "avg"
OVERALL = "overall"
MEASURES = ("corr_tp", "turn_corr", "corr_fp")
BREAKDOWNS = ("premise_class", "complexity", "category")


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
    one image resemble each other. Bit t-1 of a mask stands for turn t.
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
        planned = window(range(1, self.turns + 1))
        labelled, correction = fill_gaps(self.labelled, self.correction, planned)
        return replace(
            self,
            labelled=np.asarray(labelled, dtype=np.int64),
            correction=np.asarray(correction, dtype=np.int64),
        )


def masks(result_set: ResultSet) -> Masks:
    """Read a result set's patterns, rebuilding first those whose labels changed."""
    dataset = result_set.dataset
    held = list(result_set.runs.select_related("run", "model").order_by("model__name"))
    patterns.refresh(runs=[row.run for row in held])
    columns = list(result_set.detectors.select_related("detector").order_by("position"))
    kept = ("id", *BREAKDOWNS, "sha256", "parent", "key")
    items = list(DatasetItem.objects.filter(dataset=dataset).order_by("key").values_list(*kept))
    labelled, correction = pattern_arrays(
        [row.run_id for row in held], [column.detector_id for column in columns], [item[0] for item in items]
    )
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
        items=[item[0] for item in items],
        places={
            axis: np.array([item[index] for item in items], dtype=np.str_) for index, axis in enumerate(BREAKDOWNS, 1)
        },
        images=numbered([image_name(*item[-3:]) for item in items]),
        labelled=labelled,
        correction=correction,
        turns=dataset.turns,
        false_turns=tuple(dataset.false_turns),
    )


def image_name(sha256: str | None, parent: str | None, key: str) -> str:
    """What tells an item's image from others: its hash; without pictures, variants show their parent's."""
    return sha256 or parent or key


def numbered(names: Sequence[str]) -> NDArray[np.int64]:
    """The same number for the same name, counted from 0 in the order in which they first come."""
    known: dict[str, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)


def pattern_arrays(
    runs: Sequence[int], detectors: Sequence[int], items: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The masks of these runs' dialogues, labelled and correction; shape (run, detector, item)."""
    shape = (len(runs), len(detectors), len(items))
    labelled, correction = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    stored = Pattern.objects.filter(run_id__in=runs, detector_id__in=detectors).values_list(
        "run_id", "detector_id", "item_id", "labelled", "correction"
    )
    rows = np.array(list(stored), dtype=np.int64).reshape(-1, 5)
    if rows.size:
        at = tuple(_positions(keys, rows[:, index]) for index, keys in enumerate((runs, detectors, items)))
        labelled[at], correction[at] = rows[:, 3], rows[:, 4]
    return labelled, correction


def _positions(keys: Sequence[int], values: NDArray[np.int64]) -> NDArray[np.intp]:
    array = np.array(keys, dtype=np.int64)
    order = np.argsort(array)
    return order[np.searchsorted(array, values, sorter=order)]


def measure_rates(found: Masks, measure: str, column: str, keep: NDArray[np.bool_]) -> Rates:
    """One measure for one detector column over the kept items; arrays of shape (model, turn)."""
    turns = found.measured_turns(measure)
    windows = single_windows(turns) if measure == "turn_corr" else cumulative_windows(turns)
    chosen = found.primary if column == AVG else [found.columns.index(column)]
    labelled = [found.labelled[:, index][:, keep] for index in chosen]
    correction = [found.correction[:, index][:, keep] for index in chosen]
    return rates(by_image(mean_item_counts(labelled, correction, windows), found.images[keep]))


def levels(found: Masks, axis: str) -> dict[str, NDArray[np.bool_]]:
    """Which items each level of an axis keeps, `overall` first, levels in the order of the study."""
    from annotate.axes import Category, Complexity, PremiseClass

    order = {"premise_class": PremiseClass, "complexity": Complexity, "category": Category}[axis].values
    place = found.places[axis]
    return {OVERALL: np.ones(len(found.items), dtype=bool), **{level: place == level for level in order}}


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
    found: Masks, measure: str, axis: str = "premise_class", *, only_k: int | None = None, overall: bool = True
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
    """
    turns, whole, made = found.measured_turns(measure), found.filled(), []
    for level, keep in levels(found, axis).items():
        if level == OVERALL and not overall:
            continue
        for column in found.columns:
            here = measure_rates(found, measure, column, keep)
            full = measure_rates(whole, measure, column, keep)
            for row, model in enumerate(found.models):
                for at, k in enumerate(turns):
                    if only_k is not None and k != only_k:
                        continue
                    planned = int(full.n[row, at])
                    filled = float(full.value[row, at]) if planned else None
                    made.append(Cell(model, measure, k, level, column, here.at(row, at), planned, filled))
    return made


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
        }
        for cell in cells(found, measure, axis, overall=overall)
    ]


def coverage(found: Masks) -> list[dict[str, Any]]:
    """How many answers each detector labelled, one row a model and detector: what every rate rests on.

    `planned` counts turns, `with_text` those that have an answer, `missing` the answers without a label.
    """
    runs = [model.run_id for model in found.models]
    rows = Response.objects.filter(dialogue__run__in=runs).order_by().values_list("dialogue__run")
    answers: dict[int, int] = dict(rows.annotate(n=Count("pk")))
    labelled = np.bitwise_count(found.labelled).sum(axis=2, dtype=np.int64)
    return [
        {
            "model": model.name,
            "family": model.family,
            "simulated": model.simulated,
            "detector": detector.slug,
            "planned": len(found.items) * found.turns,
            "with_text": answers.get(model.run_id, 0),
            "labelled": int(labelled[row, column]),
            "missing": answers.get(model.run_id, 0) - int(labelled[row, column]),
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
