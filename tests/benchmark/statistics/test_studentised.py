"""Rates and differences by a bootstrap of the images: the arithmetic, statsmodels' errors, SciPy's bootstrap."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from benchmark.statistics.patterns import ItemCounts
from benchmark.statistics.rates import design_effect
from benchmark.statistics.resampling import (
    bootstrap_rates,
    drawn_with_replacement,
    drawn_without_replacement,
)
from benchmark.statistics.studentised import NO_ANSWERS, NO_SPREAD, ONE_IMAGE, TOO_FEW, ratios, standard_errors


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def studies(images: int, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of 1 to 7 turns an image, alike within it: n and corrections, shape (study, image)."""
    draw = rng(seed)
    n = draw.integers(1, 8, size=(count, images))
    return n, draw.binomial(n, draw.beta(0.6, 1.2, size=(count, images))).astype(float)


def test_standard_errors_are_statsmodels_for_clustered_labels() -> None:
    from statsmodels.regression.linear_model import OLS

    n, corrections = studies(40, 5, 11)
    for sizes, hits, error in zip(n, corrections, standard_errors(n, corrections), strict=True):
        labels = np.concatenate([np.arange(size) < hit for size, hit in zip(sizes, hits, strict=True)]).astype(float)
        images = np.repeat(np.arange(40), sizes)
        cluster = {"groups": images, "use_correction": False}
        fit = OLS(labels, np.ones_like(labels)).fit(cov_type="cluster", cov_kwds=cluster)
        assert error == pytest.approx(fit.bse[0], rel=1e-9)
        # Wilson's effective size rests on the same variance, times m / (m - 1).
        rate, total = labels.mean(), len(labels)
        effect = 40 / 39 * fit.bse[0] ** 2 / (rate * (1 - rate) / total)
        telling = min((hits > 0).sum(), (hits < sizes).sum())
        drawn = (telling * effect + (sizes**2).sum() / total) / (telling + 1)
        found = design_effect(ItemCounts(sizes[np.newaxis], hits[np.newaxis]))[0]
        assert found == pytest.approx(max(effect, drawn), rel=1e-9)


def test_resampled_rates_spread_as_scipys() -> None:
    from scipy.stats import bootstrap

    n, corrections = studies(60, 1, 3)
    found = bootstrap_rates(ItemCounts(n, corrections), repetitions=4_000, rng=rng())[0]
    theirs = bootstrap(
        (corrections[0], n[0]),
        lambda hits, sizes, axis=-1: hits.sum(axis=axis) / sizes.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=4_000,
        method="percentile",
        rng=rng(),
    )
    assert found.std() == pytest.approx(theirs.standard_error, rel=0.05)
    limits = np.quantile(found, [0.025, 0.975])
    assert limits == pytest.approx([*theirs.confidence_interval], abs=0.008)


def test_two_images_by_hand() -> None:
    # n = 1, 1 and d = 1, 0: r = 1/2, s = sqrt(1/4 + 1/4) / 2 = 0.3536. Of the four draws (1,1) and (0,0) have no
    # spread, endlessly far off; (1,0) and (0,1) are r itself: half of t* reach r / s, and no interval has an end.
    found = ratios(np.array([[1, 1]]), np.array([[1.0, 0.0]]), repetitions=4_000, rng=rng())
    assert standard_errors(np.array([[1, 1]]), np.array([[1.0, 0.0]])).tolist() == pytest.approx([0.35355], abs=1e-5)
    assert found.value.tolist() == [0.5]
    assert found.p[0] == pytest.approx(0.5, abs=0.03)
    assert np.isnan(found.low[0])
    assert found.reason == [TOO_FEW]


def test_a_repetition_without_answers_is_endlessly_far_off() -> None:
    # Two of ten images have answers. Both are drawn in 1 - 2 x 0.9^10 + 0.8^10 = 0.410 of repetitions; t* then stays
    # below r / s = 0.75 / 0.177 = 4.24; with one of them alone there is no spread, with none no ratio.
    n, added = np.array([[1, 1] + [0] * 8]), np.array([[1, 0.5] + [0] * 8])
    assert ratios(n, added, repetitions=10_000, rng=rng()).p[0] == pytest.approx(0.59, abs=0.02)


def test_the_smallest_p_is_one_in_all_repetitions_and_the_observed_one() -> None:
    sure = ratios(np.full((1, 400), 7), 3 + np.arange(400.0)[np.newaxis] % 3, repetitions=99, rng=rng())
    assert sure.p.tolist() == [0.01]


def test_what_has_no_interval_says_why() -> None:
    n = np.array([[0, 0, 0], [3, 0, 0], [2, 2, 2], [1, 2, 4]])
    added = np.array([[0, 0, 0], [2, 0, 0], [0, 0, 0], [1, 2, 4]], dtype=float)
    found = ratios(n, added, repetitions=50, rng=rng())
    assert found.reason == [NO_ANSWERS, ONE_IMAGE, NO_SPREAD, NO_SPREAD]
    assert np.isnan(found.p).all()
    assert np.isnan(found.value).tolist() == [True, False, False, False]
    assert found.images.tolist() == [0, 1, 3, 3]


def test_p_is_nearly_the_normal_ones_where_images_are_many() -> None:
    from scipy.stats import norm

    n = np.full((6, 1_500), 7)
    shift = np.array([0, 0.004, 0.008, 0.012, 0.016, 0.02])
    added = rng(5).normal(size=(6, 1_500)).round() + 0.0
    added += (rng(6).random((6, 1_500)) < 7 * shift[:, np.newaxis]).astype(float)
    found = ratios(n, added, bounds=(-1, 1), repetitions=4_000, rng=rng())
    z = found.value / standard_errors(n, added)
    assert found.p == pytest.approx(2 * norm.sf(np.abs(z)), abs=0.025)
    assert found.high - found.value == pytest.approx(norm.ppf(0.975) * standard_errors(n, added), rel=0.06)


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(np.int64, (3, 12), elements=st.integers(0, 7)),
    hnp.arrays(np.float64, (3, 12), elements=st.sampled_from([-1, -0.5, 0, 0.5, 1])),
    st.integers(0, 2**32),
)
def test_the_interval_leaves_zero_out_exactly_where_p_is_small(n: np.ndarray, share: np.ndarray, seed: int) -> None:
    found = ratios(n, share * n, bounds=(-1, 1), repetitions=399, rng=rng(seed))
    mirrored = ratios(n, -share * n, bounds=(-1, 1), repetitions=399, rng=rng(seed))
    for at in range(3):
        if found.reason[at]:
            assert np.isnan(found.low[at])
            assert np.isnan(found.high[at])
            continue
        assert found.low[at] <= found.value[at] <= found.high[at]
        assert (found.p[at] <= 0.05) == (found.low[at] > 0 or found.high[at] < 0)
    assert mirrored.p == pytest.approx(found.p, nan_ok=True)
    assert -mirrored.high == pytest.approx(found.low, nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.data())
def test_draws_take_as_many_as_they_should(members: int, data: st.DataObject) -> None:
    size, seed = data.draw(st.integers(0, members)), data.draw(st.integers(0, 2**32))
    again = drawn_with_replacement(members, size + 3, 20, rng(seed))
    once = drawn_without_replacement(members, size, 20, rng(seed))
    assert set(again.sum(axis=0).tolist()) == {size + 3}
    assert set(once.sum(axis=0).tolist()) == {size}
    assert once.max(initial=0) <= 1
    with pytest.raises(ValueError, match="without replacement"):
        drawn_without_replacement(members, members + 1, 1, rng(seed))


def test_every_member_is_drawn_as_often_as_any_other() -> None:
    again, once = drawn_with_replacement(4, 4, 8_000, rng()), drawn_without_replacement(4, 2, 8_000, rng())
    assert again.mean(axis=1) == pytest.approx([1] * 4, abs=0.05)
    # Binomial of 4 and 1/4: variance 3/4, covariance -1/4.
    assert np.cov(again) == pytest.approx(np.eye(4) - 0.25, abs=0.06)
    assert once.mean(axis=1) == pytest.approx([0.5] * 4, abs=0.03)
