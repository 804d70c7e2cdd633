"""What to look at before variants are frozen, and freezing them into a four-turn dataset of their own."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict

from django.db import transaction
from django.db.models import Exists, OuterRef

from annotate import variant_table
from annotate.models import Dataset, Draft, Item, Review, User
from annotate.models.items import ItemState
from annotate.models.reviews import Verdict
from annotate.services import datasets, freezing, protocols, variant_checks, variants
from annotate.services.freezing import NAMED, Check, Level
from annotate.variant_table import Row, Slot
from fpco_site.errors import Conflict, Invalid


@transaction.atomic
def freeze(*, name: str, by: User | None, accepted: Collection[str] = (), accept_all: bool = False) -> Dataset:
    """A dataset of the variants of every image whose six are approved, each named by its own key for ever.

    Raises Conflict where a check stops it, and Invalid where a warning is not among `accepted`. The rows
    are kept with the dataset.
    """
    name = datasets.check_name(name)
    locked = Item.objects.select_for_update().filter(parent__isnull=False, state=ItemState.APPROVED)
    by_key = {item.key: item for item in locked.order_by("key")}
    table = variant_table.table()
    rows = _checks(table.kept, read_files=True)
    if stopping := [row for row in rows if row.level is Level.STOPS]:
        raise Conflict(" ".join(row.text for row in stopping))
    unseen = [row for row in rows if row.level is Level.WARN and row.ticket not in accepted]
    if unseen and not accept_all:
        raise Invalid(f"Not accepted yet: {' '.join(row.text for row in unseen)}")
    keys = sorted(slot.item.key for row in _whole(table.kept) for slot in row.slots)
    return datasets.store(
        name=name,
        plan=protocols.lexical(),
        chosen=[by_key[key] for key in keys],
        by=by,
        checks=[asdict(row) for row in rows],
    )


def checks(*, read_files: bool = False) -> list[Check]:
    """All rows in the order of the page; `read_files` hashes the file of every picture."""
    return _checks(variant_table.table().kept, read_files=read_files)


def whole() -> int:
    """Images whose six variants are all approved."""
    return len(_whole(variant_table.table().kept))


def _checks(rows: list[Row], *, read_files: bool) -> list[Check]:
    chosen = _whole(rows)
    if not chosen:
        return [Check("images", Level.STOPS, "No image has all six variants approved, so there is nothing to freeze.")]
    slots = [slot for row in chosen for slot in row.slots]
    items = [slot.item for slot in slots]
    pictures = [row.parent for row in chosen]
    plain = [freezing.plain(item) for item in pictures]
    return [
        _images(chosen),
        _left_out(rows, chosen),
        _steps(slots),
        _approvals(items),
        _parents(pictures),
        *_opinions(slots),
        _drafters(items),
        freezing._licences(plain),
        freezing._files(plain) if read_files else freezing._files_later(plain),
    ]


def _whole(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row.complete]


def _images(chosen: list[Row]) -> Check:
    count, wanted = len(chosen), variants.IMAGES
    noun = "image has" if count == 1 else "images have"
    text = f"{count} {noun} all six variants approved; the published study has {wanted}."
    return Check("images", Level.OK if count == wanted else Level.WARN, text, count)


def _left_out(rows: list[Row], chosen: list[Row]) -> Check:
    keys = [row.parent.key for row in rows if row not in chosen]
    one, many = "image is left out: not all of its", "images are left out: not all of their"
    return _named(
        "left_out", keys, "No chosen image is left out.", f"{one} six are approved", f"{many} six are approved"
    )


def _steps(slots: list[Slot]) -> Check:
    keys = _where(slots, lambda slot: slot.out_of_step)
    one, many = "variant is out of step with its parent", "variants are out of step with their parents"
    return _named("step", keys, "Every variant is in step with its parent.", one, many, Level.STOPS)


def _approvals(items: list[Item]) -> Check:
    """Approved variants without an approval of the very version that would be frozen."""
    given = Review.objects.filter(
        item=OuterRef("pk"), item_version=OuterRef("version"), verdict=Verdict.APPROVED, withdrawn_at=None
    )
    rows = Item.objects.filter(pk__in=[item.pk for item in items]).filter(~Exists(given)).order_by("key")
    return _named(
        "approvals",
        list(rows.values_list("key", flat=True)),
        "Each has a person's approval of the version that is frozen.",
        "variant has no review of its present version on record",
        "variants have no review of their present version on record",
        Level.STOPS,
    )


def _parents(pictures: list[Item]) -> Check:
    keys = [item.key for item in pictures if item.state != ItemState.APPROVED]
    good = "Every parent is approved."
    return _named("parents", keys, good, "parent is not approved now", "parents are not approved now")


def _opinions(slots: list[Slot]) -> list[Check]:
    """Three families each, what they object to, and whether they were real."""
    wanted = variant_checks.FAMILIES
    return [
        _named(
            "families",
            _where(slots, lambda slot: slot.families < wanted),
            f"Each is checked by {wanted} families as it is worded now.",
            f"variant is not checked by {wanted} families as it is worded now",
            f"variants are not checked by {wanted} families as they are worded now",
        ),
        _named(
            "objections",
            _where(slots, lambda slot: slot.objected),
            "No model objects to a variant.",
            "variant was approved though a model objects to it",
            "variants were approved though a model objects to them",
        ),
        _named(
            "simulated_checks",
            _where(slots, lambda slot: any(opinion.check.simulated for opinion in slot.ready)),
            "No check is simulated.",
            "variant was checked by a simulated model",
            "variants were checked by simulated models",
        ),
    ]


def _drafters(items: list[Item]) -> Check:
    made_up = Draft.objects.filter(item__in=items, simulated=True, applied_at__isnull=False)
    keys = sorted(set(made_up.values_list("item__key", flat=True)))
    one, many = "variant was written from a simulated draft", "variants were written from simulated drafts"
    return _named("drafters", keys, "No premise goes back to a simulated drafter.", one, many)


def _where(slots: Iterable[Slot], holds: Callable[[Slot], bool]) -> list[str]:
    return [slot.item.key for slot in slots if holds(slot)]


def _named(code: str, keys: list[str], good: str, one: str, many: str, level: Level = Level.WARN) -> Check:
    """`good` where there are no keys; else the count with `one` or `many`."""
    if not keys:
        return Check(code, Level.OK, good)
    return Check(code, level, f"{len(keys)} {one if len(keys) == 1 else many}.", len(keys), tuple(keys[:NAMED]))
