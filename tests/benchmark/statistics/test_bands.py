"""Bands for whole curves: wider than an interval for one cutoff, by as much as the cutoffs have lives of their own."""

from statistics import NormalDist

import numpy as np
import pytest

from benchmark.statistics.bands import simultaneous_bands, sup_t
from benchmark.statistics.patterns import ItemCounts, cumulative_windows, item_counts
from benchmark.statistics.rates import rates, wilson


def test_the_critical_value_of_independent_cutoffs_is_sidaks_and_of_one_repeated_the_pointwise_one() -> None:
    from scipy.stats import norm

    drawn = np.random.default_rng(1).normal(size=(7, 40_000))
    sidak = norm.ppf((1 + 0.95 ** (1 / 7)) / 2)
    assert sup_t(np.zeros(7), drawn) == pytest.approx(sidak, abs=0.03)
    assert sup_t(np.zeros(7), np.repeat(drawn[:1], 7, axis=0)) == pytest.approx(1.96, abs=0.03)


def test_a_curve_without_spread_gets_bonferronis_value_and_one_still_point_changes_nothing() -> None:
    bonferroni = NormalDist().inv_cdf(1 - 0.05 / 14)
    assert sup_t(np.zeros(7), np.zeros((7, 100))) == pytest.approx(bonferroni)
    drawn = np.random.default_rng(1).normal(size=(2, 5_000))
    drawn[1] = (drawn[0] + drawn[1]) / 2**0.5
    still = np.concatenate([drawn, np.full((1, 5_000), 0.25)])
    assert sup_t(np.array([0, 0, 0.25]), still) == sup_t(np.zeros(2), drawn)


def test_a_band_is_wilsons_interval_at_the_critical_value_and_holds_the_pointwise_one() -> None:
    correction = np.random.default_rng(2).integers(0, 1024, size=(2, 60))
    counts = item_counts(np.full((2, 60), 1023), correction, cumulative_windows(range(4, 11)))
    pointwise = rates(counts)
    found = simultaneous_bands(counts, repetitions=400, rng=np.random.default_rng(3))
    assert (found.low < pointwise.low).all()
    assert (found.high > pointwise.high).all()
    assert (found.critical > 1.96).all()
    # One label an image at the first cutoff: d = 60/59 x sum (c - r)^2 / 60^2 / (r (1 - r) / 60) = 60/59.
    level = 2 * NormalDist().cdf(found.critical[0]) - 1
    low, high = wilson(pointwise.value[0, 0], 59, level=level)
    assert (found.low[0, 0], found.high[0, 0]) == pytest.approx((low, high), abs=1e-9)


def test_a_curve_of_no_corrections_or_no_labels_has_a_band_or_none() -> None:
    labelled, correction = np.array([[3] * 30, [0] * 30]), np.zeros((2, 30), dtype=int)
    found = simultaneous_bands(item_counts(labelled, correction, [1, 3]), repetitions=50, rng=np.random.default_rng(1))
    assert (found.low[0] == 0).all()
    assert (found.high[0] > 0.1).all()
    assert np.isnan(found.low[1]).all()


def test_the_same_generator_gives_the_same_band() -> None:
    counts = ItemCounts(np.full((1, 20), 7), np.arange(20.0)[np.newaxis] % 8)
    one, other = (simultaneous_bands(counts, repetitions=50, rng=np.random.default_rng(4)) for _ in range(2))
    assert one.low.tolist() == other.low.tolist()
