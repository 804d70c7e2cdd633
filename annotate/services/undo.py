"""Taking back one's own last decision or edit, as long as nothing happened since."""

from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotate.models import Item, Review, Revision, User
from annotate.models.items import ItemState
from annotate.services import items
from fpco_site.errors import Conflict

TAKEN_BACK = "taken back"


@dataclass(frozen=True)
class Step:
    """The last thing that a person did to an item: a verdict, or a revision of its texts."""

    item: Item
    done: Review | Revision

    @property
    def words(self) -> str:
        """What was done, as a page says it."""
        return self.done.get_verdict_display() if isinstance(self.done, Review) else "edited"


def last_step(person: User) -> Step | None:
    """What `undo` would take back for this person; None where their last act stands or was followed by another."""
    verdict = Review.objects.filter(reviewer=person, withdrawn_at=None).select_related("item").order_by("-id").first()
    revision = Revision.objects.filter(by=person).select_related("item").order_by("-id").first()
    if verdict and (revision is None or verdict.at >= revision.at):
        return Step(verdict.item, verdict) if _verdict_stands(verdict, verdict.item) else None
    if revision and _edit_stands(revision, revision.item):
        return Step(revision.item, revision)
    return None


@transaction.atomic
def undo(*, item: Item, version: int, by: User) -> Item:
    """Take back the last thing that this person did, where it was to `version` of this item.

    A verdict is marked as taken back and the item is what it was before, as a new version; where it changed
    nothing (the first of two independent ones, or a second approval), neither does this. An edit gives way
    to the former texts.
    """
    item = items.at_version(item, version)
    step = last_step(by)
    if step is None or step.item.pk != item.pk:
        raise Conflict("There is nothing of yours to take back here: something happened since.")
    if isinstance(step.done, Review):
        return _withdraw(item, step.done, by)
    return _former_texts(item, step.done, by)


def _withdraw(item: Item, verdict: Review, by: User) -> Item:
    verdict.withdrawn_at = timezone.now()
    verdict.save(update_fields=["withdrawn_at"])
    if verdict.independent or _others(verdict).exists():
        return item
    reviewed = item.revisions.filter(version=verdict.item_version).first()
    state = str(reviewed.snapshot["state"]) if reviewed else str(ItemState.IN_REVIEW)
    items.wanted_picture(item.image)
    return items.bump(item, by=by, reason=TAKEN_BACK, state=state)


def _former_texts(item: Item, revision: Revision, by: User) -> Item:
    former = item.revisions.get(version=revision.version - 1)
    items.write(item, items.texts_in(former.snapshot), by=_editor(former))
    return items.bump(item, by=by, reason=TAKEN_BACK, state=item.state)


def _editor(revision: Revision) -> User | None:
    """Who wrote the texts that this revision holds: the first of the row of versions that share them."""
    editor = revision.by
    texts = items.texts_in(revision.snapshot)
    rows = Revision.objects.filter(item=revision.item_id, version__lt=revision.version).select_related("by")
    for earlier in rows.order_by("-version"):
        if items.texts_in(earlier.snapshot) != texts:
            break
        editor = earlier.by
    return editor


def _verdict_stands(verdict: Review, item: Item) -> bool:
    """Whether nothing followed; the second of two independent verdicts has shown both, and is never taken back."""
    if item.version != verdict.item_version:
        return False
    others = _others(verdict)
    return not (others if verdict.independent else others.filter(pk__gt=verdict.pk)).exists()


def _others(verdict: Review) -> QuerySet[Review]:
    rows = Review.objects.filter(item=verdict.item_id, item_version=verdict.item_version, withdrawn_at=None)
    return rows.exclude(pk=verdict.pk)


def _edit_stands(revision: Revision, item: Item) -> bool:
    if item.version != revision.version or revision.reason == TAKEN_BACK or item.state == ItemState.REJECTED:
        return False
    former = Revision.objects.filter(item=item, version=revision.version - 1).first()
    if former is None or items.texts_in(former.snapshot) == items.texts_in(revision.snapshot):
        return False
    return not Review.objects.filter(item=item, item_version=item.version, withdrawn_at=None).exists()
