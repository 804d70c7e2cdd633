"""Hashes of what an analysis reads and of what is asked of it; results as JSON without NaN."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def of_inputs(inputs: Any) -> str:
    """The sha256 of a dataclass of arrays and plain values: of its types, shapes and bytes, whatever the machine.

    Raises
    ------
    TypeError
        If it holds anything else, such as a database row.

    Examples
    --------
    >>> of_inputs(np.array([1, 2])) == of_inputs(np.array([2, 1]))
    False
    """
    found = hashlib.sha256()
    _add(found, inputs)
    return found.hexdigest()


def of_request(**asked: Any) -> str:
    """The sha256 of plain values as canonical JSON."""
    text = json.dumps(asked, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def plain(value: Any, at: str = "result") -> Any:
    """The value as JSON can hold it: NumPy's numbers and arrays as Python's, all keys strings.

    Raises
    ------
    ValueError
        If a number is NaN or infinite: an undefined number is None, with a reason beside it.
    TypeError
        If something is no JSON value.
    """
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist(), at)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{at} is {value}, which JSON can't hold.")
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(one, f"{at}.{key}") for key, one in value.items()}
    if isinstance(value, Sequence):
        return [plain(one, f"{at}[{index}]") for index, one in enumerate(value)]
    raise TypeError(f"{at} is a {type(value).__name__}, which JSON can't hold.")


def _add(found: "hashlib._Hash", value: Any) -> None:
    """Add a value with its type and length, so that no two values give the same bytes."""
    if is_dataclass(value) and not isinstance(value, type):
        _add_many(found, type(value).__name__, [one for field in fields(value) for one in _named(field.name, value)])
    elif isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise TypeError("An array of Python objects has no bytes to hash.")
        array = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        _add_many(found, f"array {array.dtype.str} {array.shape}", [])
        found.update(array.tobytes())
    elif isinstance(value, Mapping):
        pairs = sorted(value.items(), key=lambda pair: str(pair[0]))
        _add_many(found, "map", [one for pair in pairs for one in pair])
    elif isinstance(value, list | tuple):
        _add_many(found, "list", list(value))
    elif value is None or isinstance(value, str | bool | int | float | np.generic):
        held = value.item() if isinstance(value, np.generic) else value
        text = f"{type(held).__name__} {held!r}".encode("utf-8", "surrogatepass")
        found.update(f"{len(text)} ".encode() + text)
    else:
        raise TypeError(f"A {type(value).__name__} has no bytes to hash.")


def _named(name: str, of: Any) -> tuple[str, Any]:
    return name, getattr(of, name)


def _add_many(found: "hashlib._Hash", kind: str, values: Sequence[Any]) -> None:
    found.update(f"{kind} {len(values)} ".encode())
    for value in values:
        _add(found, value)
