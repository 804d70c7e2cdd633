"""Bands over the cutoffs K that hold for all of them at once."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from benchmark.statistics.patterns import ItemCounts
from benchmark.statistics.rates import design_effect, rates, wilson
from benchmark.statistics.resampling import bootstrap_rates


@dataclass(frozen=True)
class Bands:
    """Bands of curves.

    Attributes
    ----------
    low, high : ndarray of float, shape (..., window)
        NaN where a rate is undefined.
    critical : ndarray of float, shape (...)
        How many standard errors a band reaches; a pointwise interval reaches 1.96.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    critical: NDArray[np.float64]


def simultaneous_bands(
    counts: ItemCounts, *, level: float = 0.95, repetitions: int = 2_000, rng: np.random.Generator
) -> Bands:
    r"""Wilson's intervals, widened so that with probability `level` every point of a curve lies in its band.

    With :math:`\hat r_K` the rates, :math:`r^*_K` those of a bootstrap of the images and :math:`s_K` the standard
    deviation of these, the critical value is the quantile of :math:`\max_K |r^*_K - \hat r_K| / s_K` (sup-t), at
    least the pointwise and at most Bonferroni's. It takes the place of the normal quantile in Wilson's interval
    at the effective sample size, so that bands stay within 0 and 1 and a rate of 0 or 1 has one, too.

    Parameters
    ----------
    counts : ItemCounts
        Arrays of shape (..., window, image): the windows of a curve, in any order.
    level : float
        Coverage of the whole curve.
    repetitions : int
        Bootstraps.
    rng : numpy.random.Generator

    References
    ----------
    Montiel Olea & Plagborg-Møller 2019, Journal of Applied Econometrics 34(1), 1-17, doi:10.1002/jae.2656.
    """
    found = rates(counts, level=level)
    repeated = bootstrap_rates(counts, repetitions=repetitions, rng=rng)
    critical = sup_t(found.value, repeated, level=level)
    normal = np.vectorize(NormalDist().cdf, otypes=[float])
    each = 2 * normal(critical) - 1
    effective = found.n / design_effect(counts)
    low, high = np.empty_like(found.value), np.empty_like(found.value)
    for index in np.ndindex(critical.shape):
        low[index], high[index] = wilson(found.value[index], effective[index], level=float(each[index]))
    return Bands(low, high, critical)


def sup_t(value: NDArray[np.float64], repeated: NDArray[np.float64], *, level: float = 0.95) -> NDArray[np.float64]:
    """The critical value of each curve.

    Parameters
    ----------
    value : ndarray of float, shape (..., window)
    repeated : ndarray of float, shape (..., window, repetition)
        Points without spread have no part in it; a curve of nothing else gets Bonferroni's value.
    level : float
        Coverage.

    Returns
    -------
    ndarray of float, shape (...)
    """
    spread = np.where(np.isnan(repeated), 0.0, repeated - value[..., np.newaxis])
    deviation = np.sqrt((spread**2).mean(axis=-1))
    still = ~(deviation > 1e-12)
    scaled = np.abs(spread) / np.where(still, np.inf, deviation)[..., np.newaxis]
    found = np.quantile(scaled.max(axis=-2), level, axis=-1)
    found = np.where(still.all(axis=-1), np.inf, found)
    quantile = NormalDist().inv_cdf
    return np.clip(found, quantile((1 + level) / 2), quantile(1 - (1 - level) / (2 * value.shape[-1])))
