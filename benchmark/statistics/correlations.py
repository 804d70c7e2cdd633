"""Rank correlation of two rates over models, with an interval over images."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmark.statistics.bootstrap import percentiles
from benchmark.statistics.patterns import ItemCounts

FEWEST = 3
TOO_FEW = f"no rank correlation of fewer than {FEWEST} models"
NO_SPREAD = "no rank correlation: all models have the same rate"


@dataclass(frozen=True)
class Correlation:
    """Spearman's rho with its interval; None where undefined, with the reason."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str = ""


def spearman(first: ItemCounts, second: ItemCounts, rng: np.random.Generator, *, repetitions: int) -> Correlation:
    """How far two rates rank the models alike; the interval is over which images were asked about.

    Parameters
    ----------
    first, second : ItemCounts
        Arrays of shape (model, item), in the same order.
    rng : numpy.random.Generator
        Draws whole images with replacement, the same for both rates and all models.
    repetitions : int
        Of the bootstrap; the interval is its percentiles.

    References
    ----------
    Spearman 1904, doi:10.2307/1412159; Davison & Hinkley 1997, section 5.3.1.
    """
    kept = (first.n.sum(axis=-1) > 0) & (second.n.sum(axis=-1) > 0)
    models, items = int(kept.sum()), first.n.shape[-1]
    if models < FEWEST:
        return Correlation(None, None, None, models, TOO_FEW)
    both = [ItemCounts(counts.n[kept], counts.corrections[kept]) for counts in (first, second)]
    value = _of_ranks(both, np.ones((1, items)))[0]
    if np.isnan(value):
        return Correlation(None, None, None, models, NO_SPREAD)
    drawn = rng.multinomial(items, np.full(items, 1 / items), size=repetitions).astype(np.float64)
    low, high, reason = percentiles(_of_ranks(both, drawn))
    return Correlation(float(value), low, high, models, reason)


def _of_ranks(both: list[ItemCounts], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Spearman's rho in each repetition; NaN where a rate is undefined or the same for all models."""
    from scipy.stats import rankdata

    with np.errstate(divide="ignore", invalid="ignore"):
        # Rounded, so that rates which are equal as fractions are equal as numbers and share a rank.
        rates = [np.round(weights @ counts.corrections.T / (weights @ counts.n.T), 12) for counts in both]
        ranks = [rankdata(rate, axis=1, nan_policy="propagate") for rate in rates]
        centred = [rank - rank.mean(axis=1, keepdims=True) for rank in ranks]
        together = (centred[0] * centred[1]).sum(axis=1)
        apart = np.sqrt((centred[0] ** 2).sum(axis=1) * (centred[1] ** 2).sum(axis=1))
        rho: NDArray[np.float64] = np.where(apart > 0, together / apart, np.nan)
    return rho
