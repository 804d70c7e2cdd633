"""Ranks and orderings of values of which some may be undefined."""

from collections.abc import Sequence
from itertools import pairwise


def ranks(values: Sequence[float | None]) -> list[int | None]:
    """Ranks from 1 for the highest value; equal values share the better rank, None has none.

    Examples
    --------
    >>> ranks([0.2, 0.5, None, 0.5])
    [3, 1, None, 1]
    """
    known = [value for value in values if value is not None]
    return [None if value is None else 1 + sum(other > value for other in known) for value in values]


def ordering(values: Sequence[float | None], names: Sequence[str]) -> str:
    """The names by falling value, such as `a > b = c`; those without a value are left out.

    Examples
    --------
    >>> ordering([0.4, 0.6, 0.4], ["attribute", "identity", "location"])
    'identity > attribute = location'
    """
    known = [(value, name) for value, name in zip(values, names, strict=True) if value is not None]
    text, before = "", None
    for value, name in sorted(known, key=lambda pair: -pair[0]):
        text += name if before is None else f" {'=' if value == before else '>'} {name}"
        before = value
    return text


def falls(values: Sequence[float | None]) -> bool | None:
    """Whether each value is strictly below the one before; None where one is undefined.

    Examples
    --------
    >>> falls([0.6, 0.4, 0.2]), falls([0.6, 0.4, 0.4]), falls([0.6, None, 0.2])
    (True, False, None)
    """
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    return all(first > second for first, second in pairwise(known))
