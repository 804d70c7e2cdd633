"""Placing pictures and editing items. Every change is a new version with a full snapshot."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotate.axes import Category, Cell, Complexity, PremiseClass
from annotate.models import Image, Item, Protocol, Revision, Turn, User
from annotate.models.items import ItemState
from annotate.services import protocols
from fpco_site.errors import Conflict, Invalid
from fpco_site.fields import escape


@dataclass(frozen=True)
class Question:
    """One turn's texts; `modified` is blank on premise-correct turns."""

    content: str = ""
    modified: str = ""


@dataclass(frozen=True)
class Texts:
    """All that a person writes about an item; questions by turn number."""

    target: str = ""
    target_description: str = ""
    modified_target_description: str = ""
    questions: Mapping[int, Question] = field(default_factory=dict)


class EditConflict(Conflict):
    """Somebody else changed the item meanwhile: both texts are kept for the person to choose from."""

    def __init__(self, *, item: Item, mine: Texts, theirs: Texts, by: str, words: str = "") -> None:
        super().__init__(words or f"{by} changed this item meanwhile; both texts are shown, and nothing was saved.")
        self.item = item
        self.mine = mine
        self.theirs = theirs


@transaction.atomic
def place(*, image: Image, cell: Cell, by: User | None, target: str = "", protocol: Protocol | None = None) -> Item:
    """Put a picture into a cell: a draft with the protocol's turns, still without texts."""
    check_cell(cell)
    image = wanted_picture(image)
    if image.items.filter(parent=None).exists():
        raise Conflict("This image is already placed.")
    plan = protocol or protocols.study()
    item = Item.objects.create(
        key=_free_key(image.sha256),
        image=image,
        target=target or image.target,
        complexity=cell[0],
        category=cell[1],
        premise_class=cell[2],
        edited_by=by,
    )
    Turn.objects.bulk_create(Turn(item=item, number=number) for number in range(1, plan.turns + 1))
    record(item, by=by, reason="placed")
    return item


@transaction.atomic
def move(*, item: Item, cell: Cell, reason: str, by: User) -> Item:
    """Put an item into another cell; an approval was for the old one and is taken back."""
    check_cell(cell)
    if not reason.strip():
        raise Invalid("Say why the item moves to another cell.")
    item = locked(item)
    if item.cell == cell:
        return item
    if item.parent_id is not None:
        raise Conflict("A variant is where its parent is, in its own class: move the parent, then take that over.")
    item.complexity, item.category, item.premise_class = cell
    return bump(item, by=by, reason=f"moved: {reason.strip()}", state=_after_change(item.state))


@transaction.atomic
def edit(*, item: Item, version: int, texts: Texts, by: User, reason: str = "edited") -> Item:
    """Save what a person wrote over `version`.

    The same text again is no change, however stale. Over a newer version raises EditConflict with
    both texts. Editing an approved item takes the approval back.
    """
    item = locked(item)
    now = texts_of(item)
    texts = _trimmed(texts, now)
    if texts == now:
        return item
    if item.version != version:
        raise EditConflict(item=item, mine=texts, theirs=now, by=_last_changed_by(item))
    if item.state == ItemState.REJECTED:
        raise Conflict("This item is rejected; reopen it before editing it.")
    _require_own(item, texts, now)
    write(item, texts, by=by)
    return bump(item, by=by, reason=reason, state=_after_change(item.state))


@transaction.atomic
def restore(*, item: Item, version: int, former: Revision, reason: str, by: User) -> Item:
    """Make the texts of an older version the item's texts again, as a new version."""
    if former.item_id != item.pk:
        raise Invalid("That version is another item's.")
    if not reason.strip():
        raise Invalid("Say why the former texts come back.")
    at_version(item, version)
    words = f"version {former.version} restored: {reason.strip()}"
    return edit(item=item, version=version, texts=texts_in(former.snapshot), by=by, reason=words)


@transaction.atomic
def submit(*, item: Item, version: int, by: User) -> Item:
    """Hand a draft to review; all its texts must be there."""
    item = at_version(item, version)
    if item.state != ItemState.DRAFT:
        raise Conflict(f"Only a draft can be submitted for review; this item is {item.get_state_display()}.")
    if missing := missing_texts(item):
        raise Invalid(f"The item is not complete: {missing} is missing.")
    return bump(item, by=by, reason="submitted for review", state=ItemState.IN_REVIEW)


@transaction.atomic
def reopen(*, item: Item, version: int, reason: str, by: User) -> Item:
    """Take an approval or a rejection back; the item becomes a draft again."""
    item = at_version(item, version)
    if item.state not in {ItemState.APPROVED, ItemState.REJECTED}:
        raise Conflict(f"Only an approved or rejected item can be reopened; this one is {item.get_state_display()}.")
    if not reason.strip():
        raise Invalid("Say why the item is reopened.")
    wanted_picture(item.image)
    return bump(item, by=by, reason=f"reopened: {reason.strip()}", state=ItemState.DRAFT)


def texts_of(item: Item) -> Texts:
    """The texts as they are stored now."""
    return Texts(
        target=item.target,
        target_description=item.target_description,
        modified_target_description=item.modified_target_description,
        questions={turn.number: Question(turn.content, turn.modified) for turn in item.turns.all()},
    )


def texts_in(snapshot: Mapping[str, Any]) -> Texts:
    """The texts that a revision kept."""
    return Texts(
        target=snapshot["target"],
        target_description=snapshot["target_description"],
        modified_target_description=snapshot["modified_target_description"],
        questions={turn["turn"]: Question(turn["content"], turn["modified"]) for turn in snapshot["turns"]},
    )


def missing_texts(item: Item, protocol: Protocol | None = None) -> str:
    """The first text that a complete item needs and this one lacks, in words; empty if complete."""
    return missing_of(texts_of(item), protocol or protocols.of(item))


def missing_of(texts: Texts, plan: Protocol) -> str:
    """`missing_texts` of texts that are not saved."""
    if not texts.target_description:
        return "the description"
    if not texts.modified_target_description:
        return "the modified description"
    for number in range(1, plan.turns + 1):
        question = texts.questions.get(number, Question())
        if not question.content:
            return f"question {number}"
        if number in plan.false_turns and not question.modified:
            return f"the modified question {number}"
    return ""


def check_cell(cell: Cell) -> None:
    for value, choices, words in zip(
        cell, (Complexity, Category, PremiseClass), ("complexity", "category", "premise class"), strict=True
    ):
        if value not in choices.values:
            raise Invalid(f"The {words} must be one of {', '.join(choices.values)}, not {value!r}.")


def locked(item: Item) -> Item:
    """The row as it is now, held until the transaction ends."""
    try:
        return Item.objects.select_for_update().get(pk=item.pk)
    except Item.DoesNotExist as error:
        raise Conflict(f"The item {item.key} is gone: its placing was taken back.") from error


def wanted_picture(image: Image) -> Image:
    """The picture's row, held until the transaction ends; refused where it was set aside as a duplicate."""
    row = Image.objects.select_for_update().get(pk=image.pk)
    if row.duplicate_of_id is not None:
        raise Conflict(f"This image was set aside: it is the same picture as {row.duplicate_of}. Use that one.")
    return row


def at_version(item: Item, version: int) -> Item:
    """`locked`, refused where somebody changed the item after `version`."""
    row = locked(item)
    if row.version != version:
        raise Conflict(f"{_last_changed_by(row)} changed this item meanwhile; look at it again first.")
    return row


def bump(item: Item, *, by: User | None, reason: str, state: str) -> Item:
    """Store the changed item as its next version, with a snapshot."""
    held = item.version
    if item.state != state:
        item.state, item.state_since = state, timezone.now()
    item.version = held + 1
    fields = (
        "complexity",
        "category",
        "premise_class",
        "target",
        "target_description",
        "modified_target_description",
        "state",
        "state_since",
        "edited_by",
    )
    changed = Item.objects.filter(pk=item.pk, version=held).update(
        version=F("version") + 1, updated_at=timezone.now(), **{name: getattr(item, name) for name in fields}
    )
    if not changed:
        raise Conflict("The item was changed by somebody else meanwhile.")
    record(item, by=by, reason=reason)
    return item


def record(item: Item, *, by: User | None, reason: str) -> Revision:
    return Revision.objects.create(item=item, version=item.version, snapshot=snapshot(item), by=by, reason=reason)


def snapshot(item: Item) -> dict[str, Any]:
    """Everything about an item that can change, as plain values."""
    return {
        "key": item.key,
        "image": item.image.sha256,
        "complexity": item.complexity,
        "category": item.category,
        "premise_class": item.premise_class,
        "state": str(item.state),
        "target": item.target,
        "target_description": item.target_description,
        "modified_target_description": item.modified_target_description,
        "turns": [
            {"turn": turn.number, "content": turn.content, "modified": turn.modified}
            for turn in item.turns.order_by("number")
        ],
    }


def write(item: Item, texts: Texts, *, by: User | None) -> None:
    """Put texts of this person into a locked item and its turns; `bump` stores the item and makes the version."""
    item.edited_by = by
    item.target = texts.target
    item.target_description = texts.target_description
    item.modified_target_description = texts.modified_target_description
    changed = []
    for turn in item.turns.all():
        question = texts.questions[turn.number]
        if (turn.content, turn.modified) != (question.content, question.modified):
            turn.content, turn.modified = question.content, question.modified
            changed.append(turn)
    Turn.objects.bulk_update(changed, ["content", "modified"])


def _require_own(item: Item, texts: Texts, now: Texts) -> None:
    """A variant has its parent's texts but for the premise; those change in the parent alone."""
    if item.parent_id is None:
        return
    contents = [(number, question.content) for number, question in texts.questions.items()]
    kept = [(number, now.questions[number].content) for number, _ in contents]
    if (texts.target, texts.target_description, contents) != (now.target, now.target_description, kept):
        raise Invalid(
            "Target, description and questions of a variant are its parent's: change them there, then take them over."
        )


def _trimmed(texts: Texts, now: Texts) -> Texts:
    """Texts without space at their ends; turns that were not given stay as they are."""
    if unknown := sorted(texts.questions.keys() - now.questions.keys()):
        raise Invalid(f"This item has no turn {unknown[0]}.")
    given = {
        number: Question(question.content.strip(), question.modified.strip())
        for number, question in texts.questions.items()
    }
    trimmed = Texts(
        target=texts.target.strip(),
        target_description=texts.target_description.strip(),
        modified_target_description=texts.modified_target_description.strip(),
        questions={**now.questions, **given},
    )
    written = [trimmed.target, trimmed.target_description, trimmed.modified_target_description]
    written += [part for question in given.values() for part in (question.content, question.modified)]
    if any(escape(part) != part for part in written):
        raise Invalid("A text holds a control character that can't be typed; remove it.")
    return trimmed


def _after_change(state: str) -> str:
    return ItemState.IN_REVIEW if state == ItemState.APPROVED else state


def _last_changed_by(item: Item) -> str:
    last: Revision | None = item.revisions.select_related("by").order_by("-version").first()
    return last.by.get_username() if last and last.by else "Somebody"


def _free_key(digest: str) -> str:
    """The start of the picture's hash, longer where another item has it already."""
    lengths = (12, 24, 40)
    taken = set(Item.objects.filter(key__in=[digest[:length] for length in lengths]).values_list("key", flat=True))
    return next(digest[:length] for length in lengths if digest[:length] not in taken)
