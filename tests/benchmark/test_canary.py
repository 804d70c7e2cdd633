"""An API key appears nowhere: not in the database, in logs, on pages, in exports, in messages to workers."""

import logging
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client, RequestFactory
from django.views.debug import technical_500_response
from django.views.defaults import server_error
from kombu import Connection

from annotate.models import Dataset, User
from benchmark.models import Attempt, Run
from benchmark.services import release_export, runs, validation
from fpco_site import keys
from fpco_site.llm import providers
from tests import factories, services
from tests.crawl import Crawl
from tests.stubs import Do, StubServer
from tests.worker import Celery, until

pytestmark = [
    pytest.mark.django_db(transaction=True, reset_sequences=True),  # a crawl tries every first number on every route
    pytest.mark.timeout(600),
]
As = Callable[[User], Client]
# With characters that JSON, HTML and addresses like to escape.
KEY = "sk-canary/5f3759df+zq0x5=="
PARTS = ("sk-canary", "5f3759df", "zq0x5")
PROVIDERS = ("openai", "openai_compatible", "gemini")
# What a turn meets, one after another; each but the echoes is tried again.
TROUBLES: tuple[Any, ...] = (
    *(Do("echo_error", status=status) for status in (500, 429, 408)),
    "echo_garbage",
    "cut_midway",
    "cut_connection",
    "not_json",
    "no_choices",
    "failed",
    "echo",
    "echo",
)
# What pauses a run, or ends a turn for good.
ENDS: tuple[Any, ...] = (Do("echo_error", status=400), "unauthorized")


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[StubServer, StubServer, Celery, str]]:
    """A stub, another server that nothing should be sent to, and a worker that logs all it can."""
    monkeypatch.setenv("STUB_KEY", KEY)
    with ExitStack() as stack:
        stub, other = (stack.enter_context(StubServer(plain=True)) for _ in range(2))
        broker = stack.enter_context(services.valkey(stack.enter_context(services.temporary_folder())))
        env = {"STUB_KEY": KEY, "FPCO_LOG_LEVEL": "DEBUG", "FPCO_ENGINE_BACKOFF": "0.01", "FPCO_ENGINE_TRIES": "20"}
        env["FPCO_ENGINE_WAKE"] = "0.5"
        worker = Celery(broker, tmp_path, **env)
        stack.callback(worker.end)
        yield stub, other, worker, broker


def begin(stub: StubServer, ada: User) -> None:
    """A run of one dialogue for each provider."""
    over = factories.dataset(items=1)
    for provider in PROVIDERS:
        where: Any = {"provider": provider, "base_url": stub.url(provider), "api_key_env": "STUB_KEY"}
        model = factories.model(model_id="stub", concurrency=1, **where)
        runs.start(run=runs.create(model=model, dataset=over, by=ada), by=ada)


# Where calls and what became of them show.
PAGES = ("/runs/", "/models/", "/api/v1/runs/", "/api/v1/dialogues/", "/dialogues/", "/attempts/")
# Where what came of them is read, labelled and published.
LATER = ("/results/", "/releases/", "/validation/", "/api/v1/results/", "/api/v1/validation-sets/")
LABELLING = ("/label/", "/api/v1/label-sets/", "/api/v1/label-tasks/")


def leaks(where: str, text: str) -> list[str]:
    return [f"{where}: ...{text[max(0, text.index(part) - 60) :][:140]}" for part in PARTS if part in text]


def every_cell() -> Iterator[tuple[str, str]]:
    """Every value of every table, as text; compressed ones unpacked too."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            for row in cursor.fetchall():
                for value in row:
                    yield table, _plain(value)


def _plain(value: object) -> str:
    if not isinstance(value, bytes | memoryview):
        return str(value)
    raw = bytes(value)
    try:
        return zlib.decompress(raw).decode("utf-8", "replace")
    except zlib.error:
        return raw.decode("utf-8", "replace")


def messages(broker: str) -> list[str]:
    """All that the broker holds."""
    with Connection(broker) as held:
        client = held.default_channel.client
        return [str(client.dump(name)) for name in client.keys("*")]


def test_a_key_appears_nowhere_whatever_the_provider_does(
    house: tuple[StubServer, StubServer, Celery, str], ada: User, as_: As, tmp_path: Path, caplog: Any
) -> None:
    stub, other, worker, broker = house
    caplog.set_level(logging.DEBUG)
    begin(stub, ada)
    stub.script([trouble for trouble in TROUBLES for _ in PROVIDERS])
    worker.start()
    until(lambda: not Run.objects.filter(state="running").exists(), worker)
    assert set(Run.objects.values_list("state", flat=True)) == {"complete"}
    for end in (*ENDS, Do("redirect", text=f"{other.url('openai')}/chat/completions")):
        stub.script([end] * len(PROVIDERS))
        begin(stub, ada)
        until(lambda: not Run.objects.filter(state="running").exists(), worker)
    assert worker.terminate() == 0

    found = [leak for table, text in every_cell() for leak in leaks(table, text)]
    found += leaks("worker's log", worker.logs(whole=True)) + leaks("our log", caplog.text)
    found += [leak for message in messages(broker) for leak in leaks("broker", message)]
    lea = factories.person("lea", "annotator")
    opened = validation.open(
        dataset=Run.objects.filter(state="complete")[0].dataset, annotators=[lea], by=ada, per_cell=1
    )
    crawls = Crawl(as_(ada), within=PAGES + LATER), Crawl(as_(lea), within=LABELLING)
    replies = [reply for crawl in crawls for reply in crawl.run()]
    expected = {"/results/", f"/validation/{opened.pk}/blindness/", f"/label/{opened.label_set_id}/"}
    assert expected <= {reply.url for reply in replies if reply.status == 200}
    found += [leak for reply in replies for leak in leaks(reply.url, reply.everything)]
    for dataset in Dataset.objects.all():
        release_export.export(dataset=dataset, folder=tmp_path / f"out-{dataset.pk}")
    for path in (path for path in tmp_path.rglob("*") if path.is_file()):
        found += leaks(str(path), path.read_bytes().decode("utf-8", "replace"))
    assert found == []
    assert all(recorded.key == KEY for recorded in stub.requests), "The key was sent, so it could have leaked."
    assert keys.MARK in "".join(Attempt.objects.values_list("error", flat=True))
    assert other.counts.requests == 0, "A redirect is not followed, with a key or without."


@pytest.mark.parametrize("debug", [True, False])
def test_no_page_for_an_error_shows_a_key(monkeypatch: pytest.MonkeyPatch, settings: Any, debug: bool) -> None:
    """Not even debugging, which shows the variables of each frame."""
    monkeypatch.setenv("STUB_KEY", KEY)
    settings.DEBUG = debug
    row = factories.model(provider="openai", model_id="stub", api_key_env="STUB_KEY")
    provider = providers.make(row.endpoint())

    def view(key: str) -> None:
        raise RuntimeError(f"It broke with {key}, {provider}.")

    try:
        view(KEY)
    except RuntimeError:
        caught = sys.exc_info()
    for accept in ("text/html", "text/plain"):
        request = RequestFactory().get("/", headers={"accept": accept})
        request.META["STUB_CREDENTIAL"] = KEY
        answer = technical_500_response(request, *caught) if debug else server_error(request)
        assert leaks("page", answer.content.decode()) == []
        if debug:
            assert keys.MARK in answer.content.decode()
