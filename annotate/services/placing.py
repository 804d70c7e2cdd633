"""Placing picture after picture, and taking the last placing back while nobody has worked on it."""

from django.db import transaction
from django.db.models import ForeignObjectRel

from annotate.axes import Cell
from annotate.models import Image, Item, Revision, TakenBack, Turn, User
from annotate.models.items import ItemState
from annotate.services import items
from fpco_site.errors import Conflict

# What a placing itself makes; a row of any other table means that somebody has worked on the item.
_OWN = {Turn, Revision}


@transaction.atomic
def place(*, image: Image, cell: Cell, target: str, by: User) -> Item:
    """Put a picture into a cell. The same placing again by the same person is no second one."""
    Image.objects.select_for_update().get(pk=image.pk)
    placed = image.items.filter(parent=None).first()
    if placed is None:
        return items.place(image=image, cell=cell, target=target, by=by)
    first = placed.revisions.select_related("by").order_by("version").first()
    if placed.cell == cell and first and first.by == by and untouched(placed):
        return placed
    who = f" by {first.by}" if first and first.by else ""
    raise Conflict(f"{image} is already placed{who}; nothing was changed.")


@transaction.atomic
def take_back(*, item: Item, by: User) -> TakenBack:
    """Undo a placing: the item goes, and that it was there stays on record. Refused once it was touched."""
    item = items.locked(item)
    if not untouched(item):
        raise Conflict("Somebody has worked on this item meanwhile, so its placing can't be taken back; move it.")
    placed = item.revisions.get()
    gone = TakenBack.objects.create(
        image=item.image,
        key=item.key,
        complexity=item.complexity,
        category=item.category,
        premise_class=item.premise_class,
        target=item.target,
        placed_by=placed.by,
        placed_at=placed.at,
        by=by,
    )
    placed.delete()
    item.turns.all().delete()
    item.delete()
    return gone


def untouched(item: Item) -> bool:
    """Whether the item is as its placing left it: no text, no draft, no review, nothing that points at it."""
    if item.parent_id or item.state != ItemState.DRAFT or item.version != 1 or item.revisions.count() != 1:
        return False
    texts = items.texts_of(item)
    written = [texts.target_description, texts.modified_target_description]
    written += [part for question in texts.questions.values() for part in (question.content, question.modified)]
    return not any(written) and not _pointed_at(item)


def _pointed_at(item: Item) -> bool:
    """Whether any other row refers to the item, whatever table it is in."""
    relations = [field for field in Item._meta.get_fields(include_hidden=True) if isinstance(field, ForeignObjectRel)]
    return any(
        relation.related_model._default_manager.filter(**{relation.field.name: item}).exists()
        for relation in relations
        if relation.related_model not in _OWN
    )
