"""Patterns as arrays: read in few rows, and kept by this process for as long as they are the same.

A rebuild makes all of a run's patterns anew, under ids that no pattern had before, so the id of a run's first
pattern tells one state of its labels from all others. What is kept is found by these ids, read from the database
each time: a label that has just changed is never missed. Within a transaction nothing is kept, for its rows, and
with them their ids, may yet be taken back.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import BigIntegerField, Count, F, Max, OuterRef, StringAgg, Subquery, TextField, Value
from django.db.models.functions import Cast
from numpy.typing import NDArray

from annotate.models import Dataset, DatasetItem
from benchmark.models import Pattern, Run

AXES = ("premise_class", "complexity", "category")
HELD = 16  # result sets
_SHIFT = 1 << 16  # a mask has at most 15 bits, so a pattern fits one number: item, correction, labelled
_kept: OrderedDict[tuple[Any, ...], "Patterns"] = OrderedDict()


@dataclass(frozen=True)
class Patterns:
    """All masks of some runs by some detectors, of shape (run, detector, item), and each item's place by axis.

    `images` is a number for the image of each item; `made` holds what was computed, for as long as they are kept.
    """

    items: list[int]
    places: dict[str, NDArray[np.str_]]
    images: NDArray[np.int64]
    labelled: NDArray[np.int64]
    correction: NDArray[np.int64]
    made: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)


def read(dataset: Dataset, runs: Sequence[int], detectors: Sequence[int]) -> Patterns:
    """The patterns of a dataset's runs as they are now; whoever calls this has refreshed them."""
    if connection.in_atomic_block:
        return _read(dataset, runs, detectors)
    key = _state(dataset, runs, detectors)
    found = _kept.get(key)
    if found is None:
        found = _kept[key] = _read(dataset, runs, detectors)
        while len(_kept) > HELD:
            _kept.popitem(last=False)
    return found


def _state(dataset: Dataset, runs: Sequence[int], detectors: Sequence[int]) -> tuple[Any, ...]:
    """What differs whenever the arrays would differ. It is read before them, so they are never older than it."""
    items = DatasetItem.objects.filter(dataset=dataset).aggregate(n=Count("pk"), last=Max("pk"))
    first = Pattern.objects.filter(run=OuterRef("pk")).order_by("detector_id", "item_id").values("pk")[:1]
    states = Run.objects.filter(pk__in=runs).order_by("pk").annotate(first=Subquery(first))
    built = tuple(states.values_list("pk", "created_at", "first"))
    place = (connection.settings_dict["NAME"], dataset.pk, dataset.created_at, items["n"], items["last"])
    return (*place, tuple(runs), tuple(detectors), built)


def _read(dataset: Dataset, runs: Sequence[int], detectors: Sequence[int]) -> Patterns:
    rows = list(
        DatasetItem.objects.filter(dataset=dataset).order_by("key").values_list("id", *AXES, "sha256", "parent", "key")
    )
    items = [row[0] for row in rows]
    labelled, correction = pattern_arrays(runs, detectors, items)
    places = {axis: np.array([row[index] for row in rows], dtype=np.str_) for index, axis in enumerate(AXES, 1)}
    return Patterns(items, places, numbered([image_name(*row[-3:]) for row in rows]), labelled, correction)


def pattern_arrays(
    runs: Sequence[int], detectors: Sequence[int], items: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The masks of these runs' dialogues, labelled and correction; shape (run, detector, item)."""
    shape = (len(runs), len(detectors), len(items))
    labelled, correction = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    at_run, at_detector = ({pk: at for at, pk in enumerate(keys)} for keys in (runs, detectors))
    for run, detector, packed in _packed(runs, detectors):
        at = at_run[run], at_detector[detector], _positions(items, packed // (_SHIFT * _SHIFT))
        labelled[at], correction[at] = packed % _SHIFT, packed // _SHIFT % _SHIFT
    return labelled, correction


def image_name(sha256: str | None, parent: str | None, key: str) -> str:
    """What tells an item's image from others: its hash; without pictures, variants show their parent's."""
    return sha256 or parent or key


def numbered(names: Sequence[str]) -> NDArray[np.int64]:
    """The same number for the same name, counted from 0 in the order in which they first come."""
    known: dict[str, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in names], dtype=np.int64)


def _packed(runs: Sequence[int], detectors: Sequence[int]) -> Iterator[tuple[int, int, NDArray[np.int64]]]:
    """Each run's and detector's patterns, a number a dialogue; joined by the database, so that few rows are read."""
    number = (F("item_id") * _SHIFT + F("correction")) * _SHIFT + F("labelled")
    text = StringAgg(Cast(Cast(number, BigIntegerField()), TextField()), Value(" "))
    rows = Pattern.objects.filter(run_id__in=runs, detector_id__in=detectors).order_by().values("run_id", "detector_id")
    for run, detector, numbers in rows.annotate(text=text).values_list("run_id", "detector_id", "text"):
        yield run, detector, np.fromstring(numbers, dtype=np.int64, sep=" ")


def _positions(keys: Sequence[int], values: NDArray[np.int64]) -> NDArray[np.intp]:
    array = np.array(keys, dtype=np.int64)
    order = np.argsort(array)
    return order[np.searchsorted(array, values, sorter=order)]
