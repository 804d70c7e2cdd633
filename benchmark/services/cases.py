"""Case studies: make, describe, pin, arrange. Every change locks the case study's row, so none overwrites another."""

from collections.abc import Sequence
from typing import Literal

from django.db import transaction

from annotate.models import Dataset, User
from benchmark.models import CaseStudy, Dialogue, PinnedDialogue
from fpco_site.errors import Conflict, Invalid, require_plain

MOST = 60  # dialogues; a page of more is not read
NAME = 100  # characters

type Way = Literal["left", "right", "up", "down"]


@transaction.atomic
def create(*, dataset: Dataset, name: str, note: str = "", dialogues: Sequence[Dialogue] = (), by: User) -> CaseStudy:
    """A case study with its first dialogues, or without any.

    Raises
    ------
    Invalid
        If the name is empty, too long or taken, or a dialogue can't be pinned.
    """
    made = CaseStudy.objects.create(dataset=dataset, name=_named(dataset, name), note=note.strip(), created_by=by)
    if dialogues:
        pin(case=made, dialogues=dialogues, by=by)
    return made


@transaction.atomic
def describe(*, case: CaseStudy, version: int, name: str, note: str) -> CaseStudy:
    """Change name and note, as they were read at `version`.

    Raises
    ------
    Conflict
        If somebody has changed them since.
    """
    row = _locked(case)
    if row.version != version:
        raise Conflict("Somebody has changed this case study meanwhile. Their text is below yours; save to replace it.")
    row.name, row.note, row.version = _named(row.dataset, name, but=row), note.strip(), row.version + 1
    row.save(update_fields=["name", "note", "version"])
    return row


@transaction.atomic
def pin(*, case: CaseStudy, dialogues: Sequence[Dialogue], by: User) -> int:
    """Add dialogues at the end; those that are there stay where they are. Returns how many are new.

    Raises
    ------
    Invalid
        If a dialogue is of another dataset, or they would be too many.
    """
    row = _locked(case)
    if any(dialogue.run.dataset_id != row.dataset_id for dialogue in dialogues):
        raise Invalid(f"{row.name} holds dialogues over {row.dataset.name} only.")
    held = set(row.pins.values_list("dialogue_id", flat=True))
    new = [dialogue for dialogue in dict.fromkeys(dialogues) if dialogue.pk not in held]
    if len(held) + len(new) > MOST:
        raise Invalid(f"A case study holds {MOST} dialogues at the most; this one holds {len(held)}.")
    PinnedDialogue.objects.bulk_create(
        PinnedDialogue(case_study=row, dialogue=dialogue, position=position, pinned_by=by)
        for position, dialogue in enumerate(new, len(held) + 1)
    )
    return len(new)


@transaction.atomic
def unpin(*, case: CaseStudy, dialogue: Dialogue) -> None:
    """Take a dialogue out; nothing happens if it is out already."""
    row = _locked(case)
    row.pins.filter(dialogue=dialogue).delete()
    _number(_pins(row))


@transaction.atomic
def move(*, case: CaseStudy, dialogue: Dialogue, way: Way) -> None:
    """Move a dialogue left or right among those on its item, or all of its item up or down; at the end it stays."""
    row = _locked(case)
    groups: dict[int, list[PinnedDialogue]] = {}
    for pin in _pins(row):
        groups.setdefault(pin.dialogue.item_id, []).append(pin)
    group = groups.get(dialogue.item_id, [])
    at = next((place for place, pin in enumerate(group) if pin.dialogue_id == dialogue.pk), None)
    if at is None:
        raise Conflict("This dialogue is no longer in the case study.")
    ordered = list(groups.values())
    if way in ("left", "right"):
        _swap(group, at, -1 if way == "left" else 1)
    else:
        _swap(ordered, ordered.index(group), -1 if way == "up" else 1)
    _number([pin for pins in ordered for pin in pins])


@transaction.atomic
def delete(*, case: CaseStudy) -> None:
    """Remove an empty case study. Raises Conflict while dialogues are pinned."""
    row = _locked(case)
    if row.pins.exists():
        raise Conflict("Take the dialogues out first: only an empty case study can be deleted.")
    row.delete()


def _locked(case: CaseStudy) -> CaseStudy:
    found = CaseStudy.objects.select_for_update(of=("self",)).select_related("dataset").filter(pk=case.pk).first()
    if found is None:
        raise Conflict("This case study has been deleted meanwhile.")
    return found


def _named(dataset: Dataset, name: str, but: CaseStudy | None = None) -> str:
    name = require_plain(name).strip()
    if not name or len(name) > NAME:
        raise Invalid(f"A case study needs a name of at most {NAME} characters.")
    taken = CaseStudy.objects.filter(dataset=dataset, name=name)
    if (taken.exclude(pk=but.pk) if but else taken).exists():
        raise Invalid("This dataset has a case study of this name already.")
    return name


def _pins(case: CaseStudy) -> list[PinnedDialogue]:
    return list(case.pins.select_related("dialogue").order_by("position", "id"))


def _swap[T](rows: list[T], at: int, step: int) -> None:
    if 0 <= at + step < len(rows):
        rows[at], rows[at + step] = rows[at + step], rows[at]


def _number(pins: Sequence[PinnedDialogue]) -> None:
    for position, pin in enumerate(pins, 1):
        pin.position = position
    PinnedDialogue.objects.bulk_update(pins, ["position"])
