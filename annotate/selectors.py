"""Reads that more than one caller needs. Nothing here writes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotate import licences
from annotate.axes import CELLS, Category, Cell, Complexity, PremiseClass
from annotate.models import (
    Assignment,
    Dataset,
    Image,
    ImagePair,
    ImportBatch,
    Item,
    LabelTask,
    Protocol,
    Review,
    Turn,
    User,
)
from annotate.models.duplicates import PairState
from annotate.models.imports import Outcome
from annotate.models.items import ItemState
from annotate.services import protocols, rules


@dataclass(frozen=True)
class CellCount:
    """How many items of one cell are in which state; variants are not counted."""

    cell: Cell
    quota: int
    draft: int = 0
    in_review: int = 0
    approved: int = 0
    rejected: int = 0

    @property
    def placed(self) -> int:
        """Items that count against the quota: all but the rejected."""
        return self.draft + self.in_review + self.approved

    @property
    def words(self) -> str:
        return ", ".join(cell_words(self.cell))

    @property
    def title(self) -> str:
        states = f"{self.draft} in draft, {self.in_review} in review, {self.approved} approved"
        aside = f"; {self.rejected} rejected" if self.rejected else ""
        return f"{self.words}: {self.placed} of {self.quota} ({states}{aside})"

    @property
    def bars(self) -> list[dict[str, str]]:
        """Approved, in review and draft side by side, in percent of the quota, or of the placed where they are more."""
        whole, at, found = max(self.quota, self.placed, 1), 0.0, []
        for tone, n in (("good", self.approved), ("info", self.in_review), ("idle", self.draft)):
            width = 100 * n / whole
            found.append({"tone": tone, "x": f"{at:.2f}", "width": f"{width:.2f}"})
            at += width
        return found


def cell_words(cell: Cell) -> tuple[str, str, str]:
    """A cell as people read it: ("single, clean", "animal", "identity")."""
    return (Complexity(cell[0]).label, Category(cell[1]).label, PremiseClass(cell[2]).label)


def cell_counts(protocol: Protocol | None = None) -> list[CellCount]:
    """All 36 cells in order, also the empty ones."""
    plan = protocol or protocols.study()
    found: dict[Cell, dict[str, int]] = {}
    rows = (
        Item.objects.filter(parent=None)
        .order_by()
        .values_list("complexity", "category", "premise_class", "state")
        .annotate(n=Count("id"))
    )
    for complexity, category, premise_class, state, n in rows:
        found.setdefault((complexity, category, premise_class), {})[str(state)] = n
    return [CellCount(cell=cell, quota=plan.per_cell, **found.get(cell, {})) for cell in CELLS]


def cell_grid(
    counts: Iterable[CellCount], *, href: Callable[[Cell], str] | None = None, states: bool = False
) -> dict[str, Any]:
    """`columns` and `rows` as components/cell_grid.html draws them: categories by complexity and class.

    With `states` each cell also has its counts by state, and a bar of them.
    """
    by_cell = {count.cell: count for count in counts}

    def entry(cell: Cell) -> dict[str, Any]:
        count = by_cell[cell]
        shown: dict[str, Any] = {"n": count.placed, "target": count.quota, "title": count.title}
        shown["value"] = "/".join(cell)
        if states:
            shown |= {"count": count, "bars": count.bars}
        return shown if href is None else {**shown, "href": href(cell)}

    columns = [{"label": complexity.label, "classes": PremiseClass.labels} for complexity in Complexity]
    rows = [
        {
            "label": category.label,
            "cells": [
                entry((complexity, category.value, kind))
                for complexity, kind in product(Complexity.values, PremiseClass.values)
            ],
        }
        for category in Category
    ]
    return {"columns": columns, "rows": rows}


def cell_query(address: str, cell: Cell) -> str:
    """`address` with the cell as its query."""
    return f"{address}?{urlencode(dict(zip(('complexity', 'category', 'premise_class'), cell, strict=True)))}"


def known_cell_words(cell: Iterable[str]) -> str:
    """The words of a cell that an address named; empty where it is none."""
    named = tuple(cell)
    return ", ".join(cell_words(named)) if named in CELLS else ""


def frozen_counts(dataset: Dataset) -> list[CellCount]:
    """The items of a dataset by cell, against its own protocol; of a dataset of variants alone, those."""
    items = dataset.items.filter(parent="")
    rows = (
        (items if items.exists() else dataset.items)
        .order_by()
        .values_list("complexity", "category", "premise_class")
        .annotate(n=Count("id"))
    )
    found = {(complexity, category, kind): n for complexity, category, kind, n in rows}
    quota = int(dataset.protocol.get("per_cell") or max(found.values(), default=0))
    return [CellCount(cell=cell, quota=quota, approved=found.get(cell, 0)) for cell in CELLS]


def visible_picture(*, user: User, sha256: str) -> Image | None:
    """The picture of that hash if this person may see it.

    Who only annotates sees the pictures that a task assigned to them shows, and no other.
    """
    pictures = Image.objects.filter(sha256=sha256)
    if user.is_annotator:
        mine = Assignment.objects.filter(person=user).values("label_set")
        shown = LabelTask.objects.filter(label_set__in=mine, label_set__show_picture=True, image__sha256=sha256)
        pictures = pictures.filter(pk__in=shown.values("image"))
    return pictures.first()


# What the queue can be ordered by; the first is the default, and each ends in something unique.
SORTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "": ("oldest first", ("state_since", "id")),
    "newest": ("newest first", ("-state_since", "-id")),
    "placed": ("as placed", ("id",)),
    "cell": ("by cell", ("complexity", "category", "premise_class", "id")),
}


@dataclass(frozen=True)
class Queue:
    """Which items of the review queue are looked at, in which order; blank is all.

    `author` is the username of who last wrote the texts, or placed the item while it has none.
    """

    state: str = ""
    complexity: str = ""
    category: str = ""
    premise_class: str = ""
    q: str = ""
    author: str = ""
    sort: str = ""
    variants: bool = False

    @property
    def order(self) -> tuple[str, ...]:
        return SORTS.get(self.sort, SORTS[""])[1]

    def items(self) -> QuerySet[Item]:
        """The items in the order of the queue."""
        exact = {
            name: value
            for name in ("state", "complexity", "category", "premise_class")
            if (value := getattr(self, name))
        }
        found = Item.objects.filter(parent__isnull=not self.variants, **exact)
        if self.author:
            found = found.filter(edited_by__username=self.author)
        if self.q:
            found = found.filter(_search(self.q))
        return found.select_related("image", "edited_by").order_by(*self.order)

    def waiting_for(self, person: User) -> QuerySet[Item]:
        """The items in review on which this person can still give a verdict, in the order of the queue."""
        rows = replace(self, state=ItemState.IN_REVIEW).items()
        given = Review.objects.filter(
            reviewer=person, item=OuterRef("pk"), item_version=OuterRef("version"), withdrawn_at=None
        )
        rows = rows.exclude(Exists(given))
        return rows.exclude(edited_by=person) if rules.current().approver_not_last_editor else rows

    def neighbours(self, item: Item) -> tuple[Item | None, Item | None]:
        """The items before and after `item`, itself in the queue or not."""
        rows = self.items()
        before = rows.filter(self._beyond(item, -1)).reverse().first()
        return before, rows.filter(self._beyond(item, 1)).first()

    def next_for(self, person: User, item: Item) -> Item | None:
        """The next item after `item` that waits for this person, from the start again after the last."""
        rows = self.waiting_for(person).exclude(pk=item.pk)
        return rows.filter(self._beyond(item, 1)).first() or rows.first()

    def _beyond(self, item: Item, step: int) -> Q:
        """What stands after `item` (1) or before it (-1) in the order of the queue."""
        beyond, same = Q(), Q()
        for name in self.order:
            bare = name.removeprefix("-")
            rises = (step > 0) == (bare == name)
            beyond |= same & Q(**{f"{bare}__{'gt' if rises else 'lt'}": getattr(item, bare)})
            same &= Q(**{bare: getattr(item, bare)})
        return beyond


def _search(words: str) -> Q:
    """Items whose key starts with the words, or one of whose texts holds them."""
    asked = Turn.objects.filter(Q(content__icontains=words) | Q(modified__icontains=words)).values("item")
    names = ("target", "target_description", "modified_target_description")
    found = Q(key__startswith=words.lower()) | Q(pk__in=asked)
    for name in names:
        found |= Q(**{f"{name}__icontains": words})
    return found


def editors() -> list[str]:
    """The usernames of all who last wrote an item's texts."""
    rows = Item.objects.filter(edited_by__isnull=False).order_by("edited_by__username")
    return list(rows.values_list("edited_by__username", flat=True).distinct())


def state_counts(*, variants: bool = False) -> dict[str, int]:
    """Items without a parent, or variants alone, by state; all states named."""
    found = dict(
        Item.objects.filter(parent__isnull=not variants).order_by().values_list("state").annotate(n=Count("id"))
    )
    return {state: found.get(ItemState(state), 0) for state in ItemState.values}


def open_pairs() -> QuerySet[ImagePair]:
    """Near duplicates that wait for a decision; a picture that was set aside asks for none."""
    return ImagePair.objects.filter(state=PairState.OPEN, first__duplicate_of=None, second__duplicate_of=None)


def open_pairs_with_items() -> QuerySet[ImagePair]:
    """Open pairs, the nearest first, with what a decision needs to know of both pictures."""
    return _with_items(open_pairs().order_by("distance", "id"))


def decided_pairs() -> QuerySet[ImagePair]:
    """Pairs that a person decided, the newest decision first."""
    return _with_items(ImagePair.objects.exclude(state=PairState.OPEN).order_by("-decided_at", "-id"))


def _with_items(pairs: QuerySet[ImagePair]) -> QuerySet[ImagePair]:
    return pairs.select_related("first", "second", "decided_by").prefetch_related("first__items", "second__items")


@dataclass(frozen=True)
class Side:
    """One picture of a pair: the choice that keeps it, and the item that keeps it from being set aside, if any."""

    image: Image
    keep: str
    item: Item | None
    licence: str


def sides(pair: ImagePair) -> list[Side]:
    """Both pictures of a pair, left and right."""
    named = (("first", pair.first), ("second", pair.second))
    return [
        Side(
            image,
            name,
            next((item for item in image.items.all() if item.state != ItemState.REJECTED), None),
            licences.sentence(image.license, image.license_url),
        )
        for name, image in named
    ]


def import_batches() -> QuerySet[ImportBatch]:
    """Imports, the newest first, each with `total`, `waiting`, `added` and `failed` files."""
    counted = {
        "total": Count("files"),
        "waiting": Count("files", filter=Q(files__outcome=Outcome.WAITING)),
        "added": Count("files", filter=Q(files__outcome=Outcome.ADDED)),
        "failed": Count("files", filter=Q(files__outcome__in=[Outcome.REFUSED, Outcome.MISSING])),
    }
    return ImportBatch.objects.annotate(**counted).select_related("created_by").order_by("-id")


def open_pairs_among(image_ids: Iterable[int]) -> QuerySet[ImagePair]:
    """Near duplicates that wait for a decision, both of these images: a dataset should not hold the two."""
    chosen = list(image_ids)
    return open_pairs().filter(first__in=chosen, second__in=chosen).select_related("first", "second")


def licence_needs_a_look() -> Q:
    """The images whose pixels a release leaves out. There are few licences, however many images."""
    pairs = Image.objects.order_by().values_list("license", "license_url").distinct()
    found = Q(pk__in=[])
    for name, url in pairs:
        if licences.classify(name, url) != licences.Kind.OPEN:
            found |= Q(license=name, license_url=url)
    return found
