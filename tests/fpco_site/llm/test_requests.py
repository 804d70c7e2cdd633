"""What is asked of models, detectors and drafting models, and how strictly their JSON is read."""

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fpco_site.errors import Invalid
from fpco_site.llm import detection, dialogue, drafts, prompts
from fpco_site.llm.strict_json import ParseError
from fpco_site.llm.types import Message, Picture

PHOTO = Picture(b"photo")
IDS = st.sets(st.integers(1, 10), min_size=1)
LABELS = st.dictionaries(st.integers(1, 10), st.booleans(), min_size=1)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def labels(rows: list[dict[str, Any]]) -> str:
    return json.dumps({"labels": rows})


def test_turn_one_is_the_system_prompt_the_picture_and_the_question() -> None:
    request = dialogue.request(system="Be kind.", questions=["One?"], answers=[], picture=PHOTO)

    assert (request.system, request.picture, request.schema) == ("Be kind.", PHOTO, None)
    assert request.messages == (Message("user", "One?"),)


def test_turn_three_has_the_models_own_answers_between_the_questions() -> None:
    request = dialogue.request(system="", questions=["1?", "2?", "3?"], answers=["One.", "Two."], picture=PHOTO)

    assert [(m.role, m.text) for m in request.messages] == [
        ("user", "1?"),
        ("assistant", "One."),
        ("user", "2?"),
        ("assistant", "Two."),
        ("user", "3?"),
    ]


@pytest.mark.parametrize("answers", [[], ["One.", "Two."], [""]])
def test_a_history_with_a_gap_is_refused(answers: list[str]) -> None:
    with pytest.raises(ValueError, match="answer"):
        dialogue.request(system="", questions=["1?", "2?"], answers=answers, picture=PHOTO)


def test_a_false_premise_turn_needs_its_modified_question() -> None:
    item = detection.Item(4, "identity", True, "Where is the dog?", None, "Here.")

    with pytest.raises(ValueError, match="Turn 4"):
        detection.request(system="", items=[item])


def test_a_dialogue_without_text_is_not_asked_about() -> None:
    with pytest.raises(ValueError, match="No turn"):
        detection.request(system="", items=[detection.Item(1, "identity", False, "Where?", None, None)])


def test_a_response_that_is_blank_text_is_still_a_turn_with_text() -> None:
    items = [detection.Item(1, "identity", False, "Where?", None, "")]

    assert detection.ids_asked(items) == (1,)


@given(LABELS)
def test_good_labels_are_read(expected: dict[int, bool]) -> None:
    rows = [{"id": turn, "detect": detect} for turn, detect in expected.items()]

    assert detection.parse(labels(rows), expected) == expected


@given(LABELS, IDS)
def test_labels_for_other_ids_are_refused(given_labels: dict[int, bool], asked: set[int]) -> None:
    assume(given_labels.keys() != asked)

    with pytest.raises(ParseError, match=r"was not asked|is missing"):
        detection.parse(labels([{"id": turn, "detect": d} for turn, d in given_labels.items()]), asked)


@given(LABELS, st.data())
def test_a_repeated_id_is_refused(expected: dict[int, bool], data: st.DataObject) -> None:
    rows = [{"id": turn, "detect": detect} for turn, detect in expected.items()]
    rows.append({"id": data.draw(st.sampled_from(sorted(expected))), "detect": data.draw(st.booleans())})

    with pytest.raises(ParseError, match="comes twice"):
        detection.parse(labels(rows), expected)


@given(LABELS, JSON.filter(lambda value: not isinstance(value, bool)), st.data())
def test_a_label_that_is_no_boolean_is_refused(expected: dict[int, bool], value: object, data: st.DataObject) -> None:
    rows: list[dict[str, Any]] = [{"id": turn, "detect": detect} for turn, detect in expected.items()]
    data.draw(st.sampled_from(rows))["detect"] = value

    with pytest.raises(ParseError):
        detection.parse(labels(rows), expected)


@given(st.text() | JSON.map(json.dumps), IDS)
def test_whatever_comes_is_read_or_refused(text: str, asked: set[int]) -> None:
    try:
        found = detection.parse(text, asked)
    except ParseError:
        return
    assert found.keys() == asked


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Sure, here are the labels.",
        'Here: {"labels": [{"id": 1, "detect": true}]}',
        '```json\n{"labels": [{"id": 1, "detect": true}]}\n```',
        '{"labels": [{"id": 1, "detect": true}]} {"labels": []}',
        '[{"id": 1, "detect": true}]',
        '{"labels": {"id": 1, "detect": true}}',
        '{"labels": [{"id": 1, "detect": true}], "note": "done"}',
        '{"labels": [{"id": 1, "detect": true, "why": "so"}]}',
        '{"labels": [{"id": 1}]}',
        '{"labels": [{"id": true, "detect": true}]}',
        '{"labels": [{"id": 1.0, "detect": true}]}',
        '{"labels": [{"id": "1", "detect": true}]}',
        '{"labels": [{"id": 1, "detect": "true"}]}',
        '{"labels": [{"id": 1, "detect": 1}]}',
        '{"labels": [{"id": 1, "detect": NaN}]}',
        '{"labels": [{"id": 1, "detect": false, "detect": true}]}',
        '{"labels": [{"id": 2, "detect": false}], "labels": [{"id": 1, "detect": true}]}',
        '{"labels": [1]}',
        "[" * 100_000,
    ],
)
def test_anything_but_one_label_for_each_id_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        detection.parse(text, [1])


def test_a_drafting_request_has_the_metadata_and_the_picture() -> None:
    metadata = drafts.Metadata("dog", 3, "multi_separated")

    request = drafts.questions_request(system="Draft.", metadata=metadata, picture=PHOTO)

    assert request.picture == PHOTO
    assert json.loads(request.messages[0].text) == {
        "metadata": {"target": "dog", "category": 3, "complexity": "multi_separated"}
    }
    assert request.schema == drafts.QUESTIONS_SCHEMA


def test_a_premise_request_has_the_description_the_class_and_the_questions() -> None:
    request = drafts.premise_request(
        system="Draft.",
        metadata=drafts.Metadata("dog", 3, "single_clean"),
        target_description="the dog",
        questions={5: "Five, the dog?", 4: "Four, the dog?"},
        premise_class="identity",
    )

    body = json.loads(request.messages[0].text)
    assert (body["target_description"], body["premise_class"]) == ("the dog", "identity")
    assert [row["id"] for row in body["questions"]] == [4, 5]
    assert request.schema == drafts.PREMISE_SCHEMA


def test_a_draft_of_questions_is_read_and_trimmed() -> None:
    rows = [{"id": number, "content": f" Question {number}? "} for number in range(1, 11)]

    draft = drafts.parse_questions(json.dumps({"target_description": " the dog ", "questions": rows}))

    assert draft.target_description == "the dog"
    assert draft.questions == {number: f"Question {number}?" for number in range(1, 11)}


@pytest.mark.parametrize("spoil", ["nine", "eleven", "blank", "number", "no description", "extra"])
def test_a_draft_that_is_not_as_asked_is_refused(spoil: str) -> None:
    rows: list[dict[str, Any]] = [{"id": number, "content": f"Question {number}?"} for number in range(1, 11)]
    body: dict[str, Any] = {"target_description": "the dog", "questions": rows}
    match spoil:
        case "nine":
            rows.pop()
        case "eleven":
            rows.append({"id": 11, "content": "Question 11?"})
        case "blank":
            rows[3]["content"] = " "
        case "number":
            rows[3]["content"] = 3
        case "no description":
            body["target_description"] = ""
        case "extra":
            body["comment"] = "Done."

    with pytest.raises(ParseError):
        drafts.parse_questions(json.dumps(body))


@given(st.text() | JSON.map(json.dumps))
def test_any_text_is_a_premise_or_refused(text: str) -> None:
    try:
        draft = drafts.parse_premise(text)
    except ParseError:
        return
    assert list(draft.questions) == list(range(4, 11))


@pytest.mark.django_db
def test_every_prompt_has_a_version_and_a_hash() -> None:
    assert prompts.names() == ("check_variant", "detector", "draft_premise", "draft_questions", "inference")
    for name in prompts.names():
        prompt = prompts.load(name)
        assert prompt == prompts.load(name, prompts.versions(name)[-1])
        assert prompt == prompts.make(name=name, version=prompt.version, text=prompt.text)
        assert prompt.text == prompt.text.strip() != ""
        assert len(prompt.sha256) == 64


def test_another_text_has_another_hash() -> None:
    one = prompts.make(name="detector", version=1, text="Judge.")

    assert prompts.make(name="detector", version=1, text="Judge!").sha256 != one.sha256
    assert prompts.make(name="detector", version=2, text="\nJudge.\n").sha256 == one.sha256


@pytest.mark.parametrize(("name", "version"), [("poem", None), ("detector", 99), ("../types", None)])
@pytest.mark.django_db
def test_an_unknown_prompt_is_refused(name: str, version: int | None) -> None:
    with pytest.raises(Invalid, match=r"no prompt named|no version 99"):
        prompts.load(name, version)
