"""The 36 cells with their items in every state, what is missing, and the pictures that wait for a place."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.urls import reverse

from annotate import selectors
from annotate.axes import CELLS, Cell
from annotate.models import Image, Item
from annotate.selectors import CellCount

AXES = ("complexity", "category", "premise_class")


@dataclass(frozen=True)
class Gap:
    """A cell that does not hold its quota of approved items yet."""

    count: CellCount

    @property
    def missing(self) -> int:
        """Pictures that have still to be placed."""
        return max(0, self.count.quota - self.count.placed)

    @property
    def unapproved(self) -> int:
        """Approvals that have still to be given, over items that are there or not."""
        return max(0, self.count.quota - self.count.approved)

    @property
    def place_href(self) -> str:
        return selectors.cell_query(reverse("placing"), self.count.cell)

    @property
    def queue_href(self) -> str:
        return selectors.cell_query(reverse("review_queue"), self.count.cell)

    @property
    def href(self) -> str:
        return href(self.count.cell)


def gaps(counts: Iterable[CellCount]) -> list[Gap]:
    """Cells that lack something, the emptiest first, then those that lack most approvals."""
    found = [Gap(count) for count in counts if count.approved < count.quota]
    return sorted(found, key=lambda gap: (-gap.missing, -gap.unapproved, CELLS.index(gap.count.cell)))


def href(cell: Cell) -> str:
    """The page of one cell."""
    return selectors.cell_query(reverse("cell"), cell)


def grid(counts: Iterable[CellCount]) -> dict[str, Any]:
    """`columns` and `rows` for components/cell_grid.html, every cell with its states and its page."""
    return selectors.cell_grid(counts, href=href, states=True)


def named(values: Iterable[str]) -> Cell | None:
    """The cell that an address names, None where it names none."""
    cell = tuple(values)
    return (cell[0], cell[1], cell[2]) if cell in CELLS else None


def unplaced() -> QuerySet[Image]:
    """Pictures that have no place and were not set aside, in the order in which they are paged through."""
    return Image.objects.filter(items__isnull=True, duplicate_of=None).order_by("pk")


def reserve(cell: Cell) -> QuerySet[Image]:
    """Pictures without a place whose metadata names a target that the cell's category holds already."""
    nouns = Item.objects.filter(category=cell[1], parent=None).exclude(target="").values(noun=Lower("target"))
    return unplaced().alias(noun=Lower("target")).filter(noun__in=nouns)


@dataclass(frozen=True)
class Candidate:
    """One picture without a place among all that wait: its neighbours, and where it stands, from 1."""

    image: Image
    before: Image | None
    after: Image | None
    number: int
    total: int


def candidate(pk: int | None) -> Candidate | None:
    """The picture `pk` if it waits for a place, else the next one that does, else the first; None if none does."""
    waiting = unplaced()
    chosen = (waiting.filter(pk__gte=pk).first() if pk is not None else None) or waiting.first()
    if chosen is None:
        return None
    before = waiting.filter(pk__lt=chosen.pk)
    return Candidate(
        image=chosen,
        before=before.last(),
        after=waiting.filter(pk__gt=chosen.pk).first(),
        number=before.count() + 1,
        total=waiting.count(),
    )
