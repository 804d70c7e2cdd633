"""A seeded, stratified draw that comes out the same on every machine and in every order of input."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

Stratum = tuple[str, ...]


class Unit(NamedTuple):
    """Something that can be drawn: a key that is unique and lasting, and its stratum, such as (model, class)."""

    key: str
    stratum: Stratum


class Drawn(NamedTuple):
    """A unit that was drawn, with the probability with which it could be."""

    key: str
    stratum: Stratum
    probability: float


class Shortfall(NamedTuple):
    """A stratum that holds fewer units than were asked of it; all of them are drawn."""

    stratum: Stratum
    available: int
    wanted: int


@dataclass(frozen=True)
class Draw:
    """What was drawn, by stratum and key, and where the frame fell short."""

    drawn: tuple[Drawn, ...]
    shortfalls: tuple[Shortfall, ...]


def draw(frame: Iterable[Unit], per_cell: int, seed: int | str, *, strata: Iterable[Stratum] = ()) -> Draw:
    """Draw per_cell units at random, without replacement, from each stratum.

    Units are ranked by the SHA-256 of seed, stratum and key, and the first of each stratum are
    taken: a simple random sample that depends on no generator's version and on no order, and in
    which one stratum's units never move another's.

    Parameters
    ----------
    frame : iterable of Unit
        Every unit that may be drawn, in any order.
    per_cell : int
        Units to draw from each stratum, at least 1.
    seed : int or str
        Another seed gives another draw.
    strata : iterable of tuple of str
        Strata that must be reported even where the frame has no unit of them.

    Returns
    -------
    Draw
        Inclusion probabilities are per_cell / size of the stratum, at most 1.

    Raises
    ------
    ValueError
        If per_cell is below 1 or a key comes twice.

    Examples
    --------
    >>> frame = [Unit(f"r{number}", ("model", "identity")) for number in range(4)]
    >>> [unit.probability for unit in draw(frame, 2, seed=1).drawn]
    [0.5, 0.5]
    """
    if per_cell < 1:
        raise ValueError(f"At least one unit a stratum is drawn, not {per_cell}.")
    cells: dict[Stratum, list[str]] = {tuple(stratum): [] for stratum in strata}
    for unit in _unique(frame):
        cells.setdefault(unit.stratum, []).append(unit.key)
    drawn: list[Drawn] = []
    for stratum, keys in sorted(cells.items()):
        ranked = sorted(keys, key=lambda key: (_rank(seed, stratum, key), key))
        probability = min(1.0, per_cell / len(keys)) if keys else 0.0
        drawn += [Drawn(key, stratum, probability) for key in sorted(ranked[:per_cell])]
    short = [Shortfall(stratum, len(keys), per_cell) for stratum, keys in sorted(cells.items()) if len(keys) < per_cell]
    return Draw(tuple(drawn), tuple(short))


def _unique(frame: Iterable[Unit]) -> list[Unit]:
    units = list(frame)
    if len({unit.key for unit in units}) != len(units):
        raise ValueError("A key comes twice in the frame.")
    return units


def _rank(seed: int | str, stratum: Stratum, key: str) -> bytes:
    return hashlib.sha256(json.dumps([str(seed), *stratum, key]).encode()).digest()
