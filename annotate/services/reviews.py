"""A person's verdict on one version of an item."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db import IntegrityError, transaction

from annotate import sheets
from annotate.models import Item, Protocol, Review, User
from annotate.models.items import ItemState
from annotate.models.reviews import Verdict
from annotate.services import items, protocols, variants
from fpco_site.errors import Conflict, Invalid

_NEXT = {
    Verdict.APPROVED: ItemState.APPROVED,
    Verdict.SENT_BACK: ItemState.DRAFT,
    Verdict.REJECTED: ItemState.REJECTED,
}


@dataclass(frozen=True)
class Checks:
    """The study's four checks of human review (paper, section 3): each is stated by the reviewer."""

    grounding: bool = False
    consistency: bool = False
    naturalness: bool = False
    single_error: bool = False

    @property
    def all_hold(self) -> bool:
        return self.grounding and self.consistency and self.naturalness and self.single_error


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
    """
    checks = checks or Checks()
    comment = comment.strip()
    item = items.at_version(item, version)
    _require_state(item, verdict)
    if verdict == Verdict.APPROVED:
        accepted = _require_approvable(item, checks, accepted)
    elif not comment:
        raise Invalid("Say what is wrong, so that it can be mended." if verdict == Verdict.SENT_BACK else "Say why.")
    try:
        with transaction.atomic():
            review = Review.objects.create(
                item=item,
                item_version=version,
                reviewer=by,
                verdict=verdict,
                grounding=checks.grounding,
                consistency=checks.consistency,
                naturalness=checks.naturalness,
                single_error=checks.single_error,
                comment=comment,
                accepted=list(accepted) if verdict == Verdict.APPROVED else [],
            )
    except IntegrityError as error:
        raise Conflict("You have reviewed this version already.") from error
    Item.objects.filter(pk=item.pk).update(state=_NEXT[Verdict(verdict)])
    return review


def sheet_of(item: Item, plan: Protocol | None = None) -> sheets.Sheet:
    """The item's texts line by line, with what the rules find; `plan` spares its query where there are many."""
    texts, more = items.texts_of(item), variants.findings_of(item)
    return sheets.sheet(texts, premise_class=item.premise_class, plan=plan or protocols.of(item), more=more)


def _require_state(item: Item, verdict: str) -> None:
    if verdict not in Verdict.values:
        raise Invalid(f"A verdict is one of {', '.join(Verdict.values)}, not {verdict!r}.")
    allowed = {ItemState.IN_REVIEW, ItemState.DRAFT} if verdict == Verdict.REJECTED else {ItemState.IN_REVIEW}
    if item.state not in allowed:
        raise Conflict(f"This item is {item.get_state_display()}, so it can't be {Verdict(verdict).label} now.")


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
