"""Whole images drawn again, many times at once: how often each was drawn, and what the drawn ones add up to.

A repetition is a column of weights, so that sums over all of them are one matrix product.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmark.statistics.patterns import ItemCounts

CHUNK = 1_000  # repetitions that are held at once

Weights = NDArray[np.float32]


def drawn_with_replacement(members: int, size: int, repetitions: int, rng: np.random.Generator) -> Weights:
    """How often each member is among `size` drawn with replacement; shape (member, repetition).

    Examples
    --------
    >>> drawn_with_replacement(3, 5, 2, np.random.default_rng(1)).sum(axis=0).tolist()
    [5.0, 5.0]
    """
    drawn = rng.integers(members, size=(repetitions, size), dtype=np.int32)
    drawn += (np.arange(repetitions, dtype=np.int32) * np.int32(members))[:, np.newaxis]
    counts = np.bincount(drawn.ravel(), minlength=repetitions * members)
    return np.ascontiguousarray(counts.reshape(repetitions, members).T, dtype=np.float32)


def drawn_without_replacement(members: int, size: int, repetitions: int, rng: np.random.Generator) -> Weights:
    """Whether each member is among `size` distinct ones; shape (member, repetition).

    Raises
    ------
    ValueError
        If there are fewer members than that.

    Examples
    --------
    >>> drawn_without_replacement(3, 2, 4, np.random.default_rng(1)).sum(axis=0).tolist()
    [2.0, 2.0, 2.0, 2.0]
    """
    if size > members:
        raise ValueError(f"{size} of {members} can't be drawn without replacement.")
    weights = np.zeros((repetitions, members), dtype=np.float32)
    if size:
        chosen = rng.random((repetitions, members), dtype=np.float32).argpartition(size - 1, axis=1)[:, :size]
        np.put_along_axis(weights, chosen, np.float32(1), axis=1)
    return np.ascontiguousarray(weights.T)


def chunks(clusters: int, repetitions: int, rng: np.random.Generator) -> Iterator[Weights]:
    """Weights of a bootstrap of all clusters, some repetitions at a time."""
    for begin in range(0, repetitions, CHUNK):
        yield drawn_with_replacement(clusters, clusters, min(CHUNK, repetitions - begin), rng)


def sums(rows: NDArray[np.float64] | NDArray[np.int64], weights: Weights) -> NDArray[np.float64]:
    """What the drawn clusters add up to.

    Parameters
    ----------
    rows : ndarray, shape (..., cluster)
        What each cluster adds. Single precision keeps sums of halves exact up to 2^23.
    weights : ndarray of float32, shape (cluster, repetition)

    Returns
    -------
    ndarray of float, shape (..., repetition)
    """
    flat = rows.reshape(-1, rows.shape[-1]).astype(np.float32)
    added: NDArray[np.float64] = (flat @ weights).astype(np.float64)
    return added.reshape(*rows.shape[:-1], weights.shape[1])


def resampled_rates(counts: ItemCounts, weights: Weights) -> NDArray[np.float64]:
    """The rate of each repetition, NaN where it has no label; shape (..., window, repetition)."""
    n, corrections = sums(counts.n, weights), sums(counts.corrections, weights)
    undefined = np.full(n.shape, np.nan)
    rate: NDArray[np.float64] = np.divide(corrections, n, out=undefined, where=n > 0)
    return rate


def bootstrap_rates(counts: ItemCounts, *, repetitions: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """The rates of so many bootstraps of the images; shape (..., window, repetition)."""
    drawn = chunks(counts.n.shape[-1], repetitions, rng)
    return np.concatenate([resampled_rates(counts, weights) for weights in drawn], axis=-1)
