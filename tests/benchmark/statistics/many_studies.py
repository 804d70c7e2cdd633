"""Corrected intervals of many studies at once: what `benchmark.statistics.corrected` tells of one, with a first axis.

A simulation needs thousands of studies, of each of which the code would make hundreds of small arrays. What is here is
compared with the code study by study before it is believed (`test_corrected_coverage`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmark.statistics.corrected import FEW, Sample
from benchmark.statistics.corrected_intervals import ADDED, ALIKE, LITTLE, Z, exact

type Floats = NDArray[np.float64]
type Whole = NDArray[np.int64]
type Limits = tuple[Floats, Floats]
PATTERNS = np.arange(3)
SCORES = np.array([0.0, 0.5, 1.0])


@dataclass(frozen=True)
class Studies:
    """Labels, shape (study, label), of weight 0 where a study has fewer; counts, shape (study, image, pattern)."""

    truth: Floats
    patterns: Whole
    weights: Floats
    images: Whole
    counts: Whole
    groups: Whole

    @property
    def shares(self) -> Floats:
        """Of all answers, by pattern; shape (study, pattern)."""
        counted = self.counts.sum(axis=1)
        return np.asarray(counted / counted.sum(axis=1, keepdims=True))

    def sample(self, study: int) -> Sample:
        there = self.weights[study] > 0
        return Sample(*(one[study][there] for one in (self.truth, self.patterns, self.weights, self.images)))

    def by_image(self, values: Floats) -> Floats:
        """Sums of labels' values; shape (study, image)."""
        number, images = len(values), self.counts.shape[1]
        at = (np.arange(number)[:, np.newaxis] * images + self.images).ravel()
        return np.bincount(at, values.ravel(), minlength=number * images).reshape(number, images)


@dataclass(frozen=True)
class Shares:
    """As `corrected_intervals.Share`, with the departures of the labels; shape (study,) and (study, label)."""

    value: Floats
    size: Floats
    away: Floats


def share(of: Studies, values: Floats, inside: NDArray[np.bool_]) -> Shares:
    """The mean of values over the labels inside; NaN where there is none."""
    weights = of.weights * inside
    total = weights.sum(axis=1)
    value = (weights * values).sum(axis=1) / total
    away = np.nan_to_num(weights * (values - value[:, np.newaxis]) / total[:, np.newaxis])
    plain = total**2 / (weights**2).sum(axis=1)
    alike = total**2 / (of.by_image(weights) ** 2).sum(axis=1)
    value, spread = np.clip(value, 0, 1), np.clip(value, 0, 1) * (1 - np.clip(value, 0, 1))
    variance = linearised(of, away, weights > 0)
    sized = np.where(variance > LITTLE * spread, np.minimum(spread / variance, plain), plain)
    return Shares(value, np.where(np.isnan(variance) | (spread < LITTLE), alike, sized), away)


def linearised(of: Studies, away: Floats, inside: NDArray[np.bool_]) -> Floats:
    """The variance over images of what departs; NaN where there is one image."""
    images = (of.by_image(inside.astype(float)) > 0).sum(axis=1)
    factor = np.where(images > 1, images / np.maximum(images - 1, 1), np.nan)
    return np.asarray(factor * (of.by_image(away) ** 2).sum(axis=1))


def common(of: Studies, away: Floats, scores: Floats, apart: Floats) -> Floats:
    """As `corrected_intervals.common_variance`; scores have shape (study, pattern)."""
    rows, n = of.counts.sum(axis=2), of.counts.sum(axis=(1, 2))
    mean = (of.shares * scores).sum(axis=1)
    own = (np.einsum("sip,sp->si", of.counts, scores) - rows * mean[:, np.newaxis]) / n[:, np.newaxis]
    factor = rows.shape[1] / (rows.shape[1] - 1)
    together = linearised(of, away, of.weights > 0) - apart + 2 * factor * (own * of.by_image(away)).sum(axis=1)
    return np.asarray(factor * (own**2).sum(axis=1) + np.maximum(together, 0))


def cut(value: Floats, down: Floats, up: Floats) -> Limits:
    return np.clip(value - np.sqrt(down), 0, 1), np.clip(value + np.sqrt(up), 0, 1)


def post_stratified(of: Studies) -> Limits:
    strata = joined(of)
    at = np.take_along_axis(strata, of.patterns, axis=1)
    value, down, up, apart = np.zeros((4, len(strata)))
    found, away = np.zeros(strata.shape), np.zeros(of.truth.shape)
    for stratum in PATTERNS:
        weight = (of.shares * (strata == stratum)).sum(axis=1)
        known = share(of, of.truth, at == stratum)
        there = weight > 0  # where nobody labelled one, the value is left undefined
        low, high = exact(known.value, known.size)
        value += np.where(there, weight * known.value, 0)
        down += np.where(there, (weight * (known.value - low)) ** 2, 0)
        up += np.where(there, (weight * (high - known.value)) ** 2, 0)
        apart += np.where(there, weight**2 * known.value * (1 - known.value) / known.size, 0)
        found += np.where(there[:, np.newaxis] & (strata == stratum), known.value[:, np.newaxis], 0)
        away += weight[:, np.newaxis] * known.away
    fixed = Z**2 * common(of, away, found, apart)
    return cut(value, down + fixed, up + fixed)


def joined(of: Studies) -> Whole:
    """The stratum of each pattern, shape (study, pattern): as `corrected.joined`, if all answers were drawn alike."""
    strata = np.tile(PATTERNS, (len(of.truth), 1))
    if len(np.unique(of.groups)) > 1:
        return strata
    seen = np.stack([((of.patterns == one) & (of.weights > 0)).any(axis=1) for one in PATTERNS], axis=1)
    for study in np.flatnonzero(((of.shares > 0) & ~seen).any(axis=1)):
        own = strata[study]
        while missing := [s for s in np.unique(own[of.shares[study] > 0]) if not seen[study][own == s].any()]:
            above = own[own > missing[0]]
            own[own == missing[0]] = above.min() if len(above) else own[own < missing[0]].max()
    return strata


def prediction_powered(of: Studies, tuning: Floats | None = None) -> Limits:
    lam = tuned(of) if tuning is None else tuning
    scores = lam[:, np.newaxis] * SCORES
    people, away = scores.copy(), np.zeros(of.truth.shape)
    value = (of.shares * scores).sum(axis=1)
    down, up, apart = np.zeros((3, len(value)))
    beside = of.truth - np.take_along_axis(scores, of.patterns, axis=1)
    for group in np.unique(of.groups):
        inside = (of.groups[of.patterns] == group) & (of.weights > 0)
        weight = (of.shares * (of.groups == group)).sum(axis=1)
        mean, departed, spread = residual(of, beside, inside)
        moved = cells(of, lam, PATTERNS[of.groups == group], inside, spread)
        value += weight * mean
        down += weight**2 * moved[0]
        up += weight**2 * moved[1]
        apart += weight**2 * spread
        away += weight[:, np.newaxis] * departed
        people += np.where(of.groups == group, mean[:, np.newaxis], 0)
    fixed = Z**2 * common(of, away, people, apart)
    return cut(value, down + fixed, up + fixed)


def residual(of: Studies, values: Floats, inside: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """The mean of values that may be negative, its departures and its variance, 0 where there is one image."""
    weights = of.weights * inside
    weights = weights / weights.sum(axis=1, keepdims=True)
    mean = (weights * values).sum(axis=1)
    away = weights * (values - mean[:, np.newaxis])
    return mean, away, np.nan_to_num(linearised(of, away, inside))


def cells(of: Studies, lam: Floats, patterns: Whole, inside: NDArray[np.bool_], spread: Floats) -> Limits:
    """How far down and up the mean of people less detectors may lie within a stratum of the draw, squared."""
    kinds = [(pattern, truth) for pattern in patterns.tolist() for truth in (0.0, 1.0)]
    known = [
        share(of, ((of.patterns == pattern) & (of.truth == truth)).astype(float), inside) for pattern, truth in kinds
    ]
    shares, sizes = (np.stack([getattr(one, key) for one in known], axis=1) for key in ("value", "size"))
    scores = np.stack([truth - lam * SCORES[pattern] for pattern, truth in kinds], axis=1)
    commonest = shares > shares.max(axis=1, keepdims=True) - ALIKE
    low, high = exact(shares, sizes)
    odds = np.sqrt(shares / np.maximum(1 - shares, LITTLE))
    found = np.zeros((2, len(lam)))
    for at in range(len(kinds)):
        rows = np.flatnonzero(commonest[:, at])
        apart = (scores - scores[:, [at]])[rows]
        together = -odds[rows, :, None] * odds[rows, None, :] * np.sign(apart[:, :, None] * apart[:, None, :])
        together[:, np.arange(len(kinds)), np.arange(len(kinds))] = 1
        drops, rises = (apart * side for side in ((shares - low)[rows], (high - shares)[rows]))
        down, up = np.where(apart > 0, drops, -rises), np.where(apart > 0, rises, -drops)
        errors = np.abs(apart) * np.sqrt(shares * (1 - shares) / sizes)[rows]
        supposed, *both = (np.einsum("si,sij,sj->s", one, together, one) for one in (errors, down, up))
        wider = np.where(supposed > LITTLE, np.maximum(spread[rows] / np.maximum(supposed, LITTLE), 1), 1)
        found[:, rows] += np.maximum(both, 0) * wider / commonest[rows].sum(axis=1)
    return found[0], found[1]


def tuned(of: Studies) -> Floats:
    """As `corrected.tuned`."""
    counts, together, alone = of.counts.sum(axis=1), np.zeros(len(of.truth)), np.zeros(len(of.truth))
    for group in np.unique(of.groups):
        weights = of.weights * (of.groups[of.patterns] == group)
        weights = weights / weights.sum(axis=1, keepdims=True)
        scale = (of.shares * (of.groups == group)).sum(axis=1) ** 2 * (weights**2).sum(axis=1)
        y, f = of.truth, SCORES[of.patterns]
        away = [one - (weights * one).sum(axis=1, keepdims=True) for one in (y, f)]
        together += scale * (weights * away[0] * away[1]).sum(axis=1)
        within = counts * (of.groups == group)
        n = within.sum(axis=1)
        known = SCORES - ((within * SCORES).sum(axis=1) / n)[:, np.newaxis]
        alone += scale * (within * known**2).sum(axis=1) / np.maximum(n - 1, 1)
    return np.where(alone > 0, np.clip(together / np.where(alone > 0, alone, 1), 0, 1), 1.0)


def rogan_gladen(of: Studies) -> Limits:
    there = of.weights > 0
    yes, no = ((of.truth > 0.5) & there, (of.truth < 0.5) & there)
    hits, false = (share(of, SCORES[of.patterns], one) for one in (yes, no))
    raw = (of.shares * SCORES).sum(axis=1)
    own = (of.counts @ SCORES - of.counts.sum(axis=2) * raw[:, np.newaxis]) / of.counts.sum(axis=(1, 2))[:, np.newaxis]
    fixed = own.shape[1] / (own.shape[1] - 1) * (own**2).sum(axis=1)
    (s1, v1), (s0, v0) = (added(one) for one in (hits, false))
    square, half = (s1 - s0) ** 2 - Z**2 * (v0 + v1), (raw - s0) * (s1 - s0) - Z**2 * v0
    rest = (raw - s0) ** 2 - Z**2 * (fixed + v0)
    reach = np.sqrt(np.maximum(half**2 - square * rest, 0))
    offered = (np.minimum(yes.sum(axis=1), no.sum(axis=1)) >= FEW) & (hits.value > false.value)
    offered &= (s1 > s0) & (square > 0)
    value = (raw - false.value) / (hits.value - false.value)
    low, high = np.minimum((half - reach) / square, value), np.maximum((half + reach) / square, value)
    return np.where(offered, np.clip(low, 0, 1), np.nan), np.where(offered, np.clip(high, 0, 1), np.nan)


def added(known: Shares) -> tuple[Floats, Floats]:
    size = known.size + 2 * ADDED
    value = (known.size * known.value + ADDED) / size
    return value, value * (1 - value) / size
