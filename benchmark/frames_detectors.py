"""Agreement of detectors over all false-premise answers of a result set, from patterns and not from labels."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from annotate.models import DatasetItem
from benchmark import frames
from benchmark.frames import BREAKDOWNS, OVERALL, Masks
from benchmark.frames_agreement import DETECTOR, PairRow, Who, image_keys
from benchmark.models import ResultSet
from benchmark.statistics.agreement import Agreement, from_masks
from benchmark.statistics.patterns import window

Bits = NDArray[np.int64]

# Of two detectors' (labelled, correction) masks, the bits of the answers in each cell.
CELLS: dict[str, Callable[[Bits, Bits, Bits, Bits], Bits]] = {
    "both": lambda seen, yes, also, too: seen & also & yes & too,
    "first_only": lambda seen, yes, also, too: seen & also & yes & ~too,
    "second_only": lambda seen, yes, also, too: seen & also & ~yes & too,
    "neither": lambda seen, yes, also, too: seen & also & ~yes & ~too,
    "differ": lambda seen, yes, also, too: seen & also & (yes ^ too),
    "shared": lambda seen, yes, also, too: seen & also,
    "first_missing": lambda seen, yes, also, too: also & ~seen,
    "second_missing": lambda seen, yes, also, too: seen & ~also,
}


@dataclass(frozen=True)
class Slice:
    """Some of a result set's answers: `models` and `items` are which of each, `window` the turns' mask."""

    models: NDArray[np.bool_]
    items: NDArray[np.bool_]
    window: int


@dataclass(frozen=True)
class Verdicts:
    """Masks of a result set with the image of each item; `detectors` are in the masks' order."""

    masks: Masks
    images: NDArray[np.int64]

    @cached_property
    def detectors(self) -> list[Who]:
        return [
            Who(f"detector-{number}", column.name, DETECTOR, column.simulated)
            for number, column in enumerate(self.masks.detectors, 1)
        ]

    @cached_property
    def by_key(self) -> dict[str, Who]:
        return {who.key: who for who in self.detectors}

    def index(self, who: Who) -> int:
        return self.detectors.index(who)

    def levels(self, axis: str = "premise_class") -> dict[str, Slice]:
        """Which answers each level keeps: all false-premise turns first, then each level."""
        found, turns = self.masks, window(self.masks.false_turns)
        every, whole = np.ones(len(found.models), dtype=bool), np.ones(len(found.items), dtype=bool)
        made = {OVERALL: Slice(every, whole, turns)}
        if axis in BREAKDOWNS:
            kept = {level: keep for level, keep in frames.levels(found, axis).items() if level != OVERALL}
            return made | {level: Slice(every, keep, turns) for level, keep in kept.items() if keep.any()}
        if axis == "turn":
            return made | {str(turn): Slice(every, whole, window([turn])) for turn in found.false_turns}
        names = [model.name for model in found.models]
        return made | {name: Slice(np.arange(len(names)) == at, whole, turns) for at, name in enumerate(names)}


def verdicts(result_set: ResultSet) -> Verdicts:
    """Read a result set's patterns, and which image each item shows."""
    found = frames.masks(result_set)
    images = dict(DatasetItem.objects.filter(dataset=result_set.dataset_id).values_list("id", "image_id"))
    return Verdicts(found, image_keys([images[item] for item in found.items], found.items))


def compare(found: Verdicts, first: Who, second: Who, kept: Slice, *, bootstrap: bool = True) -> Agreement:
    """Two detectors over a slice. A turn that neither labelled is left out, answered or not."""
    one, other = (_masks(found, found.index(who), kept) for who in (first, second))
    return from_masks(
        one, other, kept.window, planned=kept.window, clusters=found.images[kept.items], bootstrap=bootstrap
    )


def pair(found: Verdicts, first: Who, second: Who, axis: str = "premise_class") -> PairRow:
    """Two detectors compared overall and at each level of an axis."""
    return PairRow(
        first, second, {level: compare(found, first, second, kept) for level, kept in found.levels(axis).items()}
    )


def pairs(found: Verdicts, axis: str = "premise_class") -> list[PairRow]:
    """Each pair of detectors, in the result set's order."""
    return [pair(found, first, second, axis) for first, second in combinations(found.detectors, 2)]


def _masks(found: Verdicts, detector: int, kept: Slice) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    labelled, correction = (masks[kept.models, detector] for masks in (found.masks.labelled, found.masks.correction))
    return labelled[:, kept.items], correction[:, kept.items]


def matching(found: Verdicts, first: Who, second: Who, kept: Slice, cell: str) -> NDArray[np.intp]:
    """The answers of one cell of the 2x2 table as rows of (model, item, turn), models first, turns last.

    Parameters
    ----------
    cell : str
        A key of `CELLS`.
    """
    ones, others = (_masks(found, found.index(who), kept) for who in (first, second))
    bits = CELLS[cell](*ones, *others) & kept.window
    turns = np.array(found.masks.false_turns, dtype=np.int64)
    at = np.argwhere(bits[..., np.newaxis] >> (turns - 1) & 1)
    where = np.flatnonzero(kept.models), np.flatnonzero(kept.items), turns
    return np.stack([names[at[:, column]] for column, names in enumerate(where)], axis=-1)
