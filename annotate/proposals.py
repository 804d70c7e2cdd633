"""Drafts that wait for a person's decision, item by item, as whole proposals. Reads only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from annotate import sheets
from annotate.models import Draft, Item
from annotate.models.drafts import OPEN, DraftJobState, DraftKind, DraftState, JobKind
from annotate.models.items import ItemState
from annotate.services import drafts, items, protocols, variants

UNDECIDED = {"state": DraftState.READY, "applied_at": None, "discarded_at": None}


@dataclass(frozen=True)
class Proposal:
    """What one key puts in: questions, a premise, or both; `sheet` is the item as it would be then."""

    number: int
    drafts: tuple[Draft, ...]
    sheet: sheets.Sheet
    missing: str
    coming: bool
    submits: bool

    @property
    def keys(self) -> str:
        """The ids of its drafts, as its form sends them."""
        return ",".join(str(draft.pk) for draft in self.drafts)

    @property
    def kinds(self) -> str:
        return " and ".join(draft.get_kind_display() for draft in self.drafts)

    @property
    def simulated(self) -> bool:
        return any(draft.simulated for draft in self.drafts)


def undecided() -> QuerySet[Draft]:
    return Draft.objects.filter(**UNDECIDED).exclude(item__state=ItemState.REJECTED)


def queue() -> QuerySet[Item]:
    """Items with a draft that nobody has decided on, in the order of the review queue."""
    rows = Item.objects.exclude(state=ItemState.REJECTED)
    return rows.filter(Exists(Draft.objects.filter(item=OuterRef("pk"), **UNDECIDED))).order_by("id")


def next_after(item: Item) -> Item | None:
    """The next item of the queue, from its start again after the last."""
    rows = queue().exclude(pk=item.pk)
    return rows.filter(pk__gt=item.pk).first() or rows.first()


def of(item: Item) -> list[Proposal]:
    """The proposals for an item: a premise goes with the questions that it was made of."""
    rows = item.drafts.select_related("drafter", "based_on__drafter", "job").order_by("alternative", "pk")
    ready = [row for row in rows if row.undecided]
    open_ = {row.based_on_id for row in rows if row.state in OPEN and row.job.state == DraftJobState.RUNNING}
    used = {row.based_on_id for row in ready if row.kind == DraftKind.PREMISE}
    parts: list[tuple[Draft, ...]] = []
    for row in ready:
        if row.kind == DraftKind.QUESTIONS and row.pk not in used:
            parts.append((row,))
        elif row.kind == DraftKind.PREMISE:
            base = row.based_on
            parts.append((base, row) if base is not None and base.undecided else (row,))
    return [_proposal(item, number, part, open_) for number, part in enumerate(parts, 1)]


def named(item: Item, keys: str) -> list[Draft]:
    """The item's drafts that a form names; unknown ones are left out."""
    wanted = [int(key) for key in keys.split(",") if key.isascii() and key.isdigit() and len(key) <= 18]
    return list(item.drafts.filter(pk__in=wanted).select_related("drafter"))


def _proposal(item: Item, number: int, part: Sequence[Draft], open_: Iterable[int | None]) -> Proposal:
    plan = protocols.of(item)
    texts = drafts.proposed(items.texts_of(item), part)
    more = variants.findings_of(item, texts)
    sheet = sheets.sheet(texts, premise_class=item.premise_class, plan=plan, more=more)
    missing = items.missing_of(texts, plan)
    last = part[-1]
    coming = last.kind == DraftKind.QUESTIONS and last.job.kind == JobKind.BOTH and last.pk in open_
    submits = item.state == ItemState.DRAFT and not missing and not sheet.errors
    return Proposal(number, tuple(part), sheet, missing, coming, submits)
