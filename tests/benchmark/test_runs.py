"""A run asks every turn once, in order, and says where it stands."""

import asyncio
import re
import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from annotate.models import User
from benchmark import progress
from benchmark.models import Attempt, Dialogue, EvaluatedModel, Response, Run, Spending
from benchmark.services import runs
from fpco_site.errors import Conflict, Invalid, NotConfigured
from fpco_site.llm.types import ErrorKind, Outcome, ProviderError, Reply, Request, Usage
from tests import factories
from tests.engine import Background, FakeProvider, run_engine

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker, pytest.mark.usefixtures("fast_engine")]
Start = Callable[..., Background]


def turn_of(request: Request) -> int:
    return sum(message.role == "user" for message in request.messages)


async def answer(request: Request) -> Reply:
    return Reply(Outcome.ANSWERED, f"Answer {turn_of(request)}.", model="served-1", request_id="req-1", raw=b"{}")


def fails(turn: int, error: ProviderError, *, times: int = 10**6) -> Any:
    """Answers, except on one turn."""
    left = [times]

    async def ask(request: Request) -> Reply:
        if turn_of(request) == turn and left[0] > 0:
            left[0] -= 1
            raise error
        return await answer(request)

    return ask


def begun(ada: User, *, items: int = 1, **more: Any) -> Run:
    model = more.pop("model", None) or factories.model()
    run = runs.create(model=model, dataset=factories.dataset(items=items), by=ada, **more)
    return runs.start(run=run, by=ada)


def fresh(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)


def states(run: Run) -> list[str]:
    return list(run.dialogues.order_by("pk").values_list("state", flat=True))


def test_a_scripted_model_answers_a_whole_dataset(ada: User) -> None:
    run = begun(ada, items=3)
    run_engine()
    assert fresh(run).state == "complete"
    assert fresh(run).finished_at is not None
    assert fresh(run).simulated
    turns = Response.objects.filter(dialogue__run=run).order_by("dialogue", "turn").values_list("turn", flat=True)
    assert list(turns) == list(range(1, 11)) * 3
    assert Attempt.objects.count() == 30
    assert not Dialogue.objects.filter(lease_token__isnull=False).exists()


def test_each_turn_carries_the_earlier_answers_and_the_question_that_is_asked(ada: User) -> None:
    run = begun(ada)
    asked: list[Request] = []

    async def ask(request: Request) -> Reply:
        asked.append(request)
        return await answer(request)

    run_engine(FakeProvider(ask))
    turns = list(run.dialogues.get().item.turns.order_by("number"))
    for number, request in enumerate(asked, 1):
        said = [message.text for message in request.messages if message.role == "assistant"]
        questions = [message.text for message in request.messages if message.role == "user"]
        assert said == [f"Answer {earlier}." for earlier in range(1, number)]
        assert questions == [turn.asked for turn in turns[:number]]
        assert request.picture is not None
        assert request.picture.data.startswith(b"\xff\xd8")
    assert len(asked) == 10


def test_a_call_keeps_where_it_came_from(ada: User) -> None:
    run = begun(ada)

    async def ask(request: Request) -> Reply:
        usage = Usage(input=900, cached=512, output=30, reasoning=7)
        return Reply(
            Outcome.CUT,
            "It is a",
            finish_reason="length",
            model="m-2026",
            request_id="req-9",
            usage=usage,
            raw=b'{"a":1}',
        )

    run_engine(FakeProvider(ask))
    response = Response.objects.get(turn=1)
    assert (response.cut, response.refusal, response.finish_reason, response.model_answered) == (
        True,
        False,
        "length",
        "m-2026",
    )
    assert (response.input_tokens, response.cached_tokens, response.output_tokens, response.reasoning_tokens) == (
        900,
        512,
        30,
        7,
    )
    assert response.raw == b'{"a":1}'
    attempt = Attempt.objects.get(turn=1)
    assert (attempt.outcome, attempt.request_id, attempt.raw, attempt.input_tokens) == ("cut", "req-9", b'{"a":1}', 900)
    assert attempt.settings["model_id"] == "scripted-skeptic"
    assert attempt.settings["sha256"] == run.prompt_sha256


def test_a_run_copies_what_it_will_send(ada: User) -> None:
    model = factories.model(temperature=0.0, concurrency=7)
    run = runs.create(model=model, dataset=factories.dataset(), by=ada)
    EvaluatedModel.objects.update(temperature=1.0, model_id="another")
    kept = fresh(run)
    assert kept.endpoint().temperature == 0.0
    assert kept.endpoint().model_id == "scripted-skeptic"
    assert kept.concurrency == 7
    assert (kept.prompt_name, kept.prompt_version, len(kept.prompt_sha256)) == ("inference", "1", 64)
    assert {"python", "django", "openai"} <= kept.software.keys()


@pytest.mark.parametrize("outcome", [Outcome.BLOCKED, Outcome.EMPTY])
def test_a_dialogue_stops_at_a_turn_without_text(ada: User, outcome: Outcome) -> None:
    run = begun(ada)

    async def ask(request: Request) -> Reply:
        return Reply(outcome, None, reason="a filter") if turn_of(request) == 4 else await answer(request)

    provider = FakeProvider(ask)
    run_engine(provider)
    assert states(run) == ["stopped"]
    assert fresh(run).state == "incomplete"
    assert Response.objects.count() == 3
    assert Attempt.objects.get(turn=4).outcome == outcome
    assert len(provider.asked) == 4


def test_a_reply_that_claims_text_and_has_none_is_empty(ada: User) -> None:
    run = begun(ada)

    async def ask(request: Request) -> Reply:
        return Reply(Outcome.ANSWERED, "")

    run_engine(FakeProvider(ask))
    assert Attempt.objects.get().outcome == "empty"
    assert states(run) == ["stopped"]


def test_cut_and_refused_answers_go_on(ada: User) -> None:
    run = begun(ada)

    async def ask(request: Request) -> Reply:
        outcome = {2: Outcome.CUT, 5: Outcome.REFUSED}.get(turn_of(request), Outcome.ANSWERED)
        return Reply(outcome, "some text")

    run_engine(FakeProvider(ask))
    assert fresh(run).state == "complete"
    assert [row.outcome for row in Response.objects.order_by("turn")][:5] == [
        "answered",
        "cut",
        "answered",
        "answered",
        "refused",
    ]


def test_transient_errors_are_kept_and_tried_again(ada: User) -> None:
    run = begun(ada)
    run_engine(FakeProvider(fails(3, ProviderError(ErrorKind.TRANSIENT, "cut", status=500), times=2)))
    assert fresh(run).state == "complete"
    assert list(Attempt.objects.filter(turn=3).values_list("outcome", "status")) == [
        ("failed", 500),
        ("failed", 500),
        ("answered", None),
    ]


def spoilt(run: Run, error: ProviderError, *, turn: int = 2) -> Any:
    """Answers, except on one turn of the run's first dialogue, where it always fails."""
    doomed = run.dialogues.order_by("pk")[0].item.sha256

    async def ask(request: Request) -> Reply:
        if turn_of(request) == turn and request.picture is not None and request.picture.sha256 == doomed:
            raise error
        return await answer(request)

    return ask


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize(
    "error",
    [
        ProviderError(ErrorKind.TRANSIENT, "It broke.", status=500),
        ProviderError(ErrorKind.PERMANENT, "A bad picture.", status=400),
    ],
)
def test_a_turn_that_keeps_failing_fails_its_dialogue_alone(ada: User, concurrency: int, error: ProviderError) -> None:
    run = begun(ada, items=3, concurrency=concurrency)
    run_engine(FakeProvider(spoilt(run, error)))
    assert states(run) == ["failed", "complete", "complete"]
    assert fresh(run).state == "incomplete"


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            ProviderError(ErrorKind.TRANSIENT, "It is overloaded.", status=503),
            "It is overloaded. No call is answered: when the provider works again, resume.",
        ),
        (
            ProviderError(ErrorKind.TRANSIENT, "The connection failed.", code="connection"),
            "The connection failed. No call is answered: check the connection, the address and the provider, "
            "then resume.",
        ),
        (
            ProviderError(ErrorKind.TRANSIENT, "No answer within 120 seconds.", code="timeout"),
            "No answer within 120 seconds. No call is answered: check the connection, the address and the provider, "
            "then resume.",
        ),
        (
            ProviderError(ErrorKind.PERMANENT, "Unknown parameter.", status=400),
            "Unknown parameter. Resume to go on; what is refused again is marked as failed.",
        ),
    ],
)
def test_a_provider_that_answers_nobody_pauses_the_run_and_fails_no_dialogue(
    ada: User, concurrency: int, error: ProviderError, words: str
) -> None:
    run = begun(ada, items=3, concurrency=concurrency)
    reached, down = [0], asyncio.Event()

    async def ask(request: Request) -> Reply:
        if turn_of(request) < 3 and not down.is_set():
            return await answer(request)
        reached[0] += 1
        if reached[0] == concurrency:
            down.set()
        # No answer comes after the first error: otherwise that error is a dialogue's own.
        await down.wait()
        raise error

    run_engine(FakeProvider(ask))
    assert (fresh(run).state, fresh(run).pause_reason) == ("paused", words)
    assert set(states(run)) == {"waiting"}
    assert not Dialogue.objects.filter(lease_token__isnull=False).exists()

    runs.resume(run=run, by=ada)
    run_engine(FakeProvider(answer))
    assert fresh(run).state == "complete"
    assert Response.objects.count() == 30


def test_a_provider_that_asks_for_a_very_long_wait_pauses_the_run(ada: User) -> None:
    run = begun(ada, items=2)
    error = ProviderError(ErrorKind.RATE_LIMITED, "No more today.", status=429, retry_after=5 * 3600)
    run_engine(FakeProvider(fails(1, error)))
    reason = "No more today. It asks to be left alone for 5 hours: resume after that."
    assert (fresh(run).state, fresh(run).pause_reason) == ("paused", reason)
    assert set(states(run)) == {"waiting"}
    assert Attempt.objects.filter(error_class="rate_limited").count() == Attempt.objects.count() <= 2


def test_a_permanent_error_pauses_and_says_what_to_do(ada: User) -> None:
    run = begun(ada, items=4, model=factories.model(api_key_env="A_KEY"))
    error = ProviderError(ErrorKind.PERMANENT, "The key was refused.", status=401)
    run_engine(FakeProvider(fails(2, error)))
    paused = fresh(run)
    assert paused.state == "paused"
    assert paused.pause_reason == "The key was refused. Check the key in A_KEY, restart the worker, then resume."
    assert set(states(run)) == {"waiting"}
    runs.resume(run=run, by=ada)
    run_engine(FakeProvider(answer))
    assert fresh(run).state == "complete"
    assert fresh(run).pause_reason == ""
    assert Response.objects.count() == 40


def test_a_turn_that_is_refused_for_good_twice_fails_its_dialogue(ada: User) -> None:
    run = begun(ada)
    provider = FakeProvider(fails(1, ProviderError(ErrorKind.PERMANENT, "Bad request.", status=400)))
    run_engine(provider)
    assert (fresh(run).state, states(run)) == ("paused", ["waiting"])
    runs.resume(run=run, by=ada)
    run_engine(provider)
    assert states(run) == ["failed"]
    assert fresh(run).state == "incomplete"


def test_a_refused_key_never_fails_a_dialogue_however_often_it_is_resumed(ada: User) -> None:
    run = begun(ada, items=3)
    provider = FakeProvider(fails(2, ProviderError(ErrorKind.PERMANENT, "Wrong key.", status=401)))
    for _ in range(3):
        run_engine(provider)
        assert (fresh(run).state, set(states(run))) == ("paused", {"waiting"})
        runs.resume(run=run, by=ada)


def test_a_missing_key_is_named_not_shown(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ADAS_KEY", raising=False)
    model = factories.model(provider="openai", model_id="gpt-4.1", api_key_env="ADAS_KEY")
    data = factories.dataset()
    with pytest.raises(NotConfigured, match="ADAS_KEY"):
        runs.create(model=model, dataset=data, by=ada)
    monkeypatch.setenv("ADAS_KEY", "sk-secret")
    run = runs.start(run=runs.create(model=model, dataset=data, by=ada), by=ada)
    monkeypatch.delenv("ADAS_KEY")
    run_engine()
    assert fresh(run).state == "paused"
    assert "ADAS_KEY" in fresh(run).pause_reason
    assert "secret" not in fresh(run).pause_reason


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"active": False}, "inactive"),
        ({"imported": True}, "release only"),
    ],
)
def test_a_model_that_can_not_run_is_refused(ada: User, columns: dict[str, bool], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        runs.create(model=factories.model(**columns), dataset=factories.dataset(), by=ada)


def test_a_dataset_without_pictures_says_how_to_attach_them(ada: User) -> None:
    data = factories.dataset(items=1)
    photo = factories.jpeg()
    entry = factories.dataset_item(data, image=None, sha256=factories.sha256(photo).hexdigest())
    with pytest.raises(Invalid, match=r"1 of the 2 items .* import_images FOLDER.* sha256"):
        runs.create(model=factories.model(), dataset=data, by=ada)
    assert not Run.objects.exists()
    image = factories.image(data=photo)
    runs.create(model=factories.model(), dataset=data, by=ada)
    entry.refresh_from_db()
    assert entry.image == image


def test_a_model_has_one_open_run_over_a_dataset(ada: User) -> None:
    run = begun(ada)
    with pytest.raises(Conflict, match="already has an open run"):
        runs.create(model=run.model, dataset=run.dataset, by=ada)
    with pytest.raises(Conflict, match="has been started already"):
        runs.start(run=run, by=ada)


def test_pausing_lets_calls_finish_and_resuming_asks_none_of_them_again(ada: User, background: Start) -> None:
    run = begun(ada, items=3)
    in_third, go_on = threading.Event(), threading.Event()

    async def ask(request: Request) -> Reply:
        if turn_of(request) == 3:
            in_third.set()
            await asyncio.to_thread(go_on.wait)
        return await answer(request)

    provider = FakeProvider(ask)
    engine = background(provider)
    assert in_third.wait(10)
    runs.pause(run=run, by=ada)
    go_on.set()
    engine.join()
    assert fresh(run).pause_reason == "Paused by ada."
    assert set(states(run)) == {"waiting"}
    assert len(provider.asked) == Response.objects.count() < 30
    runs.resume(run=run, by=ada)
    run_engine(provider)
    assert fresh(run).state == "complete"
    assert len(provider.asked) == 30


def test_stopping_ends_what_was_not_asked(ada: User, background: Start) -> None:
    run = begun(ada, items=6, concurrency=2)
    in_third, go_on = threading.Event(), threading.Event()

    async def ask(request: Request) -> Reply:
        if turn_of(request) == 3:
            in_third.set()
            await asyncio.to_thread(go_on.wait)
        return await answer(request)

    engine = background(FakeProvider(ask))
    assert in_third.wait(10)
    runs.stop(run=run, by=ada)
    go_on.set()
    engine.join()
    assert fresh(run).state == "stopped"
    assert set(states(run)) == {"stopped"}
    assert Response.objects.filter(turn=3).exists(), "A call in flight is kept."
    with pytest.raises(Conflict):
        runs.stop(run=run, by=ada)


def test_a_retry_asks_only_the_outcomes_that_were_chosen(ada: User) -> None:
    run = begun(ada, items=3, concurrency=1)
    ends = iter([Outcome.BLOCKED, Outcome.EMPTY])

    async def ask(request: Request) -> Reply:
        if turn_of(request) == 5 and (end := next(ends, None)) is not None:
            return Reply(end, None)
        return await answer(request)

    run_engine(FakeProvider(ask))
    assert states(run) == ["stopped", "stopped", "complete"]
    with pytest.raises(Conflict, match="no turn to ask again that is failed"):
        runs.retry(run=run, outcomes=["failed"], by=ada)
    before = set(Response.objects.values_list("pk", flat=True))
    assert runs.retry(run=run, outcomes=["empty"], by=ada) == 1
    provider = FakeProvider(answer)
    run_engine(provider)
    assert states(run) == ["stopped", "complete", "complete"]
    assert fresh(run).state == "incomplete"
    assert len(provider.asked) == 6, "Turns 5 to 10 of one dialogue."
    assert before <= set(Response.objects.values_list("pk", flat=True))


def test_a_retry_takes_up_what_a_stopped_run_did_not_ask(ada: User) -> None:
    run = begun(ada, items=2)
    runs.stop(run=run, by=ada)
    with pytest.raises(Conflict):
        runs.retry(run=run, outcomes=["blocked"], by=ada)
    assert runs.retry(run=run, outcomes=["not_asked"], by=ada) == 2
    run_engine(FakeProvider(answer))
    assert fresh(run).state == "complete"


def test_a_retry_never_asks_before_an_answer(ada: User) -> None:
    run = factories.run(state="incomplete")
    dialogue = run.dialogues.get()
    Response.objects.create(dialogue=dialogue, turn=2, text="An answer on a missing one.")
    Dialogue.objects.update(state="failed")
    with pytest.raises(Conflict):
        runs.retry(run=run, outcomes=["not_asked", "failed"], by=ada)


@pytest.mark.parametrize("outcomes", [[], ["answered"], ["cut", "failed"]])
def test_a_retry_of_answers_is_refused(ada: User, outcomes: list[str]) -> None:
    with pytest.raises(Invalid):
        runs.retry(run=factories.run(state="incomplete"), outcomes=outcomes, by=ada)


def test_a_spent_budget_pauses(ada: User) -> None:
    model = factories.model(price_input=Decimal(1), price_output=Decimal(2), concurrency=1)
    run = begun(ada, items=3, model=model, budget=Decimal("0.05"))

    async def ask(request: Request) -> Reply:
        return Reply(Outcome.ANSWERED, "yes", usage=Usage(input=1000, cached=0, output=1000))

    run_engine(FakeProvider(ask))
    assert fresh(run).state == "paused"
    words = r"The budget of \$0.05 is spent \(\$0.05; one more call is expected to cost \$0.003\d*\). Raise it,"
    assert re.match(words, fresh(run).pause_reason)
    assert Response.objects.count() < 30
    runs.change(run=run, concurrency=1, budget=Decimal(1), by=ada)
    runs.resume(run=run, by=ada)
    run_engine(FakeProvider(ask))
    assert fresh(run).state == "complete"


@pytest.mark.parametrize("actual", [1000, 4000])
def test_a_budget_is_overrun_by_no_more_than_the_calls_in_flight_cost_beyond_what_was_expected(
    ada: User, actual: int
) -> None:
    """A call costs $0.002 or $0.008; the first eight may all cost more than expected, none that starts later."""
    model = factories.model(price_input=Decimal(1), price_output=Decimal(1), max_output_tokens=1000)
    run = begun(ada, items=12, model=model, concurrency=8, budget=Decimal("0.1"))
    flying, most = [0], [0]

    async def ask(request: Request) -> Reply:
        flying[0] += 1
        most[0] = max(most[0], flying[0])
        await asyncio.sleep(0.005)
        flying[0] -= 1
        return Reply(Outcome.ANSWERED, "yes", usage=Usage(input=actual, output=actual))

    run_engine(FakeProvider(ask))
    assert fresh(run).state == "paused"
    one = Decimal(2 * actual) / 1_000_000
    cost = progress.spent(fresh(run)).calls * one
    kept = Spending.objects.get(run=run)
    assert kept.expected is not None
    assert cost <= Decimal("0.1") + most[0] * max(Decimal(0), one - kept.expected)
    assert cost > Decimal("0.1") - max(one, kept.expected)  # nor is more than one call's worth left unspent
    assert not Dialogue.objects.filter(lease_token__isnull=False).exists()
    runs.change(run=run, concurrency=8, budget=Decimal(5), by=ada)
    runs.resume(run=run, by=ada)
    run_engine(FakeProvider(ask))
    assert fresh(run).state == "complete"
    assert Response.objects.count() == 120


def test_replies_that_tell_no_tokens_use_up_a_budget_too(ada: User) -> None:
    model = factories.model(price_input=Decimal(1), price_output=Decimal(1))
    run = begun(ada, items=3, model=model, budget=Decimal("0.001"))
    run_engine(FakeProvider(answer))
    assert fresh(run).state == "paused"
    assert 0 < Response.objects.count() < 30


def test_a_budget_needs_prices(ada: User) -> None:
    with pytest.raises(Invalid, match="no prices"):
        runs.create(model=factories.model(), dataset=factories.dataset(), by=ada, budget=Decimal(1))


def test_concurrency_is_kept_over_workers(ada: User, background: Start) -> None:
    run = begun(ada, items=8, concurrency=3)
    now, most, lock = [0], [0], threading.Lock()

    async def ask(request: Request) -> Reply:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        await asyncio.sleep(0.005)
        with lock:
            now[0] -= 1
        return await answer(request)

    engines = [background(FakeProvider(ask)) for _ in range(2)]
    for engine in engines:
        engine.join()
    assert fresh(run).state == "complete"
    assert most[0] == 3


def test_a_picture_that_is_gone_pauses_the_run(ada: User) -> None:
    run = begun(ada)
    image = run.dialogues.get().item.image
    assert image is not None
    image.file.storage.delete(image.file.name)
    run_engine(FakeProvider(answer))
    assert fresh(run).state == "paused"
    assert "is missing" in fresh(run).pause_reason


def test_a_prompt_that_has_changed_pauses_the_run(ada: User) -> None:
    run = begun(ada)
    Run.objects.update(prompt_sha256="0" * 64)
    provider = FakeProvider(answer)
    run_engine(provider)
    assert provider.asked == []
    assert fresh(run).state == "paused"
    assert "inference.v1 is no longer the one that run" in fresh(run).pause_reason
