"""Freezing approved items into a dataset, and giving pictures to a dataset that came without."""

from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

from django.db import IntegrityError, transaction
from django.db.models import Count, Q

from annotate import licences, records
from annotate.models import Dataset, DatasetItem, DatasetTurn, Image, Item, Protocol, User
from annotate.models.datasets import Origin
from annotate.models.images import ImageFacts
from annotate.models.items import ItemState
from annotate.services import items, protocols
from fpco_site.errors import Conflict, Invalid

# A file system takes 255 bytes; a release adds its number and ".zip".
LONGEST_FOLDER = 200
# Invisible, and part of words in Persian and Hindi and of some emoji.
JOINERS = "\u200c\u200d"
FACTS = tuple(field.name for field in ImageFacts._meta.get_fields())


@dataclass(frozen=True)
class Readiness:
    """How many placed items stand where; variants are not counted."""

    approved: int
    draft: int
    in_review: int
    rejected: int

    @property
    def unfinished(self) -> int:
        return self.draft + self.in_review


def readiness() -> Readiness:
    states = dict(Item.objects.filter(parent=None).order_by().values_list("state").annotate(n=Count("id")))
    return Readiness(
        **{name: states.get(ItemState(name), 0) for name in ("approved", "draft", "in_review", "rejected")}
    )


@transaction.atomic
def freeze(
    *,
    name: str,
    by: User | None,
    protocol: Protocol | None = None,
    only_approved: bool = False,
    checks: list[dict[str, Any]] | None = None,
) -> Dataset:
    """A dataset of all approved items without a parent, word for word as they are now.

    Refused while an item is still a draft or in review, unless `only_approved` leaves those out. `checks` is
    the list of `services.freezing` that somebody read before; it is kept with the dataset.
    """
    name = check_name(name)
    plan = protocol or protocols.study()
    if not only_approved:
        _require_all_reviewed()
    chosen = list(Item.objects.select_for_update().filter(parent=None, state=ItemState.APPROVED).order_by("key"))
    if not chosen:
        raise Conflict("No item is approved yet, so there is nothing to freeze.")
    return store(name=name, plan=plan, chosen=chosen, by=by, checks=checks)


def store(
    *, name: str, plan: Protocol, chosen: list[Item], by: User | None, checks: list[dict[str, Any]] | None
) -> Dataset:
    """Write locked items down as a dataset, inside the caller's transaction; `name` is a checked one."""
    frozen = [(_frozen_item(item), _frozen_turns(item, plan)) for item in _with_texts(chosen)]
    dataset = Dataset(
        name=name,
        origin=Origin.FROZEN,
        protocol=plan.as_dict(),
        dataset_hash=records.dataset_hash(records.item_record(item, turns) for item, turns in frozen),
        checks=checks,
        created_by=by,
    )
    try:
        with transaction.atomic():
            dataset.save()
    except IntegrityError as error:  # somebody froze other items under this name since it was checked
        raise Conflict(_taken(name)) from error
    for item, _ in frozen:
        item.dataset = dataset
    DatasetItem.objects.bulk_create(item for item, _ in frozen)
    for item, turns in frozen:
        for turn in turns:
            turn.item = item
    DatasetTurn.objects.bulk_create((turn for _, turns in frozen for turn in turns), batch_size=2000)
    return dataset


@transaction.atomic
def attach_images(*, dataset: Dataset) -> int:
    """Give pictures to items that have none, found by the hash of the stored or the original bytes."""
    bare = list(dataset.items.filter(image=None).exclude(sha256="", original_sha256=""))
    wanted = {digest for item in bare for digest in (item.sha256, item.original_sha256) if digest}
    by_stored: dict[str, Image] = {}
    by_original: dict[str, Image] = {}
    for image in Image.objects.filter(Q(sha256__in=wanted) | Q(original_sha256__in=wanted)).order_by("-id"):
        by_stored[image.sha256] = image
        if image.original_sha256:  # an unknown original is not the same as another unknown one
            by_original[image.original_sha256] = image
    found = []
    for item in bare:
        match = by_stored.get(item.sha256) or by_original.get(item.original_sha256) or by_original.get(item.sha256)
        if match is not None:
            item.image = match
            found.append(item)
    DatasetItem.objects.bulk_update(found, ["image"], batch_size=500)
    return len(found)


def check_name(name: str) -> str:
    """A name that a folder can have too, and that no dataset has yet."""
    name = name.strip()
    if not name or len(name) > 100 or name.startswith(".") or any(char in '/\\:*?"<>|\n\r\t\0' for char in name):
        raise Invalid('A dataset needs a name of at most 100 characters without any of / \\ : * ? " < > |.')
    if any(not char.isprintable() and char not in JOINERS for char in name):
        raise Invalid("This name has a letter that can't be seen; two names could look the same.")
    if len(name.encode("utf-8", "replace")) > LONGEST_FOLDER:
        raise Invalid(f"This name is too long for a folder: {LONGEST_FOLDER} bytes at most, and an emoji takes four.")
    same = normalize("NFC", name)
    if any(normalize("NFC", other) == same for other in Dataset.objects.values_list("name", flat=True)):
        raise Conflict(_taken(name))
    return name


def _taken(name: str) -> str:
    return f"There is already a dataset named {name}; frozen datasets are never changed."


def _require_all_reviewed() -> None:
    now = readiness()
    if not now.unfinished:
        return
    noun = "item is" if now.unfinished == 1 else "items are"
    raise Conflict(
        f"{now.unfinished} {noun} not approved yet ({now.draft} in draft, {now.in_review} in review): "
        "approve or reject them, or freeze the approved ones alone."
    )


def _with_texts(chosen: list[Item]) -> list[Item]:
    """The same items with picture and turns, read after they were locked."""
    return list(
        Item.objects.filter(pk__in=[item.pk for item in chosen])
        .select_related("image", "parent")
        .prefetch_related("turns")
        .order_by("key")
    )


def _frozen_item(item: Item) -> DatasetItem:
    return DatasetItem(
        key=item.key,
        source_item=item,
        image=item.image,
        image_name=_released_as(item.image),
        sha256=item.image.sha256,
        complexity=item.complexity,
        category=item.category,
        premise_class=item.premise_class,
        target=item.target,
        target_description=item.target_description,
        modified_target_description=item.modified_target_description,
        parent=item.parent.key if item.parent else "",
        variant=item.variant,
        **{name: getattr(item.image, name) for name in FACTS},
    )


def _released_as(image: Image) -> str:
    """The name of the picture's file in a release; blank where its licence keeps it out."""
    if licences.classify(image.license, image.license_url) != licences.Kind.OPEN:
        return ""
    return f"{image.sha256}.{str(image.file.name).rpartition('.')[2]}"


def _frozen_turns(item: Item, plan: Protocol) -> list[DatasetTurn]:
    if missing := items.missing_texts(item, plan):
        raise Conflict(f"Item {item.key} is approved but not complete: {missing} is missing.")
    questions = items.texts_of(item).questions
    return [
        DatasetTurn(
            number=number,
            false_premise=number in plan.false_turns,
            content=questions[number].content,
            modified=questions[number].modified if number in plan.false_turns else "",
        )
        for number in range(1, plan.turns + 1)
    ]
