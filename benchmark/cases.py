"""Dialogues side by side: one item, its questions, and what several models answered. Reads only.

This is response-level: whoever calls it has asked `blindness.require_open_eyes` before.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Max, QuerySet

from annotate import licences
from annotate.drafting import Segment
from annotate.models import Dataset, DatasetItem, DatasetTurn
from benchmark import finding, reader
from benchmark.frames import Masks
from benchmark.models import Attempt, CaseStudy, DetectorLabel, Dialogue, Response, ResultSet
from benchmark.models.runs import ENDED
from benchmark.reader import TurnView


@dataclass(frozen=True)
class Line:
    """One turn across the models: the question, and a view of the answer for each side."""

    question: DatasetTurn
    cells: list[TurnView]

    @property
    def asked(self) -> list[Segment]:
        return reader.asked(self.question)

    @property
    def correct(self) -> list[Segment]:
        return self.cells[0].correct


@dataclass(frozen=True)
class Group:
    """One item with the dialogues over it, side by side."""

    item: DatasetItem
    sides: list[Dialogue]
    lines: list[Line]

    @property
    def withheld_picture(self) -> str:
        """Why an export leaves the picture out; blank where it doesn't."""
        if self.item.image is None:
            return "This dataset came without its picture."
        return licences.sentence(self.item.license, self.item.license_url).replace("a release", "this export")


@dataclass(frozen=True)
class Listed:
    """An item to choose: how many of its labels on false-premise turns are corrections, on how many detectors differ.

    Of all models of the result set, by the primary detectors.
    """

    item: DatasetItem
    share: float | None
    differ: int


def pinned(case: CaseStudy) -> list[Dialogue]:
    """The dialogues of a case study in their order."""
    rows = _with_names().filter(pk__in=case.pins.values("dialogue"))
    by_id = rows.in_bulk()
    return [by_id[pk] for pk in case.pins.order_by("position", "id").values_list("dialogue_id", flat=True)]


def over_item(item: DatasetItem, result_set: ResultSet | None) -> list[Dialogue]:
    """Every model's dialogue over an item: of the runs that count, or of all runs where none do."""
    rows = _with_names().filter(item=item)
    if result_set is not None:
        rows = rows.filter(run__in=result_set.runs.values("run"))
    return list(rows.order_by("run__model__family", "run__model__name", "run_id"))


def groups(dialogues: Sequence[Dialogue], *, false_only: bool = False) -> list[Group]:
    """The dialogues by item, items and sides in the order in which they come. Five queries, however many they are."""
    by_item: dict[int, list[Dialogue]] = defaultdict(list)
    for dialogue in dialogues:
        by_item[dialogue.item_id].append(dialogue)
    questions: dict[int, list[DatasetTurn]] = defaultdict(list)
    asked = DatasetTurn.objects.filter(item__in=by_item).order_by("number")
    for turn in asked.filter(false_premise=True) if false_only else asked:
        questions[turn.item_id].append(turn)
    read = _read(dialogues)
    return [
        Group(sides[0].item, sides, [Line(turn, [read.view(side, turn) for side in sides]) for turn in questions[item]])
        for item, sides in by_item.items()
    ]


def listed(found: Masks | None, dataset: Dataset) -> list[Listed]:
    """The items of a dataset, in the order of their keys."""
    items = list(dataset.items.select_related("image").order_by("key"))
    if found is None or not found.primary or not found.models:
        return [Listed(item, None, 0) for item in items]
    bits = sum(1 << (turn - 1) for turn in found.false_turns)
    labelled = found.labelled[:, found.primary] & bits
    correction = found.correction[:, found.primary] & labelled
    n = np.bitwise_count(labelled).sum(axis=(0, 1), dtype=np.int64)
    yes = np.bitwise_count(correction).sum(axis=(0, 1), dtype=np.int64)
    both = np.bitwise_and.reduce(labelled, axis=1)
    some = np.bitwise_or.reduce(correction, axis=1) & both
    differ = np.bitwise_count(some & ~np.bitwise_and.reduce(correction, axis=1)).sum(axis=0, dtype=np.int64)
    at = {item: place for place, item in enumerate(found.items)}
    return [
        Listed(item, float(yes[place] / n[place]) if n[place] else None, int(differ[place]))
        for item in items
        for place in [at[item.pk]]
    ]


def _with_names() -> QuerySet[Dialogue]:
    return Dialogue.objects.select_related("run__model", "run__dataset", "item__image")


@dataclass(frozen=True)
class _Read:
    """Answers, labels and ends of many dialogues by dialogue and turn, read at once."""

    responses: dict[tuple[int, int], Response]
    labels: dict[tuple[int, int], list[DetectorLabel]]
    attempts: dict[tuple[int, int], list[Attempt]]

    def view(self, dialogue: Dialogue, question: DatasetTurn) -> TurnView:
        key = dialogue.pk, question.number
        over = dialogue.state in ENDED
        return TurnView(question, self.responses.get(key), self.attempts.get(key, []), self.labels.get(key, []), over)


def _read(dialogues: Sequence[Dialogue]) -> _Read:
    ids = [dialogue.pk for dialogue in dialogues]
    judges = [judge.pk for judge in finding.judges(dialogues[0].run)] if dialogues else []
    said = DetectorLabel.objects.filter(dialogue__in=ids, detector__in=judges).select_related("detector")
    labels: dict[tuple[int, int], list[DetectorLabel]] = defaultdict(list)
    for label in sorted(said, key=lambda label: judges.index(label.detector_id)):
        labels[label.dialogue_id, label.turn].append(label)
    latest = Attempt.objects.filter(dialogue__in=ids).order_by().values("dialogue", "turn").annotate(last=Max("pk"))
    ends = Attempt.objects.filter(pk__in=latest.values("last")).defer("raw")
    return _Read(
        {(row.dialogue_id, row.turn): row for row in Response.objects.filter(dialogue__in=ids).defer("raw")},
        labels,
        {(row.dialogue_id, row.turn): [row] for row in ends},
    )
