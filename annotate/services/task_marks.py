"""What a person notes on an answer apart from its label, and how they like to work."""

import uuid

from django.db import transaction
from django.utils import timezone

from annotate.models import Assignment, LabelTask, TaskMark
from fpco_site.errors import Conflict, Invalid


@transaction.atomic
def flag(*, assignment: Assignment, task: LabelTask, flagged: bool) -> TaskMark:
    """Flag an answer to come back to, or take the flag away; the same again changes nothing.

    Raises Conflict once the labels are locked and Invalid for a task of another set.
    """
    if task.label_set_id != assignment.label_set_id:
        raise Invalid("This task is not part of this set.")
    held = Assignment.objects.select_for_update(of=("self",)).select_related("label_set").get(pk=assignment.pk)
    if held.is_locked:
        raise Conflict("Your labels are locked; flags can't be changed any more.")
    mark, _ = TaskMark.objects.update_or_create(task=task, assignment=held, defaults={"flagged": flagged})
    return mark


def flagged(assignment: Assignment) -> set[uuid.UUID]:
    """The ids of the tasks that this person flagged."""
    rows = TaskMark.objects.filter(assignment=assignment, flagged=True)
    return set(rows.values_list("task_id", flat=True))


def advance(*, assignment: Assignment, on: bool) -> None:
    """Whether a saved label brings this person the next answer by itself."""
    Assignment.objects.filter(pk=assignment.pk).update(auto_advance=on)


def practised(*, assignment: Assignment) -> None:
    """This person went through all examples; the first time is kept."""
    Assignment.objects.filter(pk=assignment.pk, practised_at=None).update(practised_at=timezone.now())
