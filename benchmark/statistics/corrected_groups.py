"""One detector error for all models, each model's own, and what lies between: rates of groups that share a sample.

Six answers of a class make 18 human labels a model: too few for a correction of its own, plenty for one of all.
*Pooled* frees each group's rate of the sensitivity and specificity that everybody's labels show
(`corrected.rogan_gladen` with the whole sample and one group's population). What people find among answers that
detectors call corrections can't be carried from group to group in that way: it depends on how frequent corrections are.
*Partially pooled* moves each group away from the pooled rate by its own labels, as far as groups differ beyond chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmark.statistics.corrected import Corrected, Layout, Sample, inverted, settled, undefined
from benchmark.statistics.corrected_intervals import Floats, Inverted, Z

LEAST = 4  # groups below which the spread between groups can't be told from chance
TOO_FEW = f"partial pooling needs at least {LEAST} groups with human labels: how they differ is estimated from them"
NONE_HERE = "no human label of this group's answers"


@dataclass(frozen=True)
class Shrunk:
    """The rate expected of a group, moved by `1 - shrinkage` of its own departure from it; limits after Morris."""

    expected: float
    pooled: Inverted
    departure: float
    variance: float
    between: float
    typical: float
    groups: int

    @property
    def value(self) -> float:
        return self.expected + (1 - self.shrinkage()) * self.departure

    @property
    def error(self) -> float:
        return self._error(1.0)

    def limits(self, more: float = 1.0) -> tuple[float, float]:
        value, reach = self.value, Z * self._error(more)
        return value - reach, value + reach

    def shrinkage(self, more: float = 1.0) -> float:
        own = self.variance / more
        return (self.groups - 3) / (self.groups - 1) * own / (own + self.between)

    def _error(self, more: float) -> float:
        k, own, shrinkage = self.groups, self.variance / more, self.shrinkage(more)
        wider = (self.typical / more + self.between) / (own + self.between)
        guessed = 2 / (k - 3) * shrinkage**2 * wider * self.departure**2 / more
        kept = own * (1 - (k - 1) / k * shrinkage)
        shared = shrinkage**2 * self.pooled.sampled / more
        return float(np.sqrt(kept + guessed + shared + self.pooled.lasting))


def partially_pooled(
    sample: Sample, of: NDArray[np.int64], populations: Sequence[NDArray[np.int64]], layout: Layout
) -> list[Corrected]:
    r"""Each group's rate: what the pooled error makes expect, and a part of the group's own departure from it.

    The pooled sensitivity and specificity and a group's pooled rate say what people should find in each of its answers,
    :math:`p_i`, by Bayes' theorem; :math:`\bar p_d` is the mean of that over all of them. The departure :math:`u_d`, of
    variance :math:`v_d`, is the weighted mean of :math:`y_i - p_i` over the group's own labels, and

    .. math:: \hat\theta_d = \bar p_d + (1 - B_d) u_d,\quad B_d = \frac{k-3}{k-1} \frac{v_d}{v_d + \hat\tau^2}

    where :math:`\hat\tau^2` solves :math:`\sum u_d^2 / (v_d + \tau^2) = k - 1` over k groups (0 where they differ no
    more than chance). Intervals are Morris's, widened by the pooled rate's own error; they cover in the mean over the
    groups, not for each. It assumes that departures of groups are draws from one normal distribution about 0: no group
    is known beforehand to be judged otherwise than the rest.

    Parameters
    ----------
    sample : Sample
        Everybody's labels.
    of : ndarray of int, shape (label,)
        Which group each label is of.
    populations : sequence of ndarray of int, each of shape (image, pattern)
        Each group's answers by what the detectors said.
    layout : Layout

    References
    ----------
    Morris 1983, doi:10.1080/01621459.1983.10477920. Paule & Mandel 1982, doi:10.6028/jres.087.022.
    Fay & Herriot 1979, doi:10.1080/01621459.1979.10482505 (rates of small areas).
    """
    own = [sample.only(of == group) for group in range(len(populations))]
    pooled = [inverted(sample, counts, layout) for counts in populations]
    groups = [(group, base) for group, base in enumerate(pooled) if own[group].n and isinstance(base, Inverted)]
    reasons = [base if isinstance(base, str) else NONE_HERE for base in pooled]
    if len(groups) < LEAST:
        reasons = [base if isinstance(base, str) else TOO_FEW for base in pooled]
        return [undefined(reason, kept) for reason, kept in zip(reasons, own, strict=True)]
    chances = {group: expectations(base.value, sample, layout) for group, base in groups}
    moved = np.array([departure(own[group], chances[group]) for group, _ in groups])
    between, typical = paule_mandel(moved[:, 0], moved[:, 1]), float(np.mean(moved[:, 1]))
    told = [undefined(reason, kept) for reason, kept in zip(reasons, own, strict=True)]
    for (group, base), (away, variance) in zip(groups, moved.tolist(), strict=True):
        n = populations[group].sum(axis=0)
        expected = float(n @ chances[group]) / int(n.sum())
        found = Shrunk(expected, base, away, variance, between, typical, len(groups))
        told[group] = settled(found, own[group], int(n.sum()), tuning=1 - found.shrinkage())
    return told


def departure(own: Sample, chances: Floats) -> tuple[float, float]:
    """How far a group's labels depart from the chances of each pattern, and the variance of that."""
    expected, weights = chances[own.patterns], own.weights / own.weights.sum()
    return float(weights @ (own.truth - expected)), float(weights**2 @ (expected * (1 - expected)))


def expectations(rate: float, sample: Sample, layout: Layout) -> Floats:
    """The chance that people see a correction in an answer of each pattern, where corrections have this rate.

    By Bayes' theorem from the patterns of true corrections and of the others, with one label of each kind added that
    is spread over the patterns as all labels are, so that nothing is taken for certain; the rate likewise.
    """
    strata, weights = layout.strata, sample.weights * sample.n / sample.weights.sum()
    at = strata[sample.patterns]
    known = [
        np.bincount(at[kept], weights[kept], minlength=strata.max() + 1)
        for kept in (sample.truth > 0.5, sample.truth < 0.5)
    ]
    everything = (known[0] + known[1] + 0.5) / (sample.n + 0.5 * (strata.max() + 1))
    of_true, of_others = ((counts + everything) / (counts.sum() + 1) for counts in known)
    rate = (sample.n * min(max(rate, 0.0), 1.0) + 0.5) / (sample.n + 1)
    found: Floats = (rate * of_true / (rate * of_true + (1 - rate) * of_others))[strata]
    return found


def paule_mandel(departures: Floats, variances: Floats) -> float:
    """The variance between groups beyond that of chance, about 0: at least 0.

    Examples
    --------
    Four groups at -2, -1, 1, 2, each with variance 1: 10 / (1 + t) = 3, so t = 7/3.

    >>> round(paule_mandel(np.array([-2.0, -1.0, 1.0, 2.0]), np.ones(4)), 6)
    2.333333
    """
    wanted, squares = len(departures) - 1, departures**2

    def excess(between: float) -> float:
        return float((squares / (variances + between)).sum()) - wanted

    low, high = 0.0, float(squares.sum())
    if excess(low) <= 0:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return (low + high) / 2
