"""What the page of one answer shows to the person who labels it. Reads only."""

import uuid
from dataclasses import dataclass
from typing import Any

from annotate import guidelines
from annotate.drafting import Segment, split_marks
from annotate.models import Guideline, LabelTask
from annotate.services import guidelines as versions
from annotate.standing import Standing
from annotate.worklist import Worklist


@dataclass(frozen=True)
class Case:
    """An answer with its questions, as annotators see it; `right` and `asked` are in pieces, what differs marked."""

    premise_class: str
    right: list[Segment]
    asked: list[Segment]
    response: str
    picture: str = ""

    @property
    def false_premise(self) -> bool:
        """Whether the user asked something that was wrong."""
        return bool(self.asked)


def case(premise_class: str, content: str, modified: str, response: str, picture: str = "") -> Case:
    """A case from plain values; without `modified` the user asked the right question."""
    right, asked = split_marks(content, modified) if modified else ([Segment(content, False)], [])
    return Case(premise_class, right, asked, response, picture)


def of_task(task: LabelTask) -> Case:
    """The case of a task; the picture only where its set shows pictures."""
    picture = task.image.sha256 if task.image else ""
    return case(task.get_premise_class_display(), task.content, task.modified, task.response, picture)


def context(work: Worklist, task: LabelTask) -> dict[str, Any]:
    """Everything of the page."""
    return {
        **part(work, task, newest := versions.latest(work.assignment.label_set)),
        "guide": guide(newest),
        "news": versions.unread(work.assignment),
    }


def part(work: Worklist, task: LabelTask, newest: Guideline | None) -> dict[str, Any]:
    """What changes from one answer to the next; `newest` are the guidelines that the page shows."""
    return {
        **progress(work, task.pk),
        "task": task,
        "case": of_task(task),
        "client": uuid.uuid4(),
        "version": newest.version if newest else "",
    }


def progress(work: Worklist, task: uuid.UUID) -> dict[str, Any]:
    """Where the person is, seen from one answer: counts, pace, and the ways from here."""
    standing = Standing(work)
    return {
        "work": work,
        "set": work.assignment.label_set_id,
        "standing": standing,
        "label": work.label_of(task),
        "flagged": task in standing.flags,
        "place": work.places[task],
        "back": work.last_before(task),
        "next": work.next_after(task),
        "earlier": work.neighbour(task, -1),
        "later": work.neighbour(task, 1),
    }


def guide(written: Guideline | None) -> dict[str, Any]:
    """A version of the guidelines, read into blocks."""
    return {
        "version": written.version if written else "",
        "blocks": guidelines.blocks(written.text) if written else [],
    }
