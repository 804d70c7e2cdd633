"""Agreement of two raters, checked by hand; the oracles are in test_agreement_oracles."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.statistics.agreement import compare, from_clusters, from_masks, from_table
from benchmark.statistics.coefficients import coefficients, kappa_error

COUNT = st.integers(0, 60)
LABEL = st.sampled_from([True, False, None])
ANSWERS = st.lists(st.tuples(LABEL, LABEL, st.integers(0, 9)), min_size=1, max_size=40)
KAPPA_859 = (104, 11, 11, 234)  # both, only the first, only the second, neither
KAPPA_960 = (103, 3, 3, 251)
NAMES = ("agreement", "pabak", "kappa", "ac1", "positive", "negative")


def raters(a: int, b: int, c: int, d: int) -> tuple[list[bool], list[bool]]:
    """Two raters' labels with this table."""
    return [True] * (a + b) + [False] * (c + d), [True] * a + [False] * b + [True] * c + [False] * d


def numbers(found, names=NAMES):
    """Every value and limit, undefined as None."""
    return [
        [getattr(getattr(found, name), part) for part in ("value", "low", "high", "asymptotic_low", "asymptotic_high")]
        for name in names
    ]


def test_kappa_of_a_worked_example():
    # p_o = 35/50 = 0.7; p_e = (25 x 30 + 25 x 20) / 50^2 = 0.5; kappa = 0.2 / 0.5.
    result = from_table([20, 5], [10, 15])
    assert f"{result.kappa.value:.4f}" == "0.4000"
    assert result.agreement.value == 0.7
    assert (result.first_rate, result.second_rate) == (0.5, 0.6)
    assert result.n == 50


def test_the_other_coefficients_of_the_worked_example():
    result = from_table([20, 5], [10, 15])
    assert result.positive.value == pytest.approx(2 * 20 / (2 * 20 + 15))
    assert result.negative.value == pytest.approx(2 * 15 / (2 * 15 + 15))
    assert (result.prevalence, result.bias) == pytest.approx((5 / 50, 5 / 50))
    assert result.pabak.value == pytest.approx(0.4)
    # pi = (25 + 30) / 100 = .55; p_e = 2 x .55 x .45 = .495; AC1 = (.7 - .495) / .505.
    assert result.ac1.value == pytest.approx(0.205 / 0.505)


def test_ac1_and_pabak_where_nearly_all_are_corrections():
    # p_o = 1010/1050; pi = 2040/2100, p_e = 2 pi (1 - pi) = .05551. Kappa is low although they nearly always agree.
    result = from_table([1000, 20], [20, 10])
    assert f"{result.ac1.value:.3f}" == "0.960"
    assert f"{result.pabak.value:.3f}" == "0.924"
    assert f"{result.kappa.value:.3f}" == "0.314"


@pytest.mark.parametrize(
    ("table", "printed"), [(KAPPA_859, "0.859"), (KAPPA_960, "0.960")], ids=["two people", "two detectors"]
)
def test_the_kappas_of_the_papers_shape(table, printed):
    """360 answers, one of each of 360 images, with so many corrections as the study has."""
    result = compare(*raters(*table))
    assert (result.n, result.clusters, result.independent) == (360, 360, True)
    assert f"{result.kappa.value:.3f}" == printed
    assert result.kappa.low < result.kappa.value < result.kappa.high
    # Where answers are independent the bootstrap and the textbook tell the same.
    assert result.kappa.low == pytest.approx(result.kappa.asymptotic_low, abs=0.015)
    assert result.kappa.high == pytest.approx(result.kappa.asymptotic_high, abs=0.015)


def test_standard_error_by_hand():
    # Shares .4 .1 / .2 .3; diagonal .4 x .17^2 + .3 x .23^2 = .02743;
    # off-diagonal .3^2 x (.1 x 1.1^2 + .2 x .9^2) = .02547; last term (.35 - 1 + .7)^2 = .0025.
    # Variance .0504 / (50 x .5^4) = .016128.
    assert kappa_error([20, 5, 10, 15]) == pytest.approx(math.sqrt(0.016128))
    result = from_table([20, 5], [10, 15])
    assert result.kappa.asymptotic_low == pytest.approx(0.4 - 1.959964 * math.sqrt(0.016128), abs=1e-6)
    assert result.kappa.asymptotic_high == pytest.approx(0.4 + 1.959964 * math.sqrt(0.016128), abs=1e-6)


def test_standard_error_agrees_with_the_spread_of_simulated_kappas():
    kappas = coefficients(np.random.default_rng(2).multinomial(500, [0.4, 0.1, 0.2, 0.3], size=4000)).kappa
    assert np.std(kappas) == pytest.approx(kappa_error([200, 50, 100, 150]), rel=0.05)


@settings(max_examples=60)
@given(ANSWERS)
def test_swapping_raters_changes_nothing(answers):
    first, second, images = zip(*answers, strict=True)
    one, other = compare(first, second, clusters=images), compare(second, first, clusters=images)
    assert (one.both, one.first_only, one.second_only) == (other.both, other.second_only, other.first_only)
    assert (one.prevalence, one.bias) == (other.prevalence, other.bias)
    assert [row[:3] for row in numbers(one)] == [row[:3] for row in numbers(other)]
    assert numbers(one) == [pytest.approx(row, abs=1e-12) for row in numbers(other)]


@settings(max_examples=60)
@given(ANSWERS, st.randoms(use_true_random=False))
def test_shuffling_rows_changes_nothing(answers, random):
    shuffled = random.sample(answers, len(answers))
    renamed = {image: at for at, image in enumerate(random.sample(range(10), 10))}
    one = compare(*zip(*((x, y) for x, y, _ in answers), strict=True), clusters=[image for *_, image in answers])
    other = compare(
        *zip(*((x, y) for x, y, _ in shuffled), strict=True), clusters=[renamed[image] for *_, image in shuffled]
    )
    assert numbers(one, NAMES[2:]) == numbers(other, NAMES[2:])
    assert numbers(one) == [pytest.approx(row, abs=1e-12) for row in numbers(other)]


@given(COUNT, COUNT, COUNT, COUNT)
def test_raters_may_swap_and_labels_may_flip(a, b, c, d):
    result = from_table([a, b], [c, d])
    for other in (from_table([a, c], [b, d]), from_table([d, c], [b, a])):
        for name in ("kappa", "agreement", "ac1", "pabak"):
            mine, theirs = getattr(result, name), getattr(other, name)
            assert (mine.value, mine.asymptotic_low) == pytest.approx((theirs.value, theirs.asymptotic_low), abs=1e-9)
    if result.kappa.asymptotic_low is not None:
        assert -1 <= result.kappa.asymptotic_low <= result.kappa.value <= result.kappa.asymptotic_high <= 1


def test_a_response_that_one_did_not_label_is_left_out_and_counted_by_whose_label_is_missing():
    result = compare([True, None, False, None], [True, False, None, None])
    assert (result.n, result.both) == (1, 1)
    left_out = result.left_out
    assert (left_out.first_missing, left_out.second_missing, left_out.both_missing, left_out.n) == (1, 1, 1, 3)


def test_everything_without_shared_responses_is_undefined_with_a_reason():
    result = compare([None, True], [True, None])
    for name in NAMES:
        found = getattr(result, name)
        assert (found.value, found.reason) == (None, "no response that both labelled")
    assert result.first_rate is result.prevalence is result.bias is None


@pytest.mark.parametrize("table", [(7, 0, 0, 0), (0, 0, 0, 7)])
def test_kappa_of_one_label_throughout_is_undefined_with_raw_agreement_and_a_reason(table):
    result = compare(*raters(*table))
    assert result.agreement.value == 1
    assert result.kappa.value is None
    assert "one and the same label" in result.kappa.reason
    assert result.ac1.value == result.pabak.value == 1


def test_agreement_on_what_nobody_saw_is_undefined():
    assert compare(*raters(0, 0, 0, 5)).positive.reason == "neither saw a correction"
    assert compare(*raters(5, 0, 0, 0)).negative.reason == "both saw a correction throughout"


def test_perfect_agreement_has_kappa_one_and_no_pretended_interval():
    result = compare(*raters(5, 0, 0, 5))
    assert result.kappa.value == 1
    assert numbers(result, ["kappa"])[0][1:] == [None] * 4
    assert "no interval" in result.kappa.reason
    # The share of equal labels has one: ten of ten is compatible with less than always.
    assert result.agreement.low == pytest.approx(0.7225, abs=1e-4)  # Wilson's limit for 10 of 10


def test_opposite_labels_give_a_kappa_below_zero():
    assert compare(*raters(0, 5, 5, 0)).kappa.value == -1
    assert compare(*raters(0, 7, 2, 0)).kappa.value < 0


def test_different_lengths_are_refused():
    with pytest.raises(ValueError, match="can't be compared"):
        compare([True], [True, False])


def test_one_rater_without_spread_leaves_kappa_without_an_interval():
    # p_o = 3/4, p_e = (4*3 + 0*1)/16 = 3/4, so kappa = 0; the asymptotic error is 0 and would claim certainty.
    found = compare(*raters(3, 1, 0, 0)).kappa
    assert found.value == 0
    assert (found.low, found.high, found.asymptotic_low) == (None, None, None)
    assert "one of the two" in found.reason


# Clusters -------------------------------------------------------------------------------------------


def test_copies_of_answers_of_an_image_widen_the_interval_and_leave_no_textbook_one():
    """Seven answers of an image that are all alike tell no more than one."""
    first, second = raters(30, 6, 8, 36)
    alone = compare(first, second)
    copied = compare(first * 7, second * 7, clusters=list(range(80)) * 7)
    assert copied.kappa.value == pytest.approx(alone.kappa.value)
    assert (copied.kappa.low, copied.kappa.high) == pytest.approx((alone.kappa.low, alone.kappa.high))
    assert (copied.agreement.low, copied.agreement.high) == pytest.approx(
        (alone.agreement.low, alone.agreement.high), abs=0.01
    )
    assert copied.kappa.asymptotic_low is None
    assert (alone.clusters, copied.clusters, copied.n) == (80, 80, 560)
    assert compare(first * 7, second * 7).kappa.high - alone.kappa.value < (alone.kappa.high - alone.kappa.value) / 2


def test_one_image_gives_no_interval():
    found = compare(*raters(3, 1, 1, 3), clusters=[0] * 8)
    assert found.kappa.low is None
    assert "one image" in found.kappa.reason


def test_an_image_without_a_shared_response_is_no_cluster():
    assert from_clusters(np.array([[1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]])).clusters == 2


# Masks ----------------------------------------------------------------------------------------------


def test_masks_give_the_same_table_as_labels():
    # Turns 4-6 of two items; the second detector did not label turn 6 of the second item.
    first = ([0b111000, 0b111000], [0b101000, 0b110000])
    second = ([0b111000, 0b011000], [0b001000, 0b010000])
    result = from_masks(first, second, 0b111000)
    # Item 1: 4 both, 5 neither, 6 first only. Item 2: 4 neither, 5 both, 6 left out.
    assert (result.both, result.first_only, result.second_only, result.neither) == (2, 1, 0, 2)
    assert (result.left_out.second_missing, result.left_out.n) == (1, 1)


@given(ANSWERS)
def test_masks_of_one_turn_each_agree_with_plain_labels(answers):
    first, second, images = zip(*answers, strict=True)
    masks = [([int(x is not None) for x in labels], [int(x is True) for x in labels]) for labels in (first, second)]
    planned = np.ones(len(answers), dtype=int)
    assert from_masks(masks[0], masks[1], 1, planned=planned, clusters=images) == compare(
        first, second, clusters=images
    )


def test_masks_of_several_models_add_up_by_image():
    # Two models over two items that show the same image.
    one = ([[1, 1], [1, 1]], [[1, 0], [1, 1]])
    found = from_masks(one, ([[1, 1], [1, 0]], [[1, 1], [0, 0]]), 1, clusters=[5, 5])
    assert (found.both, found.first_only, found.second_only, found.neither) == (1, 1, 1, 0)
    assert (found.clusters, found.left_out.second_missing) == (1, 1)
