"""CorrTP@K, TurnCorr@K and CorrFP@K with intervals that respect the clustering by image.

Over the responses i of turns 1..K, with e_i = 1 on a false-premise turn and c_i = 1 for a correction
(arXiv 2609.03331):

- CorrTP@K = sum(e_i c_i) / sum(e_i), cumulative over the false-premise turns;
- TurnCorr@K = the same over turn K alone;
- CorrFP@K = sum((1 - e_i) c_i) / sum(1 - e_i), cumulative over the premise-correct turns.

Each is a share of corrections among the labels in a window of turns, so one function computes all
three. An undefined rate is None with a reason, never 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmark.statistics.patterns import ItemCounts, cumulative_windows, item_counts, single_windows

FALSE_PREMISE_TURNS = (4, 5, 6, 7, 8, 9, 10)
PREMISE_CORRECT_TURNS = (1, 2, 3)
NO_LABELS = "no labelled response"
# Where a simulation found that 95 % intervals cover at least 93 %.
COVERED_IMAGES, COVERED_RATES = 90, (0.02, 0.98)


@dataclass(frozen=True)
class Estimate:
    """A rate with its interval and what it rests on.

    Attributes
    ----------
    value, low, high : float or None
        The rate and its interval, in [0, 1]; None where the rate is undefined.
    n : int
        Labelled responses.
    corrections : float
        Corrections among them; a half where one of two averaged detectors saw one.
    reason : str
        Why the rate is undefined, else empty.
    images : int
        Images that the responses are of.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    corrections: float
    reason: str = ""
    images: int = 0

    @property
    def caution(self) -> str:
        """Why the interval may cover less than it says, else empty."""
        return "" if self.low is None else caution(self.value, self.images)


@dataclass(frozen=True)
class Rates:
    """Estimates as arrays of one shape; NaN where a rate is undefined."""

    value: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    n: NDArray[np.int64]
    corrections: NDArray[np.float64]
    images: NDArray[np.int64]

    def at(self, *index: int) -> Estimate:
        """One cell as an `Estimate`."""
        n, corrections = int(self.n[index]), float(self.corrections[index])
        if n == 0:
            return Estimate(None, None, None, 0, 0.0, NO_LABELS)
        value, low, high = float(self.value[index]), float(self.low[index]), float(self.high[index])
        return Estimate(value, low, high, n, corrections, images=int(self.images[index]))


def rates(counts: ItemCounts, *, level: float = 0.95) -> Rates:
    r"""Rates by window over all images, with Wilson intervals on the effective sample size.

    The labels of one image resemble each other, so n labels tell less than n independent ones: Wilson's
    interval is taken at n over the `design_effect`. The strata of the design are ignored, which errs to the
    wide side. By simulation 95 % intervals cover at least 93 % where `caution` has nothing to say.

    Parameters
    ----------
    counts : ItemCounts
        Arrays of shape (..., window, image), from `item_counts` or `mean_item_counts`, through `by_image`
        where an image has several items.
    level : float
        Coverage of the interval.

    Returns
    -------
    Rates
        Arrays of shape (..., window).

    References
    ----------
    Wilson 1927, doi:10.1080/01621459.1927.10502953.
    Franco, Little, Louis & Slud 2019, Journal of Survey Statistics and Methodology 7(3), 334-364
    (Wilson's interval at the effective sample size).

    Examples
    --------
    Two items, turns 4 and 5; the first is corrected at both turns, the second at none:

    >>> from benchmark.statistics.patterns import item_counts, window
    >>> rates(item_counts([0b11000, 0b11000], [0b11000, 0], [window([4, 5])])).at(0).value
    0.5
    """
    return rates_of(sums(counts), level=level)


@dataclass(frozen=True)
class Sums:
    """Sums over images of their counts in each window: all that a rate and its interval need.

    Attributes
    ----------
    n, corrections : ndarray
        Labels, and corrections among them.
    images, corrected, uncorrected : ndarray of float
        Images with a label, with a correction, and with a non-correction.
    n_squared, corrections_squared, product : ndarray of float
        Sums of n_i^2, c_i^2 and n_i c_i.
    """

    n: NDArray[np.int64]
    corrections: NDArray[np.float64]
    images: NDArray[np.float64]
    corrected: NDArray[np.float64]
    uncorrected: NDArray[np.float64]
    n_squared: NDArray[np.float64]
    corrections_squared: NDArray[np.float64]
    product: NDArray[np.float64]


def sums(counts: ItemCounts, groups: ArrayLike | None = None) -> Sums:
    """Add the counts up over all images, or over each of several groups of them at once.

    Counts are small integers and halves of them, so that every sum of two detectors' mean is exact.

    Parameters
    ----------
    counts : ItemCounts
        Arrays of shape (..., window, image).
    groups : array_like of bool, shape (group, image), optional
        Which images each group holds; an image may be in several.

    Returns
    -------
    Sums
        Arrays of shape (..., window), with a last axis of groups where there are some.
    """
    n, c = counts.n.astype(np.float64), counts.corrections
    held = np.ones(n.shape[-1]) if groups is None else np.asarray(groups, dtype=np.float64).T
    parts = (n, c, n > 0, c > 0, c < n, n * n, c * c, n * c)
    labels, *others = (np.asarray(part, dtype=np.float64) @ held for part in parts)
    return Sums(np.rint(labels).astype(np.int64), *others)


def rates_of(found: Sums, *, level: float = 0.95) -> Rates:
    """As `rates`, from sums that are made already; arrays of their shape."""
    value = _ratio(found.corrections, found.n)
    low, high = wilson(value, found.n / _effect(found, value), level=level)
    return Rates(value, low, high, found.n, found.corrections, found.images.astype(np.int64))


def corr_tp(labelled: ArrayLike, correction: ArrayLike, *, turns: Sequence[int] = FALSE_PREMISE_TURNS) -> Rates:
    """CorrTP@K for each K of the false-premise turns, from masks of shape (..., item)."""
    return rates(item_counts(labelled, correction, cumulative_windows(turns)))


def turn_corr(labelled: ArrayLike, correction: ArrayLike, *, turns: Sequence[int] = FALSE_PREMISE_TURNS) -> Rates:
    """TurnCorr@K for each K of the false-premise turns, from masks of shape (..., item)."""
    return rates(item_counts(labelled, correction, single_windows(turns)))


def corr_fp(labelled: ArrayLike, correction: ArrayLike, *, turns: Sequence[int] = PREMISE_CORRECT_TURNS) -> Rates:
    """CorrFP@K for each K of the premise-correct turns, from masks of shape (..., item)."""
    return rates(item_counts(labelled, correction, cumulative_windows(turns)))


def estimate(corrections: float, n: int, *, level: float = 0.95) -> Estimate:
    """A rate from bare counts of independent responses, with Wilson's interval.

    Raises
    ------
    ValueError
        If the corrections don't lie between 0 and n.

    Examples
    --------
    >>> round(estimate(81, 263).low, 4), round(estimate(81, 263).high, 4)
    (0.2553, 0.3662)
    """
    if not 0 <= corrections <= n:
        raise ValueError(f"{corrections} corrections among {n} responses can't be.")
    if n == 0:
        return Estimate(None, None, None, 0, 0.0, NO_LABELS)
    low, high = wilson(corrections / n, n, level=level)
    return Estimate(corrections / n, float(low), float(high), n, float(corrections), images=n)


def caution(value: float | None, images: int) -> str:
    """Why the interval of this rate may cover less than it says; empty where simulations found that it holds."""
    if value is None:
        return ""
    low, high = COVERED_RATES
    said = [f"fewer than {COVERED_IMAGES} images"] if images < COVERED_IMAGES else []
    said += [] if low <= value <= high else [f"a rate beyond {low} to {high}"]
    return f"{' and '.join(said)}: the interval may cover less than it says" if said else ""


def design_effect(counts: ItemCounts) -> NDArray[np.float64]:
    r"""How many times more labels are needed than independent ones; at least 1, NaN without labels.

    With m images, n_i labels and c_i corrections on image i and r = sum c_i / sum n_i, the linearised
    variance of the ratio is

    .. math:: v = \frac{m}{m - 1} \frac{\sum_i (c_i - r n_i)^2}{(\sum_i n_i)^2},

    and the design effect :math:`d = v / (r (1 - r) / n)`, at least 1. It rests on the images that stand out:
    with k of them (those with a correction, or those with a non-correction, whichever are fewer) it is at least
    :math:`(k d + a) / (k + 1)`, where :math:`a = \sum_i n_i^2 / \sum_i n_i` is its value for labels that are all
    alike within an image. Where v says nothing (r is 0 or 1, or there is one image), it is a.

    Parameters
    ----------
    counts : ItemCounts
        Arrays of shape (..., window, image).

    Returns
    -------
    ndarray of float, shape (..., window)
    """
    found = sums(counts)
    return _effect(found, _ratio(found.corrections, found.n))


def _effect(found: Sums, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """The design effect of these rates; the squared residuals are added up from the sums of their parts."""
    n = found.n.astype(np.float64)
    residuals = found.corrections_squared - 2 * value * found.product + value**2 * found.n_squared
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = found.images / (found.images - 1) * np.maximum(residuals, 0.0) / n**2
        estimated = np.maximum(variance / (value * (1 - value) / n), 1.0)
        all_alike = found.n_squared / n
    known = (found.images > 1) & (value > 0) & (value < 1)
    telling = np.minimum(found.corrected, found.uncorrected)
    drawn = (telling * np.where(known, estimated, 0.0) + all_alike) / (telling + 1)
    effect: NDArray[np.float64] = np.where(known, np.maximum(estimated, drawn), all_alike)
    return effect


def wilson(value: ArrayLike, n: ArrayLike, *, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Wilson's score interval of a proportion; NaN where n is 0.

    .. math:: \frac{p + z^2 / 2n \pm z \sqrt{p (1 - p) / n + z^2 / 4 n^2}}{1 + z^2 / n}

    Parameters
    ----------
    value, n : array_like of float
        Proportion, and (effective) sample size, of one shape.
    level : float
        Coverage.

    References
    ----------
    Wilson 1927, doi:10.1080/01621459.1927.10502953.
    """
    p, size = np.asarray(value, dtype=np.float64), np.asarray(n, dtype=np.float64)
    z = _quantile(level)
    with np.errstate(divide="ignore", invalid="ignore"):
        shrink = 1 + z**2 / size
        middle = (p + z**2 / (2 * size)) / shrink
        reach = z * np.sqrt(p * (1 - p) / size + z**2 / (4 * size**2)) / shrink
    low = np.clip(np.where(p == 0, 0.0, middle - reach), 0.0, p)
    high = np.clip(np.where(p == 1, 1.0, middle + reach), p, 1.0)
    return low, high


def exact(corrections: float, n: int) -> str:
    """A rate as the exact tables print it: three decimals, empty where it is undefined.

    Examples
    --------
    >>> exact(1, 360), exact(0, 0)
    ('0.003', '')
    """
    return f"{corrections / n:.3f}" if n else ""


def published_mean(first: str, second: str) -> str:
    """The mean of two printed cells as the published Avg columns were made.

    The two cells, already rounded to three decimals, are averaged and rounded again in binary
    floating point. Empty where either is.

    Examples
    --------
    >>> published_mean("0.650", "0.641")
    '0.645'
    """
    if not first or not second:
        return ""
    return f"{(float(first) + float(second)) / 2:.3f}"


@cache
def _quantile(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"A level lies between 0 and 1, not at {level}.")
    return NormalDist().inv_cdf((1 + level) / 2)


def _ratio(corrections: NDArray[np.float64], n: NDArray[np.int64]) -> NDArray[np.float64]:
    undefined = np.full(n.shape, np.nan)
    ratio: NDArray[np.float64] = np.divide(corrections, n, out=undefined, where=n > 0)
    return ratio
