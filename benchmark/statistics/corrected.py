"""Rates corrected for the detectors' error by human labels of a probability sample.

Every estimator takes the same three things: a sample of answers with the truth that people gave them, the population
of all answers counted by what the detectors said of each, and a layout that says what those patterns are. The target is
always the rate that people would find if they labelled every answer: the mean truth. Undefined is None with a reason.

Intervals are at 95 % and speak of images like these: answers of one image resemble each other, in the sample, in the
population and between the two, so both are clustered by image, and `images` says which rows of the population are the
sample's images. Rogan-Gladen does without: sensitivity and specificity are measured among answers of one truth, and if
they lean with their image, the raw rate leans with them, which makes its interval too wide, not too narrow.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmark.statistics.corrected_intervals import (
    Floats,
    Inverted,
    Limited,
    Part,
    Share,
    Sum,
    common_variance,
    departures,
    linearised,
    mean_variance,
    share,
    shares,
)
from benchmark.statistics.patterns import ItemCounts
from benchmark.statistics.rates import rates

FEW = 5  # true corrections, and others, without which no sensitivity and specificity are told

NO_LABELS = "no human label of these answers"
NO_ANSWERS = "no answer that the detectors labelled"
ONE_LABEL = "one human label says nothing of how they spread"
NO_BETTER = "the detectors find no more corrections where people see one than where they see none"
UNBOUNDED = "too few human labels to tell the detectors' answers from chance, so no interval is bounded"


@dataclass(frozen=True)
class Layout:
    """What the detectors can say of an answer, each thing a pattern.

    Attributes
    ----------
    scores : ndarray of float, shape (pattern,)
        The rate that each pattern counts: 0, 1, or a half where one of a pair sees a correction.
    groups : ndarray of int, shape (pattern,)
        The stratum of the draw that answers with this pattern fell into; all 0 where strata are not made of patterns.
    names : tuple of str
        What each score means, in the order of the scores.
    """

    scores: Floats
    groups: NDArray[np.int64]
    names: tuple[str, ...] = ()

    @property
    def strata(self) -> NDArray[np.int64]:
        """The post-stratum of each pattern: answers of which the detectors say as much."""
        strata: NDArray[np.int64] = np.unique(self.scores, return_inverse=True)[1].astype(np.int64)
        return strata


@dataclass(frozen=True)
class Sample:
    """Answers that people labelled; arrays of shape (label,).

    `truth` is 1.0 for a correction and 0.0 for none, `patterns` what the detectors said, `weights` 1 / inclusion
    probability, `images` which image each is of.
    """

    truth: Floats
    patterns: NDArray[np.int64]
    weights: Floats
    images: NDArray[np.int64]

    @property
    def n(self) -> int:
        return len(self.truth)

    @property
    def clusters(self) -> int:
        """How many images the labels are of."""
        return len(np.unique(self.images))

    def only(self, keep: NDArray[np.bool_]) -> "Sample":
        return Sample(self.truth[keep], self.patterns[keep], self.weights[keep], self.images[keep])


@dataclass(frozen=True)
class Corrected:
    """A corrected rate with its interval, what it rests on and how to sharpen it.

    Attributes
    ----------
    value, low, high : float or None
        In [0, 1]; None where undefined, with the `reason`.
    error : float or None
        The standard error.
    n, images : int
        Human labels it rests on, and images these are of.
    tuning : float or None
        How far the detectors count (prediction-powered) or own labels count (partially pooled), from 0 to 1.
    more : int or None
        Further human labels of the same kind that would halve the interval; None with `more_reason`.
    note : str
        What is particular about this estimate, if anything.
    """

    value: float | None
    low: float | None
    high: float | None
    error: float | None
    n: int
    images: int
    reason: str = ""
    tuning: float | None = None
    more: int | None = None
    more_reason: str = ""
    note: str = ""


def undefined(reason: str, sample: Sample) -> Corrected:
    return Corrected(None, None, None, None, sample.n, sample.clusters, reason, more_reason=reason)


def raw(counts: NDArray[np.int64], layout: Layout) -> Corrected:
    """The detectors' own rate over the population, uncorrected.

    Parameters
    ----------
    counts : ndarray of int, shape (image, pattern)
        The population: answers of each image by what the detectors said.
    layout : Layout
    """
    n, images = int(counts.sum()), int((counts.sum(axis=1) > 0).sum())
    if not n:
        return Corrected(None, None, None, None, 0, 0, NO_ANSWERS, more_reason=NO_ANSWERS)
    seen = ItemCounts(counts.sum(axis=1)[np.newaxis], (counts @ layout.scores)[np.newaxis])
    found, error = rates(seen).at(0), math.sqrt(mean_variance(counts, layout.scores))
    return Corrected(found.value, found.low, found.high, error, n, images, more_reason="no human label")


def post_stratified(
    sample: Sample, counts: NDArray[np.int64], layout: Layout, *, images: NDArray[np.int64] | None = None
) -> Corrected:
    r"""The human rate among answers of which the detectors say the same, each at its share of all answers.

    .. math:: \hat\theta = \sum_h \frac{N_h}{N} \frac{\sum_{i \in h} w_i y_i}{\sum_{i \in h} w_i}

    Nothing is assumed of how good the detectors are. Where a stratum has no human label, it is joined with its
    neighbour, if all answers were drawn alike; else the estimate is undefined.

    Parameters
    ----------
    sample : Sample
        Of the population itself, or of a wider one whose rates within strata are taken to be those here.
    counts : ndarray of int, shape (image, pattern)
        The population.
    layout : Layout
    images : ndarray of int, shape (image,), optional
        Which image each row of counts is, in the sample's numbers; none where no label is of any of them.

    References
    ----------
    Holt & Smith 1979, doi:10.2307/2344652. Tenenbein 1970, doi:10.1080/01621459.1970.10481170 (double sampling).

    Examples
    --------
    Of 10 answers the detectors call 4 corrections; people say 1 of 2 of those is one, and 0 of 2 of the others:
    0.4 * 1/2 + 0.6 * 0 = 0.2.

    >>> sample = Sample(np.array([1.0, 0, 0, 0]), np.array([1, 1, 0, 0]), np.ones(4), np.arange(4))
    >>> layout = Layout(np.array([0.0, 1.0]), np.array([0, 0]))
    >>> post_stratified(sample, np.eye(2, dtype=np.int64)[[0] * 6 + [1] * 4], layout).value
    0.2
    """
    if reason := lacking(sample, counts):
        return undefined(reason, sample)
    strata, note = joined(sample, counts, layout)
    if isinstance(strata, str):
        return undefined(strata, sample)
    n = counts.sum(axis=0)
    parts, found, away = [], np.zeros(len(layout.scores)), np.zeros(sample.n)
    for stratum in np.unique(strata[n > 0]):
        there = strata[sample.patterns] == stratum
        here, weight = sample.only(there), float(n[strata == stratum].sum() / n.sum())
        known = share(here.truth, here.weights, here.images)
        found[strata == stratum] = known.value
        away[there] = weight * departures(here.truth, here.weights)
        parts.append(_binary(weight, known))
    apart = sum(part.variance for part in parts)
    fixed = common_variance(away, sample.images, counts, found, apart=apart, images=images)
    return settled(Sum(0.0, tuple(parts), fixed), sample, int(n.sum()), note=note)


def prediction_powered(
    sample: Sample,
    counts: NDArray[np.int64],
    layout: Layout,
    *,
    tuning: float | None = None,
    images: NDArray[np.int64] | None = None,
) -> Corrected:
    r"""The detectors' rate over all answers, plus how far people depart from it on the sample.

    .. math:: \hat\theta_\lambda = \lambda \bar f + \sum_g \frac{N_g}{N} \overline{(y - \lambda f)}_g

    over the strata g of the draw that are made of patterns, with design weights within them; `images` as in
    `post_stratified`. :math:`\lambda = 1` is
    prediction-powered inference; None tunes it to the least variance, between 0 (the detectors count for nothing) and
    1. The sample is part of the population, so the best value is the regression of y on f:
    :math:`\lambda = cov(y, f) / var(f)`, which is the same estimate as PPI++ with the unlabelled answers apart.

    References
    ----------
    Angelopoulos, Bates, Fannjiang, Jordan & Zrnic 2023, doi:10.1126/science.adi6000.
    Angelopoulos, Duchi & Zrnic 2023, arXiv:2311.01453 (PPI++).

    Examples
    --------
    Detectors call 4 of 10 corrections; on four answers people see one fewer than they do: 0.4 - 1/4.

    >>> sample = Sample(np.array([1.0, 0, 0, 0]), np.array([1, 1, 0, 0]), np.ones(4), np.arange(4))
    >>> layout = Layout(np.array([0.0, 1.0]), np.array([0, 0]))
    >>> round(prediction_powered(sample, np.eye(2, dtype=np.int64)[[0] * 6 + [1] * 4], layout, tuning=1).value, 3)
    0.15
    """
    if reason := lacking(sample, counts):
        return undefined(reason, sample)
    if sample.n < 2:
        return undefined(ONE_LABEL, sample)
    n = counts.sum(axis=0)
    drawn = layout.groups[sample.patterns]
    groups = np.unique(layout.groups[n > 0])
    if missing := [group for group in groups if not (drawn == group).any()]:
        return undefined(_nobody(n[np.isin(layout.groups, missing)].sum() / n.sum()), sample)
    weights = {int(group): float(n[layout.groups == group].sum() / n.sum()) for group in groups}
    lam = tuned(sample, counts, layout, weights) if tuning is None else tuning
    scores = lam * layout.scores
    parts, away, people = [], np.zeros(sample.n), scores.copy()
    for group, weight in weights.items():
        here = drawn == group
        known = sample.only(here)
        parts.append(_cells(known, layout, lam, np.flatnonzero(layout.groups == group), weight))
        beside = known.truth - scores[known.patterns]
        away[here] = weight * departures(beside, known.weights)
        people += np.where(layout.groups == group, float(beside @ known.weights / known.weights.sum()), 0.0)
    apart = sum(part.variance for part in parts)
    fixed = common_variance(away, sample.images, counts, people, apart=apart, images=images)
    found = Sum(float(n @ scores) / int(n.sum()), tuple(parts), fixed)
    return settled(found, sample, int(n.sum()), tuning=lam)


def tuned(sample: Sample, counts: NDArray[np.int64], layout: Layout, weights: dict[int, float]) -> float:
    """The lambda of least variance, in [0, 1]; 1 where patterns do not vary within the strata of the draw."""
    scores, drawn = layout.scores[sample.patterns], layout.groups[sample.patterns]
    n, together, alone = counts.sum(axis=0), 0.0, 0.0
    for group, weight in weights.items():
        here = drawn == group
        w = sample.weights[here] / sample.weights[here].sum()
        scale = weight**2 * float((w**2).sum())
        y, f = sample.truth[here], scores[here]
        together += scale * float(w @ ((y - w @ y) * (f - w @ f)))
        within = np.where(layout.groups == group, n, 0)
        known, of = layout.scores - float(within @ layout.scores) / within.sum(), int(within.sum())
        alone += scale * float(within @ known**2) / max(of - 1, 1)
    return min(max(together / alone, 0.0), 1.0) if alone > 0 else 1.0


def rogan_gladen(sample: Sample, counts: NDArray[np.int64], layout: Layout, *, most: int | None = None) -> Corrected:
    r"""The detectors' rate, freed of their measured sensitivity and specificity.

    .. math:: \hat\theta = \frac{\bar f + spec - 1}{sens + spec - 1}

    For a pair, sensitivity is the mean of both, weighted by the design; likewise specificity. It assumes that they
    are the same wherever the rate is taken, and needs the weights where answers were drawn by what the detectors said:
    among such a sample detectors look better or worse than they are. `most` is how many answers could be labelled,
    where the sample is of a wider population than the counts.

    References
    ----------
    Rogan & Gladen 1978, doi:10.1093/oxfordjournals.aje.a112510.

    Examples
    --------
    A raw rate of 0.4 with sensitivity 0.8 and specificity 0.9: (0.4 + 0.9 - 1) / (0.8 + 0.9 - 1) = 3/7.

    >>> truth, patterns = np.repeat([1.0, 0.0], 10), np.array([1] * 8 + [0] * 2 + [1] + [0] * 9)
    >>> layout = Layout(np.array([0.0, 1.0]), np.array([0, 0]))
    >>> sample = Sample(truth, patterns, np.ones(20), np.arange(20))
    >>> round(rogan_gladen(sample, np.eye(2, dtype=np.int64)[[0] * 6 + [1] * 4], layout).value, 4)
    0.4286
    """
    found = inverted(sample, counts, layout)
    if isinstance(found, str):
        return undefined(found, sample)
    return settled(found, sample, int(counts.sum()) if most is None else most)


def inverted(sample: Sample, counts: NDArray[np.int64], layout: Layout) -> Inverted | str:
    """What `rogan_gladen` tells, with its parts; or why there is none."""
    if reason := lacking(sample, counts):
        return reason
    yes = sample.truth > 0.5
    corrections, others = int(yes.sum()), int((~yes).sum())
    if min(corrections, others) < FEW:
        return f"corrections that people see: {corrections}, others: {others}; {FEW} of each are needed"
    hits, false = (scored(sample.only(keep), layout) for keep in (yes, ~yes))
    if hits.value <= false.value:
        return NO_BETTER
    mean = float(counts.sum(axis=0) @ layout.scores) / int(counts.sum())
    return Inverted(mean, mean_variance(counts, layout.scores), hits, false)


def scored(sample: Sample, layout: Layout) -> Share:
    """The mean score of a sample: sensitivity among true corrections, 1 - specificity among the others."""
    return share(layout.scores[sample.patterns], sample.weights, sample.images)


def joined(
    sample: Sample, counts: NDArray[np.int64], layout: Layout
) -> tuple[NDArray[np.int64], str] | tuple[str, str]:
    """The post-stratum of each pattern, neighbours joined until each has a label, with what was joined.

    Or why they can't be joined: strata of the draw stand for different shares of the answers.
    """
    strata, n, note = layout.strata.copy(), counts.sum(axis=0), ""
    while True:
        there = np.unique(strata[n > 0])
        missing = [int(one) for one in there if not (strata[sample.patterns] == one).any()]
        if not missing:
            return strata, note
        empty = n[strata == missing[0]].sum() / n.sum()
        if len(np.unique(layout.groups)) > 1 or len(np.unique(strata)) == 1:
            return _nobody(empty), ""
        above = strata[strata > missing[0]]
        other = int(above.min()) if len(above) else int(strata[strata < missing[0]].max())
        strata[strata == missing[0]] = other
        note = "a stratum without a human label was joined with its neighbour"


def settled(found: Limited, sample: Sample, most: int, *, tuning: float | None = None, note: str = "") -> Corrected:
    """An estimate as told: cut to [0, 1], with the labels that would halve its interval, of `most` there could be."""
    limits = found.limits()
    if limits is None:
        return undefined(UNBOUNDED, sample)
    low, high = (min(max(limit, 0.0), 1.0) for limit in limits)
    more, why = labels_to_halve(found, sample.n, most)
    value = min(max(found.value, 0.0), 1.0)
    return Corrected(
        value, low, high, found.error, sample.n, sample.clusters, tuning=tuning, more=more, more_reason=why, note=note
    )


def labels_to_halve(found: Limited, n: int, most: int) -> tuple[int | None, str]:
    """How many further labels that say the same would make an interval half as wide, or why none would."""
    limits = found.limits()
    if limits is None:
        return None, UNBOUNDED
    half = (limits[1] - limits[0]) / 2

    def narrow(times: float) -> bool:
        there = found.limits(times)
        return there is not None and there[1] - there[0] <= half

    low, high = 0.0, math.log(max(most / n, 1.0))
    if not narrow(math.exp(high)):
        return None, f"labels of all {most:,} answers would not: what is left is how images differ"
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (low, middle) if narrow(math.exp(middle)) else (middle, high)
    return math.ceil(n * math.exp(high)) - n, ""


def lacking(sample: Sample, counts: NDArray[np.int64]) -> str:
    """Why nothing at all can be told; empty where something can."""
    if not counts.sum():
        return NO_ANSWERS
    return "" if sample.n else NO_LABELS


def _nobody(part: float) -> str:
    return f"nobody labelled the {part:.1%} of answers that fall into one of the strata"


def _binary(weight: float, known: Share) -> Part:
    shares = np.array([1 - known.value, known.value])
    return Part(weight, np.array([0.0, 1.0]), shares, np.full(2, known.size), known.variance)


def _cells(sample: Sample, layout: Layout, lam: float, patterns: NDArray[np.intp], weight: float) -> Part:
    """What people and detectors said, as cells of one stratum of the draw; those of one score are one cell."""
    scores = np.unique(layout.scores[patterns])
    cells = [(score, truth) for score in scores.tolist() for truth in (0.0, 1.0)]
    seen = layout.scores[sample.patterns]
    inside = np.array([(seen == score) & (sample.truth == truth) for score, truth in cells], dtype=np.float64)
    known = shares(inside, sample.weights, sample.images)
    spread = linearised(sample.truth - lam * seen, sample.weights, sample.images)
    return Part(
        weight,
        np.array([truth - lam * score for score, truth in cells]),
        np.array([one.value for one in known]),
        np.array([one.size for one in known]),
        0.0 if spread is None else float(spread),
    )
