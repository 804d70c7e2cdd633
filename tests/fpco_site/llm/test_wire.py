"""What goes over the wire to each network provider, and what is read from its answers."""

import asyncio
import base64
import json
from typing import Any

import pytest

from fpco_site.llm import detection, providers
from fpco_site.llm.providers import gemini, openai, openai_compatible
from fpco_site.llm.types import Message, Outcome, Request, Usage
from tests.fpco_site.llm.ask import CANARY, NETWORK, PHOTO, ask, endpoint, first_turn, talk
from tests.stubs import StubServer

QUESTIONS = [f"Question {turn} about the black dog on the sofa?" for turn in range(1, 4)] + [
    f"Question {turn} about the black cat on the sofa?" for turn in range(4, 11)
]
FORBIDDEN = ("identity", "false_class", "false_premise", "premise", "detect", "target_description", "modified")


def whole_dialogue(stub: StubServer, provider: str, **settings: Any) -> tuple[list[str], list[dict[str, Any]]]:
    """Ten turns with the model's own answers; the answers and the bodies that were sent."""
    answers = talk(endpoint(provider, stub.url(provider), **settings), QUESTIONS, PHOTO)
    return answers, [recorded.body for recorded in stub.requests]


@pytest.mark.parametrize("provider", NETWORK)
def test_turn_t_carries_t_user_turns_and_the_models_own_answers(stub: StubServer, provider: str) -> None:
    answers, _ = whole_dialogue(stub, provider)

    assert [recorded.asked and recorded.asked.turn for recorded in stub.requests] == list(range(1, 11))
    assert stub.requests[-1].asked
    said = stub.requests[-1].asked.request.messages
    assert [m.text for m in said if m.role == "user"] == QUESTIONS
    assert [m.text for m in said if m.role == "assistant"] == answers[:9]
    assert len(set(answers)) > 3


@pytest.mark.parametrize("provider", NETWORK)
def test_exactly_one_picture_goes_out_with_the_first_user_turn(stub: StubServer, provider: str) -> None:
    _, bodies = whole_dialogue(stub, provider)

    encoded = base64.b64encode(PHOTO.data).decode()
    for recorded, body in zip(stub.requests, bodies, strict=True):
        assert recorded.asked
        assert recorded.asked.pictures == (1,)
        assert recorded.asked.request.picture == PHOTO
        assert json.dumps(body).count(encoded) == 1


@pytest.mark.parametrize("provider", NETWORK)
def test_no_class_no_metadata_and_no_label_goes_out(stub: StubServer, provider: str) -> None:
    _, bodies = whole_dialogue(stub, provider)

    sent = json.dumps(bodies).lower()
    assert [word for word in FORBIDDEN if word in sent] == []


def test_responses_gets_the_settings_of_the_study(stub: StubServer) -> None:
    whole_dialogue(stub, "openai", model_id="gpt-5", max_output_tokens=512, temperature=0.0, top_p=1.0)

    body = stub.requests[0].body
    assert body.keys() == {"model", "instructions", "input", "max_output_tokens", "store", "truncation"}
    assert (body["max_output_tokens"], body["store"], body["truncation"]) == (512, False, "disabled")
    assert body["instructions"] == "Answer."


@pytest.mark.parametrize("provider", ["openai", "openai_compatible"])
@pytest.mark.parametrize(
    ("temperature", "top_p", "sent"),
    [
        (None, None, {}),
        (None, 0.9, {}),
        (0.0, 1.0, {}),
        (0.7, 0.9, {"temperature": 0.7, "top_p": 0.9}),
        (0.7, None, {"temperature": 0.7}),
    ],
)
def test_openai_interfaces_get_sampling_only_with_a_positive_temperature(
    stub: StubServer, provider: str, temperature: float | None, top_p: float | None, sent: dict[str, float]
) -> None:
    ask(endpoint(provider, stub.url(provider), temperature=temperature, top_p=top_p), first_turn())

    body = stub.requests[0].body
    assert {name: body[name] for name in ("temperature", "top_p") if name in body} == sent


def test_chat_gets_max_tokens_and_the_system_prompt_first(stub: StubServer) -> None:
    ask(endpoint("openai_compatible", stub.url("openai_compatible"), max_output_tokens=256), first_turn())

    body = stub.requests[0].body
    assert body.keys() == {"model", "messages", "max_tokens"}
    assert body["max_tokens"] == 256
    assert body["messages"][0] == {"role": "system", "content": "Answer."}


def test_gemini_gets_temperature_zero_and_top_p_one(stub: StubServer) -> None:
    ask(
        endpoint("gemini", stub.url("gemini"), temperature=0.0, top_p=1.0, max_output_tokens=1024),
        first_turn(),
    )

    body = stub.requests[0].body
    assert body.keys() == {"contents", "systemInstruction", "generationConfig"}
    assert body["generationConfig"] == {"temperature": 0.0, "topP": 1.0, "maxOutputTokens": 1024}
    assert stub.requests[0].path.endswith("/models/model-1:generateContent")


@pytest.mark.parametrize("provider", NETWORK)
def test_options_add_fields_to_the_body_and_never_replace_ours(stub: StubServer, provider: str) -> None:
    extra = {"openai": {"reasoning": {"effort": "low"}}, "openai_compatible": {"enable_thinking": False}}.get(
        provider, {"safetySettings": []}
    )
    stolen = {"model": "other", "messages": [], "input": [], "contents": []}
    mine = {"openai": ("model", "input"), "openai_compatible": ("model", "messages"), "gemini": ("contents",)}[provider]
    body = extra | {name: stolen[name] for name in mine}

    ask(endpoint(provider, stub.url(provider), options={"body": body}), first_turn())

    sent = stub.requests[0]
    assert {name: sent.body[name] for name in extra} == extra
    assert sent.asked
    assert (sent.asked.model, sent.asked.turn, sent.asked.pictures) == ("model-1", 1, (1,))


@pytest.mark.parametrize("provider", NETWORK)
def test_a_detector_call_asks_for_json_sends_no_picture_and_reads_the_labels(stub: StubServer, provider: str) -> None:
    items = [
        detection.Item(1, "identity", False, "What is the dog doing?", None, "It sleeps."),
        detection.Item(4, "identity", True, "Where is the dog?", "Where is the cat?", "That is not a cat but a dog."),
        detection.Item(5, "identity", True, "How is the dog?", "How is the cat?", None),
    ]
    request = detection.request(system="Judge.", items=items)

    (reply,) = ask(endpoint(provider, stub.url(provider), max_output_tokens=8192), request)

    assert reply.text
    assert detection.parse(reply.text, detection.ids_asked(items)) == {1: False, 4: True}
    sent = stub.requests[0].asked
    assert sent
    # The study asks Gemini for the JSON type alone.
    assert sent.request.schema == (None if provider == "gemini" else detection.SCHEMA)
    assert sent.pictures == ()
    asked = json.loads(sent.request.messages[0].text)["items"]
    assert [item["id"] for item in asked] == [1, 4]
    assert asked[0].keys() == {"id", "false_class", "false_premise", "content", "response"}
    assert asked[1].keys() == {"id", "false_class", "false_premise", "content", "modified", "response"}


def test_gemini_asks_for_json(stub: StubServer) -> None:
    item = detection.Item(1, "location", False, "Where is it?", None, "Here.")

    ask(endpoint("gemini", stub.url("gemini")), detection.request(system="Judge.", items=[item]))

    assert stub.requests[0].body["generationConfig"] == {"maxOutputTokens": 256, "responseMimeType": "application/json"}


def test_gemini_gets_the_schema_where_it_is_wanted(stub: StubServer) -> None:
    item = detection.Item(1, "location", False, "Where is it?", None, "Here.")
    where = endpoint("gemini", stub.url("gemini"), options={"send_schema": True})

    ask(where, detection.request(system="Judge.", items=[item]))

    assert stub.requests[0].body["generationConfig"]["responseJsonSchema"] == detection.SCHEMA


@pytest.mark.parametrize("provider", NETWORK)
def test_a_reply_tells_where_it_came_from_and_what_it_cost(stub: StubServer, provider: str) -> None:
    (reply,) = ask(endpoint(provider, stub.url(provider)), first_turn())

    assert reply.outcome is Outcome.ANSWERED
    assert reply.text
    assert reply.model == {"openai": "model-1-2026-01-01", "openai_compatible": "model-1-served"}.get(
        provider, "model-1-001"
    )
    assert reply.request_id in {"req_1", "gem-1"}
    words = len(reply.text.split())
    assert reply.usage == Usage(input=900, cached=512, output=words, reasoning=0)
    assert reply.seconds > 0
    assert reply.text in json.dumps(json.loads(reply.raw), ensure_ascii=False)
    assert reply.headers["x-ratelimit-remaining-requests"] == "99"
    assert "set-cookie" not in reply.headers


@pytest.mark.parametrize("provider", NETWORK)
def test_output_tokens_include_reasoning(stub: StubServer, provider: str) -> None:
    stub.script(["thinking"])

    (reply,) = ask(endpoint(provider, stub.url(provider)), first_turn())

    assert (reply.usage.output, reply.usage.reasoning) == (256, 256)


def test_each_providers_own_words_for_tokens_become_the_same_four_counts() -> None:
    """Input includes cached, output includes reasoning; what is left out is unknown, never nought."""
    told = {"prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 2}}
    assert openai_compatible._usage({"prompt_tokens": 9, "completion_tokens": 5, **told}) == Usage(9, 4, 5, 2)
    assert openai_compatible._usage({"prompt_tokens": 9, "completion_tokens": 5}) == Usage(9, None, 5, None)
    assert openai_compatible._usage({}) == openai._usage({}) == gemini._usage({}) == Usage()
    details = {"input_tokens_details": {"cached_tokens": 4}, "output_tokens_details": {"reasoning_tokens": 2}}
    assert openai._usage({"input_tokens": 9, "output_tokens": 5, **details}) == Usage(9, 4, 5, 2)
    thinks = {"promptTokenCount": 9, "cachedContentTokenCount": 4, "candidatesTokenCount": 3, "thoughtsTokenCount": 2}
    assert gemini._usage(thinks) == Usage(9, 4, 5, 2)
    assert gemini._usage({"promptTokenCount": 9, "totalTokenCount": 9}) == Usage(9, None, 0, None)
    assert gemini._usage({"promptTokenCount": 9}) == Usage(9, None, None, None)


@pytest.mark.parametrize("provider", NETWORK)
def test_the_key_goes_in_the_header_alone(stub: StubServer, provider: str) -> None:
    ask(endpoint(provider, stub.url(provider)), first_turn())

    sent = stub.requests[0]
    assert sent.key == CANARY
    assert CANARY not in sent.path + json.dumps(sent.body)


def test_a_local_server_needs_no_key(stub: StubServer) -> None:
    where = endpoint("openai_compatible", stub.url("openai_compatible"), api_key_env="")

    (reply,) = ask(where, first_turn())

    assert reply.outcome is Outcome.ANSWERED
    assert CANARY not in json.dumps(stub.requests[0].headers)


@pytest.mark.parametrize("provider", NETWORK)
@pytest.mark.parametrize(
    "text",
    [
        "Ein Hund? 犬 🐕",
        'quotes " and \\ and \n lines',
        "picture-0123",
        "data:image/png;base64,AAAA",
        "half a \ud83d face",
    ],
)
def test_any_text_arrives_as_it_was(stub: StubServer, provider: str, text: str) -> None:
    request = Request(
        system=text,
        messages=(Message("user", text), Message("assistant", text), Message("user", text)),
        picture=PHOTO,
    )

    ask(endpoint(provider, stub.url(provider)), request)

    assert stub.requests[0].asked
    assert stub.requests[0].asked.request.messages == request.messages
    assert stub.requests[0].asked.request.system == text
    assert stub.requests[0].asked.request.picture == PHOTO


@pytest.mark.parametrize("provider", NETWORK)
def test_many_calls_at_once_share_one_pool(stub: StubServer, provider: str) -> None:
    stub.answer_together(150)

    async def run() -> None:
        client = providers.make(endpoint(provider, stub.url(provider)))
        try:
            await asyncio.gather(*(client.ask(first_turn(f"Question {n}?")) for n in range(150)))
        finally:
            await client.close()

    asyncio.run(run())

    assert (stub.counts.answered, stub.counts.peak) == (150, 150)
