"""Draws by cell: how many of each, and in how many the ordering holds."""

import numpy as np
import pytest

from benchmark.statistics.patterns import ItemCounts
from benchmark.statistics.stratified import in_order, resampled_orderings, stratified_weights

ORDER = ("identity", "attribute", "location")


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


@pytest.mark.parametrize("replace", [True, False])
def test_each_cell_gives_its_number(replace: bool) -> None:
    cells = np.array([5, 2, 5, 2, 2, 5, 5])
    weights = stratified_weights(cells, 3, replace=replace, repetitions=50, rng=rng())
    for cell in (2, 5):
        assert set(weights[cells == cell].sum(axis=0).tolist()) == {3}
    assert (weights.max() > 1) == replace


def test_all_of_each_cell_without_replacement_is_the_data_itself() -> None:
    cells = np.repeat([0, 1, 2], 2)
    weights = stratified_weights(cells, 2, replace=False, repetitions=5, rng=rng())
    assert (weights == 1).all()
    with pytest.raises(ValueError, match="without replacement"):
        stratified_weights(cells, 3, replace=False, repetitions=5, rng=rng())


def test_the_share_that_keeps_the_ordering_is_the_exact_probability() -> None:
    # One image a cell of two. Identity is 1 or 1/2, attribute 1/2 or 0, location 0. It is kept where attribute is
    # drawn as 1/2 and identity as 1: 1/4. The second model has no labels on one location image: undefined in half.
    corrections = np.array([[2, 1, 1, 0, 0, 0], [2, 2, 1, 1, 0, 0]], dtype=float)
    n = np.array([[2] * 6, [2, 2, 2, 2, 2, 0]])
    classes = np.repeat(ORDER, 2)
    weights = stratified_weights(np.repeat([0, 1, 2], 2), 1, replace=True, repetitions=8_000, rng=rng())
    alone = resampled_orderings(ItemCounts(n[:1], corrections[:1]), classes, ORDER, weights)
    assert alone.kept / 8_000 == pytest.approx(0.25, abs=0.02)
    assert alone.kept_by_model.tolist() == [alone.kept]
    both = resampled_orderings(ItemCounts(n, corrections), classes, ORDER, weights)
    assert both.undefined / 8_000 == pytest.approx(0.5, abs=0.02)
    assert both.undefined_by_model.tolist() == [0, both.undefined]
    assert both.kept_by_model[1] == 8_000 - both.undefined
    # Means of both: identity 1 or 3/4, attribute 1/2 or 1/4, location 0: kept wherever it is defined.
    assert both.kept == 8_000 - both.undefined
    assert set(both.means[0].tolist()) == {1.0, 0.75}


def test_a_tie_is_no_order_and_neither_is_rounding() -> None:
    third = np.array([0.1 + 0.2, 0.3, 0.1])
    assert not in_order(third[:, np.newaxis]).any()
    assert in_order(np.array([[0.3], [0.2], [0.1]])).all()
    assert not in_order(np.array([[0.3], [np.nan], [0.1]])).any()
