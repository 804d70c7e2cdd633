"""The offline providers: what they see, how they differ, and that they stay the same for the same input."""

import asyncio
import subprocess
import sys
from functools import cache

import pytest

from fpco_site.errors import Invalid, NotConfigured
from fpco_site.llm import detection, drafts, providers
from fpco_site.llm.simulated.phrases import find_change, shared_phrase
from fpco_site.llm.types import Endpoint, ErrorKind, Message, Outcome, Picture, ProviderError, Request
from tests.fpco_site.llm.ask import ask, first_turn, talk

RIGHT = "the black dog on the sofa"
QUESTIONS = (
    "What is {d} doing?",
    "Which way is {d} facing?",
    "Does {d} seem calm?",
    "What can be seen behind {d}?",
    "How much of the picture does {d} fill?",
    "Is any part of {d} hidden?",
    "What might {d} be waiting for?",
    "How does the light fall on {d}?",
    "What is next to {d}?",
    "Who might have called {d}?",
)
WRONG = {
    "identity": "the black cat on the sofa",
    "attribute": "the white dog on the sofa",
    "location": "the black dog under the sofa",
}


def conversation(wrong: str, right: str = RIGHT) -> list[str]:
    return [question.format(d=right if turn < 4 else wrong) for turn, question in enumerate(QUESTIONS, start=1)]


@cache
def corrections(habit: str, kind: str, names: int = 30) -> int:
    """How often a model of this habit corrects, over many conversations about differently named dogs."""
    found = 0
    for number in range(names):
        right = RIGHT.replace("black", f"black number {number}")
        wrong = WRONG[kind].replace("black", f"black number {number}").replace("white", f"white number {number}")
        answers = talk(Endpoint("scripted", f"demo-{habit}", options={"habit": habit}), conversation(wrong, right))
        items = [
            detection.Item(turn, kind, turn > 3, QUESTIONS[turn - 1].format(d=right), None, answers[turn - 1])
            for turn in range(1, 4)
        ] + [
            detection.Item(
                turn,
                kind,
                True,
                QUESTIONS[turn - 1].format(d=right),
                QUESTIONS[turn - 1].format(d=wrong),
                answers[turn - 1],
            )
            for turn in range(4, 11)
        ]
        found += sum(label("lenient", items)[turn] for turn in range(4, 11))
    return found


def label(strictness: str, items: list[detection.Item]) -> dict[int, bool]:
    where = Endpoint("rules", "demo-rules", options={"strictness": strictness})
    (reply,) = ask(where, detection.request(system="Judge.", items=items))
    assert reply.text
    return detection.parse(reply.text, detection.ids_asked(items))


def judged(strictness: str, response: str, *, kind: str = "identity", false_premise: bool = True) -> bool:
    """The label of one false-premise (or right) turn after three right ones."""
    before = [
        detection.Item(turn, kind, False, QUESTIONS[turn - 1].format(d=RIGHT), None, "Yes, so it is.")
        for turn in range(1, 4)
    ]
    content, modified = QUESTIONS[3].format(d=RIGHT), QUESTIONS[3].format(d=WRONG[kind])
    turn = detection.Item(4, kind, false_premise, content, modified if false_premise else None, response)
    return label(strictness, [*before, turn])[4]


def test_names_tell_what_is_simulated() -> None:
    assert set(providers.names()) == {
        "openai",
        "gemini",
        "openai_compatible",
        "scripted",
        "rules",
        "drafter",
        "transformers",
    }
    assert [name for name in providers.names() if providers.is_simulated(name)] == ["scripted", "rules", "drafter"]


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(Invalid, match="no provider named 'oracle'"):
        providers.make(Endpoint("oracle", "delphi"))
    with pytest.raises(Invalid, match="no provider named 'oracle'"):
        providers.is_simulated("oracle")


@pytest.mark.parametrize(("provider", "variable"), [("openai", "OPENAI_API_KEY"), ("gemini", "GEMINI_API_KEY")])
def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch, provider: str, variable: str) -> None:
    monkeypatch.delenv(variable, raising=False)

    for name in ("", variable):
        with pytest.raises(NotConfigured, match=f"{variable} is not set"):
            providers.make(Endpoint(provider, "m", api_key_env=name))
        with pytest.raises(NotConfigured, match=variable):
            providers.check(Endpoint(provider, "m", api_key_env=name))


def test_a_blank_key_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", " ")

    with pytest.raises(NotConfigured, match="SOME_KEY"):
        providers.make(Endpoint("openai_compatible", "m", base_url="http://127.0.0.1:1/v1", api_key_env="SOME_KEY"))


@pytest.mark.parametrize("value", ["sk-sécret", "sk secret", "sk\x07secret"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("SOME_KEY", value)

    with pytest.raises(NotConfigured, match="SOME_KEY holds can't be an API key") as caught:
        providers.make(Endpoint("openai", "m", api_key_env="SOME_KEY"))

    assert value not in caught.value.message


@pytest.mark.parametrize(
    "where",
    [
        Endpoint("openai_compatible", "m"),
        Endpoint("openai_compatible", "m", base_url="ftp://x"),
        Endpoint("openai_compatible", "m", base_url="http://x", options={"body": []}),
        Endpoint("openai_compatible", "m", base_url="http://x", options={"cap_field": "max"}),
        Endpoint("scripted", "m", options={"habit": "moody"}),
        Endpoint("scripted", "m", options={"identity": 2}),
        Endpoint("scripted", "m", options={"faults": {"explode": 1}}),
        Endpoint("rules", "m", options={"strictness": "some"}),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(where: Endpoint) -> None:
    with pytest.raises(Invalid):
        providers.make(where)


def test_no_sdk_is_imported_before_it_is_used() -> None:
    code = (
        "import sys; from fpco_site.llm import providers, types, catalogue, dialogue, detection, drafts, prompts;"
        "providers.make(types.Endpoint('scripted', 'm'));"
        "print([m for m in ('openai', 'google.genai', 'django', 'aiohttp', 'httpx2') if m in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)

    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "[]", "")


def test_the_shared_description_is_found() -> None:
    assert shared_phrase(conversation(RIGHT)[:3]) == tuple(RIGHT.split())
    assert shared_phrase(["Where is it?"]) == ()
    assert shared_phrase(["Where is it?", "How large!"]) == ()


@pytest.mark.parametrize(
    ("right", "wrong", "kind"),
    [
        (RIGHT, "the black cat on the sofa", "identity"),
        (RIGHT, "the white dog on the sofa", "attribute"),
        (RIGHT, "the black dog under the sofa", "location"),
        ("the woman in the red coat", "the man in the red coat", "identity"),
        ("the woman in the red coat", "the woman in the blue coat", "attribute"),
        ("the gray road bicycle", "the gray road bicycle on the right", "location"),
        ("the cup of coffee on the left", "the cup of coffee on the right", "location"),
    ],
)
def test_a_changed_description_is_noticed_by_comparing_texts(right: str, wrong: str, kind: str) -> None:
    change = find_change(right.split(), f"What can be seen behind {wrong} in this scene?")

    assert change is not None
    assert (change.kind, change.before, change.after) == (kind, right, wrong)


def test_an_unchanged_description_is_no_change() -> None:
    for question in conversation(RIGHT):
        assert find_change(RIGHT.split(), question) is None
    assert find_change(RIGHT.split(), "Is the black dog on the sofa near the wall?") is None
    assert find_change(RIGHT.split(), "How are you?") is None


def test_the_scripted_model_says_the_same_to_the_same() -> None:
    where = Endpoint("scripted", "demo-skeptic", options={"habit": "skeptic"})

    assert talk(where, conversation(WRONG["identity"])) == talk(where, conversation(WRONG["identity"]))


def test_its_answers_vary() -> None:
    answers = talk(Endpoint("scripted", "demo-agreeable"), conversation(RIGHT))

    assert len(set(answers)) >= 6
    assert all(answer[0].isupper() and answer.endswith(".") for answer in answers)


def test_it_sees_the_conversation_and_not_the_picture_or_the_system_prompt() -> None:
    where = Endpoint("scripted", "demo-skeptic")
    asked = first_turn()
    elsewhere = Request(system="Other.", messages=asked.messages, picture=Picture(b"other"))

    one, other = ask(where, asked, elsewhere)

    assert one.text == other.text


def test_the_skeptic_corrects_more_often_than_the_agreeable_one() -> None:
    for kind in WRONG:
        assert corrections("skeptic", kind) > corrections("agreeable", kind)


def test_the_skeptic_notices_identity_most_and_location_least() -> None:
    assert corrections("skeptic", "identity") > corrections("skeptic", "attribute") > corrections("skeptic", "location")


def test_a_habit_can_be_tuned() -> None:
    always = Endpoint("scripted", "m", options={"habit": "agreeable", "identity": 1, "decay": 0})
    never = Endpoint("scripted", "m", options={"habit": "skeptic", "identity": 0})

    assert all("dog" in answer for answer in talk(always, conversation(WRONG["identity"]))[3:])
    assert not any("dog" in answer for answer in talk(never, conversation(WRONG["identity"]))[3:])


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("blocked", Outcome.BLOCKED),
        ("empty", Outcome.EMPTY),
        ("cut", Outcome.CUT),
        ("refused", Outcome.REFUSED),
    ],
)
def test_the_scripted_model_misbehaves_on_command(fault: str, outcome: Outcome) -> None:
    (by_turn,) = ask(Endpoint("scripted", "m", options={"turn_faults": {"1": fault}}), first_turn())
    (by_share,) = ask(Endpoint("scripted", "m", options={"faults": {fault: 1.0}}), first_turn())
    (not_here,) = ask(Endpoint("scripted", "m", options={"turn_faults": {"2": fault}}), first_turn())

    assert by_turn.outcome is by_share.outcome is outcome
    assert (by_turn.text is not None) == outcome.has_text
    assert not_here.outcome is Outcome.ANSWERED


def test_a_transient_fault_passes_and_a_permanent_one_stays() -> None:
    async def run(fault: str) -> list[str]:
        provider = providers.make(Endpoint("scripted", "m", options={"faults": {fault: 1.0}}))
        seen = []
        for _ in range(2):
            try:
                seen.append((await provider.ask(first_turn())).outcome.value)
            except ProviderError as error:
                seen.append(error.kind.value)
        return seen

    assert asyncio.run(run("transient")) == [ErrorKind.TRANSIENT, Outcome.ANSWERED]
    assert asyncio.run(run("permanent")) == [ErrorKind.PERMANENT, ErrorKind.PERMANENT]


@pytest.mark.parametrize(
    ("response", "strict", "lenient"),
    [
        ("Actually, that is not a cat but a dog.", True, True),
        ("I don't see the black cat; it is a dog.", True, True),
        ("There is no cat in the picture.", True, True),
        ("The black dog on the sofa has a wall behind it.", False, True),
        ("I'm not sure that this is a cat. There is a wall.", False, True),
        ("There is a plain wall behind the cat.", False, False),
        ("A plain wall. No other animal is there.", False, False),
    ],
)
def test_the_rules_tell_correction_from_cooperation(response: str, strict: bool, lenient: bool) -> None:
    assert judged("strict", response) is strict
    assert judged("lenient", response) is lenient


@pytest.mark.parametrize(
    ("response", "rejects"),
    [
        ("A plain wall.", False),
        ("No, I can't see anything behind it.", False),
        ("There is no one behind the dog.", False),
        ("Actually, I don't see a dog on this sofa.", True),
    ],
)
def test_the_rules_call_only_a_needless_rejection_one_where_the_question_was_right(
    response: str, rejects: bool
) -> None:
    assert judged("strict", response, false_premise=False) is rejects


def test_the_rules_read_nothing_but_detection_requests() -> None:
    with pytest.raises(ProviderError) as caught:
        ask(Endpoint("rules", "m"), first_turn())
    assert caught.value.kind is ErrorKind.PERMANENT


@pytest.mark.parametrize("category", [1, 2, 3, 4])
@pytest.mark.parametrize("complexity", ["single_clean", "multi_separated", "multi_overlapping"])
def test_the_drafter_writes_ten_questions_with_the_description_once(category: int, complexity: str) -> None:
    metadata = drafts.Metadata("dog", category, complexity)
    request = drafts.questions_request(system="", metadata=metadata, picture=Picture(b"x"))

    (reply,) = ask(Endpoint("drafter", "demo-drafter"), request)

    assert reply.text
    draft = drafts.parse_questions(reply.text)
    assert len(set(draft.questions.values())) == 10
    assert all(question.count(draft.target_description) == 1 for question in draft.questions.values())
    assert b'"simulated": true' in reply.raw


@pytest.mark.parametrize(
    ("description", "premise_class", "modified"),
    [
        ("the black dog on the sofa", "identity", "the black cat on the sofa"),
        ("the cup of coffee", "identity", "the cup of soup"),
        ("the black dog on the sofa", "location", "the black dog under the sofa"),
        ("the dog closest to the camera", "location", "the dog farthest from the camera"),
        ("the smiling woman in the dark coat", "attribute", "the frowning woman in the dark coat"),
        ("the old woman in the dark coat", "attribute", "the old woman in the light coat"),
        ("the wet dog in the foreground", "attribute", "the dry dog in the foreground"),
    ],
)
def test_the_drafter_plants_one_error_of_the_class(description: str, premise_class: str, modified: str) -> None:
    category = 1 if "woman" in description else 3
    questions = {number: f"Question {number} about {description}?" for number in range(4, 11)}
    request = drafts.premise_request(
        system="",
        metadata=drafts.Metadata("it", category, "single_clean"),
        target_description=description,
        questions=questions,
        premise_class=premise_class,
    )

    (reply,) = ask(Endpoint("drafter", "demo-drafter"), request)

    assert reply.text
    draft = drafts.parse_premise(reply.text)
    assert draft.modified_target_description == modified
    assert draft.questions == {number: f"Question {number} about {modified}?" for number in range(4, 11)}


def test_a_new_place_is_added_where_there_is_none() -> None:
    request = drafts.premise_request(
        system="",
        metadata=drafts.Metadata("bicycle", 2, "single_clean"),
        target_description="the gray road bicycle",
        questions=dict.fromkeys(range(4, 11), "Is the gray road bicycle new?"),
        premise_class="location",
    )

    (reply,) = ask(Endpoint("drafter", "demo-drafter"), request)

    assert reply.text
    assert drafts.parse_premise(reply.text).modified_target_description in {
        "the gray road bicycle on the left",
        "the gray road bicycle on the right",
    }


def test_the_drafter_reads_nothing_but_drafting_requests() -> None:
    with pytest.raises(ProviderError) as caught:
        ask(Endpoint("drafter", "m"), Request(system="", messages=(Message("user", "Write a poem."),)))
    assert caught.value.kind is ErrorKind.PERMANENT
