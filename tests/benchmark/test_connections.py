"""Connection tests by the engine against stub servers that behave, and misbehave, each in its own way."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from annotate.models import Drafter, User
from annotate.services import drafters
from benchmark import connections as reads
from benchmark.models import ConnectionCall, ConnectionTest, Detector, EvaluatedModel
from benchmark.services import connections, detectors, models, runs
from fpco_site.errors import Conflict, Invalid
from fpco_site.llm.connection import sight
from fpco_site.llm.connection.sight import Shown
from tests import factories
from tests.engine import FAST, Background, run_engine
from tests.stubs import Do, StubServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("fast_engine")]
KEY, SECRET = "STUB_KEY", "sk-canary-of-the-connection-test"


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    monkeypatch.setenv(KEY, SECRET)
    with StubServer() as server:
        yield server


def served(stub: StubServer, name: str, do: str | Do = "answer", **more: Any) -> EvaluatedModel:
    """A model whose server does this."""
    if do != "answer":
        stub.for_model(name, do)
    values = {"provider": "openai_compatible", "api_key_env": KEY, "model_id": name, "base_url": ""}
    values |= more
    values["base_url"] = values["base_url"] or stub.url(values["provider"])
    return EvaluatedModel.objects.create(name=name, **values)


def asked_of(*subjects: connections.Subject) -> list[reads.Standing]:
    connections.request_all(subjects=subjects, by=None)
    run_engine()
    return reads.standings([type(subject)._default_manager.get(pk=subject.pk) for subject in subjects])


def marks(standing: reads.Standing) -> dict[str, str]:
    assert standing.test is not None
    return {check["name"]: check["mark"] for check in standing.test.checks}


def words(standing: reads.Standing, name: str) -> str:
    assert standing.test is not None
    return str(next(check["words"] for check in standing.test.checks if check["name"] == name))


def test_a_model_that_sees_and_remembers_is_green_on_each_interface(stub: StubServer) -> None:
    rows = asked_of(
        *(
            served(stub, name, provider=name, price_input=1, price_output=4)
            for name in ("openai", "gemini", "openai_compatible")
        )
    )
    for row in rows:
        assert row.state == "passed", row.sentence
        assert set(marks(row).values()) == {"good"}, marks(row)
        assert row.test is not None
        assert (row.test.calls_made, row.test.input_tokens, row.test.cached_tokens) == (2, 1800, 1024)
        assert float(row.test.cost or 0) == pytest.approx(
            ((row.test.input_tokens or 0) + (row.test.output_tokens or 0) * 4) / 1_000_000, abs=1e-6
        )
        second = row.test.calls.get(step="recall")
        assert b"drawn for this test" in (second.sent or b"")
        assert second.text.lower().startswith(row.test.shown["name"])
    asked = [found.asked for found in stub.requests if found.asked]
    assert all(found.pictures == (1,) for found in asked)  # as a dialogue has it: with the first turn alone
    assert sorted(found.turn for found in asked) == [1, 1, 1, 2, 2, 2]
    assert SECRET.encode() not in b"".join(
        (call.raw or b"") + (call.sent or b"") for call in ConnectionCall.objects.all()
    )


def test_each_failure_says_what_to_do(stub: StubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    nowhere = "http://127.0.0.1:9/v1"
    expected = {
        "keyless": (served(stub, "keyless", api_key_env="NO_SUCH_KEY"), "key", "NO_SUCH_KEY is not set"),
        "wrong-key": (served(stub, "wrong-key", "unauthorized"), "key", f"refused the key in {KEY} (401)"),
        "wrong-gemini": (
            served(stub, "wrong-gemini", "unauthorized", provider="gemini"),
            "key",
            f"refused the key in {KEY} (400)",
        ),
        "spent": (served(stub, "spent", "quota"), "key", "add credit"),
        "nowhere": (served(stub, "nowhere", base_url=nowhere), "address", "check the address"),
        "hanging": (served(stub, "hanging", "hang", timeout=0.3), "address", "no answer within 0.3 s"),
        "failing": (served(stub, "failing", "500"), "address", "The server failed (500)"),
        "other": (served(stub, "other", "not_json"), "address", "not as this interface does"),
        "no-such": (served(stub, "no-such", "no_model"), "model", "There is no no-such at this address (404)"),
        "text-only": (served(stub, "text-only", "text_only"), "picture", "choose a model that takes pictures"),
        "blind": (served(stub, "blind", "blind"), "picture", "it answered “417 red”"),
        "filtered": (served(stub, "filtered", "filtered"), "picture", "filter"),
        "thinking": (served(stub, "thinking", "thinking"), "picture", "Let it write more tokens, or reason less."),
        "forgetful": (served(stub, "forgetful", "forgetful"), "history", "may send the last message alone"),
        "strange": (served(stub, "strange", Do("status", status=400, message="No.")), "settings", "No."),
    }
    monkeypatch.setattr(sight, "fresh", lambda: Shown("835", "blue", "calm lantern nine"))
    rows = asked_of(*(model for model, _, _ in expected.values()))
    for row, (_, name, sentence) in zip(rows, expected.values(), strict=True):
        assert row.state == "failed", (row.subject, row.sentence)
        bad = [check for check, mark in marks(row).items() if mark == "bad"]
        assert bad == [name], (row.subject, marks(row))
        assert sentence.lower() in words(row, name).lower()
        assert row.sentence == words(row, name)
    assert SECRET not in str([row.test and row.test.checks for row in rows])


def test_a_model_that_guesses_fails_and_no_two_pictures_are_alike() -> None:
    shown = [sight.fresh() for _ in range(60)]
    assert len({(one.number, one.colour, one.name) for one in shown}) > 55
    guesses = [replace(one, number=str(100 + index)) for index, one in enumerate(shown)]
    lucky = sum(
        sight.was_seen(f"{guess.number} {guess.colour}", one) for guess, one in zip(guesses, shown, strict=True)
    )
    assert lucky <= 2
    one = Shown("417", "red", "calm lantern nine")
    assert sight.was_seen("It is 417, and the disc is red.", one)
    assert sight.was_seen("<think>316? blue? no</think>417 Red", one)
    assert not sight.was_seen("417 or 418, red", one)
    assert not sight.was_seen("417, red or blue", one)
    assert not sight.was_seen("4 1 7 red", one)
    assert not sight.was_seen("Red.", one)
    assert sight.was_remembered("“Calm lantern nine.”", one)
    assert not sight.was_remembered("calm lantern", one)


def test_a_refused_temperature_is_decided_by_an_author_and_kept_with_the_run(stub: StubServer, ada: User) -> None:
    model = served(stub, "cool", Do("refuse", field="temperature"), temperature=0.7, top_p=0.9)
    (row,) = asked_of(model)
    assert row.state == "undecided"
    assert "refuses temperature" in row.sentence
    assert list(row.undecided) == ["temperature"]
    assert [("temperature" in found.body, "top_p" in found.body) for found in stub.requests] == [
        (True, True),
        (False, True),
        (False, True),
    ]
    model.refresh_from_db()
    assert model.not_sent == {}  # nothing is dropped before an author says so
    assert row.test is not None
    connections.leave_out(test=row.test, name="temperature", by=ada)
    model.refresh_from_db()
    assert "does not support 0.7" in model.not_sent["temperature"]
    assert reads.standing(model).state == "passed"
    run = runs.create(model=model, dataset=factories.dataset(), by=ada)
    assert run.settings["not_sent"] == model.not_sent
    runs.start(run=run, by=ada)
    run_engine()
    assert "temperature" not in stub.requests[-1].body
    assert stub.requests[-1].body["top_p"] == 0.9
    with pytest.raises(Conflict):
        connections.leave_out(test=row.test, name="top_p", by=ada)
    connections.send_again(subject=model, name="temperature", by=ada)
    model.refresh_from_db()
    assert model.not_sent == {}
    assert reads.standing(model).state == "undecided"


def test_a_cap_of_another_name_is_sent_by_that_name(stub: StubServer, ada: User) -> None:
    (row,) = asked_of(served(stub, "capped", Do("refuse", field="max_tokens")))
    assert row.state == "undecided"
    assert row.test is not None
    changed = connections.leave_out(test=row.test, name="cap_field", by=ada)
    assert changed.options == {"cap_field": "max_completion_tokens"}
    assert reads.standing(changed).state == "passed"
    assert stub.requests[-1].body["max_completion_tokens"] == 256


def test_further_fields_and_the_cap_of_gemini_can_be_refused(stub: StubServer) -> None:
    thinking = served(stub, "t", Do("refuse", field="enable_thinking"), options={"body": {"enable_thinking": False}})
    capped = served(stub, "g", Do("refuse", field="maxOutputTokens"), provider="gemini")
    rows = asked_of(thinking, capped)
    assert [list(row.undecided) for row in rows] == [["body.enable_thinking"], ["max_output_tokens"]]


def test_a_change_of_settings_makes_the_result_outdated(stub: StubServer, ada: User) -> None:
    model = served(stub, "m")
    assert reads.standing(model).state == "untested"
    (row,) = asked_of(model)
    assert row.state == "passed"
    assert reads.untested([model]) == []
    changed = models.update(model=model, by=ada, max_output_tokens=512)
    assert reads.standing(changed).state == "outdated"
    assert [found.state for found in reads.untested([changed])] == ["outdated"]
    back = models.update(model=model, by=ada, max_output_tokens=256, price_input=3)
    assert reads.standing(back).state == "passed"


def test_what_another_model_refused_is_sent_again(ada: User) -> None:
    model = factories.model(not_sent={"temperature": "It said no."})
    assert models.update(model=model, by=ada, family="Other").not_sent == {"temperature": "It said no."}
    assert models.update(model=model, by=ada, model_id="another").not_sent == {}


def test_a_simulated_model_says_honestly_that_it_sees_nothing(stub: StubServer) -> None:
    model = factories.model()
    drafter = drafters.default()
    row, drafting = asked_of(model, drafter)
    assert (row.state, drafting.state) == ("simulated", "simulated")
    assert "bad" not in marks(row).values()
    assert marks(row)["picture"] == "untold"
    assert "I am simulated" in words(row, "picture")
    assert "passed" not in {row.state, drafting.state}
    assert reads.untested([model]) == []


def test_detectors_and_drafters_are_tested_as_they_are_asked(stub: StubServer, ada: User) -> None:
    shared: dict[str, Any] = {
        "provider": "openai_compatible",
        "base_url": stub.url("openai_compatible"),
        "api_key_env": KEY,
    }
    good = detectors.create(by=ada, slug="good", name="Good", model_id="d", temperature=0.5, **shared)
    stub.for_model("prose", "prose")
    chatty = detectors.create(by=ada, slug="chatty", name="Chatty", model_id="prose", **shared)
    stub.for_model("cold", Do("refuse"))
    cold = detectors.create(by=ada, slug="cold", name="Cold", model_id="cold", temperature=0.5, **shared)
    drafter = Drafter.objects.create(name="Drafting", model_id="m", **shared)
    first, second, third, fourth = asked_of(good, chatty, cold, drafter)
    assert first.state == "passed", first.sentence
    assert marks(first)["labels"] == "good"
    assert second.state == "failed"
    assert "not labelled as asked" in second.sentence
    assert fourth.state == "passed", fourth.sentence
    assert marks(fourth)["picture"] == "good"
    assert third.test is not None
    made = connections.leave_out(test=third.test, name="temperature", by=ada)
    assert isinstance(made, Detector)
    assert (made.version, list(made.not_sent), made.temperature) == (2, ["temperature"], 0.5)
    kept, changed = detectors.ensure(by=ada, slug="cold", name="Cold", model_id="cold", temperature=0.5, **shared)
    assert (kept.pk, changed) == (made.pk, False)  # the catalogue, loaded again, keeps what was confirmed


def test_two_clicks_make_one_test(ada: User) -> None:
    model = factories.model()
    first = connections.request(subject=model, by=ada)
    assert connections.request(subject=model, by=ada).pk == first.pk
    run_engine()
    assert ConnectionTest.objects.count() == 1
    assert connections.request(subject=model, by=ada).pk != first.pk


def test_what_cannot_be_asked_is_refused_with_a_sentence(ada: User) -> None:
    with pytest.raises(Invalid, match="from a release only"):
        connections.request(subject=factories.model(imported=True, provider=""), by=ada)
    with pytest.raises(Invalid, match="does not have"):
        connections.request(subject=factories.model(provider="gone"), by=ada)


def test_a_lost_worker_s_test_goes_on_and_pays_for_nothing_twice(
    stub: StubServer, background: Callable[..., Background], settings: Any
) -> None:
    settings.ENGINE = {**FAST, "grace": 0.1}
    model = served(stub, "m")
    stub.when(turn=2, do="hang")
    connections.request(subject=model, by=None)
    engine = background()
    while stub.counts.requests < 2:
        time.sleep(0.02)
    engine.stop.set()  # with a call in flight, which is lost
    engine.join()
    assert ConnectionCall.objects.get().step == "look"
    stub.when(turn=2, do="answer")
    run_engine()
    row = reads.standing(model)
    assert row.state == "passed"
    assert row.test is not None
    assert row.test.calls_made == 2
    assert [found.asked.turn for found in stub.requests if found.asked] == [1, 2, 2]


def test_costs_of_all_tests_are_added_up(stub: StubServer) -> None:
    asked_of(served(stub, "a", price_input=1, price_output=4), served(stub, "b"))
    calls, dollars = reads.spent()
    assert calls == 4
    assert dollars == ConnectionTest.objects.get(model__name="a").cost
    assert 0 < dollars < 1
