"""Blind labelling: open a set, record labels, submit, close. Nothing here knows where an answer comes from."""

import hashlib
import hmac
import math
import random
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from annotate import guidelines
from annotate.models import Assignment, Dataset, Guideline, Image, Label, LabelClaim, LabelSet, LabelTask, User
from annotate.models.labels import AssignmentState, LabelSetState, Mode
from annotate.models.people import Role
from annotate.services import label_rows
from fpco_site import turns
from fpco_site.errors import Conflict, Invalid

LONGEST = 24 * 60 * 60.0


@dataclass(frozen=True)
class NewTask:
    """What an annotator will see of one answer, as plain values."""

    premise_class: str
    content: str
    modified: str
    response: str
    image: Image | None = None


@transaction.atomic
def open_set(
    *,
    name: str,
    dataset: Dataset,
    tasks: Sequence[NewTask],
    annotators: Iterable[User],
    seed: int,
    by: User | None,
    mode: str = Mode.CROSSED,
    labels_per_task: int = 2,
    show_picture: bool = False,
    guideline: str = "",
) -> tuple[LabelSet, list[LabelTask]]:
    """Open a set for its annotators, who become H1, H2, ... in the order given.

    Rows are inserted in an order shuffled from `seed`, with one creation time, so that neither ids nor
    times tell where an answer comes from. A picture is kept only where `show_picture` says so.

    Returns
    -------
    tuple
        The set, and its tasks in the order of `tasks`.

    Raises
    ------
    Invalid
        Without tasks, without annotators, for a person who can't label, or for a name that is taken.
    """
    people = list(annotators)
    _check_opening(name, tasks, people, mode)
    label_set = LabelSet.objects.create(
        name=name,
        dataset=dataset,
        mode=mode,
        labels_per_task=labels_per_task,
        show_picture=show_picture,
        opened_by=by,
        opened_at=timezone.now(),
    )
    Guideline.objects.create(label_set=label_set, text=guideline or guidelines.text())
    rows = [_task(label_set, task) for task in tasks]
    LabelTask.objects.bulk_create(random.Random(seed).sample(rows, len(rows)))
    for person in people:
        _assign(label_set, person)
    return label_set, rows


def _check_opening(name: str, tasks: Sequence[NewTask], people: list[User], mode: str) -> None:
    if not tasks:
        raise Invalid("There is nothing to label: the draw is empty.")
    if not people and mode == Mode.CROSSED:
        raise Invalid("Choose at least one annotator.")
    if len({person.pk for person in people}) < len(people):
        raise Invalid("Each annotator can be chosen once.")
    for person in people:
        if not can_label(person):
            raise Invalid(f"{person.username} can't label: that takes an active author or annotator.")
    if LabelSet.objects.filter(name=name).exists():
        raise Invalid(f"A label set named {name} exists already.")


def can_label(person: User) -> bool:
    """Whether this person may label, and decide what others labelled."""
    return person.is_active and not person.imported and person.role in {Role.AUTHOR, Role.ANNOTATOR}


def _task(label_set: LabelSet, task: NewTask) -> LabelTask:
    return LabelTask(
        label_set=label_set,
        created_at=label_set.opened_at,
        premise_class=task.premise_class,
        content=task.content,
        modified=task.modified,
        response=task.response,
        image=task.image if label_set.show_picture else None,
    )


def _assign(label_set: LabelSet, person: User) -> Assignment:
    return Assignment.objects.create(
        label_set=label_set,
        person=person,
        pseudonym=f"H{label_set.assignments.count() + 1}",
        order_key=_digest(settings.SECRET_KEY, f"{label_set.pk}:{person.pk}"),
    )


@transaction.atomic
def join(*, label_set: LabelSet, by: User) -> Assignment:
    """Take part in an open pool; from now on this person is blind for its dataset."""
    label_set = LabelSet.objects.select_for_update().get(pk=label_set.pk)
    if label_set.mode != Mode.POOL or label_set.state != LabelSetState.OPEN:
        raise Conflict("Only an open pool can be joined.")
    if not can_label(by):
        raise Invalid(f"{by.username} can't label: that takes an active author or annotator.")
    return label_set.assignments.filter(person=by).first() or _assign(label_set, by)


def order_of(assignment: Assignment) -> tuple[uuid.UUID, ...]:
    """The ids of all tasks of the set in this person's own order, which is the same at every call."""
    return tuple(places_of(assignment))


def places_of(assignment: Assignment) -> Mapping[uuid.UUID, int]:
    """The place of each task in this person's own order, from 1; in that order."""
    return _places(assignment.label_set_id, assignment.label_set.opened_at, assignment.order_key)


@lru_cache(maxsize=256)
def _places(label_set: int, opened_at: datetime, key: str) -> Mapping[uuid.UUID, int]:
    """Kept, because the tasks of a set never change after it was opened and a person asks at every press."""
    ids = LabelTask.objects.filter(label_set=label_set).order_by().values_list("pk", flat=True)
    order = sorted(ids, key=lambda task: _digest(key, str(task)))
    return MappingProxyType({task: place for place, task in enumerate(order, 1)})


def tasks_in_order(assignment: Assignment) -> list[LabelTask]:
    """All tasks of the set, texts and all, in this person's own order."""
    tasks = LabelTask.objects.filter(label_set_id=assignment.label_set_id).select_related("image")
    found = {task.pk: task for task in tasks}
    return [found[task] for task in order_of(assignment) if task in found]


@turns.atomic()
def record(
    *,
    assignment: Assignment,
    task: LabelTask,
    detect: bool,
    client: uuid.UUID,
    sequence: int,
    unsure: bool = False,
    comment: str = "",
    seconds: float | None = None,
    guideline: Guideline | None = None,
    simulated: bool = False,
) -> Label:
    """Store one press of a key and return the label that counts for this task now.

    `client` is the page's own id and `sequence` its count of presses. The same press sent again is
    stored once; a press older than one stored for this task and client is ignored; another answer is a
    new row. `guideline` is the version that the person had in view, the newest where that is not told.

    Raises
    ------
    Conflict
        When the labels are locked, or the same press arrives with another answer.
    Invalid
        For a task of another set, or seconds that can't be.
    """
    if task.label_set_id != assignment.label_set_id:
        raise Invalid("This task is not part of this set.")
    made = Label(
        task_id=task.pk,
        detect=detect,
        unsure=unsure,
        comment=comment,
        seconds=seconds,
        guideline=guideline,
        client=client,
        sequence=sequence,
        simulated=simulated,
    )
    return put(held=lock(assignment), made=made)


def put(*, held: Assignment, made: Label) -> Label:
    """What `record` does once the assignment is held; `made` is a new label, of a task known to be of its set."""
    if made.seconds is not None and not (math.isfinite(made.seconds) and 0 <= made.seconds <= LONGEST):
        raise Invalid("The seconds of a label are between 0 and those of a day.")
    known = label_rows.known(assignment=held.pk, task=made.task_id, client=made.client, sequence=made.sequence)
    if known is None or known[0] != made.sequence:
        refuse_locked(held)
    else:
        _refuse_other(known[1], made.detect)
    if known is not None:
        return Label.objects.filter(task=made.task_id, assignment=held.pk).latest("id")
    if held.label_set.mode == Mode.POOL:
        LabelClaim.objects.filter(task=made.task_id, assignment=held.pk).delete()
    made.assignment_id = held.pk
    made.comment = made.comment.strip()
    if made.guideline_id is None:
        made.guideline_id = _newest_guideline(held.label_set_id)
    return label_rows.insert(made)


def lock(assignment: Assignment) -> Assignment:
    """The assignment as it is now, held until the transaction ends; `close` waits for it.

    In a pool the set is held too: who gets which task depends on everybody's labels and claims. Always in this
    order, so that nobody waits for somebody who waits for them.
    """
    rows = Assignment.objects.select_for_update(of=("self",)).select_related("label_set")
    held = rows.get(pk=assignment.pk)
    if connection.features.has_select_for_update:
        # Read again: the row that was waited for is fresh, what was joined to it is as old as the question.
        sets = LabelSet.objects.all()
        if held.label_set.mode == Mode.POOL:
            sets = sets.select_for_update(no_key=True)
        held.label_set = sets.get(pk=held.label_set_id)
    return held


def _refuse_other(stored: bool, detect: bool) -> None:
    if stored != detect:
        raise Conflict("This press is stored already, with the other answer. Reload the page and choose again.")


def _newest_guideline(label_set: int) -> int | None:
    rows = Guideline.objects.filter(label_set=label_set).order_by("-version")
    return rows.values_list("pk", flat=True).first()


def refuse_locked(assignment: Assignment) -> None:
    """Raise Conflict where this person's labels are final."""
    if assignment.state == AssignmentState.SUBMITTED:
        raise Conflict("You have submitted your labels; they can't be changed any more.")
    if assignment.label_set.state == LabelSetState.CLOSED:
        raise Conflict("This set is closed; its labels can't be changed any more.")


@transaction.atomic
def submit(*, assignment: Assignment) -> Assignment:
    """Lock this person's labels, for ever. In a crossed set only when every task has its label."""
    assignment = lock(assignment)
    refuse_locked(assignment)
    labelled = assignment.labels.values("task").distinct().count()
    total = LabelTask.objects.filter(label_set=assignment.label_set_id).count()
    if not labelled:
        raise Conflict("There is no label to submit yet.")
    if assignment.label_set.mode == Mode.CROSSED and labelled < total:
        missing = total - labelled
        raise Conflict(f"{missing} of {total} answers {'is' if missing == 1 else 'are'} still without a label.")
    assignment.state, assignment.submitted_at = AssignmentState.SUBMITTED, timezone.now()
    assignment.save(update_fields=["state", "submitted_at"])
    assignment.claims.all().delete()
    return assignment


@transaction.atomic
def close(*, label_set: LabelSet, by: User) -> LabelSet:
    """Lock everybody's labels and end the labelling; a set never reopens."""
    list(Assignment.objects.select_for_update().filter(label_set=label_set).order_by("id"))
    closed = LabelSet.objects.filter(pk=label_set.pk, state=LabelSetState.OPEN).update(
        state=LabelSetState.CLOSED, closed_by=by, closed_at=timezone.now()
    )
    if not closed:
        raise Conflict("This set is closed already; a set never reopens.")
    return LabelSet.objects.get(pk=label_set.pk)


def _digest(key: str, text: str) -> str:
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()
