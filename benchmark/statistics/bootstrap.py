"""A cluster bootstrap that costs little: whole images are drawn again, as sums of their rows.

An interval depends on the rows alone, not on their order nor on what was asked before: rows are put in
an order of their own, and the draws are those of one seed and of how many rows there are.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

REPETITIONS = 2_000
SEED = 1960
ENOUGH = 0.9  # share of repetitions in which a coefficient must be defined for an interval

ONE_IMAGE = "no interval: all answers are of one image"
NO_DIFFERENCE = "no interval: every repetition gives the same value"
RARELY_DEFINED = "no interval: undefined in more than a tenth of the repetitions"

Limits = tuple[float | None, float | None, str]


def by_cluster[N: np.number](rows: NDArray[N], clusters: NDArray[np.generic]) -> NDArray[N]:
    """The rows of each cluster added up, clusters in sorted order; shape (cluster, column)."""
    names, of = np.unique(clusters, return_inverse=True)
    added = np.zeros((len(names), rows.shape[-1]), dtype=rows.dtype)
    np.add.at(added, of, rows)
    return added


def resample(rows: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of the rows of as many clusters as there are, drawn with replacement.

    Parameters
    ----------
    rows : ndarray, shape (cluster, column)
        What each cluster adds, such as its 2x2 table.

    Returns
    -------
    ndarray of float, shape (repetition, column)
        The same for the same rows in any order.
    """
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    ends = np.cumsum(counts)
    drawn = running_weights(len(rows))
    times = drawn[ends] - drawn[ends - counts]
    sums: NDArray[np.float64] = (distinct.T.astype(np.float32) @ times).T.astype(np.float64)
    return sums


@lru_cache(maxsize=8)
def running_weights(clusters: int) -> NDArray[np.float32]:
    """How often one of the first k clusters is drawn in each repetition; shape (clusters + 1, repetition).

    Clusters with the same row stand side by side, so that two of these tell how often one of them is drawn. Single
    precision keeps counts up to 2^24 exact.
    """
    rng = np.random.default_rng([SEED, clusters])
    drawn = rng.integers(clusters, size=(REPETITIONS, clusters))
    drawn += np.arange(REPETITIONS)[:, np.newaxis] * clusters
    counts = np.bincount(drawn.ravel(), minlength=REPETITIONS * clusters).reshape(REPETITIONS, clusters)
    running = np.zeros((clusters + 1, REPETITIONS), dtype=np.float32)
    np.cumsum(counts.T, axis=0, out=running[1:])
    return running


def percentiles(values: NDArray[np.float64], *, level: float = 0.95) -> Limits:
    """The percentile interval of one coefficient over the repetitions, or why there is none.

    Parameters
    ----------
    values : ndarray of float, shape (repetition,)
        NaN where a repetition leaves the coefficient undefined; those are set aside.
    level : float
        Coverage.

    References
    ----------
    Davison & Hinkley 1997, Bootstrap Methods and their Application, sections 3.8 and 5.3.1.
    """
    defined = values[~np.isnan(values)]
    if len(defined) < ENOUGH * len(values):
        return None, None, RARELY_DEFINED
    low, high = (float(limit) for limit in np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]))
    if low == high and np.ptp(defined) == 0:
        return None, None, NO_DIFFERENCE
    return low, high, ""
