"""How a frozen item is written down: the one form that the dataset hash and `items.jsonl` share."""

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any

from annotate.models.datasets import DatasetItem, DatasetTurn

_SURROGATE = re.compile("[\ud800-\udfff]")


def item_record(item: DatasetItem, turns: Iterable[DatasetTurn] | None = None) -> dict[str, Any]:
    """One row of `items.jsonl` (design section 5); nothing in it depends on this installation.

    `turns` defaults to the item's own, which a caller with many items prefetches.
    """
    rows = sorted(item.turns.all() if turns is None else turns, key=lambda turn: turn.number)
    return {
        "item": item.key,
        "image": item.image_name or None,
        "sha256": item.sha256 or None,
        "original_sha256": item.original_sha256,
        "source": item.source,
        "source_id": item.source_id,
        "author": item.author,
        "license": item.license,
        "license_url": item.license_url,
        "landing_url": item.landing_url,
        "complexity": item.complexity,
        "category": item.category,
        "premise_class": item.premise_class,
        "target": item.target,
        "target_description": item.target_description,
        "modified_target_description": item.modified_target_description,
        "parent": item.parent or None,
        "variant": item.variant or None,
        "turns": [turn_record(turn) for turn in rows],
    }


def turn_record(turn: DatasetTurn) -> dict[str, Any]:
    return {
        "turn": turn.number,
        "false_premise": turn.false_premise,
        "content": turn.content,
        "modified": turn.modified if turn.false_premise else None,
    }


def canonical(value: Any) -> str:
    """Canonical JSON: keys sorted, no spaces, characters as they are; a lone surrogate as its escape."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def dataset_hash(records: Iterable[dict[str, Any]]) -> str:
    """sha256 of the item records as one canonical JSON array, sorted by item (by code points)."""
    rows = sorted(records, key=lambda record: str(record["item"]))
    return hashlib.sha256(canonical(rows).encode()).hexdigest()
