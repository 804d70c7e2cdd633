"""Places in a pool: who has which task on screen, so that each task gets as many labels as it wants and no more.

A person has one claim at a time. It ends with the label, with the next task that is handed out, or by itself after
ten minutes. A label that arrives for a claim that was given away is stored all the same (`worklist.extras`).
"""

import uuid

from django.utils import timezone

from annotate.models import Assignment, LabelClaim
from annotate.models.labels import Mode
from annotate.services import labels
from annotate.worklist import Worklist
from fpco_site import turns


def hand_out(*, work: Worklist, after: uuid.UUID | None = None) -> uuid.UUID | None:
    """The next task for the person of a worklist; in a pool it is theirs until it is labelled, left or lapses.

    `after` is the task that they have before them, which they leave by this. None when there is nothing for them, for
    now (others may leave theirs) or for good.
    """
    if work.assignment.label_set.mode != Mode.POOL:
        return work.next_after(after)
    with turns.atomic():
        held = labels.lock(work.assignment)
        following = None if held.is_locked else Worklist(held).next_after(after)
        _keep(held, following)
    return following


def take(*, assignment: Assignment, task: uuid.UUID) -> bool:
    """Whether this person may have this task before them; in a pool it is then theirs.

    A task that they labelled stays theirs to change. One whose places others have is not to be had.
    """
    if assignment.label_set.mode != Mode.POOL:
        return True
    with turns.atomic():
        held = labels.lock(assignment)
        work = Worklist(held)
        if work.label_of(task) is not None:
            return True
        if held.is_locked or task in work.full:
            return False
        _keep(held, task)
    return True


def _keep(assignment: Assignment, task: uuid.UUID | None) -> None:
    """Claim this task, or claim it anew, and let go of every other."""
    assignment.claims.all().delete()
    if task is not None:
        LabelClaim.objects.create(task_id=task, assignment=assignment, taken_at=timezone.now())
