"""What a person typed and has not saved: kept on the server as a draft, never as an item's text."""

import uuid
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotate.models import EditDraft, Item, User
from annotate.services import items
from annotate.services.items import Question, Texts
from fpco_site.errors import Conflict


@dataclass(frozen=True)
class Message:
    """Which window sent something, and the how-manieth it sent; an earlier one that comes later is overtaken.

    `seen_client` and `seen_sequence` name the unsaved text that the window was opened with, if any.
    """

    client: uuid.UUID
    sequence: int
    seen_client: uuid.UUID | None = None
    seen_sequence: int | None = None


class OtherWindow(Conflict):
    """Another window of the same person holds unsaved text that this one has never shown."""


@transaction.atomic
def keep(*, item: Item, version: int, texts: Texts, by: User, message: Message | None = None) -> EditDraft:
    """Keep unsaved texts that were typed over `version`, also where the item has moved on since.

    A message that was overtaken changes nothing. Texts that are the item's own leave no draft. Raises OtherWindow
    rather than overwrite what another window of this person holds.
    """
    item = items.locked(item)
    row = _row(item, by)
    if _overtaken(row, message):
        return row
    if _elsewhere(row, message) and row.texts != _as_json(texts):
        raise OtherWindow(
            "another window of yours holds other unsaved text of this item. Go on there, or save here: both are kept."
        )
    row.texts = None if texts == items.texts_of(item) else _as_json(texts)
    row.version, row.at = version, timezone.now()
    _sign(row, message)
    row.save()
    return row


@transaction.atomic
def save(*, item: Item, version: int, texts: Texts, by: User, message: Message | None = None) -> Item:
    """Save what a person wrote over `version` (see `items.edit`); their draft of it ends with it.

    A draft that another window of theirs holds, or that was typed after this save was sent, stays, and is shown
    beside the saved text when they come back.
    """
    saved = items.edit(item=item, version=version, texts=texts, by=by)
    row = _row(item, by)
    if not _elsewhere(row, message) and not _overtaken(row, message):
        _close(item, by, message)
    return saved


@transaction.atomic
def discard(*, item: Item, by: User, message: Message | None = None) -> None:
    """Forget this person's unsaved texts of an item."""
    items.locked(item)
    _close(item, by, message)


def of(item: Item, person: User) -> EditDraft | None:
    """This person's unsaved texts of the item, where there are any."""
    return EditDraft.objects.filter(item=item, person=person, texts__isnull=False).first()


def holds(draft: EditDraft, texts: Texts, now: Texts) -> bool:
    """Whether these texts are the draft's; none are needed for what the item says `now`."""
    return bool(draft.texts == (None if texts == now else _as_json(texts)))


def texts_of(draft: EditDraft, now: Texts) -> Texts:
    """The unsaved texts; what they do not name is as it is `now`."""
    given: dict[str, Any] = draft.texts or {}
    questions = dict(now.questions)
    for number, parts in given.get("questions", {}).items():
        if int(number) in questions:
            questions[int(number)] = Question(parts["content"], parts["modified"])
    return Texts(
        target=given.get("target", now.target),
        target_description=given.get("target_description", now.target_description),
        modified_target_description=given.get("modified_target_description", now.modified_target_description),
        questions=questions,
    )


def _row(item: Item, person: User) -> EditDraft:
    row = EditDraft.objects.filter(item=item, person=person).first()
    return row or EditDraft(item=item, person=person, version=item.version, at=timezone.now())


def _close(item: Item, person: User, message: Message | None) -> None:
    row = _row(item, person)
    if message is None and row._state.adding:
        return
    row.texts, row.at = None, timezone.now()
    _sign(row, message)
    row.save()


def _sign(row: EditDraft, message: Message | None) -> None:
    if message is not None:
        row.client, row.sequence = message.client, message.sequence


def _elsewhere(row: EditDraft, message: Message | None) -> bool:
    """Whether another window holds unsaved text, which this one was not opened with."""
    if message is None or row.texts is None or row.client in (None, message.client):
        return False
    return (row.client, row.sequence) != (message.seen_client, message.seen_sequence)


def _overtaken(row: EditDraft, message: Message | None) -> bool:
    return message is not None and row.client == message.client and message.sequence <= row.sequence


def _as_json(texts: Texts) -> dict[str, Any]:
    whole = asdict(texts)
    return {**whole, "questions": {str(number): parts for number, parts in whole["questions"].items()}}
