"""What models write comes back as it was: NUL, half a surrogate pair, marks of direction, emoji, a megabyte."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from annotate.models import Dataset, LabelTask, User
from benchmark.models import Attempt, Response, Run
from benchmark.services import release_export, releases, runs
from tests import factories
from tests.crawl import Crawl
from tests.engine import run_engine
from tests.stubs import Do, StubServer

pytestmark = [
    pytest.mark.django_db(transaction=True, reset_sequences=True),  # a crawl tries every first number on every route
    pytest.mark.usefixtures("fast_engine"),
    pytest.mark.timeout(300),
]
As = Callable[[User], Client]
PROVIDERS = ("openai", "openai_compatible", "gemini")
ODD = {
    1: "A NUL\x00 and the mark of an escape \x1a, also \x1a0 and \x1as and \x1ad83d.",
    2: "Half a face \ud83d, the other half \ude00, and a whole one 😀.",
    3: "\u202eright to left\u202c, \u200fمرحبا\u200e, \u2066isolated\u2069.",
    4: "🐕‍🦺👩🏽‍🔬 \U0010ffff \ufeff\ufffe a\u0301 \u2028\u2029\x85 \x0b\x1b[31m",
    5: "<script>alert(1)</script> &amp; \"' {% now %} {{ x }} -->",
    6: "A megabyte. " + "Für 犬\r\n" * 100_000,
}


def texts_in(body: str) -> Iterator[str]:
    """Every text of a JSON answer."""
    waiting: list[Any] = [json.loads(body)] if body[:1] in {"{", "["} else []
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value


def said(turn: int) -> str:
    return ODD.get(turn, f"Plain answer {turn}.")


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    monkeypatch.setenv("STUB_KEY", "key-of-the-stub")
    with StubServer() as server:
        for turn in range(1, 11):
            server.when(turn=turn, do=Do("answer", text=said(turn)))
        yield server


def answered(ada: User, stub: StubServer, providers: Sequence[str]) -> Dataset:
    """One item before a model of each of these protocols."""
    item = factories.item(state="approved")
    dataset = factories.dataset("Odd", items=0)
    factories.dataset_item(dataset, key=item.key, image=item.image)
    for provider in providers:
        where: Any = {"provider": provider, "base_url": stub.url(provider), "api_key_env": "STUB_KEY"}
        model = factories.model(provider, model_id="stub", **where)
        runs.start(run=runs.create(model=model, dataset=dataset, by=ada), by=ada)
    run_engine()
    return dataset


@pytest.mark.db
def test_every_answer_comes_back_true_and_every_reply_byte_for_byte(
    ada: User, stub: StubServer, tmp_path: Path
) -> None:
    dataset = answered(ada, stub, PROVIDERS)
    assert list(Run.objects.values_list("state", flat=True)) == ["complete"] * 3
    assert Response.objects.count() == 30
    for response in Response.objects.select_related("dialogue__run__model"):
        where = (response.dialogue.run.model.provider, response.turn)
        assert response.text == said(response.turn), where
        attempt = Attempt.objects.get(dialogue=response.dialogue, turn=response.turn)
        number = int(attempt.request_id.rpartition("-")[2].rpartition("_")[2])
        assert response.raw == attempt.raw == stub.sent[number], where
    asked = [recorded.asked for recorded in stub.requests if recorded.asked and recorded.asked.turn == 10]
    histories = [[m.text for m in one.request.messages if m.role == "assistant"] for one in asked]
    assert histories == [[said(turn) for turn in range(1, 10)]] * 3, "Each model reads what it said."

    folder = tmp_path / "out"
    release_export.export(dataset=dataset, folder=folder)
    releases.verify(folder=folder)
    call_command("flush", interactive=False, verbosity=0)
    releases.import_folder(folder=folder, by=None)
    texts = Response.objects.values_list("dialogue__run__model__name", "turn", "text")
    assert set(texts) == {(name, turn, said(turn)) for name in PROVIDERS for turn in range(1, 11)}


def test_every_page_and_answer_of_the_api_renders(stub: StubServer, ada: User, lea: User, as_: As) -> None:
    dataset = answered(ada, stub, ["openai_compatible"])
    for slug in ("strict", "lenient"):
        detector = factories.detector(slug)
        for run in Run.objects.all():
            factories.detector_labels(detector, run)
    replies = Crawl(as_(ada)).run()
    assert [(reply.status, reply.url) for reply in replies if reply.status >= 500] == []
    pages = "".join(reply.body for reply in replies if "text/html" in reply.headers)
    assert "<script>alert(1)</script>" not in pages
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in pages
    assert "👩🏽‍🔬" in pages
    assert "\x00" not in pages
    texts = {text for reply in replies if reply.url.startswith("/api/") for text in texts_in(reply.body)}
    assert {said(turn) for turn in range(1, 11)} <= texts, "The API says what was said, word for word."

    label_set = factories.label_set(dataset, [lea], tasks=0)
    same = {"label_set": label_set, "created_at": label_set.opened_at, "premise_class": "identity"}
    for text in ODD.values():
        LabelTask.objects.create(**same, content=text, modified=text, response=text)
    replies = Crawl(as_(lea)).run()
    assert [(reply.status, reply.url) for reply in replies if reply.status >= 500] == []
    labelling = [reply for reply in replies if reply.url.startswith("/label") and reply.status == 200]
    assert any("👩🏽‍🔬" in reply.body for reply in labelling)
