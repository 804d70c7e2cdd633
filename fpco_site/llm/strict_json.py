"""JSON from a model, read strictly: one object, no prose, no key twice, no NaN."""

import json
from typing import Any


class ParseError(ValueError):
    """The text is not what was asked for; says in one sentence what is wrong with it."""


def loads_object(text: str, *, keys: set[str]) -> dict[str, Any]:
    """The JSON object in `text`, with exactly these keys. Raises ParseError."""
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except ParseError:
        raise
    except (ValueError, RecursionError) as error:
        raise ParseError("The reply is not JSON.") from error
    return exact(value, keys=keys, where="The reply")


def exact(value: object, *, keys: set[str], where: str) -> dict[str, Any]:
    """`value` as an object with exactly these keys. Raises ParseError."""
    if not isinstance(value, dict):
        raise ParseError(f"{where} is not a JSON object.")
    if missing := sorted(keys - value.keys()):
        raise ParseError(f"{where} lacks {missing[0]!r}.")
    if extra := sorted(value.keys() - keys):
        raise ParseError(f"{where} has a key that was not asked for: {extra[0]!r}.")
    return value


def rows_by_id(value: object, *, field: str, ids: set[int], name: str) -> dict[int, Any]:
    """`[{"id": 1, field: ...}, ...]` as a mapping, with each of `ids` exactly once. Raises ParseError."""
    if not isinstance(value, list):
        raise ParseError(f"{name!r} is not a list.")
    found: dict[int, Any] = {}
    for row in value:
        entry = exact(row, keys={"id", field}, where=f"A row of {name!r}")
        row_id = entry["id"]
        if type(row_id) is not int:
            raise ParseError(f"An id in {name!r} is not an integer.")
        if row_id in found:
            raise ParseError(f"The id {row_id} comes twice in {name!r}.")
        found[row_id] = entry[field]
    if extra := sorted(found.keys() - ids):
        raise ParseError(f"The id {extra[0]} in {name!r} was not asked for.")
    if missing := sorted(ids - found.keys()):
        raise ParseError(f"The id {missing[0]} is missing in {name!r}.")
    return found


def sentence(value: object, *, where: str, most: int) -> str:
    """`value` as text that is not blank, trimmed, of at most so many characters. Raises ParseError."""
    if not isinstance(value, str) or not value.strip():
        raise ParseError(f"{where} is not a text.")
    if len(text := value.strip()) > most:
        raise ParseError(f"{where} has {len(text):,} characters; {most:,} are the most.")
    return text


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ParseError("The reply names a key twice.")
    return found


def _refuse_constant(name: str) -> None:
    raise ParseError(f"The reply holds {name}, which is not JSON.")
