"""Each way a provider can misbehave, and what the caller is told to do about it."""

import json
import time
import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from fpco_site.llm.types import ErrorKind, Outcome, ProviderError, Reply
from tests.fpco_site.llm.ask import CANARY, NETWORK, ask, endpoint, first_turn
from tests.stubs import Do, StubServer

pytestmark = pytest.mark.parametrize("provider", NETWORK)


def fails(stub: StubServer, provider: str, do: str | int | Do, **settings: object) -> ProviderError:
    stub.script([do])
    with pytest.raises(ProviderError) as caught:
        ask(endpoint(provider, stub.url(provider), **settings), first_turn())
    assert stub.counts.requests == 1, "a provider never tries again by itself"
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    return caught.value


def answers(stub: StubServer, provider: str, do: str | Do) -> Reply:
    stub.script([do])
    (reply,) = ask(endpoint(provider, stub.url(provider)), first_turn())
    assert stub.counts.requests == 1
    assert (reply.text is not None) == reply.outcome.has_text
    assert reply.raw
    return reply


def test_429_waits_at_the_gate(stub: StubServer, provider: str) -> None:
    error = fails(stub, provider, "429")

    assert (error.kind, error.status, error.retry_after) == (ErrorKind.RATE_LIMITED, 429, None)
    assert error.request_id == "req_1"


def test_429_says_how_many_seconds(stub: StubServer, provider: str) -> None:
    assert fails(stub, provider, Do("rate_limit", retry_after="2.5")).retry_after == 2.5


def test_429_says_until_when(stub: StubServer, provider: str) -> None:
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)

    wait = fails(stub, provider, Do("rate_limit", retry_after=until)).retry_after

    assert wait is not None
    assert 30 < wait <= 90


def test_a_retry_after_that_makes_no_sense_is_ignored(stub: StubServer, provider: str) -> None:
    assert fails(stub, provider, Do("rate_limit", retry_after="soon")).retry_after is None


def test_a_refusal_without_a_wait_waits_for_the_reset_of_what_is_used_up(stub: StubServer, provider: str) -> None:
    headers = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "6m0s",
        "x-ratelimit-remaining-tokens": "149984",
        "x-ratelimit-reset-tokens": "12h",
    }

    assert fails(stub, provider, Do("rate_limit", headers=headers)).retry_after == 360


def test_the_sdk_obeys_no_header_that_asks_it_to_try_again(stub: StubServer, provider: str) -> None:
    error = fails(stub, provider, Do("status", status=503, headers={"x-should-retry": "true", "retry-after-ms": "20"}))

    assert (error.kind, error.retry_after) == (ErrorKind.TRANSIENT, 0.02)


def test_an_answer_that_used_up_the_last_call_says_until_when(stub: StubServer, provider: str) -> None:
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1.5s"}

    reply = answers(stub, provider, Do("answer", headers=headers))

    assert (reply.outcome, reply.hold) == (Outcome.ANSWERED, 1.5)


def test_an_answer_that_leaves_calls_holds_nothing(stub: StubServer, provider: str) -> None:
    headers = {"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "1.5s"}

    assert answers(stub, provider, Do("answer", headers=headers)).hold is None


def test_an_exhausted_quota_is_permanent(stub: StubServer, provider: str) -> None:
    error = fails(stub, provider, "quota")

    assert (error.kind, error.code.lower()) == (ErrorKind.PERMANENT, "insufficient_quota")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_no_retry_mends_is_permanent(stub: StubServer, provider: str, status: int) -> None:
    error = fails(stub, provider, status)

    assert (error.kind, error.status) == (ErrorKind.PERMANENT, status)
    assert "told to misbehave" in error.message


@pytest.mark.parametrize("status", [408, 409, 425, 500, 502, 503, 504, 529])
def test_a_trouble_of_the_moment_is_transient(stub: StubServer, provider: str, status: int) -> None:
    error = fails(stub, provider, status)

    assert (error.kind, error.status) == (ErrorKind.TRANSIENT, status)
    assert b"told to misbehave" in error.raw


def test_the_key_shows_in_no_error(stub: StubServer, provider: str) -> None:
    error = fails(stub, provider, "unauthorized")

    assert error.kind is ErrorKind.PERMANENT
    assert "[key]" in error.message
    shown = [error.message, str(error), repr(error), error.raw.decode(), error.code, error.request_id]
    assert [text for text in shown if CANARY in text] == []


def test_the_key_shows_in_no_reply(stub: StubServer, provider: str) -> None:
    reply = answers(stub, provider, Do("answer", text=f"Your key is {CANARY}."))

    assert CANARY.encode() not in reply.raw
    assert CANARY not in repr(reply)


def test_a_hanging_call_is_transient(stub: StubServer, provider: str) -> None:
    started = time.monotonic()

    error = fails(stub, provider, "hang", timeout=0.3)

    assert (error.kind, error.code) == (ErrorKind.TRANSIENT, "timeout")
    assert error.message == f"{provider} did not answer within 0.3 s."
    assert time.monotonic() - started < 60


def test_a_call_that_drips_for_ever_is_over_at_the_timeout(stub: StubServer, provider: str) -> None:
    assert fails(stub, provider, "drip", timeout=0.3).code == "timeout"


def test_a_few_packed_bytes_that_become_many_are_not_unpacked(stub: StubServer, provider: str) -> None:
    error = fails(stub, provider, "bomb")

    assert (error.kind, error.code) == (ErrorKind.TRANSIENT, "unreadable")
    assert error.message == f"{provider} sent an answer of more than 32 MB."


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(stub: StubServer, provider: str, status: int) -> None:
    with StubServer() as elsewhere:
        to = elsewhere.url(provider)
        error = fails(stub, provider, Do("status", status=status, headers={"location": f"{to}?key={CANARY}"}))
        assert elsewhere.counts.requests == 0

    assert (error.kind, error.status) == (ErrorKind.PERMANENT, status)
    assert error.message == f"{provider} answered {status}: it is now at {to}?key=[key]"


@pytest.mark.parametrize("how", ["cut_connection", "cut_midway"])
def test_a_cut_connection_is_transient(stub: StubServer, provider: str, how: str) -> None:
    error = fails(stub, provider, how)

    assert (error.kind, error.code) == (ErrorKind.TRANSIENT, "connection")


def test_a_server_that_is_not_there_is_transient(stub: StubServer, provider: str) -> None:
    where = endpoint(provider, "http://127.0.0.1:9/")

    with pytest.raises(ProviderError) as caught:
        ask(where, first_turn())

    assert (caught.value.kind, caught.value.code) == (ErrorKind.TRANSIENT, "connection")


@pytest.mark.parametrize("how", ["not_json", "no_choices"])
def test_an_answer_of_another_shape_is_an_error_and_kept_raw(stub: StubServer, provider: str, how: str) -> None:
    error = fails(stub, provider, how)

    assert (error.kind, error.status, error.code) == (ErrorKind.TRANSIENT, 200, "unreadable")
    assert error.raw in {b"<html>Not here.</html>", b'{"hello": "world"}'}


def test_a_200_that_says_it_failed_is_an_error(stub: StubServer, provider: str) -> None:
    assert fails(stub, provider, "failed").kind is ErrorKind.TRANSIENT


def test_no_text_is_empty(stub: StubServer, provider: str) -> None:
    reply = answers(stub, provider, "empty")

    assert reply.outcome is Outcome.EMPTY
    assert "no text" in reply.reason


def test_blank_text_is_empty(stub: StubServer, provider: str) -> None:
    assert answers(stub, provider, Do("answer", text=" \n")).outcome is Outcome.EMPTY


def test_a_cap_spent_on_reasoning_is_empty_and_says_so(stub: StubServer, provider: str) -> None:
    reply = answers(stub, provider, "thinking")

    assert reply.outcome is Outcome.EMPTY
    assert reply.reason == "No text before the token cap: 256 tokens went into reasoning."


def test_text_cut_at_the_cap_counts_and_is_marked(stub: StubServer, provider: str) -> None:
    reply = answers(stub, provider, "truncated")

    assert reply.outcome is Outcome.CUT
    assert reply.text
    assert reply.finish_reason in {"max_output_tokens", "length", "MAX_TOKENS"}


@pytest.mark.parametrize("how", ["filtered", "filtered_prompt"])
def test_what_a_filter_took_is_blocked_and_names_the_filter(stub: StubServer, provider: str, how: str) -> None:
    reply = answers(stub, provider, how)

    names = {
        ("openai", "filtered"): "content_filter",
        ("openai", "filtered_prompt"): "invalid_prompt",
        ("openai_compatible", "filtered"): "content_filter",
        ("openai_compatible", "filtered_prompt"): "data_inspection_failed",
        ("gemini", "filtered"): "SAFETY",
        ("gemini", "filtered_prompt"): "PROHIBITED_CONTENT",
    }
    assert (reply.outcome, reply.text) == (Outcome.BLOCKED, None)
    assert reply.finish_reason == names[provider, how]
    assert "filter" in reply.reason


def test_a_refusal_is_an_answer_where_the_interface_tells_it_apart(stub: StubServer, provider: str) -> None:
    reply = answers(stub, provider, "refusal")

    # Gemini has no refusal of its own: it says no in plain text.
    assert reply.outcome is (Outcome.ANSWERED if provider == "gemini" else Outcome.REFUSED)
    assert reply.text == "I can't help with that picture."


def test_a_call_after_a_failed_one_works(stub: StubServer, provider: str) -> None:
    stub.script(["cut_connection"])
    where = endpoint(provider, stub.url(provider))
    with pytest.raises(ProviderError):
        ask(where, first_turn())

    (reply,) = ask(where, first_turn())

    assert reply.outcome is Outcome.ANSWERED
    assert json.loads(reply.raw)
