"""Where a person is in a label set: what is done, what comes next, what was last. Reads only."""

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from django.db.models import Count, Min, QuerySet

from annotate.models import Assignment, Label, LabelClaim, LabelSet, LabelTask, User
from annotate.models.labels import Mode
from annotate.services import labels


@dataclass(frozen=True)
class Worklist:
    """The tasks of one assignment in its own order, with the labels that this person gave.

    A press is saved between two looks at this, so whatever it needs goes by ids: texts are read for one task only.
    """

    assignment: Assignment

    @cached_property
    def order(self) -> Sequence[uuid.UUID]:
        """The ids of all tasks in this person's order."""
        return labels.order_of(self.assignment)

    @property
    def places(self) -> Mapping[uuid.UUID, int]:
        """The place of each task in this person's order, from 1."""
        return labels.places_of(self.assignment)

    @cached_property
    def latest(self) -> dict[uuid.UUID, tuple[bool, float | None]]:
        """Unsure and seconds of this person's current label of each task, the newest first."""
        rows = Label.objects.filter(assignment=self.assignment).order_by("-id")
        latest: dict[uuid.UUID, tuple[bool, float | None]] = {}
        for task, unsure, seconds in rows.values_list("task_id", "unsure", "seconds"):
            latest.setdefault(task, (unsure, seconds))
        return latest

    @cached_property
    def given(self) -> list[uuid.UUID]:
        """The ids of the tasks that this person labelled, by their latest label, the newest last."""
        return list(self.latest)[::-1]

    @cached_property
    def tasks(self) -> list[LabelTask]:
        """All tasks with their texts, in this person's order."""
        return labels.tasks_in_order(self.assignment)

    @cached_property
    def labels(self) -> dict[uuid.UUID, Label]:
        """This person's current label of each task."""
        return {row.task_id: row for row in Label.objects.filter(assignment=self.assignment).order_by("id")}

    def label_of(self, task: uuid.UUID) -> Label | None:
        """This person's current label of one task."""
        if task not in self.latest:
            return None
        return Label.objects.filter(assignment=self.assignment, task=task).order_by("-id").first()

    @property
    def total(self) -> int:
        return len(self.order)

    @property
    def done(self) -> int:
        return len(self.given)

    @property
    def unsure(self) -> list[LabelTask]:
        return [task for task in self.tasks if task.pk in self.labels and self.labels[task.pk].unsure]

    @cached_property
    def full(self) -> frozenset[uuid.UUID]:
        """The tasks of a pool whose places others have, by their labels or by having them on screen."""
        label_set = self.assignment.label_set
        if label_set.mode != Mode.POOL:
            return frozenset()
        others = LabelClaim.objects.live().filter(assignment__label_set=label_set).exclude(assignment=self.assignment)
        taken = Counter(others.values_list("task", flat=True))
        given = Label.objects.filter(assignment__label_set=label_set).exclude(assignment=self.assignment)
        taken.update(dict(given.order_by().values_list("task").annotate(n=Count("assignment", distinct=True))))
        return frozenset(task for task, n in taken.items() if n >= label_set.labels_per_task)

    def next_after(self, task: uuid.UUID | None = None) -> uuid.UUID | None:
        """The next task without this person's label, after `task` and then from the start; None when none is left.

        In a pool, of those that still have a place; only `claims.hand_out` keeps it for this person.
        """
        start = self.places[task] if task else 0
        after = chain(self.order[start:], self.order[:start])
        return next((one for one in after if one not in self.latest and one not in self.full and one != task), None)

    def last_before(self, task: uuid.UUID | None = None) -> uuid.UUID | None:
        """The task that this person labelled last; from a labelled task, the one labelled before it."""
        given = self.given[: self.given.index(task)] if task in self.latest else self.given
        return given[-1] if given else None

    def neighbour(self, task: uuid.UUID, step: int) -> uuid.UUID | None:
        """The task one place before (-1) or after (1) in this person's order."""
        place = self.places[task] - 1 + step
        return self.order[place] if 0 <= place < self.total else None


@dataclass(frozen=True)
class Share:
    """One person's part in a set: how many tasks there are and how many have their label."""

    assignment: Assignment
    total: int
    done: int

    @property
    def missing(self) -> int:
        return self.total - self.done


def shares(assignments: QuerySet[Assignment]) -> list[Share]:
    """The progress of these assignments; counts only, never a label."""
    rows = list(assignments.select_related("label_set", "person"))
    sets = LabelTask.objects.filter(label_set__in={row.label_set_id for row in rows}).values_list("label_set")
    totals = dict(sets.annotate(n=Count("pk")))
    given = Label.objects.filter(assignment__in=rows).values_list("assignment")
    done = dict(given.annotate(n=Count("task", distinct=True)).order_by())
    return [Share(row, totals.get(row.label_set_id, 0), done.get(row.pk, 0)) for row in rows]


def extras(label_set: LabelSet) -> frozenset[tuple[uuid.UUID, int]]:
    """(task, assignment) of labels beyond what a pool wants: a task counts the first people who labelled it.

    There are some only where a claim had lapsed and was given away before its label came after all, or where labels
    came by import. They are stored and shown, and left out where a task's labels are counted together.
    """
    if label_set.mode != Mode.POOL:
        return frozenset()
    firsts = Label.objects.filter(assignment__label_set=label_set).order_by().values_list("task", "assignment")
    seen: Counter[uuid.UUID] = Counter()
    extra = set()
    for task, assignment, _ in sorted(firsts.annotate(first=Min("pk")), key=lambda row: row[2]):
        seen[task] += 1
        if seen[task] > label_set.labels_per_task:
            extra.add((task, assignment))
    return frozenset(extra)


def shares_of(user: User) -> list[Share]:
    """This person's sets, newest first."""
    return shares(Assignment.objects.filter(person=user).order_by("-id"))


def pools_for(user: User) -> list[LabelSet]:
    """Open pools that this person could join."""
    return list(LabelSet.objects.filter(mode=Mode.POOL, state="open").exclude(assignments__person=user))
