"""Corrected rates: arithmetic shown, what must hold whatever the data, and what is refused with its reason."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.statistics.corrected import (
    FEW,
    NO_BETTER,
    NO_LABELS,
    ONE_LABEL,
    Corrected,
    Layout,
    Sample,
    labels_to_halve,
    post_stratified,
    prediction_powered,
    raw,
    rogan_gladen,
)
from benchmark.statistics.corrected_groups import TOO_FEW, expectations, partially_pooled, paule_mandel
from benchmark.statistics.corrected_intervals import Inverted, Part, Share, Sum, exact, mean_variance, share
from benchmark.statistics.patterns import ItemCounts
from benchmark.statistics.rates import rates

ONE = Layout(np.array([0.0, 1.0]), np.array([0, 0]))
PAIR = Layout(np.array([0.0, 0.5, 0.5, 1.0]), np.zeros(4, dtype=np.int64))
BY_LABEL = Layout(PAIR.scores, np.array([0, 1, 1, 2]))
ESTIMATORS = (post_stratified, prediction_powered, rogan_gladen)


def labels(cells: dict[tuple[int, int], int], *, weights: dict[int, float] | None = None) -> Sample:
    """A sample by (truth, pattern): how many; each answer of an image of its own."""
    rows = [cell for cell, count in cells.items() for _ in range(count)]
    truth, patterns = (np.array([row[at] for row in rows], dtype=np.int64) for at in (0, 1))
    drawn = np.array([(weights or {}).get(pattern, 1.0) for pattern in patterns.tolist()])
    return Sample(truth.astype(np.float64), patterns, drawn, np.arange(len(rows)))


def answers(*by_pattern: int) -> np.ndarray:
    """A population: so many answers of each pattern, each of an image of its own."""
    return np.repeat(np.eye(len(by_pattern), dtype=np.int64), by_pattern, axis=0)


# Arithmetic -----------------------------------------------------------------------------------------


def test_post_stratified_weighs_human_rates_by_known_shares() -> None:
    """Both 30 %, one 10 %, neither 60 %; people see 9/10, 2/4 and 1/20: 0.27 + 0.05 + 0.03 = 0.35."""
    sample = labels({(1, 3): 9, (0, 3): 1, (1, 1): 1, (1, 2): 1, (0, 1): 2, (1, 0): 1, (0, 0): 19})
    found = post_stratified(sample, answers(600, 40, 60, 300), PAIR)
    assert found.value == pytest.approx(0.35)
    assert (found.n, found.images) == (34, 34)


def test_prediction_powered_adds_the_mean_departure_to_the_raw_rate() -> None:
    """Raw 0.3 + 0.1/2 = 0.35. People minus detectors: -1 once, +1 once, +1/2 twice, -1/2 twice: 0 of 34."""
    sample = labels({(1, 3): 9, (0, 3): 1, (1, 1): 1, (1, 2): 1, (0, 1): 2, (1, 0): 1, (0, 0): 19})
    found = prediction_powered(sample, answers(600, 40, 60, 300), PAIR, tuning=1.0)
    assert found.value == pytest.approx(0.35)
    more = labels({(1, 3): 9, (0, 3): 1, (1, 0): 5, (0, 0): 19})  # 5 missed, 1 imagined: 4/34 more
    assert prediction_powered(more, answers(600, 40, 60, 300), PAIR, tuning=1.0).value == pytest.approx(0.35 + 4 / 34)


def test_power_tuning_is_the_slope_of_truth_on_the_detectors() -> None:
    """y = 1 for 6 of 8 with f = 1 and 2 of 12 with f = 0: cov = 0.3 - 0.4 * 0.4 = 0.14; all answers have half and half,
    var f = 1/4 * 1000/999; lambda = 0.14 / 0.25025 = 0.5594."""
    sample = labels({(1, 1): 6, (0, 1): 2, (1, 0): 2, (0, 0): 10})
    found = prediction_powered(sample, answers(500, 500), ONE)
    assert found.tuning == pytest.approx(0.14 / (0.25 * 1000 / 999))
    assert found.value == pytest.approx(0.4 + 0.14 / (0.25 * 1000 / 999) * (0.5 - 0.4))


def test_rogan_gladen_frees_the_raw_rate_of_sensitivity_and_specificity() -> None:
    """Sensitivity 16/20, specificity 27/30, raw 0.38: (0.38 - 0.1) / (0.8 - 0.1) = 0.4."""
    sample = labels({(1, 1): 16, (1, 0): 4, (0, 1): 3, (0, 0): 27})
    found = rogan_gladen(sample, answers(620, 380), ONE)
    assert found.value == pytest.approx(0.4)
    # Delta method with n - 1, one label an image: F's variance, S0's at (1 - 0.4)^2, S1's at 0.4^2.
    variance = 0.38 * 0.62 / 999 + 0.36 * 0.09 / 29 + 0.16 * 0.16 / 19
    assert found.error == pytest.approx(math.sqrt(variance) / 0.7)


def test_rogan_gladen_limits_solve_fiellers_equation() -> None:
    found = Inverted(0.38, 0.0002, Share(0.8, 20.0), Share(0.1, 30.0))
    limits = found.limits()
    hits, false = 17 / 22, 4 / 32  # one label of each kind added
    for theta in limits or ():
        v = 0.0002 + (1 - theta) ** 2 * false * (1 - false) / 32 + theta**2 * hits * (1 - hits) / 22
        assert (0.38 - false - theta * (hits - false)) ** 2 == pytest.approx(1.959964**2 * v, rel=1e-6)


def limits(p: float, n: float) -> tuple[float, float]:
    low, high = exact(np.array([p]), np.array([n]))
    return float(low[0]), float(high[0])


def test_limits_of_a_share_are_clopper_and_pearsons() -> None:
    """Of whole numbers SciPy's exact ones; an effective size may lie between two of them."""
    from scipy.stats import binomtest

    for yes, n in ((0, 10), (1, 30), (17, 40), (40, 40)):
        interval = binomtest(yes, n).proportion_ci(method="exact")
        assert limits(yes / n, n) == pytest.approx((interval.low, interval.high), abs=1e-9)
    assert limits(0.1, 31)[0] < limits(0.1, 31.5)[0] < limits(0.1, 32)[0]


def test_one_group_of_yes_and_no_has_the_limits_of_its_share() -> None:
    part = Part(1.0, np.array([0.0, 1.0]), np.array([0.7, 0.3]), np.array([40.0, 40.0]))
    assert Sum(0.0, (part,), 0.0).limits() == pytest.approx(limits(0.3, 40.0))


def test_limits_of_two_strata_recover_the_variances_of_each() -> None:
    """Zou and Donner: each stratum's distance to its own limit, by weight, squared and added."""
    parts = [
        Part(w, np.array([0.0, 1.0]), np.array([1 - p, p]), np.array([n, n]))
        for w, p, n in ((0.4, 0.9, 20.0), (0.6, 0.0, 30.0))
    ]
    low, high = Sum(0.0, tuple(parts), 0.0).limits()
    (l1, u1), (l2, u2) = (limits(p, n) for p, n in ((0.9, 20.0), (0.0, 30.0)))
    assert low == pytest.approx(0.36 - math.hypot(0.4 * (0.9 - l1), 0.6 * (0 - l2)))
    assert high == pytest.approx(0.36 + math.hypot(0.4 * (u1 - 0.9), 0.6 * u2))


def test_shares_of_one_group_go_together_as_a_multinomials_do() -> None:
    """0.3 at score 1 and 0.2 at -1, the rest at 0: shares correlate by -sqrt(0.3 * 0.2 / (0.7 * 0.8))."""
    part = Part(1.0, np.array([0.0, 1.0, -1.0]), np.array([0.5, 0.3, 0.2]), np.full(3, 50.0))
    low, high = Sum(0.0, (part,), 0.0).limits()
    (l1, u1), (l2, u2) = (limits(p, 50.0) for p in (0.3, 0.2))
    together = math.sqrt(0.3 * 0.2 / (0.7 * 0.8))
    for reach, (one, two) in ((0.1 - low, (0.3 - l1, u2 - 0.2)), (high - 0.1, (u1 - 0.3, 0.2 - l2))):
        assert reach == pytest.approx(math.sqrt(one**2 + two**2 + 2 * together * one * two))


def test_shares_that_images_tie_together_reach_further() -> None:
    """A multinomial's mean of 0.3 at 1 and 0.2 at -1 has variance (0.5 - 0.1^2) / 50; twice that, twice the squares."""
    cells = np.array([0.0, 1.0, -1.0]), np.array([0.5, 0.3, 0.2]), np.full(3, 50.0)
    plain = Part(1.0, *cells).reaches(1.0)
    assert Part(1.0, *cells, 0.49 / 50).reaches(1.0) == pytest.approx(plain)
    assert Part(1.0, *cells, 2 * 0.49 / 50).reaches(1.0) == pytest.approx([2 * square for square in plain])
    assert Part(1.0, *cells, 0.1 * 0.49 / 50).reaches(1.0) == pytest.approx(plain)  # never less far


def test_an_interval_keeps_a_width_where_no_error_was_seen() -> None:
    for estimator in ESTIMATORS:
        found = estimator(labels({(1, 1): 20, (0, 0): 20}), answers(500, 500), ONE)
        assert found.value == pytest.approx(0.5)
        assert found.low is not None
        assert found.high is not None
        assert found.high - found.low > 0.1


def test_labels_of_one_image_count_as_fewer() -> None:
    """Ten images with two labels each that are alike tell as much as ten labels: v = 10/9 * 10 * 1 / 400."""
    truth, pairs = np.repeat([1.0, 0.0], 10), np.repeat(np.arange(10), 2)
    assert share(truth, np.ones(20), pairs).size == pytest.approx(0.25 / (10 / 9 * 10 / 400))
    assert share(np.ones(20), np.ones(20), pairs).size == pytest.approx(10)
    assert share(truth, np.ones(20), np.arange(20)).size == pytest.approx(19)


def test_labels_of_one_image_never_count_as_more_than_they_are() -> None:
    """Two labels an image that always differ vary not at all over images, and still are 20 labels."""
    truth, pairs = np.tile([1.0, 0.0], 10), np.repeat(np.arange(10), 2)
    assert share(truth, np.ones(20), pairs).size == pytest.approx(20)
    assert share(np.append(truth, [1.0, 1.0]), np.ones(22), np.append(pairs, [10, 10])).size == pytest.approx(22)


def test_unequal_weights_count_as_fewer() -> None:
    """Kish: (10 * 1 + 10 * 3)^2 / (10 * 1 + 10 * 9) = 16 of 20 labels."""
    assert share(np.ones(20), np.repeat([1.0, 3.0], 10), np.arange(20)).size == pytest.approx(16)


def test_the_populations_images_add_what_no_label_takes_away() -> None:
    """Two images with 3 of 4 and 1 of 4: mean 1/2, 2/1 * (1 + 1) / 64 = 1/16."""
    counts = np.array([[1, 3], [3, 1]])
    assert mean_variance(counts, ONE.scores) == pytest.approx(1 / 16)


def test_strata_whose_labels_are_of_the_same_images_vary_together() -> None:
    """Four images, of each an answer that the detectors call a correction and one that they don't, all labelled.

    People call both answers of two images corrections, none of the others: each label departs by 1/2 * 1/4 * 1/2 =
    1/16, up or down with its image. Apart, each stratum's variance is 4/3 * 4 / 16^2 = 1/48; over images, with 1/8
    from each of them, it is 4/3 * 4 / 8^2 = 1/12, twice what the strata make. Answers' images add none.
    """
    truth, patterns = np.array([1.0, 1, 1, 1, 0, 0, 0, 0]), np.array([0, 1] * 4)
    sample = Sample(truth, patterns, np.ones(8), np.repeat(np.arange(4), 2))
    found = post_stratified(sample, np.ones((4, 2), dtype=np.int64), ONE, images=np.arange(4))
    assert found.error == pytest.approx(math.sqrt(1 / 12))
    strangers = Sample(truth, patterns, np.ones(8), np.arange(8))
    assert post_stratified(strangers, np.ones((4, 2), dtype=np.int64), ONE).error == pytest.approx(math.sqrt(1 / 24))


def test_images_whose_answers_lean_one_way_lean_that_way_in_both_parts_of_an_estimate() -> None:
    """Two images of four answers, 3 and 1 seen as corrections, with one label each: people's yes and no, both unseen.

    With lambda 1 labels depart by 1/4 each way from their mean, answers by 1/2 * 1/4 = 1/8 each way: apart they have
    2 * 2 * 1/16 = 1/4 and 2 * 2 * 1/64 = 1/16, and 2 * 2 * 2 * 1/4 * 1/8 = 1/4 together; against each other, nothing.
    """
    counts = np.array([[1, 3], [3, 1]])
    sample = Sample(np.array([1.0, 0.0]), np.array([0, 0]), np.ones(2), np.array([7, 9]))

    def variance(images: list[int] | None) -> float:
        of = None if images is None else np.array(images)
        return float(prediction_powered(sample, counts, ONE, tuning=1.0, images=of).error or 0) ** 2

    assert variance(None) == pytest.approx(1 / 4 + 1 / 16)
    assert variance([1, 2]) == pytest.approx(1 / 4 + 1 / 16)  # other images
    assert variance([7, 9]) == pytest.approx(1 / 4 + 1 / 16 + 1 / 4)
    assert variance([9, 7]) == pytest.approx(1 / 4 + 1 / 16)  # never surer than apart


def test_the_detectors_own_rate_has_the_interval_of_all_rates() -> None:
    counts = np.array([[1, 3, 0, 2], [3, 0, 1, 0], [2, 2, 2, 5]])
    found = raw(counts, PAIR)
    known = rates(ItemCounts(np.array([[6, 4, 11]]), np.array([[3.5, 0.5, 7.0]]))).at(0)
    assert (found.value, found.low, found.high) == (known.value, known.low, known.high)


def test_weights_undo_a_draw_by_disagreement() -> None:
    """Of 1,000 answers 100 are one-sided and 50 of these drawn, 40 of the 900 others: sensitivity by weights.

    True corrections: 25 one-sided of weight 2, 10 both of 22.5: (50/2 + 225) / 275; others: (50/2) / (50 + 675).
    """
    sample = labels({(1, 1): 25, (0, 1): 25, (1, 3): 10, (0, 0): 30}, weights={1: 2.0, 3: 22.5, 0: 22.5})
    layout = Layout(PAIR.scores, np.array([0, 1, 1, 0]))
    counts = answers(675, 100, 0, 225)
    hits, false = 250 / 275, 25 / 725
    found = rogan_gladen(sample, counts, layout)
    assert found.value == pytest.approx((0.275 - false) / (hits - false))
    assert post_stratified(sample, counts, layout).value == pytest.approx(0.275)  # 22.5 % and half of 10 %
    assert prediction_powered(sample, counts, layout, tuning=1.0).value == pytest.approx(0.275)


# What must hold -------------------------------------------------------------------------------------

counts_of_cells = st.fixed_dictionaries({(t, p): st.integers(0, 12) for t in (0, 1) for p in range(4)})
populations = st.tuples(*[st.integers(1, 400)] * 4)


@settings(max_examples=20)
@given(perfect=st.tuples(st.integers(FEW, 20), st.integers(FEW, 20)), population=st.tuples(*[st.integers(1, 500)] * 2))
def test_a_perfect_detector_needs_no_correction(perfect: tuple[int, int], population: tuple[int, int]) -> None:
    sample, counts = labels({(1, 1): perfect[0], (0, 0): perfect[1]}), answers(*population)
    uncorrected = raw(counts, ONE).value
    for found in (
        *(one(sample, counts, ONE) for one in ESTIMATORS),
        prediction_powered(sample, counts, ONE, tuning=1.0),
    ):
        if found.tuning is None or found.tuning == 1.0:
            assert found.value == pytest.approx(uncorrected)


@settings(max_examples=20)
@given(cells=counts_of_cells)
def test_when_people_labelled_everything_it_is_their_rate(cells: dict[tuple[int, int], int]) -> None:
    sample = labels(cells)
    if sample.n < 2:
        return
    counts = answers(*(cells[0, p] + cells[1, p] for p in range(4)))
    human = float(sample.truth.mean())
    assert post_stratified(sample, counts, PAIR).value == pytest.approx(human)
    assert prediction_powered(sample, counts, PAIR).value == pytest.approx(human)
    found = rogan_gladen(sample, counts, PAIR)
    if found.value is not None:
        assert found.value == pytest.approx(human)


@settings(max_examples=20)
@given(cells=counts_of_cells, population=populations)
def test_yes_and_no_can_be_swapped(cells: dict[tuple[int, int], int], population: tuple[int, ...]) -> None:
    """All labels the other way round: 1 - rate, with the interval mirrored."""
    sample, counts = labels(cells), answers(*population)
    other = Sample(1 - sample.truth, 3 - sample.patterns, sample.weights, sample.images)
    for estimator in ESTIMATORS:
        one, two = estimator(sample, counts, PAIR), estimator(other, counts[:, ::-1], PAIR)
        if estimator is post_stratified and "joined" in one.note + two.note:
            continue  # which neighbour an empty stratum is joined with is not symmetric
        assert (one.value is None) == (two.value is None)
        if one.value is not None and two.value is not None:
            assert one.value == pytest.approx(1 - two.value)
            assert one.low == pytest.approx(1 - float(two.high or 0))
            assert one.high == pytest.approx(1 - float(two.low or 0))


@settings(max_examples=20)
@given(cells=counts_of_cells, population=populations)
def test_the_order_of_labels_and_images_does_not_matter(
    cells: dict[tuple[int, int], int], population: tuple[int, ...]
) -> None:
    sample, counts = labels(cells), answers(*population)
    turned = Sample(sample.truth[::-1], sample.patterns[::-1], sample.weights[::-1], sample.images[::-1])
    for estimator in ESTIMATORS:
        same(estimator(sample, counts, PAIR), estimator(turned, counts[::-1], PAIR))


@settings(max_examples=20)
@given(cells=counts_of_cells, population=populations)
def test_images_in_common_make_no_interval_narrower_in_whatever_order_they_stand(
    cells: dict[tuple[int, int], int], population: tuple[int, ...]
) -> None:
    sample, counts = labels(cells), answers(*population)
    images = np.arange(len(counts))
    for estimator in (post_stratified, prediction_powered):
        for layout in (PAIR, BY_LABEL):
            apart, found = estimator(sample, counts, layout), estimator(sample, counts, layout, images=images)
            same(found, estimator(sample, counts[::-1], layout, images=images[::-1]))
            assert apart.value == found.value
            if found.low is not None and apart.low is not None:
                assert found.low <= apart.low + 1e-12
                assert (found.high or 0) >= (apart.high or 0) - 1e-12


@settings(max_examples=20)
@given(cells=counts_of_cells, population=populations)
def test_a_value_lies_in_its_interval_and_an_undefined_one_has_a_reason(
    cells: dict[tuple[int, int], int], population: tuple[int, ...]
) -> None:
    sample, counts = labels(cells), answers(*population)
    for layout in (PAIR, BY_LABEL):
        for estimator in ESTIMATORS:
            found = estimator(sample, counts, layout)
            if found.value is None:
                assert found.reason
                assert found.low is found.high is found.error is None
            else:
                assert 0 <= (found.low or 0) <= found.value + 1e-12
                assert found.value <= (found.high or 0) + 1e-12 <= 1 + 2e-12
                assert (found.more is None) == bool(found.more_reason)


def same(one: Corrected, two: Corrected) -> None:
    for mine, theirs in ((one.value, two.value), (one.low, two.low), (one.high, two.high), (one.more, two.more)):
        assert (mine is None) == (theirs is None)
        if mine is not None:
            assert mine == pytest.approx(theirs, rel=1e-6)


# What is refused, and why ---------------------------------------------------------------------------


def test_nothing_is_told_without_labels_or_answers() -> None:
    for estimator in ESTIMATORS:
        assert estimator(labels({}), answers(5, 5), ONE).reason == NO_LABELS
        assert "no answer" in estimator(labels({(1, 1): 9, (0, 0): 9}), np.zeros((3, 2), dtype=np.int64), ONE).reason
    assert prediction_powered(labels({(1, 1): 1}), answers(5, 5), ONE).reason == ONE_LABEL


def test_rogan_gladen_needs_five_of_each_kind_and_a_detector_above_chance() -> None:
    few = rogan_gladen(labels({(1, 1): 4, (0, 0): 30}), answers(50, 50), ONE)
    assert few.reason == "corrections that people see: 4, others: 30; 5 of each are needed"
    assert rogan_gladen(labels({(1, 0): 9, (1, 1): 1, (0, 1): 9, (0, 0): 1}), answers(9, 9), ONE).reason == NO_BETTER
    hardly = rogan_gladen(labels({(1, 0): 4, (1, 1): 5, (0, 1): 4, (0, 0): 5}), answers(50, 50), ONE)
    assert "tell the detectors' answers from chance" in hardly.reason


def test_an_empty_stratum_is_joined_only_where_all_answers_were_drawn_alike() -> None:
    sample, counts = labels({(1, 3): 8, (0, 3): 2, (0, 0): 10}), answers(600, 50, 50, 300)
    found = post_stratified(sample, counts, PAIR)
    assert found.value == pytest.approx(0.4 * 0.8)  # one-sided answers count with those of both
    assert "joined" in found.note
    by_label = post_stratified(sample, counts, BY_LABEL)
    assert by_label.value is None
    assert "nobody labelled the 10.0% of answers" in by_label.reason
    assert "nobody labelled the 10.0% of answers" in prediction_powered(sample, counts, BY_LABEL).reason


# More labels ----------------------------------------------------------------------------------------


def test_four_times_the_labels_halve_an_interval_that_labels_alone_make() -> None:
    part = Part(1.0, np.array([0.0, 1.0]), np.array([0.5, 0.5]), np.array([1e6, 1e6]))
    more, reason = labels_to_halve(Sum(0.0, (part,), 0.0), 400, 10**9)
    assert reason == ""
    assert more == pytest.approx(1200, rel=0.01)


def test_labels_do_not_halve_what_images_make_wide() -> None:
    part = Part(1.0, np.array([0.0, 1.0]), np.array([0.5, 0.5]), np.array([400.0, 400.0]))
    more, reason = labels_to_halve(Sum(0.0, (part,), 0.01), 400, 151_200)
    assert more is None
    assert reason == "labels of all 151,200 answers would not: what is left is how images differ"


# Groups ---------------------------------------------------------------------------------------------


def groups(misses: list[int]) -> tuple[Sample, np.ndarray, list[np.ndarray]]:
    """Models with 18 labels each, 9 true corrections, of which so many are missed; half of all answers seen as one."""
    cells = [{(1, 1): 9 - miss, (1, 0): miss, (0, 0): 9} for miss in misses]
    parts = [labels(one) for one in cells]
    of = np.repeat(np.arange(len(parts)), 18)
    joined = Sample(
        np.concatenate([one.truth for one in parts]),
        np.concatenate([one.patterns for one in parts]),
        np.ones(len(of)),
        np.arange(len(of)),
    )
    return joined, of, [answers(200, 200) for _ in parts]


def test_groups_that_differ_by_chance_alone_share_nearly_all() -> None:
    sample, of, populations = groups([1] * 8)
    told = partially_pooled(sample, of, populations, ONE)
    pooled = [rogan_gladen(sample, one, ONE).value for one in populations]
    assert [one.tuning for one in told] == pytest.approx([1 - 5 / 7] * 8)  # B = (8 - 3) / (8 - 1) where nothing differs
    assert [one.value for one in told] == pytest.approx(pooled, abs=0.01)


def test_a_group_that_is_judged_otherwise_moves_towards_its_own_labels() -> None:
    sample, of, populations = groups([0, 0, 0, 0, 1, 0, 0, 8])
    told = partially_pooled(sample, of, populations, ONE)
    own = prediction_powered(sample.only(of == 7), populations[7], ONE, tuning=1.0).value
    pooled = rogan_gladen(sample, populations[7], ONE).value
    assert pooled is not None
    assert told[7].value is not None
    assert own is not None
    assert pooled < told[7].value < own
    assert all((one.tuning or 0) > 0.3 for one in told)


def test_expected_truth_is_bayes_theorem() -> None:
    """Sensitivity 9000/10000, specificity 8000/10000 of many labels, at a rate of 1/4: 0.225 / (0.225 + 0.15)."""
    sample = labels({(1, 1): 9000, (1, 0): 1000, (0, 1): 2000, (0, 0): 8000})
    assert expectations(0.25, sample, ONE) == pytest.approx([0.025 / 0.625, 0.225 / 0.375], abs=1e-3)


def test_between_groups_there_is_no_negative_variance() -> None:
    assert paule_mandel(np.array([0.1, -0.1, 0.0, 0.05]), np.ones(4)) == 0


def test_three_groups_are_too_few_to_tell_how_groups_differ() -> None:
    sample, of, populations = groups([1, 2, 3])
    assert {one.reason for one in partially_pooled(sample, of, populations, ONE)} == {TOO_FEW}


def test_a_group_without_labels_has_no_rate_of_its_own() -> None:
    sample, of, populations = groups([1] * 5)
    told = partially_pooled(sample, of, [*populations, answers(10, 10)], ONE)
    assert told[5].value is None
    assert "no human label" in told[5].reason
    assert all(one.value is not None for one in told[:5])
