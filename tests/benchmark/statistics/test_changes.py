"""Differences, means over models, dialogues' patterns, rank correlations and random selections, with arithmetic."""

from itertools import product
from math import sqrt

import numpy as np
import pytest

from benchmark.statistics.changes import change
from benchmark.statistics.correlations import NO_SPREAD, TOO_FEW, spearman
from benchmark.statistics.dialogues import INCOMPLETE, PATTERNS, patterns
from benchmark.statistics.means import mean_over_models
from benchmark.statistics.orders import falls, ordering, ranks
from benchmark.statistics.patterns import ItemCounts
from benchmark.statistics.rates import wilson
from benchmark.statistics.selections import falling, selected_rates

Z = 1.959964


def one_label_each(values: list[float]) -> ItemCounts:
    return ItemCounts(np.ones(len(values), dtype=np.int64), np.array(values))


def test_the_interval_of_a_paired_difference_is_bonett_and_prices() -> None:
    # Of 20 pairs, 6 fall and 1 rises; the others stay.
    first = one_label_each([1.0] * 6 + [0.0] + [1.0] * 5 + [0.0] * 8)
    second = one_label_each([0.0] * 6 + [1.0] + [1.0] * 5 + [0.0] * 8)
    found = change(first, second)
    rise, fall = (1 + 1) / 22, (6 + 1) / 22
    reach = Z * sqrt((rise + fall - (rise - fall) ** 2) / 22)
    assert found.value == pytest.approx(-5 / 20)
    assert found.low == pytest.approx(rise - fall - reach)
    assert found.high == pytest.approx(rise - fall + reach)


def test_a_difference_without_labels_on_one_side_is_undefined() -> None:
    none = ItemCounts(np.zeros(2, dtype=np.int64), np.zeros(2))
    found = change(one_label_each([1.0, 0.0]), none)
    assert (found.first, found.second, found.value, found.low, found.second_n) == (0.5, None, None, None, 0)
    assert found.reason


def test_an_image_with_more_labels_moves_more() -> None:
    # Rates 3/4 and 1/4: the first image has three labels of four at each side.
    first = ItemCounts(np.array([3, 1]), np.array([3.0, 0.0]))
    second = ItemCounts(np.array([3, 1]), np.array([0.0, 1.0]))
    found = change(first, second)
    x = [2 * ((0 - 0.75) / 4 - (3 - 2.25) / 4) - 0.5, 2 * ((1 - 0.25) / 4 - (0 - 0.75) / 4) - 0.5]
    middle = sum(x) / 4
    spread = sum((one - middle) ** 2 for one in [*x, 1, -1]) / 4
    assert found.value == -0.5
    assert found.high == pytest.approx(min(1.0, middle + Z * sqrt(spread / 4)))


@pytest.mark.parametrize(
    ("images", "fall", "rise"), [(90, 0.02, 0.02), (90, 0.3, 0.05), (360, 0.02, 0.0), (1080, 0.2, 0.1)]
)
def test_the_interval_of_a_difference_covers_it(images: int, fall: float, rise: float) -> None:
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(400):
        moved = rng.choice([-1, 1, 0], size=images, p=[fall, rise, 1 - fall - rise])
        first = np.where(moved == -1, 1.0, np.where(moved == 1, 0.0, rng.integers(2, size=images)))
        found = change(one_label_each(list(first)), one_label_each(list(first + moved)))
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= rise - fall <= found.high
    assert covered / 400 >= 0.93


def test_a_mean_over_models_weighs_models_alike_and_images_as_clusters() -> None:
    # Two models over four images with one label each; the image's part in the mean is the mean of its two labels.
    said = np.array([[1.0, 1, 1, 0], [1.0, 0, 0, 0]])
    found = mean_over_models(ItemCounts(np.ones((2, 1, 4), dtype=np.int64), said[:, np.newaxis]))
    means = said.mean(axis=0)
    variance = means.var(ddof=1) / 4
    low, high = wilson(0.5, 0.25 / variance)
    assert (found.value[0], found.n[0]) == (0.5, 8)
    assert (found.low[0], found.high[0]) == (pytest.approx(float(low)), pytest.approx(float(high)))


def test_a_model_without_labels_has_no_part_in_the_mean() -> None:
    n = np.array([[[1, 1]], [[0, 0]]])
    assert mean_over_models(ItemCounts(n, np.array([[[1.0, 0.0]], [[0.0, 0.0]]]))).value[0] == 0.5
    assert np.isnan(mean_over_models(ItemCounts(n * 0, np.zeros((2, 1, 2)))).value[0])


def test_every_dialogue_of_three_turns_has_the_pattern_that_a_reader_would_give_it() -> None:
    expected = {
        "000": "never", "111": "always", "100": "stops", "110": "stops", "001": "starts", "011": "starts",
        "010": "mixed", "101": "mixed",
    }  # fmt: skip
    for bits in product("01", repeat=3):
        mask = sum(1 << (3 + at) for at, bit in enumerate(bits) if bit == "1")
        (found,) = patterns([0b111000], [mask], [4, 5, 6])
        assert PATTERNS[found] == expected["".join(bits)]
    assert patterns([0b101000], [0], [4, 5, 6])[0] == INCOMPLETE


def test_ranks_and_orderings_with_ties_and_gaps() -> None:
    assert ranks([]) == []
    assert ranks([0.1, 0.1, 0.3]) == [2, 2, 1]
    assert ordering([None, 0.2, 0.2], ["a", "b", "c"]) == "b = c"
    assert [falls([]), falls([0.2, 0.3]), falls([0.3, None])] == [True, False, None]


def test_a_rank_correlation_is_undefined_for_few_models_or_equal_rates() -> None:
    rng = np.random.default_rng(1)

    def counts(rates: list[float]) -> ItemCounts:
        return ItemCounts(
            np.ones((len(rates), 4), dtype=np.int64), np.repeat(np.array(rates)[:, np.newaxis], 4, axis=1)
        )

    assert spearman(counts([0.1, 0.2]), counts([0.1, 0.2]), rng, repetitions=10).reason == TOO_FEW
    assert spearman(counts([0.5] * 3), counts([0.1, 0.2, 0.3]), rng, repetitions=10).reason == NO_SPREAD
    turned = spearman(counts([0.1, 0.2, 0.3]), counts([0.3, 0.2, 0.1]), rng, repetitions=10)
    assert turned.value == pytest.approx(-1.0)
    assert turned.n == 3


def test_selections_are_those_that_the_coins_pick() -> None:
    n = np.ones((1, 2, 3, 2), dtype=np.int64)
    said = np.zeros((1, 2, 3, 2))
    said[0, :, 0] = 1.0  # identity always
    said[0, :, 1, 1] = 1.0  # attribute under B alone
    drawn = selected_rates(n, said, np.random.default_rng(2), repetitions=400, by="class")
    assert drawn.shape == (400, 1, 3)
    assert set(np.unique(drawn[:, 0, 1])) == {0.0, 0.5, 1.0}
    # Strictly between nought and one takes exactly one B of two coins.
    assert falling(drawn[:, 0]).mean() == pytest.approx(0.5, abs=0.08)
