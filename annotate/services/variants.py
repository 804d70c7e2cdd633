"""Variants of items for the lexical-sensitivity study: six of an image, which differ in their premise alone.

For each chosen image and each class there are two substitutions, A and B, with target, description,
premise-correct prefix and question 4 of the parent (paper, lexical sensitivity).
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from annotate import draws, sheets, variant_rules
from annotate.axes import PremiseClass
from annotate.linting import Finding
from annotate.models import Item, Turn, User, VariantDraw
from annotate.models.drafts import DraftKind, DraftState
from annotate.models.items import ItemState
from annotate.services import items, protocols
from annotate.services.items import Question, Texts
from annotate.variant_rules import Sibling
from fpco_site.errors import Conflict, Invalid

IMAGES = 30  # of the published study
LETTERS = ("A", "B")
SLOTS: tuple[tuple[str, str], ...] = tuple(product(PremiseClass.values, LETTERS))


@dataclass(frozen=True)
class Move:
    """What a person typed for one variant: its premise and its question, over the version that was shown."""

    item: Item
    version: int
    modified_target_description: str
    modified_question: str
    machine: str = ""


def parents() -> QuerySet[Item]:
    """Items that have variants."""
    return Item.objects.filter(parent=None, variants__isnull=False).distinct()


def kept() -> QuerySet[Item]:
    """Items whose variants are in the study: those of an image that was set aside are all rejected."""
    live = Item.objects.filter(parent=OuterRef("pk")).exclude(state=ItemState.REJECTED)
    return Item.objects.filter(Exists(live), parent=None)


def eligible() -> QuerySet[Item]:
    """Approved items that have no variants yet."""
    return Item.objects.filter(parent=None, state=ItemState.APPROVED, variants__isnull=True)


@transaction.atomic
def choose(*, parent: Item, by: User, reason: str = "chosen by hand") -> list[Item]:
    """Make the six variants of an approved item, still without premises."""
    parent = items.locked(parent)
    if parent.parent_id is not None:
        raise Invalid("A variant has no variants of its own; choose the item it was made from.")
    if parent.state != ItemState.APPROVED:
        raise Conflict(f"Only an approved item gets variants; this one is {parent.get_state_display()}.")
    if parent.variants.exists():
        raise Conflict("This item has its variants already.")
    return [_made(parent, premise_class, letter, by=by, reason=reason) for premise_class, letter in SLOTS]


@transaction.atomic
def draw(*, seed: int, by: User, n: int = IMAGES) -> VariantDraw:
    """Choose images at random until `n` are chosen, spread evenly over the cells, and keep what repeats the draw.

    An image that was set aside counts no more, and is not drawn again.
    """
    chosen = list(kept().order_by("key"))
    missing = n - len(chosen)
    if missing <= 0:
        raise Conflict(f"{len(chosen)} images are chosen already; the draw fills up to {n}.")
    frame = {item.key: item for item in eligible().select_for_update(of=("self",)).order_by("key")}
    if not frame:
        raise Conflict("No approved item is left to draw from: approve items first.")
    units = [draws.Unit(item.key, item.cell) for item in frame.values()]
    keys = draws.draw(units, missing, seed, taken=[item.cell for item in chosen])
    for key in keys:
        choose(parent=frame[key], by=by, reason=f"drawn with seed {seed}")
    return VariantDraw.objects.create(
        seed=seed,
        wanted=n,
        frame_size=len(units),
        frame_sha256=_frame_hash(units),
        taken=[item.key for item in chosen],
        keys=keys,
        drawn_by=by,
    )


@transaction.atomic
def sync(*, parent: Item, by: User) -> int:
    """Take over what changed in the parent since; returns how many variants changed. Their approvals are taken back.

    A rewritten question that was the computed one is computed anew.
    """
    parent = items.locked(parent)
    theirs, changed = items.texts_of(parent), 0
    for variant in parent.variants.select_for_update().prefetch_related("turns").order_by("pk"):
        now = items.texts_of(variant)
        if not variant_rules.drifts(now, theirs) and in_cell(variant, parent):
            continue
        items.write(variant, _recomputed(variant_rules.from_parent(now, theirs), now), by=by)
        variant.complexity, variant.category = parent.complexity, parent.category
        state = ItemState.IN_REVIEW if variant.state == ItemState.APPROVED else variant.state
        items.bump(variant, by=by, reason=f"taken over from {parent.key}, version {parent.version}", state=state)
        changed += 1
    return changed


@transaction.atomic
def save(*, move: Move, by: User) -> Item:
    """Save the premise of one variant; its question follows unless a person worded it."""
    now = items.texts_of(move.item)
    number = false_turn(now)
    question = Question(now.questions[number].content, move.modified_question)
    texts = replace(
        now,
        modified_target_description=move.modified_target_description.strip(),
        questions={**now.questions, number: question},
    )
    texts = sheets.recompute(
        texts,
        machine={number: move.machine},
        before=now.modified_target_description,
        plan=protocols.lexical(),
    )
    return items.edit(item=move.item, version=move.version, texts=texts, by=by)


@transaction.atomic
def adopt(*, item: Item, by: User) -> Item:
    """Put the parent's own premise into an empty variant of its class, as the first of its substitutions."""
    item = items.locked(item)
    if not may_adopt(item):
        raise Conflict("The parent's premise fits an empty variant A of the parent's own class.")
    theirs = items.texts_of(_parent(item))
    now = items.texts_of(item)
    number = false_turn(now)
    question = replace(now.questions[number], modified=theirs.questions[number].modified)
    texts = replace(
        now,
        modified_target_description=theirs.modified_target_description,
        questions={**now.questions, number: question},
    )
    return items.edit(item=item, version=item.version, texts=texts, by=by, reason="the parent's premise taken")


@transaction.atomic
def adopt_all(*, parents: Iterable[Item], by: User) -> int:
    """`adopt` for every variant that it fits; returns how many."""
    empty = Item.objects.filter(parent__in=list(parents), variant=LETTERS[0], modified_target_description="")
    rows = empty.filter(premise_class=F("parent__premise_class")).exclude(state=ItemState.REJECTED)
    found = list(rows.select_related("parent").order_by("pk"))
    for variant in found:
        adopt(item=variant, by=by)
    return len(found)


@transaction.atomic
def submit(*, parent: Item, by: User) -> int:
    """Hand the complete drafts of a parent to review; returns how many."""
    done = 0
    for variant in parent.variants.select_for_update().filter(state=ItemState.DRAFT).order_by("pk"):
        if not items.missing_texts(variant, protocols.lexical()):
            items.submit(item=variant, version=variant.version, by=by)
            done += 1
    return done


@transaction.atomic
def set_aside(*, parent: Item, reason: str, by: User) -> int:
    """Take an image out of the study: its variants are rejected with the reason, and stay on record."""
    if not reason.strip():
        raise Invalid("Say why this image is set aside.")
    rows = parent.variants.select_for_update().exclude(state=ItemState.REJECTED).order_by("pk")
    for variant in rows:
        items.bump(variant, by=by, reason=f"set aside: {reason.strip()}", state=ItemState.REJECTED)
    return len(rows)


@transaction.atomic
def take_back(*, parent: Item, by: User) -> int:
    """Bring a set-aside image back: its rejected variants are drafts again."""
    rows = parent.variants.select_for_update().filter(state=ItemState.REJECTED).order_by("pk")
    for variant in rows:
        items.reopen(item=variant, version=variant.version, reason="the image is taken back", by=by)
    return len(rows)


def findings_of(item: Item, texts: Texts | None = None) -> list[Finding]:
    """What a variant's rules say of these texts beside the linting; nothing for an item without a parent."""
    if item.parent_id is None:
        return []
    parent = _parent(item)
    siblings = parent.variants.exclude(pk=item.pk).order_by("pk")
    return findings_among(item, texts or items.texts_of(item), parent=parent, siblings=list(siblings))


def findings_among(item: Item, texts: Texts, *, parent: Item, siblings: Iterable[Item]) -> list[Finding]:
    """`findings_of` where parent and siblings are at hand."""
    others = [Sibling(name_of(row), row.modified_target_description) for row in siblings if row.pk != item.pk]
    found = variant_rules.findings(texts, parent=items.texts_of(parent), siblings=others)
    return found if in_cell(item, parent) else [variant_rules.other_cell(parent.cell[:2]), *found]


def to_avoid(item: Item) -> tuple[str, ...]:
    """Premises that another draft for this variant must not propose: those written or drafted for its twin."""
    if item.parent_id is None:
        return ()
    twins = Item.objects.filter(parent=item.parent_id, premise_class=item.premise_class).exclude(pk=item.pk)
    found: list[str] = []
    for twin in twins:
        drafted = (
            twin.drafts.filter(kind=DraftKind.PREMISE, state=DraftState.READY, discarded_at=None)
            .order_by("-id")
            .first()
        )
        proposed = (drafted.payload or {}).get("modified_target_description", "") if drafted else ""
        found += [text for text in (twin.modified_target_description, proposed) if text and text not in found]
    return tuple(found)


def may_adopt(item: Item) -> bool:
    """Whether the parent's own premise is the proposal for this variant."""
    if item.parent_id is None or item.variant != LETTERS[0] or item.modified_target_description:
        return False
    return item.state != ItemState.REJECTED and item.premise_class == _parent(item).premise_class


def name_of(variant: Item) -> str:
    """As people name it beside its siblings: "identity A"."""
    return f"{variant.get_premise_class_display()} {variant.variant}"


def key_of(parent: Item, premise_class: str, letter: str) -> str:
    """The key of a variant, for ever."""
    return f"{parent.key}-{premise_class}-{letter}"


def in_cell(variant: Item, parent: Item) -> bool:
    """Whether a variant is where its parent is; the class is its own."""
    return variant.cell[:2] == parent.cell[:2]


def false_turn(texts: Texts) -> int:
    """The number of the one question that a variant asks with its premise: its last."""
    return max(texts.questions)


def _parent(item: Item) -> Item:
    if item.parent is None:
        raise Invalid("This item is no variant.")
    return item.parent


def _made(parent: Item, premise_class: str, letter: str, *, by: User, reason: str) -> Item:
    variant = Item.objects.create(
        key=key_of(parent, premise_class, letter),
        parent=parent,
        variant=letter,
        image_id=parent.image_id,
        complexity=parent.complexity,
        category=parent.category,
        premise_class=premise_class,
        target=parent.target,
        target_description=parent.target_description,
        edited_by=by,
    )
    questions = items.texts_of(parent).questions
    Turn.objects.bulk_create(
        Turn(item=variant, number=number, content=questions.get(number, Question()).content)
        for number in range(1, protocols.lexical().turns + 1)
    )
    items.record(variant, by=by, reason=f"variant of {parent.key}, {reason}")
    return variant


def _recomputed(texts: Texts, before: Texts) -> Texts:
    number = false_turn(before)
    machine = sheets.computed(before.questions[number].content, before)
    kept = before.modified_target_description
    return sheets.recompute(texts, machine={number: machine}, before=kept, plan=protocols.lexical())


def _frame_hash(units: Sequence[draws.Unit]) -> str:
    rows = sorted((unit.key, *unit.cell) for unit in units)
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()
