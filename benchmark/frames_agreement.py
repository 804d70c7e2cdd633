"""From labels of people and detectors to one table of raters, and to the agreement of each pair."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from uuid import UUID

from annotate.axes import PremiseClass
from annotate.models import Label
from benchmark.models import DetectorLabel, ValidationSet
from benchmark.statistics.agreement import Agreement, compare

OVERALL = "overall"
HUMAN, DETECTOR = "human", "detector"


@dataclass(frozen=True)
class Rater:
    """A person under a pseudonym, or a detector; `labels` is parallel to the frame's classes."""

    name: str
    kind: str
    simulated: bool
    labels: list[bool | None]

    @property
    def given(self) -> int:
        """How many responses this rater labelled."""
        return sum(label is not None for label in self.labels)


@dataclass(frozen=True)
class Frame:
    """All raters' labels of a validation set's responses, in one order."""

    classes: list[str]
    raters: list[Rater]

    @property
    def n(self) -> int:
        return len(self.classes)

    @property
    def simulated(self) -> bool:
        return any(rater.simulated for rater in self.raters)

    def levels(self) -> dict[str, list[int]]:
        """Which rows each level keeps: overall, then each class that is there."""
        by_class = {place: [at for at, own in enumerate(self.classes) if own == place] for place in PremiseClass.values}
        return {OVERALL: list(range(self.n)), **{place: rows for place, rows in by_class.items() if rows}}


@dataclass(frozen=True)
class PairRow:
    """Two raters with their agreement at each level, in the order of `Frame.levels`."""

    first: Rater
    second: Rater
    levels: dict[str, Agreement]


def frame(validation_set: ValidationSet) -> Frame:
    """The current labels of H1, H2, ... and those of the primary detectors.

    A rater without a label on a response has None there; nothing is guessed.
    """
    items = list(validation_set.items.order_by("id").values_list("task_id", "response_id", "task__premise_class"))
    humans = _humans(validation_set, [task for task, _, _ in items])
    detectors = _detectors(validation_set, [response for _, response, _ in items])
    return Frame([place for _, _, place in items], [*humans, *detectors])


def _humans(validation_set: ValidationSet, tasks: list[UUID]) -> Iterator[Rater]:
    for assignment in validation_set.label_set.assignments.order_by("id"):
        rows = Label.objects.filter(assignment=assignment).current().values_list("task_id", "detect", "simulated")
        given = {task: (detect, simulated) for task, detect, simulated in rows}
        yield Rater(
            assignment.pseudonym,
            HUMAN,
            any(simulated for _, simulated in given.values()),
            [given[task][0] if task in given else None for task in tasks],
        )


def _detectors(validation_set: ValidationSet, responses: list[int]) -> Iterator[Rater]:
    primary = validation_set.result_set.detectors.filter(primary=True).order_by("position")
    for row in primary.select_related("detector"):
        drawn = validation_set.items.values("response")
        stored = DetectorLabel.objects.filter(detector=row.detector, response__in=drawn)
        given = dict(stored.values_list("response_id", "detect"))
        yield Rater(
            str(row.detector), DETECTOR, row.detector.simulated, [given.get(response) for response in responses]
        )


def pairs(found: Frame) -> list[PairRow]:
    """Each pair of raters, people first, compared overall and by class."""
    levels = found.levels()
    return [
        PairRow(first, second, {level: _compare(first, second, rows) for level, rows in levels.items()})
        for first, second in combinations(found.raters, 2)
    ]


def _compare(first: Rater, second: Rater, rows: list[int]) -> Agreement:
    return compare([first.labels[row] for row in rows], [second.labels[row] for row in rows])


def matrix(found: Frame) -> list[tuple[Rater, list[tuple[Rater, Agreement | None]]]]:
    """Overall agreement of each rater with each: a row for each, with None on the diagonal."""
    rows = found.levels()[OVERALL]
    return [
        (first, [(second, None if first is second else _compare(first, second, rows)) for second in found.raters])
        for first in found.raters
    ]


def records(found: Frame) -> list[dict[str, object]]:
    """Every pair at every level as plain records, for the API and exports."""
    return [
        {
            "first": pair.first.name,
            "second": pair.second.name,
            "level": level,
            "simulated": pair.first.simulated or pair.second.simulated,
            "n": cell.n,
            **asdict(cell),
        }
        for pair in pairs(found)
        for level, cell in pair.levels.items()
    ]
