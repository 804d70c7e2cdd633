"""What a detector is sent for one dialogue, and the strict reading of what it answers."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fpco_site.llm.strict_json import ParseError, loads_object, rows_by_id
from fpco_site.llm.types import Message, Request

SCHEMA_NAME = "labels"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "labels": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "detect": {"type": "boolean"}},
                "required": ["id", "detect"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["labels"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Item:
    """One turn as a detector may see it: never the picture, nor which model answered.

    `modified` is what was asked where `false_premise` is true. `response` is None where the turn has
    no text; such a turn is not sent.
    """

    id: int
    false_class: str
    false_premise: bool
    content: str
    modified: str | None
    response: str | None


def ids_asked(items: Iterable[Item]) -> tuple[int, ...]:
    """The turns that get a label: those with text."""
    return tuple(item.id for item in items if item.response is not None)


def request(*, system: str, items: Sequence[Item]) -> Request:
    """One call for one dialogue. Raises ValueError where no turn has text."""
    rows = [_row(item) for item in items if item.response is not None]
    if not rows:
        raise ValueError("No turn of this dialogue has a response to label.")
    body = json.dumps({"items": rows}, ensure_ascii=False, indent=1)
    return Request(system=system, messages=(Message("user", body),), schema=SCHEMA, schema_name=SCHEMA_NAME)


def parse(text: str, ids: Iterable[int]) -> dict[int, bool]:
    """The label of each id. Raises ParseError for prose and for a missing, repeated or extra id or a non-boolean."""
    reply = loads_object(text, keys={"labels"})
    labels = rows_by_id(reply["labels"], field="detect", ids=set(ids), name="labels")
    for turn, detect in labels.items():
        if not isinstance(detect, bool):
            raise ParseError(f"The label of id {turn} is neither true nor false.")
    return labels


def _row(item: Item) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": item.id,
        "false_class": item.false_class,
        "false_premise": item.false_premise,
        "content": item.content,
    }
    if item.false_premise:
        if item.modified is None:
            raise ValueError(f"Turn {item.id} is a false-premise turn without a modified question.")
        row["modified"] = item.modified
    row["response"] = item.response
    return row
