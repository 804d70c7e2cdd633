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
    """The tasks of one assignment in its own order, with the labels that this person gave.

    A press is saved between two looks at this, so whatever it needs goes by ids: texts are read for one task only.
    """

    assignment: Assignment

    @cached_property
    def order(self) -> list[uuid.UUID]:
        """The ids of all tasks in this person's order."""
        return labels.order_of(self.assignment)

    @cached_property
    def places(self) -> dict[uuid.UUID, int]:
        """The place of each task in this person's order, from 1."""
        return {task: place for place, task in enumerate(self.order, 1)}

    @cached_property
    def given(self) -> list[uuid.UUID]:
        """The ids of the tasks that this person labelled, by their latest label, the newest last."""
        rows = Label.objects.filter(assignment=self.assignment).order_by("-id").values_list("task_id", flat=True)
        return list(dict.fromkeys(rows))[::-1]

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
    def _over(self) -> frozenset[uuid.UUID]:
        """Tasks that want no label of this person any more; in a pool, those that have all theirs from others too."""
        given = frozenset(self.given)
        if self.assignment.label_set.mode != Mode.POOL:
            return given
        others = Count("labels__assignment", filter=~Q(labels__assignment=self.assignment), distinct=True)
        rows = LabelTask.objects.filter(label_set=self.assignment.label_set).alias(others=others)
        full = rows.filter(others__gte=F("label_set__labels_per_task"))
        return given.union(full.values_list("pk", flat=True))

    def next_after(self, task: uuid.UUID | None = None) -> uuid.UUID | None:
        """The next task without this person's label, after `task` and then from the start; None when none is left.

        A pool hands out only tasks that still want labels. Two people who get the same last task both
        keep their labels: a task may end with one more than it wants, never with one that was lost.
        """
        start = self.places[task] if task else 0
        order = self.order[start:] + self.order[:start]
        return next((other for other in order if other not in self._over and other != task), None)

    def last_before(self, task: uuid.UUID | None = None) -> uuid.UUID | None:
        """The task that this person labelled last; from a labelled task, the one labelled before it."""
        given = self.given[: self.given.index(task)] if task in self.given else self.given
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


def shares_of(user: User) -> list[Share]:
    """This person's sets, newest first."""
    return shares(Assignment.objects.filter(person=user).order_by("-id"))


def pools_for(user: User) -> list[LabelSet]:
    """Open pools that this person could join."""
    return list(LabelSet.objects.filter(mode=Mode.POOL, state="open").exclude(assignments__person=user))
