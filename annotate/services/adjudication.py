"""Adjudication: what annotators of a closed set said differently is decided, with a reason, beside the labels.

Nothing here knows where an answer comes from. Disagreements come without names, in an order that says nothing.
"""

import hashlib
import hmac
import uuid
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction

from annotate.models import Adjudication, Assignment, Label, LabelSet, LabelTask, User
from annotate.models.labels import LabelSetState
from annotate.services import labels
from fpco_site.errors import Conflict, Invalid, Withheld

LONGEST_REASON = 2000
LABELLING = (
    "This is withheld from you: you have an open labelling assignment over this dataset. "
    "It opens when you submit your labels or the set is closed."
)


@dataclass(frozen=True)
class Said:
    """What was said of a task, without names: how many said what, and their comments on either side."""

    corrects: int
    goes_along: int
    corrects_comments: tuple[str, ...] = ()
    goes_along_comments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Docket:
    """The disagreements of a closed set in their own order, with the decision of each that has one."""

    label_set: LabelSet
    order: list[uuid.UUID]
    decisions: dict[uuid.UUID, Adjudication]

    @property
    def total(self) -> int:
        return len(self.order)

    @property
    def done(self) -> int:
        return len(self.decisions)

    def place(self, task: uuid.UUID) -> int:
        """The place of a disagreement, from 1."""
        return self.order.index(task) + 1

    def next_after(self, task: uuid.UUID | None = None) -> uuid.UUID | None:
        """The next disagreement without a decision, after `task` and then from the start."""
        start = self.place(task) if task else 0
        around = self.order[start:] + self.order[:start]
        return next((other for other in around if other not in self.decisions and other != task), None)

    def last_before(self, task: uuid.UUID | None = None) -> uuid.UUID | None:
        """The disagreement that was decided last; from a decided one, the one decided before it."""
        given = [row.task_id for row in sorted(self.decisions.values(), key=lambda row: row.pk)]
        given = given[: given.index(task)] if task in given else given
        return given[-1] if given else None


def docket(label_set: LabelSet) -> Docket:
    """What is to be decided: every task whose current labels differ, be it by one of three or a tie.

    The order is that of a keyed hash, the same for everybody: it tells neither whose labels they are nor where
    an answer comes from.
    """
    return _dockets([label_set])[0]


def _dockets(label_sets: list[LabelSet]) -> list[Docket]:
    differing: dict[int, set[uuid.UUID]] = defaultdict(set)
    first: dict[uuid.UUID, bool] = {}
    given = Label.objects.filter(task__label_set__in=label_sets).current().order_by()
    for label_set, task, detect in given.values_list("task__label_set", "task", "detect"):
        if first.setdefault(task, detect) != detect:
            differing[label_set].add(task)
    rows = list(Adjudication.objects.filter(task__label_set__in=label_sets).current())
    return [_docket(label_set, differing[label_set.pk], rows) for label_set in label_sets]


def _docket(label_set: LabelSet, differing: set[uuid.UUID], rows: list[Adjudication]) -> Docket:
    key = settings.SECRET_KEY.encode()
    order = sorted(differing, key=lambda task: hmac.new(key, f"adjudication:{task}".encode(), hashlib.sha256).digest())
    return Docket(label_set, order, {row.task_id: row for row in rows if row.task_id in differing})


def said_of(task: LabelTask) -> Said:
    """Both sides of a disagreement, without names; comments in the order of their letters."""
    rows = list(Label.objects.filter(task=task).current().values_list("detect", "comment"))
    yes, no = ([comment for detect, comment in rows if detect is side] for side in (True, False))
    return Said(len(yes), len(no), tuple(sorted(filter(None, yes))), tuple(sorted(filter(None, no))))


def is_labeller(user: User, label_set: LabelSet) -> bool:
    """Whether this person was to label the set: then they decide with the others, never as a third person."""
    return Assignment.objects.filter(label_set=label_set, person=user).exists()


def require_judge(*, label_set: LabelSet, by: User) -> None:
    """Refuse who may not read the disagreements of a set.

    Raises
    ------
    Conflict
        While the set is open: until then nobody's label is anybody's business.
    Invalid
        For a person who can't label.
    Withheld
        While this person labels another set over the same dataset, whose answers they must not know.
    """
    if label_set.state != LabelSetState.CLOSED:
        raise Conflict("Disagreements are listed when the set is closed.")
    if not labels.can_label(by):
        raise Invalid(f"{by.username} can't decide: that takes an active author or annotator.")
    if Assignment.objects.open_of(by).filter(label_set__dataset=label_set.dataset_id).exists():
        raise Withheld(LABELLING)


@transaction.atomic
def decide(
    *, task: LabelTask, detect: bool, reason: str, by: User, together: bool = False, seen: int | None = None
) -> Adjudication:
    """Decide a disagreement of a closed set; a change of mind is a new row, and the latest counts.

    A person who was to label the set decides only `together` with the others; anybody else only as a third
    person. `seen` is the decision that stood on the page (None: no decision yet). The same decision sent twice is
    stored once.

    Raises
    ------
    Conflict
        When the annotators agree on the task, the set is open, or somebody decided since `seen`.
    Invalid
        Without a reason, or for the wrong person.
    Withheld
        For a person who labels another set over the same dataset.
    """
    reason = reason.strip()
    _refuse_reason(reason)
    task = LabelTask.objects.select_for_update(of=("self",)).select_related("label_set").get(pk=task.pk)
    require_judge(label_set=task.label_set, by=by)
    _refuse_side(task.label_set, by, together)
    if Label.objects.filter(task=task).current().values("detect").distinct().count() < 2:
        raise Conflict("The annotators agree on this answer: there is nothing to decide.")
    stands = Adjudication.objects.filter(task=task).order_by("-id").first()
    made = {"detect": detect, "reason": reason, "together": together, "decided_by": by}
    if stands is not None and _is_same(stands, made):
        return stands
    if (stands.pk if stands else None) != seen:
        raise Conflict("Somebody has decided this answer in the meantime: read why before you decide otherwise.")
    return Adjudication.objects.create(task=task, **made)


def _is_same(stands: Adjudication, made: dict[str, Any]) -> bool:
    return all(getattr(stands, name) == value for name, value in made.items())


def _refuse_reason(reason: str) -> None:
    if not reason:
        raise Invalid("Say why: a decision needs its reason.")
    if len(reason) > LONGEST_REASON:
        raise Invalid(f"A reason has at most {LONGEST_REASON:,} characters.")


def _refuse_side(label_set: LabelSet, by: User, together: bool) -> None:
    if is_labeller(by, label_set) and not together:
        raise Invalid("You labelled this set: decide together with the others who did, or leave it to a third person.")
    if not is_labeller(by, label_set) and together:
        raise Invalid("Only those who labelled the set decide together; you decide as a third person.")


def dockets_for(user: User) -> list[Docket]:
    """The closed sets with disagreements that this person may decide, the newest first."""
    blind = Assignment.objects.open_of(user)
    closed = LabelSet.objects.filter(state=LabelSetState.CLOSED)
    sets = closed.exclude(dataset__in=blind.values("label_set__dataset")).select_related("dataset").order_by("-id")
    return [found for found in _dockets(list(sets)) if found.total]
