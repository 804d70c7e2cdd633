"""A seeded draw that takes as evenly from every cell as it can, the same on every machine and in every order."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

Cell = tuple[str, ...]


class Unit(NamedTuple):
    """Something that can be drawn: a key that is unique and lasting, and its cell by its axes."""

    key: str
    cell: Cell


def draw(units: Iterable[Unit], n: int, seed: int, *, taken: Iterable[Cell] = ()) -> list[str]:
    """Draw n units at random without replacement, spread over the cells as evenly as their sizes allow.

    One unit after the other comes from a cell from which the fewest were taken; among those from one
    whose levels (of each axis) were taken least; what is then still equal is decided by the SHA-256 of
    seed and cell, and within a cell by that of seed, cell and key. No generator's version and no order
    of input moves the result.

    Parameters
    ----------
    units : iterable of Unit
        Every unit that may be drawn, in any order.
    n : int
        How many to draw; fewer come where there are fewer.
    seed : int
        Another seed gives another draw.
    taken : iterable of tuple of str
        Cells of what was chosen before, which count as taken.

    Returns
    -------
    list of str
        The keys in the order in which they were drawn.

    Raises
    ------
    ValueError
        If a key comes twice.

    Examples
    --------
    >>> sorted(draw([Unit("a1", ("a",)), Unit("a2", ("a",)), Unit("b1", ("b",))], 2, seed=1))[-1]
    'b1'
    """
    waiting = _by_cell(units, seed)
    cells, levels = _counts(taken)
    drawn: list[str] = []
    while waiting and len(drawn) < n:
        cell = min(waiting, key=lambda cell: (cells[cell], _level_sum(cell, levels), _rank(seed, cell)))
        drawn.append(waiting[cell].pop())
        if not waiting[cell]:
            del waiting[cell]
        cells[cell] += 1
        levels.update(enumerate(cell))
    return drawn


def _by_cell(units: Iterable[Unit], seed: int) -> dict[Cell, list[str]]:
    """The keys of each cell, the first to be drawn at the end."""
    rows = list(units)
    if len({unit.key for unit in rows}) != len(rows):
        raise ValueError("A key comes twice among the units.")
    found: dict[Cell, list[str]] = {}
    for unit in rows:
        found.setdefault(unit.cell, []).append(unit.key)
    for cell, keys in found.items():
        keys.sort(key=lambda key: (_rank(seed, cell, key), key), reverse=True)
    return found


def _counts(taken: Iterable[Cell]) -> tuple[Counter[Cell], Counter[tuple[int, str]]]:
    cells = Counter(tuple(cell) for cell in taken)
    levels: Counter[tuple[int, str]] = Counter()
    for cell, count in cells.items():
        for level in enumerate(cell):
            levels[level] += count
    return cells, levels


def _level_sum(cell: Cell, levels: Counter[tuple[int, str]]) -> int:
    return sum(levels[level] for level in enumerate(cell))


def _rank(seed: int, cell: Cell, key: str = "") -> bytes:
    return hashlib.sha256(json.dumps([seed, *cell, key]).encode()).digest()
