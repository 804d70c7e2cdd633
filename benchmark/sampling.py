"""A seeded, stratified draw that comes out the same on every machine and in every order of input."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator
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


class Cell(NamedTuple):
    """What one stratum holds and gives: `size` units, `barred` ones among them, and how many are `wanted`."""

    stratum: Stratum
    size: int
    barred: int
    wanted: int

    @property
    def available(self) -> int:
        """Units that can be drawn."""
        return self.size - self.barred

    @property
    def given(self) -> int:
        """How many units the draw takes: all there are where fewer can be drawn than are wanted."""
        return min(self.wanted, self.available)

    @property
    def short(self) -> int:
        """How many are missing from what was wanted."""
        return self.wanted - self.given

    @property
    def probability(self) -> float:
        """The probability with which each unit that can be drawn is drawn; 0 where none is."""
        return self.given / self.available if self.available else 0.0


@dataclass(frozen=True)
class Draw:
    """What was drawn, by stratum and key; what each stratum held; and how many barred units were passed over."""

    drawn: tuple[Drawn, ...]
    cells: tuple[Cell, ...]
    replaced: int

    @property
    def shortfalls(self) -> tuple[Cell, ...]:
        """The strata that gave fewer units than were wanted."""
        return tuple(cell for cell in self.cells if cell.short)


type Wanted = int | Callable[[Stratum], int]


def survey(
    frame: Iterable[Unit], wanted: Wanted, *, strata: Iterable[Stratum] = (), barred: Collection[str] = frozenset()
) -> tuple[Cell, ...]:
    """What each stratum holds and would give, before anything is drawn; the parameters are those of `draw`."""
    _check(wanted)
    return tuple(_cell(stratum, keys, wanted, barred) for stratum, keys in _by_stratum(frame, strata))


def draw(
    frame: Iterable[Unit],
    wanted: Wanted,
    seed: int | str,
    *,
    strata: Iterable[Stratum] = (),
    barred: Collection[str] = frozenset(),
) -> Draw:
    """Draw so many units at random, without replacement, from each stratum.

    Units are ranked by the SHA-256 of seed, stratum and key, and the first of each stratum are
    taken: a simple random sample that depends on no generator's version and on no order, and in
    which one stratum's units never move another's. A barred unit gives its place to the next in
    rank of its own stratum, so that what is drawn is a simple random sample of the units that are
    not barred.

    Parameters
    ----------
    frame : iterable of Unit
        Every unit that belongs to the population, in any order.
    wanted : int or callable
        Units to draw from each stratum, at least 1, or a function of the stratum, at least 0.
    seed : int or str
        Another seed gives another draw.
    strata : iterable of tuple of str
        Strata that must be reported even where the frame has no unit of them.
    barred : collection of str
        Keys that are never drawn; give a set.

    Returns
    -------
    Draw
        The inclusion probability of a unit is given / (size - barred) of its stratum: exact, not an
        approximation, given the frame and what is barred. Barred units have probability 0, so the
        sample stands for the units that are not barred.

    Raises
    ------
    ValueError
        If fewer than 1 unit a stratum is wanted, or a key comes twice.

    Examples
    --------
    >>> frame = [Unit(f"r{number}", ("model", "identity")) for number in range(4)]
    >>> [unit.probability for unit in draw(frame, 2, seed=1).drawn]
    [0.5, 0.5]
    >>> {unit.probability for unit in draw(frame, 2, seed=1, barred={"r0"}).drawn} == {2 / 3}
    True
    """
    _check(wanted)
    drawn: list[Drawn] = []
    cells: list[Cell] = []
    replaced = 0
    for stratum, keys in _by_stratum(frame, strata):
        cell = _cell(stratum, keys, wanted, barred)
        taken, passed = _take(_ranked(seed, stratum, keys), cell.given, barred)
        # Where all that can be drawn is drawn, barred units were passed over even if they ranked last.
        replaced += cell.barred if cell.short else passed
        drawn += [Drawn(key, stratum, cell.probability) for key in sorted(taken)]
        cells.append(cell)
    return Draw(tuple(drawn), tuple(cells), replaced)


def _check(wanted: Wanted) -> None:
    if not callable(wanted) and wanted < 1:
        raise ValueError(f"At least one unit a stratum is drawn, not {wanted}.")


def _by_stratum(frame: Iterable[Unit], strata: Iterable[Stratum]) -> list[tuple[Stratum, list[str]]]:
    cells: dict[Stratum, list[str]] = {tuple(stratum): [] for stratum in strata}
    for unit in _unique(frame):
        cells.setdefault(unit.stratum, []).append(unit.key)
    return sorted(cells.items())


def _cell(stratum: Stratum, keys: list[str], wanted: Wanted, barred: Collection[str]) -> Cell:
    number = wanted(stratum) if callable(wanted) else wanted
    return Cell(stratum, len(keys), sum(key in barred for key in keys), number)


def _take(ranked: Iterator[str], number: int, barred: Collection[str]) -> tuple[list[str], int]:
    """The first `number` keys that are not barred, and how many barred ones stood before the last of them."""
    taken: list[str] = []
    passed = 0
    while len(taken) < number:
        key = next(ranked)
        if key in barred:
            passed += 1
        else:
            taken.append(key)
    return taken, passed


def _ranked(seed: int | str, stratum: Stratum, keys: list[str]) -> Iterator[str]:
    return iter(sorted(keys, key=lambda key: (_rank(seed, stratum, key), key)))


def _unique(frame: Iterable[Unit]) -> list[Unit]:
    units = list(frame)
    if len({unit.key for unit in units}) != len(units):
        raise ValueError("A key comes twice in the frame.")
    return units


def _rank(seed: int | str, stratum: Stratum, key: str) -> bytes:
    return hashlib.sha256(json.dumps([str(seed), *stratum, key]).encode()).digest()
