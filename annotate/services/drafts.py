"""One item's drafts: asking for one, putting one in, setting one aside. The model proposes, a person decides."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotate import draft_rules, drafting
from annotate.models import Draft, Drafter, Item, User
from annotate.models.drafts import OPEN, DraftKind, DraftScope, DraftState
from annotate.models.items import ItemState
from annotate.services import draft_jobs, items, reviews
from annotate.services.draft_jobs import Wish
from annotate.services.items import Question, Texts
from fpco_site.errors import Conflict, Invalid

SHOWN = 6


@dataclass(frozen=True)
class Shown:
    """A draft as a page shows it: what it would put where, differences to the questions marked."""

    draft: Draft
    description: str
    rows: list[tuple[int, list[drafting.Segment]]]
    reply: str


@transaction.atomic
def request(
    *,
    item: Item,
    kind: str,
    drafter: Drafter,
    by: User | None,
    alternatives: int = 1,
    versions: dict[str, int] | None = None,
) -> Draft:
    """Have a draft of one item made in the background, as a job of its own; returns the first alternative."""
    wish = Wish(kind, DraftScope.ITEM, item=item, alternatives=alternatives, versions=versions or {})
    job = draft_jobs.start(wish=wish, drafter=drafter, by=by)
    return job.drafts.order_by("alternative")[0]


@transaction.atomic
def apply(*, draft: Draft, version: int, by: User) -> Item:
    """Put a draft's texts into the item as its next version; the former texts stay in its history.

    A premise brings the questions that it was made of along, unless those were the last to be put in.
    """
    base = draft.based_on
    put = draft.item.drafts.filter(kind=DraftKind.QUESTIONS, applied_at__isnull=False)
    whole = [draft] if base is None or put.order_by("-applied_at", "-pk").first() == base else [base, draft]
    return put_in(drafts=whole, version=version, by=by)


@transaction.atomic
def put_in(*, drafts: Sequence[Draft], version: int, by: User, submit: bool = False) -> Item:
    """Put one item's drafts in, questions before premise, as one next version; with `submit`, hand it to review.

    What else was proposed for the same texts is set aside. Raises Conflict where somebody changed the item
    after `version`, or where a draft is not ready; Invalid where `submit` meets an error of the rules.
    """
    rows = _ready(drafts)
    item = items.at_version(rows[0].item, version)
    texts = proposed(items.texts_of(item), rows)
    reason = f"draft {' and '.join(str(row.pk) for row in rows)} by {rows[0].drafter} put in"
    item = items.edit(item=item, version=version, texts=texts, by=by, reason=reason)
    now = timezone.now()
    pks = [row.pk for row in rows]
    Draft.objects.filter(pk__in=pks).update(applied_by=by, applied_at=now, discarded_by=None, discarded_at=None)
    _set_aside(_undecided(item, {row.kind for row in rows}).exclude(pk__in=pks), by=by)
    if submit:
        _require_clean(item)
        item = items.submit(item=item, version=item.version, by=by)
    return item


@transaction.atomic
def discard(*, drafts: Collection[Draft], by: User) -> None:
    """Set drafts aside, and the premises that are based on them; their rows stay."""
    if not _set_aside(Draft.objects.filter(pk__in=[draft.pk for draft in drafts]), by=by):
        raise Conflict("Somebody decided on this draft meanwhile.")


def require_kept(drafts: Collection[Draft]) -> None:
    """For pages that show what waits for a decision: Conflict where somebody discarded one of them meanwhile."""
    if any(draft.discarded_at is not None for draft in drafts):
        raise Conflict("Somebody decided on this draft meanwhile.")


def proposed(texts: Texts, drafts: Sequence[Draft]) -> Texts:
    """The item's texts with what the drafts propose in their place."""
    for draft in drafts:
        texts = draft_rules.merged(texts, kind=draft.kind, payload=draft.payload or {})
    return texts


def panel(item: Item) -> dict[str, Any]:
    """What the drafts panel of an item's page shows."""
    rows = list(item.drafts.select_related("drafter", "requested_by", "applied_by", "job", "based_on")[:SHOWN])
    texts = items.texts_of(item)
    return {
        "drafts": [shown(draft, texts.questions) for draft in rows],
        "drafting": any(draft.state in OPEN and draft.job.state == "running" for draft in rows),
        "undecided": sum(draft.undecided for draft in rows),
        "drafters": Drafter.objects.filter(active=True).order_by("id"),
        "premise_ready": not draft_jobs.missing_for_premise(item),
        "kinds": DraftKind,
    }


def shown(draft: Draft, questions: Mapping[int, Question]) -> Shown:
    payload = draft.payload or {}
    base = (draft.based_on.payload or {}).get("questions", {}) if draft.based_on else {}
    rows = []
    for number, text in sorted((int(number), text) for number, text in payload.get("questions", {}).items()):
        now = base.get(str(number)) or questions.get(number, Question()).content
        against = now if now and draft.kind == DraftKind.PREMISE else text
        rows.append((number, drafting.split_marks(against, text)[1]))
    raw = (draft.reply or b"").decode("utf-8", "replace") if draft.state == DraftState.FAILED else ""
    return Shown(draft=draft, description=draft.description, rows=rows, reply=raw)


def _ready(drafts: Sequence[Draft]) -> list[Draft]:
    keys = [draft.pk for draft in drafts]
    rows = list(Draft.objects.select_for_update(of=("self",)).filter(pk__in=keys).select_related("item", "drafter"))
    for row in rows:
        if row.state != DraftState.READY:
            raise Conflict(f"This draft is {row.get_state_display()}, so there is nothing to put in.")
    if not rows or len({row.item_id for row in rows}) != 1 or len({row.kind for row in rows}) != len(rows):
        raise Invalid("A proposal is one item's questions, its premise, or both.")
    return sorted(rows, key=lambda row: row.kind != DraftKind.QUESTIONS)


def _set_aside(drafts: QuerySet[Draft], *, by: User) -> int:
    """Discard these and the premises based on them, as far as nobody decided on them; held, so that nobody does."""
    keys = list(drafts.values_list("pk", flat=True))
    rows = Draft.objects.select_for_update(of=("self",)).filter(Q(pk__in=keys) | Q(based_on__in=keys))
    rows = rows.filter(state__in=[DraftState.READY, *OPEN], applied_at=None, discarded_at=None)
    found = dict(rows.order_by("pk").values_list("pk", "job"))
    done = Draft.objects.filter(pk__in=found)
    done.update(discarded_by=by, discarded_at=timezone.now())
    done.filter(state=DraftState.WAITING).update(state=DraftState.DROPPED)
    for job in sorted(set(found.values())):
        draft_jobs.finish(job=job)
    return len(found)


def _undecided(item: Item, kinds: Collection[str]) -> QuerySet[Draft]:
    return Draft.objects.filter(item=item, kind__in=kinds, state=DraftState.READY, applied_at=None, discarded_at=None)


def _require_clean(item: Item) -> None:
    if item.state != ItemState.DRAFT:
        raise Conflict(f"This item is {item.get_state_display()}, so it needs no submitting.")
    if errors := reviews.sheet_of(item).errors:
        raise Invalid(f"An error of the rules keeps it from review: {errors[0].message}")
