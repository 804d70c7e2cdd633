"""From labels of people and detectors to one table of raters, and to every number of their agreement."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from annotate import worklist
from annotate.axes import Category, Complexity, PremiseClass
from annotate.models import Adjudication, Label
from annotate.models.labels import LabelSetState, Mode
from benchmark.models import DetectorLabel, ValidationSet
from benchmark.statistics.accuracy import Accuracy, accuracy
from benchmark.statistics.agreement import Agreement, Coefficient, Labels, codes, from_labels
from benchmark.statistics.agreement_many import Many, many

OVERALL = "overall"
AXES = {
    "premise_class": "class",
    "complexity": "complexity",
    "category": "category",
    "model": "model",
    "turn": "turn",
}
FALSE, CORRECT = "false", "correct"  # the premise of the questions whose answers are compared
HUMAN, DETECTOR, DECIDED = "human", "detector", "adjudicated"
POOLED = "a pool: who labelled an answer is whoever came, so two raters' kappa says nothing of the set"
_ORDERED = {"premise_class": PremiseClass, "complexity": Complexity, "category": Category}


@dataclass(frozen=True)
class Who:
    """A person under a pseudonym, the decision on the people's labels, or a detector. `key` names it in addresses."""

    key: str
    name: str
    kind: str
    simulated: bool


@dataclass(frozen=True)
class Rater(Who):
    """Who labelled, with labels parallel to the frame's answers: 1 for a correction, 0 for none, -1 without one."""

    labels: Labels

    @property
    def given(self) -> int:
        """How many answers this rater labelled."""
        return int((self.labels >= 0).sum())


@dataclass(frozen=True)
class Frame:
    """All raters' labels of a validation set's answers to questions with one kind of premise, in one order.

    `images` says which answers resemble each other: those of one image. `places` holds, by axis, the level of
    each answer. `probabilities` are those with which the answers were drawn. `others` counts the set's answers with the
    other kind of premise, in which a correction is a needless one.
    """

    responses: list[int]
    tasks: list[UUID]
    images: NDArray[np.int64]
    places: dict[str, NDArray[np.str_]]
    probabilities: NDArray[np.float64]
    raters: list[Rater]
    mode: str
    labels_per_task: int
    premise: str
    others: int

    @property
    def n(self) -> int:
        return len(self.responses)

    @property
    def simulated(self) -> bool:
        return any(rater.simulated for rater in self.raters)

    @property
    def pooled(self) -> bool:
        return self.mode == Mode.POOL

    @property
    def decided(self) -> bool:
        """Whether there is an adjudicated label."""
        return bool(self.of_kind(DECIDED))

    @property
    def equal(self) -> bool:
        """Whether all answers were drawn with the same probability, to within a hundredth of it."""
        return bool(self.probabilities.max() <= 1.01 * self.probabilities.min()) if self.n else True

    @property
    def chances(self) -> str:
        """The smallest and the largest probability with which an answer was drawn, in words."""
        return f"{self.probabilities.min():.2g} to {self.probabilities.max():.2g}"

    @property
    def images_shown(self) -> int:
        return len(np.unique(self.images))

    @cached_property
    def by_key(self) -> dict[str, Rater]:
        return {rater.key: rater for rater in self.raters}

    def of_kind(self, *kinds: str) -> list[Rater]:
        return [rater for rater in self.raters if rater.kind in kinds]

    def levels(self, axis: str = "premise_class") -> dict[str, NDArray[np.bool_]]:
        """Which answers each level keeps: overall, then each level that is there, in the study's order."""
        place = self.places[axis]
        there = set(place.tolist())
        order = _ORDERED[axis].values if axis in _ORDERED else sorted(there, key=_as_number)
        return {OVERALL: np.ones(self.n, dtype=bool), **{level: place == level for level in order if level in there}}


@dataclass(frozen=True)
class PairRow:
    """Two raters with their agreement at each level, in the order of `Frame.levels`."""

    first: Who
    second: Who
    levels: dict[str, Agreement]

    @property
    def simulated(self) -> bool:
        return self.first.simulated or self.second.simulated


@dataclass(frozen=True)
class Group:
    """Raters that are compared all at once; each answer is to have `wanted` labels of theirs."""

    key: str
    name: str
    raters: list[Rater]
    wanted: int

    @property
    def labels(self) -> Labels:
        return np.stack([rater.labels for rater in self.raters])


def frame(validation_set: ValidationSet, *, premise: str = FALSE) -> Frame:
    """The current labels of H1, H2, ..., the decision on them, and the labels of every detector of the result set.

    Of answers to false-premise turns, or to the others with `premise="correct"`: the two are never mixed. A rater
    without a label on an answer has none there; nothing is guessed. Six queries.
    """
    item = "response__dialogue__item__"
    rows = validation_set.items.order_by("id").values_list(
        "response_id",
        "task_id",
        f"{item}image_id",
        f"{item}id",
        "inclusion_probability",
        *(f"{item}{axis}" for axis in _ORDERED),
        "response__dialogue__run__model__name",
        "response__turn",
    )
    label_set = validation_set.label_set
    false = set(label_set.dataset.false_turns)
    found = list(rows)
    kept = [row for row in found if (row[-1] in false) == (premise == FALSE)]
    columns = [list(column) for column in zip(*kept, strict=True)] or [[] for _ in range(5 + len(AXES))]
    responses, tasks, images, items, probabilities, *places = columns
    return Frame(
        responses=responses,
        tasks=tasks,
        images=image_keys(images, items),
        places={axis: np.array([str(level) for level in of]) for axis, of in zip(AXES, places, strict=True)},
        probabilities=np.array(probabilities, dtype=np.float64),
        raters=[*_people(validation_set, tasks), *_detectors(validation_set, responses)],
        mode=label_set.mode,
        labels_per_task=label_set.labels_per_task,
        premise=premise,
        others=len(found) - len(kept),
    )


def image_keys(images: list[int | None], items: list[int]) -> NDArray[np.int64]:
    """One number for each image; an item without a picture stands for itself."""
    pairs = zip(images, items, strict=True)
    return np.array([-item if image is None else image for image, item in pairs], dtype=np.int64)


def _people(validation_set: ValidationSet, tasks: list[UUID]) -> Iterator[Rater]:
    label_set = validation_set.label_set
    given: dict[int, dict[UUID, bool]] = defaultdict(dict)
    simulated: dict[int, bool] = defaultdict(bool)
    rows = Label.objects.filter(assignment__label_set=label_set).current()
    extras = worklist.extras(label_set)
    for assignment, task, detect, made_up in rows.values_list("assignment_id", "task_id", "detect", "simulated"):
        if (task, assignment) in extras:
            continue
        given[assignment][task] = detect
        simulated[assignment] |= made_up
    people = [
        Rater(f"human-{number}", row.pseudonym, HUMAN, simulated[row.pk], codes([given[row.pk].get(t) for t in tasks]))
        for number, row in enumerate(label_set.assignments.order_by("id"), 1)
    ]
    yield from people
    if label_set.state == LabelSetState.CLOSED and people:
        yield _adjudicated(validation_set, tasks, people)


def _adjudicated(validation_set: ValidationSet, tasks: list[UUID], people: list[Rater]) -> Rater:
    """The label on which all agree; where they differ, what was decided; else none.

    Where two people or more label, one label alone is no agreement.
    """
    decided = dict(
        Adjudication.objects.filter(task__label_set=validation_set.label_set).current().values_list("task_id", "detect")
    )
    labels = np.stack([rater.labels for rater in people])
    yes, no = (labels == 1).sum(axis=0), (labels == 0).sum(axis=0)
    enough = yes + no >= min(2, len(people))
    agreed = np.where(enough & (no == 0), 1, np.where(enough & (yes == 0), 0, -1)).astype(np.int8)
    ruled = codes([decided.get(task) for task in tasks])
    return Rater(
        "adjudicated",
        "Adjudicated",
        DECIDED,
        any(rater.simulated for rater in people),
        np.where(agreed >= 0, agreed, ruled),
    )


def _detectors(validation_set: ValidationSet, responses: list[int]) -> Iterator[Rater]:
    rows = validation_set.result_set.held_detectors
    drawn = validation_set.items.values("response")
    stored = DetectorLabel.objects.filter(detector__in=[row.detector_id for row in rows], response__in=drawn)
    given: dict[int, dict[int, bool]] = defaultdict(dict)
    for detector, response, detect in stored.order_by().values_list("detector_id", "response_id", "detect"):
        given[detector][response] = detect
    for number, row in enumerate(rows, 1):
        labels = codes([given[row.detector_id].get(response) for response in responses])
        yield Rater(f"detector-{number}", str(row.detector), DETECTOR, row.detector.simulated, labels)


def compare(found: Frame, first: Rater, second: Rater, keep: NDArray[np.bool_], *, bootstrap: bool = True) -> Agreement:
    """Two raters over some of the answers; without kappa where a person of a pool is one of them."""
    made = from_labels(first.labels[keep], second.labels[keep], found.images[keep], bootstrap=bootstrap)
    if found.pooled and HUMAN in (first.kind, second.kind):
        return replace(made, kappa=Coefficient(None, reason=POOLED))
    return made


def pair(found: Frame, first: Rater, second: Rater, axis: str = "premise_class") -> PairRow:
    """Two raters compared overall and at each level of an axis."""
    levels = found.levels(axis)
    return PairRow(first, second, {level: compare(found, first, second, keep) for level, keep in levels.items()})


def pairs(found: Frame, axis: str = "premise_class") -> list[PairRow]:
    """Each pair of raters, people first."""
    return [pair(found, first, second, axis) for first, second in combinations(found.raters, 2)]


def kappa_pairs(found: Frame) -> list[PairRow]:
    """The pairs of the study's table of kappas: people and detectors, without the decision, which is made of theirs.

    In a pool only detectors have a kappa.
    """
    kinds = (DETECTOR,) if found.pooled else (HUMAN, DETECTOR)
    return [pair(found, first, second) for first, second in combinations(found.of_kind(*kinds), 2)]


def matrix(found: Frame) -> list[tuple[Rater, list[tuple[Rater, Agreement | None]]]]:
    """Overall agreement of each rater with each: a row for each, with None on the diagonal. No bootstrap."""
    everything = found.levels()[OVERALL]
    return [
        (
            first,
            [
                (second, None if first is second else compare(found, first, second, everything, bootstrap=False))
                for second in found.raters
            ],
        )
        for first in found.raters
    ]


def groups(found: Frame) -> list[Group]:
    """Who is compared all at once: the people of a pool or three and more of them, detectors, both together."""
    people, detectors = found.of_kind(HUMAN), found.of_kind(DETECTOR)
    everybody = [*people, *detectors]
    made = []
    if found.pooled and len(people) > 1:
        made.append(Group("people", "People of the pool", people, max(2, found.labels_per_task)))
    if not found.pooled and len(people) > 2:
        made.append(Group("people", "People", people, len(people)))
    if len(detectors) > 2:
        made.append(Group("detectors", "Detectors", detectors, len(detectors)))
    if not found.pooled and people and detectors and len(everybody) > 2:
        made.append(Group("all", "People and detectors", everybody, len(everybody)))
    return made


def group_levels(found: Frame, group: Group, axis: str = "premise_class") -> dict[str, Many]:
    """Fleiss' kappa and Krippendorff's alpha of a group, overall and at each level of an axis."""
    return {
        level: many(group.labels[:, keep], found.images[keep], wanted=group.wanted)
        for level, keep in found.levels(axis).items()
    }


def truths(found: Frame) -> list[Rater]:
    """Whose labels may stand for the truth: the decision first, then each person."""
    return [*found.of_kind(DECIDED), *found.of_kind(HUMAN)]


def accuracies(found: Frame, truth: Rater, axis: str = "premise_class") -> list[tuple[Rater, dict[str, Accuracy]]]:
    """Each detector against the truth, overall and at each level of an axis."""
    levels = found.levels(axis)
    return [
        (
            detector,
            {
                level: accuracy(truth.labels[keep], detector.labels[keep], found.images[keep])
                for level, keep in levels.items()
            },
        )
        for detector in found.of_kind(DETECTOR)
    ]


def _as_number(level: str) -> tuple[int, str]:
    return (int(level), "") if level.isdigit() else (0, level)
