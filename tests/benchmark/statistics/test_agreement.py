"""Agreement and Cohen's kappa, checked by hand and against scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmark.statistics.agreement import compare, from_masks, from_table, standard_error

COUNT = st.integers(0, 60)


def test_kappa_of_a_worked_example():
    # p_o = 35/50 = 0.7; p_e = (25 x 30 + 25 x 20) / 50^2 = 0.5; kappa = 0.2 / 0.5.
    result = from_table([20, 5], [10, 15])
    assert f"{result.kappa:.4f}" == "0.4000"
    assert result.agreement == 0.7
    assert (result.first_rate, result.second_rate) == (0.5, 0.6)
    assert result.n == 50


def test_standard_error_by_hand():
    # Shares .4 .1 / .2 .3; diagonal .4 x .17^2 + .3 x .23^2 = .02743;
    # off-diagonal .3^2 x (.1 x 1.1^2 + .2 x .9^2) = .02547; last term (.35 - 1 + .7)^2 = .0025.
    # Variance .0504 / (50 x .5^4) = .016128.
    assert standard_error([20, 5], [10, 15]) == pytest.approx(math.sqrt(0.016128))
    result = from_table([20, 5], [10, 15])
    assert result.low == pytest.approx(0.4 - 1.959964 * math.sqrt(0.016128), abs=1e-6)
    assert result.high == pytest.approx(0.4 + 1.959964 * math.sqrt(0.016128), abs=1e-6)


def test_standard_error_agrees_with_the_spread_of_simulated_kappas():
    shares, rng = [0.4, 0.1, 0.2, 0.3], np.random.default_rng(2)
    kappas = [from_table(row[:2], row[2:]).kappa for row in rng.multinomial(500, shares, size=4000).tolist()]
    assert np.std(kappas) == pytest.approx(standard_error([200, 50], [100, 150]), rel=0.05)


@settings(max_examples=40)
@given(COUNT, COUNT, COUNT, COUNT)
def test_kappa_is_scikit_learns(a, b, c, d):
    from sklearn.metrics import cohen_kappa_score

    first = [True] * (a + b) + [False] * (c + d)
    second = [True] * a + [False] * b + [True] * c + [False] * d
    result = compare(first, second)
    assert (result.both, result.first_only, result.second_only, result.neither) == (a, b, c, d)
    assume(result.kappa is not None)
    assert result.kappa == pytest.approx(cohen_kappa_score(first, second), abs=1e-9)


@given(COUNT, COUNT, COUNT, COUNT)
def test_raters_may_swap_and_labels_may_flip(a, b, c, d):
    result = from_table([a, b], [c, d])
    for other in (from_table([a, c], [b, d]), from_table([d, c], [b, a])):
        for name in ("kappa", "low", "high", "agreement"):
            assert getattr(result, name) == pytest.approx(getattr(other, name), abs=1e-9)
    if result.low is not None:
        assert -1 <= result.low <= result.kappa <= result.high <= 1


def test_a_response_that_one_did_not_label_is_left_out_and_counted():
    result = compare([True, None, False, None], [True, False, None, None])
    assert (result.n, result.left_out, result.both) == (1, 3, 1)


def test_kappa_without_shared_responses_is_undefined_with_a_reason():
    result = compare([None, True], [True, None])
    assert result.kappa is None
    assert result.agreement is None
    assert result.first_rate is None
    assert result.reason == "no response that both labelled"


@pytest.mark.parametrize("table", [([7, 0], [0, 0]), ([0, 0], [0, 7])])
def test_kappa_of_one_label_throughout_is_undefined_with_a_reason(table):
    result = from_table(*table)
    assert result.agreement == 1
    assert result.kappa is None
    assert "one and the same label" in result.reason


def test_perfect_agreement_has_kappa_one_and_no_pretended_interval():
    result = from_table([5, 0], [0, 5])
    assert result.kappa == 1
    assert result.low is result.high is None
    assert "no interval" in result.reason


def test_kappa_can_be_negative_down_to_minus_one():
    assert from_table([0, 5], [5, 0]).kappa == -1


def test_different_lengths_are_refused():
    with pytest.raises(ValueError, match="zip"):
        compare([True], [True, False])


def test_masks_give_the_same_table_as_labels():
    # Turns 4-6 of two items; the second detector did not label turn 6 of the second item.
    first = ([0b111000, 0b111000], [0b101000, 0b110000])
    second = ([0b111000, 0b011000], [0b001000, 0b010000])
    result = from_masks(first, second, 0b111000)
    # Item 1: 4 both, 5 neither, 6 first only. Item 2: 4 neither, 5 both, 6 left out.
    assert (result.both, result.first_only, result.second_only, result.neither) == (2, 1, 0, 2)
    assert result.left_out == 1


@given(
    st.lists(
        st.tuples(st.sampled_from([True, False, None]), st.sampled_from([True, False, None])), min_size=1, max_size=30
    )
)
def test_masks_of_one_turn_each_agree_with_plain_labels(pairs):
    first, second = zip(*pairs, strict=True)
    masks = [([int(x is not None) for x in labels], [int(x is True) for x in labels]) for labels in (first, second)]
    assert from_masks(masks[0], masks[1], 1, planned=np.ones(len(pairs), dtype=int)) == compare(first, second)


def test_one_rater_without_spread_leaves_kappa_without_an_interval() -> None:
    # p_o = 3/4, p_e = (4*3 + 0*1)/16 = 3/4, so kappa = 0; the asymptotic error is 0 and would claim certainty.
    found = from_table([3, 1], [0, 0])
    assert found.kappa == 0
    assert (found.low, found.high) == (None, None)
    assert "one of the two" in found.reason
