"""What corrected rates are made of: shares of a weighted, clustered sample, and limits of sums and ratios of them.

Everything that has an interval has `limits(more)`: the limits as they are, or as they would be if there were `more`
times as many labels that say the same. They are not cut to [0, 1], so that widths can be compared.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Z = 1.959963984540054  # of 95 %
LITTLE, ALIKE = 1e-12, 1e-8
TAIL = 0.025
ADDED = 1.0  # labels of each kind that Rogan-Gladen's limits add

Floats = NDArray[np.float64]


class Limited(Protocol):
    """An estimate that knows its limits; they are None where labels are too few to bound it."""

    @property
    def value(self) -> float: ...

    @property
    def error(self) -> float: ...

    def limits(self, more: float = 1.0) -> tuple[float, float] | None: ...


@dataclass(frozen=True)
class Share:
    """A weighted mean of values in [0, 1] and the number of independent labels that would tell as much."""

    value: float
    size: float

    @property
    def variance(self) -> float:
        return self.value * (1 - self.value) / self.size


def share(values: Floats, weights: Floats, clusters: NDArray[np.int64]) -> Share:
    """The mean of values under design weights, with its effective size, as in `shares`.

    Examples
    --------
    >>> share(np.array([1.0, 0.0]), np.array([3.0, 1.0]), np.arange(2)).value
    0.75
    """
    return shares(values[np.newaxis], weights, clusters)[0]


def shares(values: Floats, weights: Floats, clusters: NDArray[np.int64]) -> list[Share]:
    r"""Means of values under design weights, with their effective sizes.

    With :math:`\bar y = \sum w_i y_i / \sum w_i`, the linearised variance over m clusters g is

    .. math:: v = \frac{m}{m-1} \frac{\sum_g (\sum_{i \in g} w_i (y_i - \bar y))^2}{(\sum w_i)^2}

    and the effective size is :math:`\bar y (1 - \bar y) / v`, at most Kish's :math:`(\sum w)^2 / \sum w^2`. Where v
    says nothing (a mean of 0 or 1, one cluster), it is the size for labels that are all alike within a cluster.

    Parameters
    ----------
    values : ndarray of float, shape (mean, label)
        In [0, 1].
    weights : ndarray of float, shape (label,)
        1 / inclusion probability, up to a factor. At least one label.
    clusters : ndarray of int, shape (label,)
        The image of each.

    References
    ----------
    Kish 1965, Survey Sampling, section 11.7. Särndal, Swensson & Wretman 1992, section 5.7 (linearisation).
    """
    total = float(weights.sum())
    plain = total**2 / float((weights**2).sum())
    alike = total**2 / float((cluster_sums(weights, clusters) ** 2).sum())
    variances, made = linearised(values, weights, clusters), []
    for at, mean in enumerate((values @ weights / total).tolist()):
        value = min(max(mean, 0.0), 1.0)
        spread = value * (1 - value)
        if variances is None or spread < LITTLE:
            made.append(Share(value, alike))
        else:
            variance = float(variances[at])
            made.append(Share(value, min(spread / variance, plain) if variance > LITTLE * spread else plain))
    return made


def linearised(values: Floats, weights: Floats, clusters: NDArray[np.int64]) -> Floats | None:
    """Variances of weighted means over clusters, as in `shares`; None with a single cluster."""
    sums = cluster_sums(departures(values, weights), clusters)
    m = sums.shape[-1]
    return m / (m - 1) * np.asarray((sums**2).sum(axis=-1)) if m > 1 else None


def departures(values: Floats, weights: Floats) -> Floats:
    """How far each value, shape (..., label), moves the weighted mean from itself: they add up to 0."""
    total = float(weights.sum())
    away: Floats = weights * (values - (values @ weights)[..., np.newaxis] / total) / total
    return away


def cluster_sums(values: Floats, clusters: NDArray[np.int64]) -> Floats:
    """Sums over each cluster, in sorted order; shape (..., label) to (..., cluster)."""
    order = np.argsort(clusters, kind="stable")
    starts = np.flatnonzero(np.diff(clusters[order], prepend=clusters[order[0]] - 1))
    sums: Floats = np.add.reduceat(values[..., order], starts, axis=-1)
    return sums


def exact(shares: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """Clopper and Pearson's 95 % limits of shares at their effective sizes, as Korn and Graubard take them.

    References
    ----------
    Clopper & Pearson 1934, doi:10.1093/biomet/26.4.404. Korn & Graubard 1998, Survey Methodology 24, 193-201.

    Examples
    --------
    None of 10: the upper limit solves (1 - p)^10 = 0.025.

    >>> low, high = exact(np.array([0.0]), np.array([10.0]))
    >>> float(low[0]), round(float(high[0]), 6) == round(1 - 0.025**0.1, 6)
    (0.0, True)
    """
    from scipy.special import betaincinv

    yes, no = shares * sizes, (1 - shares) * sizes
    low = np.where(yes > LITTLE, betaincinv(np.maximum(yes, LITTLE), no + 1, TAIL), 0.0)
    high = np.where(no > LITTLE, betaincinv(yes + 1, np.maximum(no, LITTLE), 1 - TAIL), 1.0)
    return np.minimum(low, shares), np.maximum(high, shares)


def mean_variance(counts: NDArray[np.int64], scores: Floats) -> float:
    """Variance of the mean score of answers over images like these, which share their answers' likeness.

    Parameters
    ----------
    counts : ndarray of int, shape (image, pattern)
        Answers of each image by pattern.
    scores : ndarray of float, shape (pattern,)
        What each pattern counts.
    """
    by_image = counts[counts.sum(axis=1) > 0]
    images, n = len(by_image), int(by_image.sum())
    if images < 2:
        return 0.0
    mean = float(by_image.sum(axis=0) @ scores) / n
    return images / (images - 1) * float(((by_image @ (scores - mean)) ** 2).sum()) / n**2


def common_variance(
    away: Floats,
    of: NDArray[np.int64],
    counts: NDArray[np.int64],
    scores: Floats,
    *,
    apart: float,
    images: NDArray[np.int64] | None,
) -> float:
    r"""The variance that the population's images bring, and that strata and population have in common.

    An image whose answers people call corrections more often than the detectors make expect mostly does so in every
    stratum, and mostly is one whose answers the detectors call corrections more often, too. So the strata's means and
    the population's mean score vary more together than apart: over images i, with departures :math:`\psi_i` of the
    population's mean score and :math:`\phi_i` of the sample's mean from what they are, by
    :math:`\sum \phi_i^2 + 2 \sum \psi_i \phi_i` less the strata's own variances; where that is below 0, by nothing.

    Parameters
    ----------
    away : ndarray of float, shape (label,)
        How far each label moves the sample's mean (`departures`).
    of : ndarray of int, shape (label,)
        The image of each.
    counts, scores
        The population and what each pattern counts, as in `mean_variance`.
    apart : float
        The sum of the strata's own variances.
    images : ndarray of int, shape (image,), or None
        Which image each row of counts is, each once; None where no label is of any of them.

    References
    ----------
    Särndal, Swensson & Wretman 1992, chapter 9 (samples of two phases).
    """
    n, rows = int(counts.sum()), counts.sum(axis=1)
    there, names, moved = int((rows > 0).sum()), np.unique(of), cluster_sums(away, of)
    together = len(names) / max(len(names) - 1, 1) * float((moved**2).sum()) - apart
    if images is not None and there > 1:
        _, known, labels = np.intersect1d(images, names, assume_unique=True, return_indices=True)
        own = (counts[known] @ scores - rows[known] * float(counts.sum(axis=0) @ scores) / n) / n
        together += 2 * there / (there - 1) * float(own @ moved[labels])
    return mean_variance(counts, scores) + max(together, 0.0)


@dataclass(frozen=True)
class Part:
    """The mean score of one group of answers: `scores`, observed `shares` and effective `sizes` of its cells.

    Cells exclude one another and make up the whole group; cells that were never seen are among them. `spread` is the
    variance of the mean score by linearisation: 0 where no error was seen, for which the limits do not fall.
    """

    weight: float
    scores: Floats
    shares: Floats
    sizes: Floats
    spread: float = 0.0

    @property
    def variance(self) -> float:
        return self.weight**2 * self.spread

    @property
    def value(self) -> float:
        return self.weight * float(self.scores @ self.shares)

    def reaches(self, more: float) -> tuple[float, float]:
        """How far down and up the mean may lie, squared."""
        both = np.mean([_reaches(*free, more) * self._wider(*free) for free in self._free], axis=0) * self.weight**2
        return float(both[0]), float(both[1])

    @cached_property
    def _free(self) -> list[tuple[Floats, Floats, Floats, Floats]]:
        """Scores, shares and sizes of all cells but the commonest, scored against it, and how these scores go together.

        Once for each of several that are the commonest, so that no order of cells decides.
        """
        made = []
        for common in np.flatnonzero(self.shares > self.shares.max() - ALIKE):
            others = np.arange(len(self.shares)) != common
            scores = self.scores[others] - self.scores[common]
            shares, sizes = self.shares[others], self.sizes[others]
            odds = np.sqrt(shares / (1 - shares))
            together = -np.outer(odds, odds) * np.sign(np.outer(scores, scores))
            np.fill_diagonal(together, 1.0)
            made.append((scores, shares, sizes, together))
        return made

    def _wider(self, scores: Floats, shares: Floats, sizes: Floats, together: Floats) -> float:
        """By how much the mean score varies more than cells that go together as a multinomial's do: at least 1."""
        errors = np.abs(scores) * np.sqrt(shares * (1 - shares) / sizes)
        supposed = float(errors @ together @ errors)
        return max(self.spread / supposed, 1.0) if supposed > LITTLE else 1.0


def _reaches(scores: Floats, shares: Floats, sizes: Floats, together: Floats, more: float) -> Floats:
    low, high = exact(shares, sizes * more)
    drops, rises = scores * (shares - low), scores * (high - shares)
    down, up = np.where(scores > 0, drops, -rises), np.where(scores > 0, rises, -drops)
    return np.maximum([down @ together @ down, up @ together @ up], 0.0)


@dataclass(frozen=True)
class Sum:
    r"""A constant and independent parts; `fixed` is a variance that no further label takes away.

    Limits are found by recovering variances: with `exact` limits l, u of each share p,

    .. math:: \hat\theta - \sqrt{\sum (p - l)^2 + \ldots},\quad \hat\theta + \sqrt{\sum (u - p)^2 + \ldots}

    with each part's score and weight, and the correlation of a multinomial's shares within a part; squares are
    multiplied by how far the part's linearised variance is above a multinomial's (Rao and Scott's first correction), as
    cells of one image go together otherwise. Unlike a normal
    interval it does not shrink to nothing where no error was seen; and where one was, in a stratum that stands for many
    answers, its lower limit is lower than with Wilson's limits, which are known to be too high for few successes.

    References
    ----------
    Newcombe 1998, doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I.
    Zou & Donner 2008, doi:10.1002/sim.3095. Rao & Scott 1981, doi:10.1080/01621459.1981.10477633.
    """

    constant: float
    parts: tuple[Part, ...]
    fixed: float

    @property
    def value(self) -> float:
        return self.constant + sum(part.value for part in self.parts)

    @property
    def error(self) -> float:
        return float(np.sqrt(sum(part.variance for part in self.parts) + self.fixed))

    def limits(self, more: float = 1.0) -> tuple[float, float]:
        reaches = [part.reaches(more) for part in self.parts]
        down, up = (Z**2 * self.fixed + sum(squares) for squares in zip(*reaches, strict=True))
        return self.value - float(np.sqrt(down)), self.value + float(np.sqrt(up))


@dataclass(frozen=True)
class Inverted:
    r"""A raw rate F, freed of what detectors find among true corrections (S1) and among the others (S0).

    .. math:: \hat\theta = (F - S_0) / (S_1 - S_0)

    Limits are Fieller's: all :math:`\theta` with :math:`(F - S_0 - \theta (S_1 - S_0))^2 \le z^2 (V_F + (1 - \theta)^2
    V_0 + \theta^2 V_1)`, where S1 and S0 have one label of each kind added, so that a detector without a seen error is
    not taken for a perfect one.

    References
    ----------
    Rogan & Gladen 1978, doi:10.1093/oxfordjournals.aje.a112510. Fieller 1954, Journal of the Royal Statistical Society
    B 16, 175-185. Lang & Reiczigel 2014, doi:10.1016/j.prevetmed.2013.09.015 (the added labels).
    """

    raw: float
    fixed: float
    hits: Share
    false: Share

    @property
    def value(self) -> float:
        return (self.raw - self.false.value) / self.gain

    @property
    def gain(self) -> float:
        return self.hits.value - self.false.value

    @property
    def sampled(self) -> float:
        """The part of the variance that comes of the human labels (delta method)."""
        varied = (1 - self.value) ** 2 * self.false.variance + self.value**2 * self.hits.variance
        return varied / self.gain**2

    @property
    def lasting(self) -> float:
        """The part of the variance that no human label takes away."""
        return self.fixed / self.gain**2

    @property
    def error(self) -> float:
        return float(np.sqrt(self.sampled + self.lasting))

    def limits(self, more: float = 1.0) -> tuple[float, float] | None:
        hits, false = (_with_added(known, more) for known in (self.hits, self.false))
        over, gain, z = self.raw - false.value, hits.value - false.value, Z**2
        square = gain**2 - z * (hits.variance + false.variance)
        if gain <= 0 or square <= 0:
            return None
        half = over * gain - z * false.variance
        rest = over**2 - z * (self.fixed + false.variance)
        reach = float(np.sqrt(max(half**2 - square * rest, 0.0)))
        return min((half - reach) / square, self.value), max((half + reach) / square, self.value)


def _with_added(known: Share, more: float) -> Share:
    size = known.size * more
    return Share((size * known.value + ADDED) / (size + 2 * ADDED), size + 2 * ADDED)
