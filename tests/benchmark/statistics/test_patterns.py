"""Masks over turns: packing, windows and counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from benchmark.statistics.patterns import (
    cumulative_windows,
    fill_gaps,
    item_counts,
    mean_item_counts,
    pack,
    single_windows,
    window,
)

LABELS = hnp.arrays(np.bool_, st.tuples(st.integers(1, 3), st.integers(1, 12), st.just(10)))
TURNS = [4, 5, 6, 7, 8, 9, 10]


def test_turn_t_is_bit_t_minus_one():
    assert window([1]) == 1
    assert window([10]) == 512
    assert window([]) == 0
    assert single_windows([1, 3]) == [1, 4]
    assert cumulative_windows([1, 2, 3]) == [1, 3, 7]


def test_turn_zero_is_refused():
    with pytest.raises(ValueError, match="Turns count from 1"):
        window([0])


@given(LABELS)
def test_counts_from_masks_are_the_sums_of_the_booleans(labels):
    everything = pack(np.ones_like(labels))
    single = item_counts(everything, pack(labels), single_windows(TURNS))
    cumulative = item_counts(everything, pack(labels), cumulative_windows(TURNS))
    by_turn = np.moveaxis(labels[..., 3:], -1, -2)
    assert np.array_equal(single.corrections, by_turn)
    assert np.array_equal(cumulative.corrections, by_turn.cumsum(axis=-2))
    assert (single.n == 1).all()
    assert np.array_equal(cumulative.n.sum(axis=-1)[0], np.arange(1, 8) * labels.shape[1])


@given(LABELS, st.data())
def test_a_correction_without_its_labelled_bit_never_counts(labels, data):
    labelled = data.draw(hnp.arrays(np.bool_, labels.shape))
    counts = item_counts(pack(labelled), pack(labels), [window(range(1, 11))])
    assert counts.n.sum() == labelled.sum()
    assert counts.corrections.sum() == (labelled & labels).sum()


def test_the_mean_uses_responses_that_both_detectors_labelled():
    # Turns 1-3 of one item. First labels 1, 2 and sees 1, 2; second labels 2, 3 and sees 3.
    # Both labelled turn 2 alone: one correction of two labels, so a half of one response.
    counts = mean_item_counts([[0b011], [0b110]], [[0b011], [0b100]], [window([1, 2, 3])])
    assert counts.n.tolist() == [[1]]
    assert counts.corrections.tolist() == [[0.5]]


@given(LABELS)
def test_the_mean_of_a_detector_with_itself_is_that_detector(labels):
    everything, corrections = pack(np.ones_like(labels)), pack(labels)
    alone = item_counts(everything, corrections, cumulative_windows(TURNS))
    twice = mean_item_counts([everything, everything], [corrections, corrections], cumulative_windows(TURNS))
    assert np.array_equal(alone.corrections, twice.corrections)
    assert np.array_equal(alone.n, twice.n)


def test_a_gap_filled_is_a_non_correction():
    labelled, correction = fill_gaps([0b001], [0b011], 0b111)
    assert labelled.tolist() == [0b111]
    assert correction.tolist() == [0b001]


def test_masks_of_different_shapes_are_refused():
    with pytest.raises(ValueError, match="differ in shape"):
        item_counts([1, 1], [1], [1])
    with pytest.raises(ValueError, match="same number"):
        mean_item_counts([[1]], [[1], [1]], [1])
    with pytest.raises(ValueError, match="at least one"):
        mean_item_counts([], [], [1])
