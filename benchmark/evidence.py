"""What is on record of the people who labelled a set: their work, what they had seen, what was withheld. Reads only."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from operator import or_
from statistics import quantiles
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, Min, Q, QuerySet

from annotate.models import Assignment, Label, LabelSet
from benchmark import naming
from benchmark.models import Exposure, ValidationItem, ValidationSet


@dataclass(frozen=True)
class Work:
    """One person's labels of a set in numbers; `seconds` are of every label that came with a time, idle left out.

    `rows` counts every label stored, `labelled` the tasks that have one, `changed` those whose answer was changed.
    """

    assignment: Assignment
    total: int
    rows: int = 0
    labelled: int = 0
    changed: int = 0
    unsure: int = 0
    comments: int = 0
    simulated: int = 0
    seconds: list[float] = field(default_factory=list)
    by_guideline: Counter[int | None] = field(default_factory=Counter)

    @property
    def quartiles(self) -> tuple[float, float, float] | None:
        """Lower quartile, median and upper quartile of the seconds a label (linear between order statistics)."""
        if not self.seconds:
            return None
        if len(self.seconds) == 1:
            return (self.seconds[0],) * 3
        low, middle, high = quantiles(self.seconds, n=4, method="inclusive")
        return low, middle, high


def work(label_set: LabelSet, assignments: Iterable[Assignment]) -> list[Work]:
    """The work of each person on a set, in the order given."""
    total = label_set.tasks.count()
    rows: dict[int, list[Label]] = defaultdict(list)
    stored = Label.objects.filter(assignment__label_set=label_set).order_by("id")
    for label in stored.select_related("guideline"):
        rows[label.assignment_id].append(label)
    return [_work(row, total, rows[row.pk]) for row in assignments]


def _work(assignment: Assignment, total: int, rows: Sequence[Label]) -> Work:
    counting = {label.task_id: label for label in rows}
    said: dict[UUID, set[bool]] = defaultdict(set)
    for label in rows:
        said[label.task_id].add(label.detect)
    return Work(
        assignment=assignment,
        total=total,
        rows=len(rows),
        labelled=len(counting),
        changed=sum(len(answers) > 1 for answers in said.values()),
        unsure=sum(label.unsure for label in counting.values()),
        comments=sum(bool(label.comment) for label in counting.values()),
        simulated=sum(label.simulated for label in counting.values()),
        seconds=[label.seconds for label in counting.values() if label.seconds is not None],
        by_guideline=Counter(label.guideline.version if label.guideline else None for label in counting.values()),
    )


@dataclass(frozen=True)
class Look:
    """Views of one page by one person: how many, of how many dialogues or answers, from when to when."""

    person: int
    page: str
    views: int
    of: int
    first: datetime
    last: datetime


def seen_before(validation_set: ValidationSet, assignments: Sequence[Assignment]) -> list[Look]:
    """What each annotator had seen of the dataset's answers before the draw, those of earlier label sets included."""
    opened = validation_set.label_set.opened_at
    shown = _exposures(validation_set, assignments).filter(withheld=False, at__lt=opened)
    earlier = Label.objects.filter(
        task__label_set__dataset=validation_set.label_set.dataset_id,
        assignment__person__in=[row.person_id for row in assignments],
        created_at__lt=opened,
    ).exclude(task__label_set=validation_set.label_set_id)
    counted = earlier.order_by().values("assignment__person", "task__label_set__name")
    sets = counted.annotate(
        n=Count("pk"), tasks=Count("task", distinct=True), first=Min("created_at"), last=Max("created_at")
    )
    labelled = [
        Look(
            row["assignment__person"],
            f"labelled in {row['task__label_set__name']}",
            row["n"],
            row["tasks"],
            row["first"],
            row["last"],
        )
        for row in sets
    ]
    return sorted([*_looks(shown), *labelled], key=lambda look: (look.person, look.first, look.page))


def seen_while_labelling(validation_set: ValidationSet, assignments: Sequence[Assignment]) -> list[Look]:
    """What an annotator saw of the dataset's answers after the draw and before their own labels were locked.

    Nothing, as the pages are withheld then; but for somebody who joined a pool later, what they saw before.
    """
    return _looks(_while_labelling(validation_set, assignments, withheld=False))


def attempts(validation_set: ValidationSet, assignments: Sequence[Assignment]) -> QuerySet[Exposure]:
    """Each attempt of an annotator, since the draw, to open what was withheld."""
    since = validation_set.label_set.opened_at
    return _exposures(validation_set, assignments).filter(withheld=True, at__gte=since).order_by("at", "id")


def locked_at(assignment: Assignment) -> datetime | None:
    """When this person's labels were locked: submitted, or the set closed; None while they are open."""
    return assignment.submitted_at or assignment.label_set.closed_at


def self_naming(validation_set: ValidationSet) -> int:
    """How many of the drawn answers name their own model or a maker."""
    items = ValidationItem.objects.filter(validation_set=validation_set).order_by()
    run = "response__dialogue__run"
    rows = items.values_list("task__response", f"{run}__model__name", f"{run}__settings__model_id")
    return sum(bool(naming.named(text, [name, str(model or "")])) for text, name, model in rows)


def _exposures(validation_set: ValidationSet, assignments: Sequence[Assignment]) -> QuerySet[Exposure]:
    people = [row.person_id for row in assignments]
    return Exposure.objects.filter(dataset=validation_set.label_set.dataset_id, person__in=people)


def _while_labelling(
    validation_set: ValidationSet, assignments: Sequence[Assignment], **more: Any
) -> QuerySet[Exposure]:
    times = []
    for row in assignments:
        end = locked_at(row)
        times.append(Q(person=row.person_id, at__lt=end) if end else Q(person=row.person_id))
    rows = _exposures(validation_set, assignments).filter(at__gte=validation_set.label_set.opened_at, **more)
    return rows.filter(reduce(or_, times)) if times else rows.none()


def _looks(rows: QuerySet[Exposure]) -> list[Look]:
    grouped = rows.order_by().values("person", "page")
    counted = grouped.annotate(n=Count("pk"), of=Count("dialogue", distinct=True), first=Min("at"), last=Max("at"))
    return [
        Look(row["person"], row["page"], row["n"], row["of"], row["first"], row["last"])
        for row in counted.order_by("person", "first", "page")
    ]
