"""Where a person is in a label set: what is done, what comes next, what was last. Reads only."""

import uuid
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Count, F, Q, QuerySet

from annotate.models import Assignment, Label, LabelSet, LabelTask, User
from annotate.models.labels import Mode
from annotate.services import labels


@dataclass(frozen=True)
class Worklist:
    """The tasks of one assignment in its own order, with the labels that this person gave."""

    assignment: Assignment

    @cached_property
    def tasks(self) -> list[LabelTask]:
        return labels.tasks_in_order(self.assignment)

    @cached_property
    def labels(self) -> dict[uuid.UUID, Label]:
        """This person's current label of each task, in the order in which they were given."""
        rows = Label.objects.filter(assignment=self.assignment).order_by("id")
        latest: dict[uuid.UUID, Label] = {}
        for row in rows:
            latest.pop(row.task_id, None)
            latest[row.task_id] = row
        return latest

    @cached_property
    def places(self) -> dict[uuid.UUID, int]:
        """The place of each task in this person's order, from 1."""
        return {task.pk: place for place, task in enumerate(self.tasks, 1)}

    @property
    def total(self) -> int:
        return len(self.tasks)

    @property
    def done(self) -> int:
        return len(self.labels)

    @property
    def unsure(self) -> list[LabelTask]:
        return [task for task in self.tasks if task.pk in self.labels and self.labels[task.pk].unsure]

    @cached_property
    def _served(self) -> frozenset[uuid.UUID]:
        """In a pool: tasks that have all their labels from others."""
        if self.assignment.label_set.mode != Mode.POOL:
            return frozenset()
        others = Count("labels__assignment", filter=~Q(labels__assignment=self.assignment), distinct=True)
        rows = LabelTask.objects.filter(label_set=self.assignment.label_set).alias(others=others)
        full = rows.filter(others__gte=F("label_set__labels_per_task"))
        return frozenset(full.values_list("pk", flat=True))

    def next_after(self, task: LabelTask | None = None) -> LabelTask | None:
        """The next task without this person's label, after `task` and then from the start; None when none is left.

        A pool hands out only tasks that still want labels. Two people who get the same last task both
        keep their labels: a task may end with one more than it wants, never with one that was lost.
        """
        start = self.places[task.pk] if task else 0
        order = self.tasks[start:] + self.tasks[:start]
        return next((other for other in order if self._is_open(other) and other != task), None)

    def _is_open(self, task: LabelTask) -> bool:
        return task.pk not in self.labels and task.pk not in self._served

    def last_before(self, task: LabelTask | None = None) -> LabelTask | None:
        """The task that this person labelled last; from a labelled task, the one labelled before it."""
        given = list(self.labels)
        if task and task.pk in self.labels:
            given = given[: given.index(task.pk)]
        return self._by_id[given[-1]] if given else None

    def neighbour(self, task: LabelTask, step: int) -> LabelTask | None:
        """The task one place before (-1) or after (1) in this person's order."""
        place = self.places[task.pk] - 1 + step
        return self.tasks[place] if 0 <= place < self.total else None

    @cached_property
    def _by_id(self) -> dict[uuid.UUID, LabelTask]:
        return {task.pk: task for task in self.tasks}


@dataclass(frozen=True)
class Share:
    """One person's part in a set: how many tasks there are and how many have their label."""

    assignment: Assignment
    total: int
    done: int


def shares(assignments: QuerySet[Assignment]) -> list[Share]:
    """The progress of these assignments; counts only, never a label."""
    rows = list(assignments.select_related("label_set", "person"))
    sets = LabelTask.objects.filter(label_set__in={row.label_set_id for row in rows}).values_list("label_set")
    totals = dict(sets.annotate(n=Count("pk")))
    given = Label.objects.filter(assignment__in=rows).values_list("assignment")
    done = dict(given.annotate(n=Count("task", distinct=True)).order_by())
    return [Share(row, totals.get(row.label_set_id, 0), done.get(row.pk, 0)) for row in rows]


def shares_of(user: User) -> list[Share]:
    """This person's sets, newest first."""
    return shares(Assignment.objects.filter(person=user).order_by("-id"))


def pools_for(user: User) -> list[LabelSet]:
    """Open pools that this person could join."""
    return list(LabelSet.objects.filter(mode=Mode.POOL, state="open").exclude(assignments__person=user))
