"""Comparisons: what pairs share, Holm's method, and groups that can't be told apart."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.statistics.comparisons import groups, holm, letters, shared_differences

NAMES = "abcdefg"


def test_a_pair_is_compared_on_what_both_have_by_every_detector() -> None:
    # Model 0 has turns 1-3 by both detectors, model 1 turns 2-4 by the first and 2, 3 by the second: they share 2, 3.
    # There the first detector sees 2, 3 of model 0 and none of model 1, the second 2 of model 0 and 3 of model 1:
    # 2 - 0 and 1 - 1, on average 1.
    labelled = [[[0b0111], [0b1110]], [[0b0111], [0b0110]]]
    correction = [[[0b0111], [0b1000]], [[0b0011], [0b0100]]]
    found = shared_differences(labelled, correction, 0b1111, [(0, 1), (1, 0)])
    assert (found.n.tolist(), found.corrections.tolist()) == ([[2], [2]], [[1.0], [-1.0]])
    assert shared_differences(labelled, correction, 0b0010, [(0, 1)]).n.tolist() == [[1]]


def test_holm_by_hand() -> None:
    # 0.01 x 3 = 0.03; 0.03 x 2 = 0.06; 0.04 x 1 = 0.04, but never below the one before: 0.06.
    assert holm([0.01, 0.04, 0.03]).tolist() == [0.03, 0.06, 0.06]
    # Without a p there is no test: two remain.
    assert holm([np.nan, 0.6, 0.02]).tolist() == pytest.approx([np.nan, 0.6, 0.04], nan_ok=True)
    assert holm([]).tolist() == []


@settings(max_examples=15)  # statsmodels collects garbage at each call, which takes long in a process that holds much
@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_holm_is_statsmodels(p: list[float]) -> None:
    from statsmodels.stats.multitest import multipletests

    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1], abs=1e-12)


def test_groups_of_a_ladder() -> None:
    # Neighbours can't be told apart, others can: ab, bc, cd.
    apart = {frozenset(pair) for pair in combinations("abcd", 2) if ord(pair[1]) - ord(pair[0]) > 1}
    assert groups("abcd", apart) == [["a", "b"], ["b", "c"], ["c", "d"]]
    assert groups("abc", set()) == [["a", "b", "c"]]
    assert groups("ab", {frozenset("ab")}) == [["a"], ["b"]]
    assert groups("", set()) == []


def test_a_column_that_nothing_needs_is_swept() -> None:
    # Three triangles round abc: abd, bce, acf. Every pair of abc is in one of them.
    together = {frozenset(pair) for one in ("abd", "bce", "acf") for pair in combinations(one, 2)}
    apart = {frozenset(pair) for pair in combinations("abcdef", 2)} - together
    assert [set(column) for column in groups("abcdef", apart)] == [set("abd"), set("acf"), set("bce")]


@given(st.sets(st.sampled_from([frozenset(pair) for pair in combinations(NAMES, 2)])), st.permutations(NAMES))
def test_two_share_a_group_exactly_where_they_do_not_differ(apart: set[frozenset[str]], order: list[str]) -> None:
    found = groups(order, apart)
    for pair in combinations(NAMES, 2):
        assert any(set(pair) <= set(column) for column in found) == (frozenset(pair) not in apart)
    assert {name for column in found for name in column} == set(NAMES)
    assert not any(set(one) < set(other) for one in found for other in found)
    place = {name: at for at, name in enumerate(order)}
    firsts = [place[column[0]] for column in found]
    assert firsts == sorted(firsts)


def test_letters_go_on_after_z_and_end() -> None:
    assert letters(3) == ["a", "b", "c"]
    assert letters(27)[-1] == "aa"
    assert len(set(letters(702))) == 702
    with pytest.raises(ValueError, match="702 labels"):
        letters(703)
