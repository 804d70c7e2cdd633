"""Which models differ: differences over the answers that both have, and groups that can't be told apart."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmark.statistics.patterns import ItemCounts


def shared_differences(
    labelled: Sequence[ArrayLike],
    correction: Sequence[ArrayLike],
    window: int,
    pairs: Sequence[tuple[int, int]],
) -> ItemCounts:
    """Corrections of one model less those of another on the same dialogue and turn.

    Parameters
    ----------
    labelled, correction : sequence of array_like of int, each of shape (model, item)
        Masks, one entry per detector; an answer counts where every detector labelled it, for both models.
    window : int
        Mask of the turns to count.
    pairs : sequence of tuple of int
        Which models, the first and the one whose corrections are taken off.

    Returns
    -------
    ItemCounts
        Arrays of shape (pair, item): answers that both have, and the difference; halves where two detectors are
        averaged.

    Examples
    --------
    The first model has turns 1 and 2, the second turns 2 and 3; on turn 2 only the first corrects:

    >>> shared_differences([[[3], [6]]], [[[3], [4]]], 7, [(0, 1)])
    ItemCounts(n=array([[1]]), corrections=array([[1.]]))
    """
    first, second = (np.array([pair[side] for pair in pairs], dtype=np.intp) for side in (0, 1))
    by_all = np.bitwise_and.reduce(np.asarray(labelled, dtype=np.int64), axis=0) & window
    shared = by_all[first] & by_all[second]
    difference = np.zeros(shared.shape)
    for mask in np.asarray(correction, dtype=np.int64):
        difference += np.bitwise_count(mask[first] & shared)
        difference -= np.bitwise_count(mask[second] & shared)
    return ItemCounts(np.bitwise_count(shared).astype(np.int64), difference / len(correction))


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Holm's adjusted p-values; NaN stays NaN and has no part in the count.

    References
    ----------
    Holm 1979, Scandinavian Journal of Statistics 6(2), 65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    given = np.asarray(p, dtype=np.float64)
    adjusted = np.full(given.shape, np.nan)
    there = np.flatnonzero(~np.isnan(given))
    order = there[np.argsort(given[there], kind="stable")]
    steps = given[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def groups(names: Sequence[str], different: set[frozenset[str]]) -> list[list[str]]:
    """Groups of names within which none differs from another; names that don't differ share at least one.

    Two names that differ never share a group, and every name is in one. They are the columns of a compact letter
    display, by inserting each difference and absorbing what another column holds, swept of columns that nothing
    needs.

    Parameters
    ----------
    names : sequence of str
        In the order in which they are shown, such as by rate; groups come in the order of their first names.
    different : set of frozenset of str
        Pairs that differ.

    References
    ----------
    Piepho 2004, Journal of Computational and Graphical Statistics 13(2), 456-466, doi:10.1198/1061860043515.

    Examples
    --------
    >>> groups(["x", "y", "z"], {frozenset("xz")})
    [['x', 'y'], ['y', 'z']]
    """
    columns = {frozenset(names)} if names else set()
    for pair in sorted(different, key=sorted):
        split = {column for column in columns if pair <= column}
        parts = {column - {name} for column in split for name in pair}
        columns = _absorbed((columns - split) | parts)
    place = {name: at for at, name in enumerate(names)}
    ordered = sorted((sorted(column, key=place.__getitem__) for column in columns), key=lambda c: [place[n] for n in c])
    return _swept(ordered)


def _absorbed(columns: set[frozenset[str]]) -> set[frozenset[str]]:
    """Without columns that another holds: the sweep would drop them too, but till then they would multiply."""
    return {column for column in columns if not any(column < other for other in columns)}


def _swept(columns: list[list[str]]) -> list[list[str]]:
    """Without columns all of whose pairs are in others; shorter ones go first."""
    kept = list(columns)
    for column in sorted(columns, key=len):
        others = [set(other) for other in kept if other is not column]
        needed: list[tuple[str, ...]] = list(combinations(column, 2)) or [(column[0],)]
        if all(any(other.issuperset(pair) for other in others) for pair in needed):
            kept.remove(column)
    return kept


def letters(count: int) -> list[str]:
    """So many labels: a to z, then aa, ab and so on.

    Examples
    --------
    >>> letters(28)[-3:]
    ['z', 'aa', 'ab']
    """
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    made = [*alphabet, *(first + second for first in alphabet for second in alphabet)]
    if count > len(made):
        raise ValueError(f"There are {len(made)} labels, not {count}.")
    return made[:count]
