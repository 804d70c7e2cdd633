"""Computed rewrites: what follows the descriptions and what stays as a person worded it."""

from dataclasses import replace

import pytest

from annotate import sheets
from annotate.linting import STUDY_PLAN
from annotate.services.items import Question, Texts

TEXTS = Texts(
    target="cat",
    target_description="the striped cat",
    modified_target_description="the striped dog",
    questions={1: Question("Is the striped cat big?"), 4: Question("Where is the striped cat?", "")},
)


def with_rewrite(text: str) -> Texts:
    return replace(TEXTS, questions={**TEXTS.questions, 4: replace(TEXTS.questions[4], modified=text)})


def recompute(texts: Texts, machine: str = "", before: str = "the striped dog") -> str:
    done = sheets.recompute(texts, machine={4: machine}, before=before, plan=STUDY_PLAN)
    return done.questions[4].modified


def test_a_blank_rewrite_is_computed() -> None:
    assert recompute(TEXTS) == "Where is the striped dog?"


def test_a_rewrite_that_was_computed_follows_the_description() -> None:
    changed = replace(with_rewrite("Where is the striped dog?"), modified_target_description="the striped fox")
    assert recompute(changed, machine="Where is the striped dog?") == "Where is the striped fox?"


def test_a_rewrite_worded_by_hand_keeps_its_words_and_only_the_premise_follows() -> None:
    by_hand = with_rewrite("Where does the striped dog keep itself?")
    assert recompute(by_hand) == "Where does the striped dog keep itself?"
    changed = replace(by_hand, modified_target_description="the striped fox")
    assert recompute(changed) == "Where does the striped fox keep itself?"


def test_nothing_is_computed_where_the_description_is_not_in_the_question() -> None:
    texts = replace(TEXTS, questions={4: Question("Where is it?", "")})
    assert recompute(texts) == ""


def test_a_line_says_whether_it_differs_from_the_computed_one() -> None:
    plan = STUDY_PLAN
    by_hand = sheets.sheet(with_rewrite("Where might it be?"), premise_class="identity", plan=plan).lines[1]
    computed = sheets.sheet(with_rewrite("Where is the striped dog?"), premise_class="identity", plan=plan).lines[1]
    assert (by_hand.differs, by_hand.machine) == (True, "")
    assert (computed.differs, computed.machine) == (False, "Where is the striped dog?")
    assert [piece.text for piece in computed.modified if piece.changed] == ["dog"]


@pytest.mark.parametrize("turn", [1, 4])
def test_findings_stand_beside_the_line_they_are_about(turn: int) -> None:
    texts = replace(TEXTS, questions={**TEXTS.questions, turn: Question("")})
    sheet = sheets.sheet(texts, premise_class="identity", plan=STUDY_PLAN)
    line = next(line for line in sheet.lines if line.number == turn)
    assert [finding.code for finding in line.findings if finding.field == "content"] == ["content_empty"]
    assert all(finding.turn is None or finding.turn not in texts.questions for finding in sheet.general)
