"""Several workers, a broker that forgets or says everything twice, and clocks that jump: nothing is asked twice."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from kombu import Connection

from annotate.models import User
from benchmark.models import Attempt, Dialogue, Response, Run
from benchmark.services import runs
from fpco_site.llm.engine import config
from fpco_site.llm.models import Gate, Worker
from tests import factories, services
from tests.stubs import Do, StubServer
from tests.worker import Celery, until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.timeout(600)]
DAY = 24 * 60 * 60
# A worker that holds a third of what the run may ask at once leaves the rest to the others.
THIRD = {"FPCO_ENGINE_LANES": "3", "FPCO_ENGINE_WAKE": "0.5"}
TURNS = 10


@pytest.fixture
def broker() -> Iterator[str]:
    with services.temporary_folder() as folder, services.valkey(folder) as address:
        yield address


@pytest.fixture
def celery(broker: str, tmp_path: Path) -> Iterator[Celery]:
    with ExitStack() as stack:
        workers = Celery(broker, tmp_path, STUB_KEY="key-of-the-stub", DJANGO_SETTINGS_MODULE="tests.impatient")
        stack.callback(workers.end)
        yield workers


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer(latency=0.1, keep=False, plain=True) as server:
        yield server


def begun(ada: User, stub: StubServer, monkeypatch: pytest.MonkeyPatch, *, items: int, concurrency: int) -> Run:
    monkeypatch.setenv("STUB_KEY", "key-of-the-stub")
    endpoint: dict[str, Any] = {"base_url": stub.url("openai_compatible"), "api_key_env": "STUB_KEY"}
    model = factories.model(provider="openai_compatible", model_id="stub", concurrency=concurrency, **endpoint)
    run = runs.create(model=model, dataset=factories.dataset(items=items), by=ada)
    return runs.start(run=run, by=ada)


def holders() -> set[object]:
    held = Dialogue.objects.filter(lease_worker__isnull=False)
    return set(held.values_list("lease_worker", flat=True))


@contextmanager
def forgetting(address: str) -> Iterator[None]:
    """The broker loses whatever it is given, again and again."""
    began, over = threading.Event(), threading.Event()

    def forget() -> None:
        with Connection(address) as connection:
            client = connection.default_channel.client
            while not over.wait(0.02):
                client.flushall()
                began.set()

    thread = threading.Thread(target=forget, daemon=True)
    thread.start()
    assert began.wait(30)
    try:
        yield
    finally:
        over.set()
        thread.join(10)


def test_three_workers_whose_clocks_jump_share_a_run_and_a_gate(
    ada: User, stub: StubServer, celery: Celery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One clock stays, one jumps a day ahead, one a day back; the broker gives each message out again and again."""
    for jump in (0, DAY, -DAY):
        celery.start_by_hand(FPCO_TEST_JUMP=str(jump), FPCO_ENGINE_STALE="20", **THIRD)
    until(lambda: celery.logs(whole=True).count(" ready.") == 3, celery)
    stub.script([*["answer"] * 40, Do("rate_limit", retry_after="0.5")])
    run = begun(ada, stub, monkeypatch, items=30, concurrency=9)
    part: set[object] = set()

    def is_over() -> bool:
        part.update(holders())
        return Run.objects.get().state == "complete"

    until(is_over, celery)
    planned = run.dialogues.count() * TURNS
    assert Response.objects.count() == planned
    assert len(part) == 3, "Every worker takes part."
    assert Worker.objects.count() == 3, "Nobody was taken for dead, and came back as another."
    assert stub.counts.peak <= run.concurrency
    assert (stub.counts.requests, Attempt.objects.count()) == (planned + 1, planned + 1)
    assert Gate.objects.filter(epoch=1).count() == Gate.objects.count() == 1


def test_work_goes_on_though_every_message_was_lost(
    ada: User, stub: StubServer, broker: str, celery: Celery, monkeypatch: pytest.MonkeyPatch
) -> None:
    celery.start()
    until(lambda: " ready." in celery.logs(whole=True), celery)
    with forgetting(broker):
        run = begun(ada, stub, monkeypatch, items=4, concurrency=4)
        threading.Event().wait(2)
        assert not Response.objects.exists(), "No message has come through."
    until(lambda: Run.objects.get().state == "complete", celery)
    assert stub.counts.repeated == 0
    assert Response.objects.count() == stub.counts.requests == run.dialogues.count() * TURNS
    assert config.load().wake <= 30
