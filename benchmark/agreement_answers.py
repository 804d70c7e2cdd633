"""The answers behind a number of agreement: which they are, and what everybody said of each.

This is response-level: whoever shows it has asked `blindness.require_open_eyes` before.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from annotate.drafting import Segment
from annotate.models import Adjudication, DatasetTurn, Label
from benchmark import reader
from benchmark.frames_agreement import DECIDED, DETECTOR, HUMAN, Frame, Group, Rater
from benchmark.frames_detectors import Verdicts
from benchmark.models import Response
from benchmark.statistics.agreement import Labels

DIFFER = "differ"
CELLS: dict[str, Callable[[Labels, Labels], NDArray[np.bool_]]] = {
    "both": lambda one, other: (one == 1) & (other == 1),
    "first_only": lambda one, other: (one == 1) & (other == 0),
    "second_only": lambda one, other: (one == 0) & (other == 1),
    "neither": lambda one, other: (one == 0) & (other == 0),
    DIFFER: lambda one, other: (one >= 0) & (other >= 0) & (one != other),
    "shared": lambda one, other: (one >= 0) & (other >= 0),
    "first_missing": lambda one, other: (one < 0) & (other >= 0),
    "second_missing": lambda one, other: (one >= 0) & (other < 0),
    "both_missing": lambda one, other: (one < 0) & (other < 0),
}
WORDS = {
    "both": "both see a correction",
    "first_only": "only {first} sees a correction",
    "second_only": "only {second} sees a correction",
    "neither": "neither sees a correction",
    DIFFER: "they differ",
    "shared": "both labelled",
    "first_missing": "{first} has no label",
    "second_missing": "{second} has no label",
    "both_missing": "neither has a label",
}
GROUP_WORDS = {
    "split": "labels differ",
    "same": "labels are all alike",
    "short": "fewer than two labels",
}


@dataclass(frozen=True)
class Said:
    """What one rater said of an answer; `label` is 1 for a correction, 0 for none."""

    name: str
    kind: str
    label: int
    simulated: bool = False
    unsure: bool = False
    comment: str = ""


@dataclass(frozen=True)
class Answer:
    """An answer with its question and what each rater said of it."""

    response: Response
    question: DatasetTurn
    said: list[Said] = field(default_factory=list)

    @property
    def asked(self) -> list[Segment]:
        return reader.asked(self.question)


def matching(found: Frame, first: Rater, second: Rater, keep: NDArray[np.bool_], cell: str) -> list[int]:
    """The places in the frame of the answers in one cell of two raters' table."""
    return [int(at) for at in np.flatnonzero(CELLS[cell](first.labels, second.labels) & keep)]


def matching_group(group: Group, keep: NDArray[np.bool_], cell: str) -> list[int]:
    """The places in the frame of the answers on which a group's labels differ, are alike, or are too few."""
    yes, no = (group.labels == 1).sum(axis=0), (group.labels == 0).sum(axis=0)
    short, split = yes + no < 2, (yes > 0) & (no > 0)
    chosen = {"split": split, "same": ~short & ~split, "short": short}[cell]
    return [int(at) for at in np.flatnonzero(chosen & keep)]


def of_frame(found: Frame, places: Sequence[int]) -> list[Answer]:
    """These answers of a validation set, in this order, with every rater's label. Five queries."""
    tasks = [found.tasks[at] for at in places]
    responses = _responses([found.responses[at] for at in places])
    questions = _questions(responses.values())
    rows = Label.objects.filter(task__in=tasks).current().select_related("assignment")
    notes = {(row.task_id, row.assignment.pseudonym): row for row in rows}
    reasons = dict(Adjudication.objects.filter(task__in=tasks).current().values_list("task_id", "reason"))

    def said(rater: Rater, at: int) -> Said:
        task = found.tasks[at]
        note = notes.get((task, rater.name)) if rater.kind == HUMAN else None
        why = reasons.get(task, "") if rater.kind == DECIDED else note.comment if note else ""
        return Said(rater.name, rater.kind, int(rater.labels[at]), rater.simulated, bool(note and note.unsure), why)

    made = []
    for at in places:
        response = responses[found.responses[at]]
        question = questions[response.dialogue.item_id, response.turn]
        made.append(Answer(response, question, [said(rater, at) for rater in found.raters if rater.labels[at] >= 0]))
    return made


def of_verdicts(found: Verdicts, places: NDArray[np.intp]) -> list[Answer]:
    """Answers by (model, item, turn) as `frames_detectors.matching` finds them, with every detector's label."""
    masks = found.masks
    keys = [(masks.models[model].run_id, masks.items[item], int(turn)) for model, item, turn in places]
    runs, items, turns = ({key[part] for key in keys} for part in range(3))
    rows = Response.objects.filter(dialogue__run__in=runs, dialogue__item__in=items, turn__in=turns).defer("raw")
    by_key = {
        (row.dialogue.run_id, row.dialogue.item_id, row.turn): row
        for row in rows.select_related("dialogue__item", "dialogue__run__model").order_by()
    }
    questions = _questions(by_key.values())
    made = []
    for key, (model, item, turn) in zip(keys, places, strict=True):
        said = [
            Said(who.name, DETECTOR, label, who.simulated)
            for at, who in enumerate(found.detectors)
            if (label := _label(found, int(model), at, int(item), int(turn))) >= 0
        ]
        made.append(Answer(by_key[key], questions[key[1], key[2]], said))
    return made


def _label(found: Verdicts, model: int, detector: int, item: int, turn: int) -> int:
    at, bit = (model, detector, item), 1 << (turn - 1)
    if not int(found.masks.labelled[at]) & bit:
        return -1
    return int(bool(int(found.masks.correction[at]) & bit))


def _responses(ids: Sequence[int]) -> dict[int, Response]:
    rows = Response.objects.defer("raw").select_related("dialogue__item", "dialogue__run__model")
    return rows.in_bulk(ids)


def _questions(responses: Iterable[Response]) -> dict[tuple[int, int], DatasetTurn]:
    """The question behind each answer, by item and turn."""
    items = {response.dialogue.item_id for response in responses}
    return {(turn.item_id, turn.number): turn for turn in DatasetTurn.objects.filter(item__in=items)}
