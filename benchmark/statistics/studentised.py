"""Ratios of sums over images, with intervals and p-values by a studentised bootstrap of the images."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmark.statistics.resampling import Weights, chunks, sums

NO_ANSWERS = "no labelled answer"
ONE_IMAGE = "no interval: all answers are of one image"
NO_SPREAD = "no interval: it is the same on every image, so that nothing tells how far off it could be"
TOO_FEW = "no interval: it rests on so few images that too many repetitions leave all of them out"


@dataclass(frozen=True)
class Ratios:
    """Ratios, one entry each; NaN where undefined.

    Attributes
    ----------
    value, low, high : ndarray of float, shape (ratio,)
        The ratio and its interval, each by itself.
    p : ndarray of float, shape (ratio,)
        Two-sided, of a ratio of 0.
    n, images : ndarray of int, shape (ratio,)
        Labelled answers, and the images they are of.
    reason : list of str
        Why value, interval or p is missing, else empty.
    """

    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    p: NDArray[np.float64]
    n: NDArray[np.int64]
    images: NDArray[np.int64]
    reason: list[str]


def ratios(
    n: NDArray[np.int64],
    added: NDArray[np.float64],
    *,
    level: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
    repetitions: int,
    rng: np.random.Generator,
) -> Ratios:
    r"""Each ratio of sums with its interval.

    With n_i answers of image i, d_i what they add (corrections, or those of one model less those of another) and
    :math:`r = \sum d_i / \sum n_i`, the linearised standard error is
    :math:`s = \sqrt{\sum (d_i - r n_i)^2} / \sum n_i`. A bootstrap draws images, the same ones for all ratios, and
    gives :math:`t^* = |r^* - r| / s^*`. p is the share of t* that reach :math:`|r| / s`, with one added to both
    counts; the interval is :math:`r \pm q s`, with q the order statistic of t* that makes it leave 0 out exactly
    where p is at most 1 - level.

    Parameters
    ----------
    n : ndarray of int, shape (ratio, image)
        Answers.
    added : ndarray of float, shape (ratio, image)
        What they add to the numerator.
    level : float
        Coverage.
    bounds : tuple of float
        Between which a ratio lies.
    repetitions : int
        Bootstraps; the smallest p is 1 / (repetitions + 1).
    rng : numpy.random.Generator

    References
    ----------
    Davison & Hinkley 1997, Bootstrap Methods and their Application, sections 2.4, 3.8 and 4.4.
    """
    total, images = n.sum(axis=1), (n > 0).sum(axis=1)
    value = np.divide(added.sum(axis=1), total, out=np.full(len(n), np.nan), where=total > 0)
    moments = _moments(n, added)
    error = _errors(moments.sum(axis=2).T, value)
    reach, p = np.full(len(n), np.nan), np.full(len(n), np.nan)
    fine = (images > 1) & (error > 0)
    if fine.any():
        reached, quantile = _repeated(moments[fine], value[fine], error[fine], level, repetitions, rng)
        p[fine] = (1 + reached) / (1 + repetitions)
        reach[fine] = np.where(np.isfinite(quantile), quantile * error[fine], np.nan)
    reason = [_reason(*one) for one in zip(total, images, error, reach, strict=True)]
    low, high = np.maximum(value - reach, bounds[0]), np.minimum(value + reach, bounds[1])
    return Ratios(value, low, high, p, total, images, reason)


def standard_errors(n: NDArray[np.int64], added: NDArray[np.float64]) -> NDArray[np.float64]:
    """The linearised standard error of each ratio, of the arrays that `ratios` takes; NaN without answers."""
    totals = _moments(n, added).sum(axis=2).T
    with np.errstate(invalid="ignore"):
        return _errors(totals, totals[1] / totals[0])


def _moments(n: NDArray[np.int64], added: NDArray[np.float64]) -> NDArray[np.float64]:
    """n, d, n d, d^2 and n^2 of each image, whose sums make ratio and error; shape (ratio, 5, image)."""
    return np.stack([n, added, n * added, added**2, n.astype(np.float64) ** 2], axis=1)


def _reason(n: int, images: int, error: float, reach: float) -> str:
    if n == 0:
        return NO_ANSWERS
    if images == 1:
        return ONE_IMAGE
    if not error > 0:
        return NO_SPREAD
    return TOO_FEW if np.isnan(reach) else ""


def _errors(totals: NDArray[np.float64], value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Standard errors from the sums of n, d, n d, d^2 and n^2; what rounding leaves of none is none."""
    n, _, cross, squares, sizes = totals
    residual = squares - 2 * value * cross + value**2 * sizes
    residual = np.where(residual > 1e-9 * np.maximum(squares, 1.0), residual, 0.0)
    error: NDArray[np.float64] = np.sqrt(residual) / np.where(n > 0, n, np.nan)
    return error


def _repeated(
    moments: NDArray[np.float64],
    value: NDArray[np.float64],
    error: NDArray[np.float64],
    level: float,
    repetitions: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """How many repetitions are as far off as 0 is, and how far off the level's is."""
    rows, of = np.unique(moments.reshape(-1, moments.shape[2]), axis=0, return_inverse=True)
    found = [
        _distances(rows, of.reshape(moments.shape[:2]), weights, value)
        for weights in chunks(moments.shape[2], repetitions, rng)
    ]
    distances = np.concatenate(found, axis=1)
    reached = (distances >= (np.abs(value) / error * (1 - 1e-9))[:, np.newaxis]).sum(axis=1)
    # So many may be at least as far off as 0, the observed one among them, where p is small enough.
    last = repetitions - max(int((1 - level) * (repetitions + 1) + 1e-9), 1)
    return reached, np.partition(distances, last, axis=1)[:, last]


def _distances(
    rows: NDArray[np.float64], of: NDArray[np.intp], weights: Weights, value: NDArray[np.float64]
) -> NDArray[np.float64]:
    """t* of each ratio and repetition; one without spread or answers is endlessly far off."""
    totals = np.moveaxis(sums(rows, weights)[of], 1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        repeated = totals[1] / totals[0]
        distances = np.abs(repeated - value[:, np.newaxis]) / _errors(totals, repeated)
    return np.where(np.isnan(distances), np.inf, distances)
