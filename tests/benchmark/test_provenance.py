"""Each call can be traced: what was sent, by which software, with which picture; and it can be shown again."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import User
from benchmark import rebuilt
from benchmark.models import Attempt, Run, Software
from benchmark.services import runs, versions
from fpco_site.llm.types import Picture
from tests import factories
from tests.engine import run_engine
from tests.stubs import StubServer

As = Callable[[User], Client]
CANARY = "sk-canary-key-of-the-provenance-test"
DIALECTS = ["openai", "openai_compatible", "gemini"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker, pytest.mark.usefixtures("fast_engine")]


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    monkeypatch.setenv("CANARY_KEY", CANARY)
    with StubServer() as server:
        yield server


def ran(ada: User, stub: StubServer, provider: str, **columns: Any) -> Run:
    endpoint = {"base_url": stub.url(provider), "api_key_env": "CANARY_KEY", "model_id": "gpt-4.1", **columns}
    model = factories.model(provider=provider, **endpoint)
    run = runs.start(run=runs.create(model=model, dataset=factories.dataset(), by=ada), by=ada)
    run_engine()
    run.refresh_from_db()
    return run


@pytest.mark.parametrize("provider", DIALECTS)
def test_a_request_built_again_is_the_one_that_was_sent(as_: As, ada: User, stub: StubServer, provider: str) -> None:
    run = ran(ada, stub, provider, temperature=0.5)
    assert run.state == "complete"
    attempt = Attempt.objects.get(turn=3)
    asked = rebuilt.request_of(attempt)
    assert asked.matches is True
    shown, sent = json.loads(asked.text), stub.requests[2].body
    picture = run.dataset.items.get().image
    assert picture is not None
    assert attempt.image_sha256 == picture.sha256
    assert f"sha256:{picture.sha256}" in asked.text
    encoded = Picture(picture.file.read()).base64
    assert json.dumps(shown) == json.dumps(sent).replace(encoded, f"sha256:{picture.sha256}")
    page = as_(ada).get(reverse("attempt_detail", args=[attempt.pk])).content.decode()
    assert "matches what was sent" in page
    assert CANARY not in page
    assert as_(ada).get(reverse("dialogue_detail", args=[attempt.dialogue_id])).status_code == 200


def test_a_request_that_the_code_would_build_otherwise_today_is_not_passed_off_as_sent(
    ada: User, stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran(ada, stub, "openai")
    monkeypatch.setattr("fpco_site.llm.settings_rules.sampling", lambda endpoint: {"temperature": 1.0})
    assert rebuilt.request_of(Attempt.objects.get(turn=1)).matches is False


def test_a_call_keeps_the_versions_that_made_it_even_where_a_worker_was_updated(
    ada: User, stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran(ada, stub, "openai")
    monkeypatch.setattr(versions, "_installed", lambda: (("fpco-studio", "99"), ("python", "9")))
    ran(ada, stub, "openai")
    kept = [attempt.software.versions["fpco-studio"] for attempt in Attempt.objects.order_by("pk") if attempt.software]
    assert len(kept) == 20
    assert kept[0] != "99"
    assert kept[-1] == "99"
    assert Software.objects.count() == 2


def test_a_simulated_model_is_shown_what_it_was_given(ada: User) -> None:
    run = runs.start(run=runs.create(model=factories.model(), dataset=factories.dataset(), by=ada), by=ada)
    run_engine()
    asked = rebuilt.request_of(Attempt.objects.get(dialogue__run=run, turn=2))
    assert (asked.on_wire, asked.matches) == (False, None)
    assert [message["role"] for message in json.loads(asked.text)["messages"]] == ["user", "assistant", "user"]
