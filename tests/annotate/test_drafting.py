"""The rewritten question is computed, and differences are marked by whole words."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.drafting import NotOnceError, changes, occurrences, replace_description, split_marks

CAR, BLUE = "the red car", "the blue car"


@pytest.mark.parametrize(
    ("content", "rewritten"),
    [
        ("Where is the red car?", "Where is the blue car?"),
        ("The red car stands where?", "The blue car stands where?"),
        ("Is anything behind the red car, or beside it?", "Is anything behind the blue car, or beside it?"),
        ("What is the red car's colour?", "What is the blue car's colour?"),
        ("Look at this: “the red car”. Where is it?", "Look at this: “the blue car”. Where is it?"),
        ("Does the red carpet touch the red car?", "Does the red carpet touch the blue car?"),
        ("Is the red car-like thing near the red car?", "Is the red car-like thing near the blue car?"),
        ("the red car", "the blue car"),
    ],
)
def test_the_description_is_replaced_once_and_nothing_else_is(content, rewritten):
    assert replace_description(content, CAR, BLUE) == rewritten


@pytest.mark.parametrize(
    ("content", "count"),
    [
        ("Where is it?", 0),
        ("Where is the red carpet?", 0),
        ("Where is the Red car?", 0),
        ("Where is the red  car?", 0),
        ("Is the red car next to the red car?", 2),
        ("The red car: is the red car here?", 2),
    ],
)
def test_a_question_without_exactly_one_description_is_refused_with_the_count(content, count):
    with pytest.raises(NotOnceError) as refused:
        replace_description(content, CAR, BLUE)
    assert refused.value.count == count
    assert "exactly once" in str(refused.value)


def test_an_empty_description_is_never_found():
    with pytest.raises(NotOnceError):
        replace_description("Where is it?", "", BLUE)


def test_a_description_written_with_a_capital_is_found_inside_a_sentence():
    assert replace_description("Where is the red car?", "The red car", "The blue car") == "Where is the blue car?"
    assert replace_description("Where is The red car?", "The red car", "A blue car") == "Where is A blue car?"


def test_signs_in_a_description_are_only_signs():
    assert replace_description("Is the (1.5 l) cup full?", "the (1.5 l) cup", r"the \1 cup") == r"Is the \1 cup full?"


@given(st.text(alphabet="abc ?.", max_size=20), st.text(alphabet="abc ?.", max_size=20))
def test_replacing_there_and_back_gives_the_question_again(before, after):
    content = f"{before} the red car {after}"
    rewritten = replace_description(content, CAR, BLUE)
    assert rewritten == f"{before} the blue car {after}"
    assert replace_description(rewritten, BLUE, CAR) == content


@given(st.text(max_size=40), st.text(max_size=40))
def test_marked_pieces_join_to_the_texts_and_unmarked_ones_are_shared(a, b):
    left, right = split_marks(a, b)
    assert "".join(segment.text for segment in left) == a
    assert "".join(segment.text for segment in right) == b
    assert "".join(s.text for s in left if not s.changed) == "".join(s.text for s in right if not s.changed)
    for segments in (left, right):
        assert all(one.changed != other.changed for one, other in pairwise(segments))


def test_equal_texts_have_no_marks():
    assert split_marks("Where is it?", "Where is it?") == ([("Where is it?", False)], [("Where is it?", False)])
    assert split_marks("", "") == ([], [])


def test_pronouns_are_marked_as_whole_words():
    left, right = split_marks("Is the man washing his hands?", "Is the man washing her hands?")
    assert [segment.text for segment in left if segment.changed] == ["his"]
    assert [segment.text for segment in right if segment.changed] == ["her"]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("the red car", "the blue car", [(("red",), ("blue",))]),
        ("the red car", "the red car on the left", [((), ("on", "the", "left"))]),
        ("the small red car", "the red car", [(("small",), ())]),
        ("the red car by a tree", "the blue car by a house", [(("red",), ("blue",)), (("tree",), ("house",))]),
        ("The red car", "the red car", []),
    ],
)
def test_changes_are_contiguous_runs_of_words(a, b, expected):
    assert [(change.old, change.new) for change in changes(a, b)] == expected


def test_an_occurrence_says_where_it_stands():
    assert occurrences("Is the red car red?", CAR) == [(3, 14)]
