"""What differs between two datasets: items that only one has, and what changed in those that both have."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotate import drafting
from annotate.models import Dataset, DatasetItem, DatasetTurn

# What an item says, in the words of the page; codes are compared as they are, texts word by word.
FACTS = {
    "complexity": "Complexity",
    "category": "Category",
    "premise_class": "Premise class",
    "target": "Target",
    "target_description": "Description",
    "modified_target_description": "Modified description",
    "sha256": "Picture",
    "original_sha256": "Picture as given",
    "image_name": "File in a release",
    "source": "Source",
    "source_id": "Source id",
    "author": "Author",
    "license": "Licence",
    "license_url": "Licence address",
    "landing_url": "Landing page",
    "parent": "Parent",
    "variant": "Variant",
}


@dataclass(frozen=True)
class Changed:
    """One text that is another in the second dataset; both in pieces, what differs marked."""

    name: str
    before: list[drafting.Segment]
    after: list[drafting.Segment]


@dataclass(frozen=True)
class ItemDifference:
    """An item that both hold, and everything that changed in it."""

    before: DatasetItem
    after: DatasetItem
    changes: list[Changed] = field(default_factory=list)


@dataclass(frozen=True)
class Differences:
    """From `first` to `second`: items by key; `changed` are the keys that both hold with another content."""

    first: Dataset
    second: Dataset
    added: list[str]
    removed: list[str]
    changed: list[str]
    same: int

    @property
    def protocol(self) -> list[tuple[str, Any, Any]]:
        """What differs between the two protocols."""
        names = sorted(self.first.protocol.keys() | self.second.protocol.keys())
        pairs = [(name, self.first.protocol.get(name), self.second.protocol.get(name)) for name in names]
        return [(name.replace("_", " "), before, after) for name, before, after in pairs if before != after]

    @property
    def identical(self) -> bool:
        """Whether both have the same hash: the same items, word for word."""
        return self.first.dataset_hash == self.second.dataset_hash

    def details(self, keys: Iterable[str]) -> list[ItemDifference]:
        """What changed in these items, text by text."""
        wanted = list(keys)
        before, after = _whole(self.first, wanted), _whole(self.second, wanted)
        return [_difference(before[key], after[key]) for key in wanted]


def between(first: Dataset, second: Dataset) -> Differences:
    """Which items differ; a few queries, however many items there are."""
    if first.dataset_hash == second.dataset_hash:
        return Differences(first, second, [], [], [], first.items.count())
    before, after = _facts(first), _facts(second)
    shared = before.keys() & after.keys()
    turned = _turned(first, second) | _turned(second, first)
    changed = {key for key in shared if before[key] != after[key] or key in turned}
    return Differences(
        first=first,
        second=second,
        added=sorted(after.keys() - before.keys()),
        removed=sorted(before.keys() - after.keys()),
        changed=sorted(changed),
        same=len(shared) - len(changed),
    )


def _facts(dataset: Dataset) -> dict[str, tuple[Any, ...]]:
    rows = DatasetItem.objects.filter(dataset=dataset).order_by().values_list("key", *FACTS)
    return {row[0]: row[1:] for row in rows}


def _turned(one: Dataset, other: Dataset) -> set[str]:
    """Keys of items of `one` with a turn that `other` does not have word for word."""
    twin = DatasetTurn.objects.filter(
        item__dataset=other,
        item__key=OuterRef("item__key"),
        number=OuterRef("number"),
        false_premise=OuterRef("false_premise"),
        content=OuterRef("content"),
        modified=OuterRef("modified"),
    )
    rows = DatasetTurn.objects.filter(~Exists(twin), item__dataset=one).order_by()
    return set(rows.values_list("item__key", flat=True).distinct())


def _whole(dataset: Dataset, keys: list[str]) -> dict[str, DatasetItem]:
    rows: QuerySet[DatasetItem] = dataset.items.filter(Q(key__in=keys)).select_related("image")
    return {item.key: item for item in rows.prefetch_related("turns")}


def _difference(before: DatasetItem, after: DatasetItem) -> ItemDifference:
    old, new = _texts(before), _texts(after)
    names = [*old, *(name for name in new if name not in old)]
    pairs = [(name, old.get(name, ""), new.get(name, "")) for name in names]
    changes = [Changed(name, *drafting.split_marks(a, b)) for name, a, b in pairs if a != b]
    return ItemDifference(before, after, changes)


def _texts(item: DatasetItem) -> dict[str, str]:
    texts = {words: str(getattr(item, name)) for name, words in FACTS.items()}
    for turn in item.turns.all():
        texts[f"Question {turn.number}"] = turn.content
        texts[f"Modified {turn.number}"] = turn.modified if turn.false_premise else ""
    return texts
