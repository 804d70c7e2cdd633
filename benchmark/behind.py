"""The dialogues behind a number: which answers were counted, and which of them as corrections by which detector.

This is response-level: whoever shows it has asked `blindness.require_open_eyes` before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from annotate.models import DatasetItem
from benchmark import frames, frames_variants
from benchmark.frames import AVG, BREAKDOWNS, LEVELS, MEASURES, OVERALL, Masks
from benchmark.frames_variants import BOTH
from benchmark.leaderboard import LEVEL_NAMES, MEASURE_NAMES
from benchmark.models import Dialogue, Response
from benchmark.statistics.patterns import window
from benchmark.statistics.rates import Estimate

SHOWS = {
    "": "all",
    "corrected": "with a correction",
    "split": "on which detectors differ",
    "not": "with a non-correction",
    "missing": "with a gap",
}
CORRECTED, NOT, NO_LABEL, NO_ANSWER = "corrected", "not", "no_label", "no_answer"
MARKS = {CORRECTED: "✓", NOT: "○", NO_LABEL: "?", NO_ANSWER: "×"}
WORDS = {CORRECTED: "correction", NOT: "no correction", NO_LABEL: "no label", NO_ANSWER: "no answer"}

VARIANTS = {"A": "variants A", "B": "variants B", BOTH: "variants A and B"}

type Bits = NDArray[np.int64]


@dataclass(frozen=True)
class Asked:
    """One number of a table, as an address names it; an axis without a level counts as a whole."""

    dataset: int
    model: str
    measure: str
    k: int
    column: str
    premise_class: str = ""
    complexity: str = ""
    category: str = ""
    variant: str = ""
    show: str = ""

    @property
    def levels(self) -> dict[str, str]:
        return {axis: getattr(self, axis) for axis in BREAKDOWNS}

    @property
    def words(self) -> str:
        """Which number it is."""
        where = [LEVEL_NAMES[level].lower() for level in self.levels.values() if level]
        where += [VARIANTS[self.variant]] if self.variant else []
        by = "mean of the primary pair" if self.column == AVG else self.column
        return f"{MEASURE_NAMES[self.measure]}@{self.k}, {', '.join(where) or 'overall'}, {by}"

    @property
    def query(self) -> str:
        return urlencode({name: value for name, value in vars(self).items() if value})

    def showing(self, show: str) -> str:
        """The address of the same number with other dialogues shown."""
        return replace(self, show=show).query


@dataclass(frozen=True)
class Number:
    """A number with the answers that make it: bit t-1 of each mask stands for turn t of an item's dialogue.

    `seen` are the answers counted, of shape (item,); `correction` those among them that each of the column's
    detectors saw as a correction, of shape (detector, item).
    """

    asked: Asked
    model: int
    detectors: list[int]
    turns: tuple[int, ...]
    estimate: Estimate
    filled: Estimate
    items: NDArray[np.intp]
    seen: Bits
    correction: Bits

    @cached_property
    def bits(self) -> dict[str, Bits]:
        """The answers of each kind, by what the page can show."""
        planned = np.full(len(self.items), window(self.turns), dtype=np.int64)
        some, all_alike = (join.reduce(self.correction, axis=0) for join in (np.bitwise_or, np.bitwise_and))
        return {
            "": planned,
            "corrected": some,
            "split": some & ~all_alike,
            "not": self.seen & ~some,
            "missing": planned & ~self.seen,
        }

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many answers are of each kind; n is `corrected` and `not` together."""
        return {name: int(np.bitwise_count(bits).sum()) for name, bits in self.bits.items()}

    @property
    def n(self) -> int:
        return self.counts["corrected"] + self.counts["not"]

    @cached_property
    def corrections_by_item(self) -> NDArray[np.float64]:
        """What one of two detectors alone saw as a correction counts a half."""
        counted: NDArray[np.float64] = np.bitwise_count(self.correction).sum(axis=0) / len(self.detectors)
        return counted

    @property
    def corrections(self) -> float:
        return float(self.corrections_by_item.sum())

    @property
    def matching(self) -> list[int]:
        """The places, among the dialogues, of those that hold an answer of the kind that is shown."""
        return [int(at) for at in np.flatnonzero(self.bits[self.asked.show])]

    @property
    def choices(self) -> list[tuple[str, str, str, int, int]]:
        """What can be shown: (value, words, address, dialogues, answers)."""
        kinds = [name for name in SHOWS if name != "split" or len(self.detectors) > 1]
        return [
            (name, SHOWS[name], self.asked.showing(name), int((self.bits[name] > 0).sum()), self.counts[name])
            for name in kinds
        ]


@dataclass(frozen=True)
class Said:
    """What one detector said of an answer."""

    name: str
    verdict: str

    @property
    def words(self) -> str:
        return f"{self.name}: {WORDS[self.verdict]}"

    @property
    def mark(self) -> str:
        return MARKS[self.verdict]


@dataclass(frozen=True)
class TurnCell:
    """A turn of a dialogue: what each of the column's detectors said, and whether the page asks for it."""

    turn: int
    said: list[Said]
    shown: bool

    @property
    def words(self) -> str:
        return f"turn {self.turn}, {', '.join(one.words for one in self.said)}"


@dataclass(frozen=True)
class Row:
    """A dialogue behind the number; `corrections` counts as the number does."""

    item: DatasetItem
    dialogue: int | None
    turns: list[TurnCell]
    n: int
    corrections: float


def read(given: Mapping[str, str], found: Masks, dataset: int) -> Asked | None:
    """The number that an address asks for; None where there is no such number."""
    measure, column = given.get("measure") or "corr_tp", given.get("column") or (AVG if AVG in found.columns else "")
    column = column or next(iter(found.columns), "")
    levels = {axis: _level(given.get(axis, "")) for axis in BREAKDOWNS}
    if given.get("axis", "") in BREAKDOWNS:
        levels[given["axis"]] = _level(given.get("level", "")) or levels[given["axis"]]
    turns = found.measured_turns(measure) if measure in MEASURES else ()
    k = given.get("k") or str(turns[-1] if turns else "")
    known = given.get("model") in [model.name for model in found.models] and column in found.columns
    placed = all(not level or level in LEVELS[axis] for axis, level in levels.items())
    if not (known and placed and k in map(str, turns)):
        return None
    show, variant = given.get("show", ""), given.get("variant", "")
    if variant and (variant not in VARIANTS or frames_variants.read(dataset) is None):
        return None
    show = show if show in SHOWS else ""
    return Asked(dataset, given["model"], measure, int(k), column, **levels, variant=variant, show=show)


def _level(value: str) -> str:
    return "" if value == OVERALL else value


def number(found: Masks, asked: Asked) -> Number:
    """The number and the answers behind it, from the same masks."""
    model = [row.name for row in found.models].index(asked.model)
    detectors = frames.chosen_detectors(found, asked.column)
    measured = found.measured_turns(asked.measure)
    turns = (asked.k,) if asked.measure == "turn_corr" else tuple(turn for turn in measured if turn <= asked.k)
    keep = _kept(found, asked)
    items = np.flatnonzero(keep)
    labelled, correction = (masks[model][detectors][:, items] for masks in (found.labelled, found.correction))
    seen = np.bitwise_and.reduce(labelled, axis=0) & window(turns)
    at = measured.index(asked.k)
    here, full = (_estimates(masks, asked, keep)[model][at] for masks in (found, found.filled()))
    return Number(
        asked,
        model,
        detectors,
        turns,
        here,
        full,
        items,
        seen,
        correction & seen,
    )


def _kept(found: Masks, asked: Asked) -> NDArray[np.bool_]:
    """Which items the number is over; of variants only those of images that have all six, as in the table."""
    keep = found.keeping(**asked.levels)
    variants = frames_variants.read(asked.dataset) if asked.variant else None
    return keep & variants.keeping(asked.variant, len(keep)) if variants else keep


def _estimates(found: Masks, asked: Asked, keep: NDArray[np.bool_]) -> list[list[Estimate]]:
    """By model and turn; those of variants are made for this page alone."""
    if not asked.variant:
        return frames.estimates_at(found, asked.measure, asked.column, **asked.levels)
    of_levels = frames.as_estimates(frames.measure_rates(found, asked.measure, asked.column, keep[np.newaxis]))
    return [[of_turn[0] for of_turn in of_model] for of_model in of_levels]


def rows(found: Masks, made: Number, places: Sequence[int]) -> list[Row]:
    """These dialogues of a number, by their places among its items. Three queries."""
    ids = [found.items[made.items[at]] for at in places]
    items = DatasetItem.objects.in_bulk(ids)
    run = found.models[made.model].run_id
    dialogues = dict(Dialogue.objects.filter(run=run, item__in=ids).values_list("item", "pk"))
    answered = set(Response.objects.filter(dialogue__in=dialogues.values()).order_by().values_list("dialogue", "turn"))
    return [_row(found, made, at, items[pk], dialogues.get(pk), answered) for at, pk in zip(places, ids, strict=True)]


def _row(
    found: Masks, made: Number, at: int, item: DatasetItem, dialogue: int | None, answered: set[tuple[int, int]]
) -> Row:
    shown = int(made.bits[made.asked.show][at])
    cells = [
        TurnCell(
            turn,
            [_said(found, made, index, at, turn, answered=(dialogue, turn) in answered) for index in made.detectors],
            bool(shown >> (turn - 1) & 1),
        )
        for turn in made.turns
    ]
    return Row(item, dialogue, cells, int(made.seen[at]).bit_count(), float(made.corrections_by_item[at]))


def _said(found: Masks, made: Number, detector: int, at: int, turn: int, *, answered: bool) -> Said:
    place, bit = (made.model, detector, made.items[at]), 1 << (turn - 1)
    slug = found.detectors[detector].slug
    if int(found.labelled[place]) & bit:
        return Said(slug, CORRECTED if int(found.correction[place]) & bit else NOT)
    return Said(slug, NO_LABEL if answered else NO_ANSWER)
