"""Fleiss' kappa, Krippendorff's alpha, sensitivity and specificity, with their arithmetic."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.statistics.accuracy import accuracy
from benchmark.statistics.agreement_many import many
from benchmark.statistics.bootstrap import RARELY_DEFINED, percentiles, resample, running_weights

LABELS = st.lists(st.tuples(*[st.sampled_from([-1, 0, 1])] * 3, st.integers(0, 6)), min_size=1, max_size=25)


def labels_of(*rows: str) -> np.ndarray:
    """One string a rater: 1, 0, and a dot where there is no label."""
    return np.array([[-1 if mark == "." else int(mark) for mark in row] for row in rows], dtype=np.int8)


def test_fleiss_by_hand():
    # Four answers, three labels each: 111, 110, 000, 100. P = (1 + 1/3 + 1 + 1/3) / 4 = 2/3; p = 6/12; P_e = 1/2.
    found = many(labels_of("1101", "1100", "1000"), np.arange(4), wanted=3)
    assert found.fleiss.value == pytest.approx((2 / 3 - 1 / 2) / (1 / 2))
    assert (found.n, found.same, found.split) == (4, 2, 2)


def test_alpha_with_missing_labels_by_hand():
    # Answers 11, 10, 00, 1., so three count: T = 3 true and F = 3 false of M = 6; one differs, 1 x 1 / (2 - 1) = 1.
    # alpha = 1 - (6 - 1) x 1 / (3 x 3) = 4/9.
    found = many(labels_of("1101", "100."), np.arange(4), wanted=2)
    assert found.alpha.value == pytest.approx(4 / 9)
    assert (found.paired, found.short) == (3, 1)


def test_fleiss_leaves_out_what_alpha_takes():
    found = many(labels_of("1010", "1010", "10.1"), np.arange(4), wanted=3)
    assert (found.n, found.other, found.paired) == (3, 1, 4)


def test_one_label_throughout_is_undefined_with_a_reason():
    found = many(labels_of("11", "11", "11"), np.arange(2), wanted=3)
    for name in ("fleiss", "alpha"):
        assert getattr(found, name).value is None
        assert "one and the same label" in getattr(found, name).reason


def test_without_labels_nothing_is_defined():
    found = many(labels_of("..", ".1"), np.arange(2), wanted=2)
    assert (found.fleiss.value, found.alpha.value, found.short) == (None, None, 2)


@given(LABELS, st.randoms(use_true_random=False))
def test_neither_the_order_of_raters_nor_of_answers_matters(rows, random):
    def of(given):
        *raters, images = zip(*given, strict=True)
        found = many(np.array(raters, dtype=np.int8), np.array(images), wanted=3)
        return [(name.value, name.low, name.high) for name in (found.fleiss, found.alpha)]

    swapped = [(*random.sample(row[:3], 3), row[3]) for row in random.sample(rows, len(rows))]
    assert of(rows) == [pytest.approx(each, abs=1e-6) for each in of(swapped)]


# The bootstrap --------------------------------------------------------------------------------------


def test_every_repetition_draws_as_many_images_as_there_are():
    drawn = np.diff(running_weights(37), axis=0)
    assert drawn.shape == (37, 2000)
    assert (drawn.sum(axis=0) == 37).all()
    assert drawn.mean(axis=1) == pytest.approx(1, abs=0.1)


def test_rows_that_are_alike_are_drawn_together_and_not_less():
    # Ten of 40 images add one: their number in a repetition is binomial (40, 1/4), mean 10 and variance 7.5.
    sums = resample(np.repeat([[1, 0], [0, 1]], [10, 30], axis=0))
    assert (sums.sum(axis=1) == 40).all()
    assert sums[:, 0].mean() == pytest.approx(10, abs=0.2)
    assert sums[:, 0].var() == pytest.approx(7.5, rel=0.1)


def test_a_coefficient_that_is_rarely_defined_has_no_interval():
    assert percentiles(np.where(np.arange(2000) < 300, np.nan, 0.5)) == (None, None, RARELY_DEFINED)


def test_percentiles_cover_what_a_known_spread_says():
    # The mean of 400 answers of which half are 1: standard error .025, so 1.96 of them on either side.
    low, high, _ = percentiles(resample(np.tile([[0.0], [1.0]], (200, 1)))[:, 0] / 400)
    assert (low, high) == pytest.approx((0.451, 0.549), abs=0.004)


# Against the truth ----------------------------------------------------------------------------------


def test_sensitivity_and_specificity_by_hand():
    truth, labels = labels_of("11110000.1")[0], labels_of("11100001..")[0]
    found = accuracy(truth, labels, np.arange(10))
    assert (found.sensitivity.value, found.specificity.value) == (3 / 4, 3 / 4)
    assert (found.found, found.left_alone, found.n, found.left_out) == (3, 3, 8, 2)
    # Wilson for 3 of 4: centre (.75 + z^2/8) / (1 + z^2/4), 0.3006 to 0.9544.
    assert (found.sensitivity_plain.low, found.sensitivity_plain.high) == pytest.approx((0.3006, 0.9544), abs=1e-4)


def test_answers_of_one_image_widen_the_interval():
    truth, labels = np.ones(40, dtype=np.int8), np.repeat([1, 1, 1, 0], 10).astype(np.int8)
    apart, together = accuracy(truth, labels, np.arange(40)), accuracy(truth, labels, np.repeat(np.arange(4), 10))
    assert apart.sensitivity.low == pytest.approx(apart.sensitivity_plain.low, abs=0.01)
    assert together.sensitivity.low < together.sensitivity_plain.low - 0.1


def test_without_a_true_correction_sensitivity_is_undefined():
    found = accuracy(labels_of("000")[0], labels_of("010")[0], np.arange(3))
    assert found.sensitivity.value is None
    assert found.specificity.value == pytest.approx(2 / 3)
