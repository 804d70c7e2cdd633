"""A person's verdict on one version of an item."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, fields, replace

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from annotate import second_reviews, sheets
from annotate.models import Item, Protocol, Review, ReviewRules, User
from annotate.models.items import ItemState
from annotate.models.reviews import Verdict
from annotate.services import items, protocols, rules, variants
from fpco_site.errors import Conflict, Invalid

_NEXT = {
    Verdict.APPROVED: ItemState.APPROVED,
    Verdict.SENT_BACK: ItemState.DRAFT,
    Verdict.REJECTED: ItemState.REJECTED,
}


@dataclass(frozen=True)
class Checks:
    """The study's four checks of human review (paper, section 3): true holds, false fails, None says nothing."""

    grounding: bool | None = None
    consistency: bool | None = None
    naturalness: bool | None = None
    single_error: bool | None = None

    @property
    def all_hold(self) -> bool:
        return all(getattr(self, check.name) is True for check in fields(self))


ALL_HOLD = Checks(grounding=True, consistency=True, naturalness=True, single_error=True)


def failing(names: Collection[str]) -> Checks:
    """The checks with those of that name failing and the others holding; nothing said where none is named."""
    if unknown := set(names) - {check.name for check in fields(Checks)}:
        raise Invalid(f"There is no check {min(unknown)!r}.")
    return replace(ALL_HOLD, **dict.fromkeys(names, False)) if names else Checks()


@transaction.atomic
def decide(
    *,
    item: Item,
    version: int,
    verdict: str,
    by: User,
    checks: Checks | None = None,
    comment: str = "",
    accepted: Collection[str] = (),
) -> Review:
    """Approve, send back (with a comment) or reject (with a reason) the version that was looked at.

    Errors of the rules block approval; each warning must be among `accepted`, by its `sheets.ticket`.
    The same verdict by the same person once more is no change. A second person who approves what was
    approved meanwhile is recorded too. Of an item that two people review, the first verdict is kept and
    the item stays in review until the second is in (see `second_reviews.outcome`).
    """
    checks = checks or Checks()
    item = items.at_version(item, version)
    if (given := _given(item, by)) is not None:
        return _repeated(given, verdict)
    pair = is_pair(item, rules.current())
    _require_state(item, verdict)
    _require_other_hand(item, verdict, by, pair=pair)
    if verdict == Verdict.APPROVED:
        accepted = _require_approvable(item, checks, accepted)
    elif not comment.strip():
        raise Invalid("Say what is wrong, so that it can be mended." if verdict == Verdict.SENT_BACK else "Say why.")
    first = pending(item).first() if pair else None
    review = Review.objects.create(
        item=item,
        item_version=version,
        reviewer=by,
        verdict=verdict,
        comment=comment.strip(),
        accepted=list(accepted) if verdict == Verdict.APPROVED else [],
        independent=pair,
        **asdict(checks),
    )
    if first is not None or not pair:
        came_to = second_reviews.outcome(first.verdict, verdict) if first else verdict
        _settle(item, _NEXT[Verdict(came_to)])
    return review


def is_pair(item: Item, rule: ReviewRules) -> bool:
    """Whether the item waits for two independent verdicts: it is chosen, or the first was given while it was."""
    return item.state == ItemState.IN_REVIEW and (rules.is_chosen(item, rule) or pending(item).exists())


def pairs_among(rows: Iterable[Item], rule: ReviewRules) -> set[int]:
    """The primary keys of those that `is_pair` holds for, by one query for all of them."""
    waiting = [item for item in rows if item.state == ItemState.IN_REVIEW]
    given = Review.objects.filter(item__in=waiting, item_version=F("item__version"), independent=True)
    begun = set(given.filter(withdrawn_at=None).values_list("item", flat=True))
    return {item.pk for item in waiting if item.pk in begun or rules.is_chosen(item, rule)}


def pending(item: Item) -> QuerySet[Review]:
    """The independent verdicts on the item as it is now."""
    return item.reviews.filter(item_version=item.version, independent=True, withdrawn_at=None)


def visible(item: Item, person: User) -> list[Review]:
    """The verdicts on an item that this person may see, the newest first.

    While an item is in review an independent verdict whose second is not in is seen by its reviewer alone.
    """
    rows = list(item.reviews.select_related("reviewer").order_by("-id"))
    if item.state != ItemState.IN_REVIEW:
        return rows
    settled = Counter(row.item_version for row in rows if row.independent and row.withdrawn_at is None)
    return [
        row
        for row in rows
        if not row.independent
        or row.reviewer_id == person.pk
        or (settled[row.item_version] == 2 and row.withdrawn_at is None)
    ]


def given_by(person: User, rows: Iterable[Item]) -> dict[int, Review]:
    """This person's verdicts on the items as they are now, by item."""
    versions = {item.pk: item.version for item in rows}
    found = Review.objects.filter(reviewer=person, item__in=versions, withdrawn_at=None)
    return {review.item_id: review for review in found if review.item_version == versions[review.item_id]}


def pair_words(review: Review) -> str:
    """What is said to the person who gave one of two independent verdicts."""
    state = Item.objects.values_list("state", flat=True).get(pk=review.item_id)
    if state == ItemState.IN_REVIEW:
        return "Two people review this item: your verdict is kept, and counts when the second is in."
    return f"Both verdicts on this item are in: it is {ItemState(state).label} now."


def sheet_of(item: Item, plan: Protocol | None = None) -> sheets.Sheet:
    """The item's texts line by line, with what the rules find; `plan` spares its query where there are many."""
    texts, more = items.texts_of(item), variants.findings_of(item)
    return sheets.sheet(texts, premise_class=item.premise_class, plan=plan or protocols.of(item), more=more)


def _given(item: Item, by: User) -> Review | None:
    """This person's verdict on the item as it is now."""
    return item.reviews.filter(item_version=item.version, reviewer=by, withdrawn_at=None).first()


def _repeated(given: Review, verdict: str) -> Review:
    if given.verdict != verdict:
        raise Conflict(f"You have reviewed this version already: {given.get_verdict_display()}.")
    return given


def _settle(item: Item, state: str) -> None:
    if item.state != state:
        Item.objects.filter(pk=item.pk).update(state=state, state_since=timezone.now())


def _require_state(item: Item, verdict: str) -> None:
    """A draft can be rejected, and what is approved be approved by a second person who looked at it too."""
    if verdict not in Verdict.values:
        raise Invalid(f"A verdict is one of {', '.join(Verdict.values)}, not {verdict!r}.")
    also = {Verdict.REJECTED: {ItemState.DRAFT}, Verdict.APPROVED: {ItemState.APPROVED}}
    allowed = {ItemState.IN_REVIEW} | also.get(Verdict(verdict), set())
    unsigned = item.state == ItemState.APPROVED and not item.reviews.filter(item_version=item.version).exists()
    if item.state not in allowed or unsigned:
        raise Conflict(f"This item is {item.get_state_display()}, so it can't be {Verdict(verdict).label} now.")


def _require_other_hand(item: Item, verdict: str, by: User, *, pair: bool) -> None:
    """The rule that the approver is not the last editor; of a pair of reviews neither reviewer is."""
    if item.edited_by_id != by.pk or not rules.current().approver_not_last_editor:
        return
    if pair:
        raise Conflict("You wrote the last change of these texts, so two other people review them.")
    if verdict == Verdict.APPROVED:
        raise Conflict("You wrote the last change of these texts, so somebody else approves them.")


def _require_approvable(item: Item, checks: Checks, accepted: Collection[str]) -> list[str]:
    """The warnings that were ticked; raises Invalid where something keeps the item from approval."""
    shown = sheet_of(item)
    if missing := items.missing_texts(item):
        raise Invalid(f"The item is not complete: {missing} is missing.")
    if shown.errors:
        where = f" (turn {shown.errors[0].turn})" if shown.errors[0].turn else ""
        raise Invalid(f"An error keeps this item from approval{where}: {shown.errors[0].message}")
    if not checks.all_hold:
        raise Invalid("Approving states that all four checks hold: tick each one.")
    tickets = [ticket for ticket, _ in shown.tickets]
    if open_warnings := len([ticket for ticket in tickets if ticket not in accepted]):
        noun = "warning" if open_warnings == 1 else "warnings"
        raise Invalid(f"Tick {open_warnings} {noun} first, or mend what they name.")
    return tickets
