"""What the agreement pages show of a frame: what was chosen in the address, and the numbers of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from annotate.axes import Category, Complexity, PremiseClass
from benchmark import charts, frames_agreement, frames_detectors, tables_agreement
from benchmark.frames_agreement import AXES, CORRECT, FALSE, OVERALL, Frame, Group, PairRow, Rater, Who
from benchmark.frames_detectors import Verdicts
from benchmark.printed import Printed
from benchmark.statistics.accuracy import Accuracy
from benchmark.statistics.agreement import Agreement
from benchmark.statistics.agreement_many import Many

DEFAULT_AXIS = "premise_class"
LEVELS = {
    OVERALL: "overall",
    **{value: str(label) for axis in (PremiseClass, Complexity, Category) for value, label in axis.choices},
}


def axis_of(given: Mapping[str, str]) -> str:
    """The axis that the address names, if it is one."""
    return axis if (axis := given.get("axis", "")) in AXES else DEFAULT_AXIS


def premise_of(given: Mapping[str, str]) -> str:
    """Whether answers to false-premise turns are asked for, or those to the others."""
    return CORRECT if given.get("premise") == CORRECT else FALSE


def level_name(axis: str, level: str) -> str:
    """A level as a row names it."""
    return f"turn {level}" if axis == "turn" and level != OVERALL else LEVELS.get(level, level)


def pair_of[W: Who](given: Mapping[str, str], by_key: Mapping[str, W]) -> tuple[W, W] | None:
    """The two raters that the address names; the first two there are where it names none; None for fewer than two."""
    whos = list(by_key.values())
    if len(whos) < 2:
        return None
    first = by_key.get(given.get("first", ""), whos[0])
    second = by_key.get(given.get("second", ""), whos[1])
    if first is second:
        second = next(who for who in whos if who is not first)
    return first, second


@dataclass(frozen=True)
class _Page[F]:
    """A frame, and the axis of it that the address names."""

    found: F
    given: Mapping[str, str]

    @cached_property
    def axis(self) -> str:
        return axis_of(self.given)

    @cached_property
    def axes(self) -> list[tuple[str, str]]:
        return list(AXES.items())

    @property
    def axis_name(self) -> str:
        return AXES[self.axis]


class SetPage(_Page[Frame]):
    """A validation set's agreement along one axis."""

    @property
    def more(self) -> str:
        """What every address of this page carries on."""
        return f"axis={self.axis}&premise={self.found.premise}"

    @cached_property
    def pair(self) -> PairRow | None:
        chosen = pair_of(self.given, self.found.by_key)
        return frames_agreement.pair(self.found, *chosen, self.axis) if chosen else None

    @cached_property
    def levels(self) -> list[tuple[str, str, Agreement]]:
        """The chosen pair's levels: value, name, agreement."""
        return named(self.pair, self.axis)

    @cached_property
    def matrix(self) -> list[tuple[Rater, list[tuple[Rater, Agreement | None]]]]:
        return frames_agreement.matrix(self.found)

    @cached_property
    def kappas(self) -> list[PairRow]:
        return frames_agreement.kappa_pairs(self.found)

    @cached_property
    def kappa_levels(self) -> list[tuple[str, str]]:
        return [(level, level_name(DEFAULT_AXIS, level)) for level in self.found.levels()]

    @cached_property
    def groups(self) -> list[tuple[Group, list[tuple[str, str, Many]]]]:
        return [
            (
                group,
                [
                    (level, level_name(self.axis, level), cell)
                    for level, cell in frames_agreement.group_levels(self.found, group, self.axis).items()
                ],
            )
            for group in frames_agreement.groups(self.found)
        ]

    @cached_property
    def truths(self) -> list[Rater]:
        return frames_agreement.truths(self.found)

    @cached_property
    def truth(self) -> Rater | None:
        return truth_of(self.given, self.found)

    @cached_property
    def accuracies(self) -> list[tuple[Rater, list[tuple[str, str, Accuracy]]]]:
        if self.truth is None:
            return []
        return [
            (detector, [(level, level_name(self.axis, level), cell) for level, cell in levels.items()])
            for detector, levels in frames_agreement.accuracies(self.found, self.truth, self.axis)
        ]

    @cached_property
    def heat(self) -> dict[str, Any]:
        return charts.heat_map(
            [
                {
                    "first": first.name,
                    "second": second.name,
                    "value": cell.kappa.value,
                    "n": cell.n,
                    "reason": cell.kappa.reason if cell.kappa.value is None else "",
                }
                for first, cells in self.matrix
                for second, cell in cells
                if cell is not None
            ],
            [rater.name for rater in self.found.raters],
        )


def truth_of(given: Mapping[str, str], found: Frame) -> Rater | None:
    """Whose labels stand for the truth: as the address says, else the decision, else the first person's."""
    whos = {rater.key: rater for rater in frames_agreement.truths(found)}
    return whos.get(given.get("truth", "")) or next(iter(whos.values()), None)


class DetectorPage(_Page[Verdicts]):
    """Detectors' agreement over all false-premise answers along one axis."""

    @property
    def more(self) -> str:
        """What every address of this page carries on."""
        return f"axis={self.axis}"

    @cached_property
    def pair(self) -> PairRow | None:
        chosen = pair_of(self.given, self.found.by_key)
        return frames_detectors.pair(self.found, *chosen, self.axis) if chosen else None

    @cached_property
    def levels(self) -> list[tuple[str, str, Agreement]]:
        return named(self.pair, self.axis)

    @cached_property
    def printed(self) -> Printed | None:
        """The study's table of the chosen pair, by class."""
        chosen = pair_of(self.given, self.found.by_key)
        if chosen is None:
            return None
        by_class = self.pair if self.axis == DEFAULT_AXIS else frames_detectors.pair(self.found, *chosen)
        return tables_agreement.detector_table(by_class) if by_class else None


def named(pair: PairRow | None, axis: str) -> list[tuple[str, str, Agreement]]:
    """A pair's levels with their names."""
    return [(level, level_name(axis, level), cell) for level, cell in pair.levels.items()] if pair else []
