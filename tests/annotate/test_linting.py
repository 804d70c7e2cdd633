"""Each rule of the lint speaks where it should and keeps silent where it shouldn't."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate.drafting import replace_description
from annotate.linting import STUDY_PLAN, PlainItem, PlainTurn, Severity, StudyPlan, blocking, lint_item
from tests.published_release import item_row, made_items

QUESTIONS = (
    "How clearly can {} be seen?",
    "What is {} doing?",
    "Is anything close to {}?",
    "How large does {} seem?",
    "Which side of {} is in the light?",
    "{} seems to be in a hurry, or not?",
    "What can be seen behind {}?",
    "How much of the picture does {} fill?",
    "What has just happened to {}?",
    "Why might {} be here?",
)


def item(true="the red car by the wall", false="the blue car by the wall", premise_class="attribute"):
    """A good item: ten questions, the last seven rewritten as computed."""
    turns = []
    for number, question in enumerate(QUESTIONS, start=1):
        content = question.format(true if not question.startswith("{}") else true[:1].upper() + true[1:])
        modified = replace_description(content, true, false) if number > 3 else ""
        turns.append(PlainTurn(number, content, modified))
    return PlainItem(premise_class, true, false, tuple(turns))


def with_turn(base, number, **texts):
    turns = tuple(replace(turn, **texts) if turn.number == number else turn for turn in base.turns)
    return replace(base, turns=turns)


def found(linted, code):
    return [finding for finding in lint_item(linted) if finding.code == code]


def pronouns(modified, content="Is the woman in the tall boat raising her arm?"):
    base = item("the woman in the tall boat", "the man in the tall boat", "identity")
    return with_turn(base, 5, content=content, modified=modified)


def asked(content):
    return with_turn(item(), 2, content=content)


def rewritten(modified, number=4):
    return with_turn(item(), number, modified=modified)


# Code, severity, an item it must speak about, a near one it must not speak about.
RULES = [
    ("description_empty", "error", replace(item(), target_description=" "), item()),
    (
        "description_is_pronoun",
        "error",
        replace(item(), target_description="this one"),
        item("the one-eyed cat", "the one-eyed dog", "identity"),
    ),
    (
        "description_long",
        "warning",
        item(f"the red car {'very ' * 12}near", f"the blue car {'very ' * 12}near"),
        item("the old red car by the wall of the house", "the old blue car by the wall of the house"),
    ),
    ("description_edges", "error", replace(item(), target_description="the red car."), item()),
    ("description_edges", "error", replace(item(), target_description=" the red car"), item()),
    ("modified_description_empty", "error", replace(item(), modified_target_description=""), item()),
    ("modified_edges", "error", replace(item(), modified_target_description="the blue car by the wall?"), item()),
    (
        "modified_same",
        "error",
        replace(item(), modified_target_description="The red car, by the wall"),
        item("the red car", "the read car"),
    ),
    (
        "several_changes",
        "error",
        item("the red car by the wall", "the blue car by the gate"),
        item("the red car by the wall", "the dark blue car by the wall"),
    ),
    (
        "several_changes",
        "error",
        item("the woman in her coat", "the man in his coat", "attribute"),
        item("the woman in her coat", "the man in his coat", "identity"),
    ),
    (
        "several_changes",
        "error",
        item("the tall boy on the sofa", "the short boy under the sofa", "location"),
        item("the tall boy on the sofa", "the tall boy under the table", "location"),
    ),
    ("only_removed", "error", item("the small red car", "the red car"), item("the small red car", "the large red car")),
    (
        "change_long",
        "error",
        item("the red car", "the very dark old blue car"),
        item("the red car", "the very dark blue car"),
    ),
    (
        "change_long",
        "error",
        item("the dog by the tree", "the dog on the far left side of the old wall", "location"),
        item("the dog by the tree", "the dog to the far left of the tree", "location"),
    ),
    (
        "change_more_than_one_word",
        "warning",
        item("the red car", "the dark blue car"),
        item("the red car", "the blue car"),
    ),
    ("expansion", "error", item("the car by the wall", "the blue car by the wall"), item()),
    (
        "expansion",
        "warning",
        item("the gray road bicycle", "the gray road bicycle on the right", "location"),
        item("the gray bicycle on the left", "the gray bicycle on the right", "location"),
    ),
    (
        "class_mismatch",
        "error",
        item("the red car", "the blue car", "identity"),
        item("the red car", "the red truck", "identity"),
    ),
    (
        "class_mismatch",
        "error",
        item("the wooden chair on the left", "the wooden chair on the right", "attribute"),
        item("the wooden chair on the left", "the metal chair on the left", "attribute"),
    ),
    ("class_mismatch", "error", item("the red dog", "the red cat", "attribute"), item("the red dog", "the wet dog")),
    (
        "class_mismatch",
        "error",
        item("the dog on the left", "the cat on the left", "location"),
        item("the boy next to the dog", "the boy next to the cat", "location"),
    ),
    (
        "class_mismatch",
        "error",
        item("the kitten on the pink blanket", "the kitten on the green blanket", "location"),
        item("the kitten on the blanket", "the kitten under the blanket", "location"),
    ),
    (
        "class_mismatch",
        "error",
        item("the wooden boat", "the plastic boat", "identity"),
        item("the orange on the plate", "the lemon on the plate", "identity"),
    ),
    (
        "identity_not_the_target",
        "warning",
        item("the man with the dog", "the man with the cat", "identity"),
        item("the cup of coffee", "the cup of tea", "identity"),
    ),
    (
        "location_without_place",
        "warning",
        item("the parked tower", "the moving tower", "location"),
        item("the boy near the tower", "the boy near the gate", "location"),
    ),
    *[
        (
            "identity_soft",
            "error",
            item(f"the old {old}", f"the old {new}", "identity"),
            item("the old woman", "the old man", "identity"),
        )
        for old, new in [
            ("woman", "girl"),
            ("man", "boy"),
            ("person", "woman"),
            ("man", "person"),
            ("car", "automobile"),
            ("dog", "puppy"),
            ("animal", "dog"),
            ("bird", "hen"),
            ("plane", "aircraft"),
            ("dogs", "puppies dog"),
        ]
    ],
    *[
        (
            "identity_soft",
            "error",
            item("the small boys", "the small man", "identity"),
            item(f"the {old}", f"the {new}", "identity"),
        )
        for old, new in [
            ("dog", "cat"),
            ("car", "truck"),
            ("woman", "man"),
            ("cow", "horse"),
            ("bicycle", "motorcycle"),
        ]
    ],
    (
        "location_of_a_part",
        "error",
        item("the man with a bag on his left arm", "the man with a bag on his right arm", "location"),
        item("the man with a bag on the left", "the man with a bag on the right", "location"),
    ),
    (
        "location_may_attach",
        "warning",
        item("the woman in the blue coat", "the woman in the blue coat on the left", "location"),
        item("the gray road bicycle", "the gray road bicycle on the right", "location"),
    ),
    ("article", "warning", item("a red car", "a orange car"), item("a red car", "an orange car")),
    ("article", "warning", item("an old car", "an new car"), item("a car", "a unicycle", "identity")),
    (
        "questions_missing",
        "error",
        replace(item(), turns=item().turns[:9]),
        item(),
    ),
    ("questions_extra", "error", replace(item(), turns=(*item().turns, PlainTurn(11, "Why?"))), item()),
    ("turn_twice", "error", replace(item(), turns=(*item().turns, item().turns[0])), item()),
    (
        "question_duplicate",
        "error",
        asked("How clearly can the red car by the wall be seen ?"),
        asked("How clearly was the red car by the wall seen?"),
    ),
    ("content_empty", "error", asked("  "), item()),
    (
        "not_a_question",
        "warning",
        asked("Describe the red car by the wall."),
        asked("“Is the red car by the wall old?”"),
    ),
    ("untidy_space", "warning", asked("Is  the red car by the wall old?"), asked("Is the red car by the wall old?")),
    ("untidy_space", "warning", asked("Is the red car by the wall old?\n"), item()),
    (
        "description_twice",
        "error",
        asked("Is the red car by the wall the red car by the wall?"),
        asked("Is the red car by the wall near the red carpet?"),
    ),
    (
        "description_altered",
        "error",
        asked("What is the red car doing?"),
        asked("What is the red car by the wall doing?"),
    ),
    ("description_altered", "error", asked("What is the Red Car by the wall doing?"), item()),
    ("description_altered", "error", asked("What is the red  car by the wall doing?"), item()),
    ("description_pronoun", "error", asked("What is it doing?"), asked("Is it the red car by the wall?")),
    ("description_missing", "error", asked("What is the weather like?"), item()),
    ("rewrite_missing", "error", rewritten(""), rewritten("", number=3)),
    ("rewrite_unexpected", "error", rewritten("Is the blue car by the wall old?", number=3), rewritten("", number=3)),
    (
        "rewrite_differs",
        "error",
        rewritten("How small does the blue car by the wall seem?"),
        rewritten("How large does the blue car by the wall seem?"),
    ),
    ("rewrite_differs", "error", rewritten("How large does the blue car by the wall seem"), item()),
    (
        "rewrite_differs",
        "error",
        pronouns("Is the man in the tall boat raising the arm?"),
        pronouns("Is the man in the tall boat raising his arm?"),
    ),
    (
        "rewrite_pronouns",
        "warning",
        with_turn(
            item("the woman in the red boat", "the woman in the blue boat"),
            5,
            content="Is the woman in the red boat raising her arm?",
            modified="Is the woman in the blue boat raising his arm?",
        ),
        pronouns("Is the man in the tall boat raising his arm?"),
    ),
    (
        "rewrite_pronoun_left",
        "warning",
        pronouns("Is the man in the tall boat raising her arm?"),
        pronouns("Is the man in the tall boat raising his arm?"),
    ),
    ("rewrite_twice", "error", rewritten("Is the blue car by the wall the blue car by the wall?"), item()),
    ("rewrite_keeps_description", "error", rewritten("How large does the red car by the wall seem?"), item()),
    ("rewrite_altered", "error", rewritten("How large does the blue car seem?"), item()),
]


@pytest.mark.parametrize(
    ("code", "severity", "wrong", "right"), RULES, ids=lambda value: getattr(value, "premise_class", value)
)
def test_a_rule_speaks_of_the_wrong_item_and_not_of_the_right_one(code, severity, wrong, right):
    spoken = found(wrong, code)
    assert spoken, f"{code} kept silent; there were {[finding.code for finding in lint_item(wrong)]}"
    assert {finding.severity for finding in spoken} == {Severity(severity)}
    assert all(finding.message.endswith(".") for finding in spoken)
    assert found(right, code) == []


def test_there_are_at_least_fifty_cases():
    assert len(RULES) >= 50


@pytest.mark.parametrize(
    ("true", "false", "premise_class"),
    [
        ("the red car by the wall", "the blue car by the wall", "attribute"),
        ("the smiling woman in the red suit", "the smiling man in the red suit", "identity"),
        ("the man to the left of the tripod", "the man to the right of the tripod", "location"),
        ("the dog with its paw over the ledge", "the cat with its paw over the ledge", "identity"),
        ("the brown hen looking to the right", "the black hen looking to the right", "attribute"),
        ("the halved fig in the red bowl", "the halved apple in the red bowl", "identity"),
        ("the kitten on the pink blanket", "the kitten under the pink blanket", "location"),
        ("the boat in the background", "the boat in the foreground", "location"),
        ("the bowl of rice near the edge", "the bowl of soup near the edge", "identity"),
        ("the man in the red tunic", "the man in the blue tunic", "attribute"),
    ],
)
def test_a_good_item_has_no_finding(true, false, premise_class):
    assert lint_item(item(true, false, premise_class)) == []


def test_the_studys_own_example_of_a_location_needs_a_tick_and_no_more():
    findings = lint_item(item("the gray road bicycle", "the gray road bicycle on the right", "location"))
    assert [finding.code for finding in findings] == ["expansion"]
    assert blocking(findings) == []


def test_made_items_of_the_published_size_have_no_error():
    for made in made_items()[:: len(made_items()) // 72]:
        row = item_row(made)
        turns = tuple(PlainTurn(turn["turn"], turn["content"], turn["modified"] or "") for turn in row["turns"])
        linted = PlainItem(row["premise_class"], row["target_description"], row["modified_target_description"], turns)
        assert blocking(lint_item(linted)) == []


def test_a_span_points_at_the_words_it_is_about():
    (finding,) = found(item("the woman", "the girl", "identity"), "identity_soft")
    start, end = finding.span
    assert "the girl"[start:end] == "girl"
    assert finding.field == "modified_target_description"
    (finding,) = found(asked("What is it doing?"), "description_pronoun")
    assert "What is it doing?"[slice(*finding.span)] == "it"
    assert (finding.turn, finding.field) == (2, "content")
    text = "How small does the blue car by the wall seem?"
    (finding,) = found(rewritten(text), "rewrite_differs")
    assert text[slice(*finding.span)] == "small"


def test_a_plan_of_four_turns_asks_for_four():
    plan = StudyPlan(turns=4, false_turns=(4,))
    variant = replace(item(), turns=item().turns[:4])
    assert lint_item(variant, plan) == []
    assert {finding.code for finding in lint_item(item(), plan)} == {"questions_extra", "rewrite_unexpected"}


def test_a_row_with_turns_and_false_turns_is_a_plan():
    row = SimpleNamespace(turns=4, false_turns=[4])
    assert lint_item(replace(item(), turns=item().turns[:4]), row) == []


def test_a_plan_without_false_turns_asks_for_no_premise():
    plain = PlainItem("attribute", "the red car by the wall", "", (PlainTurn(1, "Is the red car by the wall moving?"),))
    assert lint_item(plain, StudyPlan(turns=1, false_turns=())) == []


def test_an_item_not_begun_is_told_what_is_missing_without_repeating_itself():
    empty = PlainItem("identity", "", "", ())
    assert [finding.code for finding in lint_item(empty)] == [
        "description_empty",
        "modified_description_empty",
        "questions_missing",
    ]


def test_findings_come_item_first_then_by_turn():
    broken = with_turn(with_turn(asked("What?"), 9, modified=""), 4, content="")
    turns = [finding.turn or 0 for finding in lint_item(replace(broken, modified_target_description="the red car"))]
    assert turns == sorted(turns)


@given(
    st.sampled_from(["identity", "attribute", "location"]),
    st.text(max_size=30),
    st.text(max_size=30),
    st.lists(st.builds(PlainTurn, st.integers(1, 12), st.text(max_size=40), st.text(max_size=40)), max_size=12),
)
def test_any_text_at_all_is_linted_without_an_exception(premise_class, true, false, turns):
    lengths = {"target_description": len(true), "modified_target_description": len(false)}
    for finding in lint_item(PlainItem(premise_class, true, false, tuple(turns)), STUDY_PLAN):
        if finding.span and finding.field in lengths:
            assert 0 <= finding.span[0] <= finding.span[1] <= lengths[finding.field]


WORDS = "the a red blue dog cat on left right with in her his coat hat it an orange hour ?"
WORD = st.sampled_from(re.split(" ", WORDS))


@given(
    st.sampled_from(["identity", "attribute", "location"]),
    st.lists(WORD, max_size=8).map(" ".join),
    st.lists(WORD, max_size=8).map(" ".join),
)
def test_any_mix_of_words_is_linted_without_an_exception(premise_class, true, false):
    turns = tuple(PlainTurn(n, f"Is {true} here?", f"Is {false} here?") for n in range(4, 11))
    assert isinstance(lint_item(PlainItem(premise_class, true, false, turns)), list)
