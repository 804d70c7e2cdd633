"""Two versions of a prompt side by side: nothing is lost, and what is the same is not marked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.prompt_pages import Row, side_by_side

TEXT = st.text(alphabet=st.sampled_from("ab .,\n- é"), max_size=60)


def lines(rows: list[Row], side: str) -> list[str]:
    cells = [getattr(row, side) for row in rows]
    return ["".join(segment.text for segment in cell) for cell in cells if cell is not None]


@given(TEXT, TEXT)
def test_both_texts_can_be_read_off_whole(before: str, after: str) -> None:
    rows = side_by_side(before, after)
    assert lines(rows, "before") == before.splitlines()
    assert lines(rows, "after") == after.splitlines()


@given(TEXT)
def test_a_text_beside_itself_has_no_mark(text: str) -> None:
    rows = side_by_side(text, text)
    assert not any(row.changed for row in rows)
    assert not any(segment.changed for row in rows for segment in row.before or [])


def test_a_changed_word_is_marked_on_both_sides() -> None:
    [same, changed, added] = side_by_side("Judge.\nBe kind.", "Judge.\nBe fair.\nBe short.")
    assert not same.changed
    assert [segment.text for segment in changed.before or [] if segment.changed] == ["kind"]
    assert [segment.text for segment in changed.after or [] if segment.changed] == ["fair"]
    assert (added.before, added.changed) == (None, True)


@pytest.mark.timeout(30)
@pytest.mark.parametrize(("before", "after"), [("a " * 25_000, "a b " * 12_500), ("\n" * 9_000, "\n" * 9_000 + "x")])
def test_long_texts_of_one_piece_again_and_again_are_compared_too(before: str, after: str) -> None:
    assert lines(side_by_side(before, after), "after") == after.splitlines()
