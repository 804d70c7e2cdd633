"""What is killed loses nothing and doubles nothing: real processes, broker, database and providers."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from annotate.models import User
from benchmark.models import Attempt, Dialogue, Response, Run
from benchmark.services import runs
from fpco_site.llm.models import Worker
from tests import factories, kills, services
from tests.stubs import StubServer
from tests.worker import Celery, until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker, pytest.mark.timeout(600)]
KILLS = int(os.environ.get("FPCO_KILLS", "5"))
DIALOGUES = int(os.environ.get("FPCO_KILLED_DIALOGUES", "7"))
ITEMS, TURNS = 8, 10


@pytest.fixture
def celery(tmp_path: Path) -> Iterator[Celery]:
    with ExitStack() as stack:
        broker = stack.enter_context(services.valkey(stack.enter_context(services.temporary_folder())))
        worker = Celery(broker, tmp_path, STUB_KEY="key-of-the-stub")
        stack.callback(worker.end)
        yield worker


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer(latency=0.1, keep=False, plain=True) as server:
        yield server


@pytest.fixture
def started(ada: User, stub: StubServer, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("STUB_KEY", "key-of-the-stub")
    endpoint: dict[str, Any] = {"base_url": stub.url("openai_compatible"), "api_key_env": "STUB_KEY"}
    model = factories.model(provider="openai_compatible", model_id="stub", concurrency=6, **endpoint)
    run = runs.create(model=model, dataset=factories.dataset(items=ITEMS), by=ada)
    return runs.start(run=run, by=ada)


def test_killed_again_and_again_it_asks_nothing_twice_but_what_was_in_flight() -> None:
    """Worker, broker and, in PostgreSQL's pass, the database, under three providers (see tests/kills.py)."""
    command = [sys.executable, "-m", "tests.kills", "--dialogues", str(DIALOGUES), "--kills", str(KILLS)]
    command += ["--postgres"] if connection.vendor == "postgresql" else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["planned"] == report["stored"] == len(kills.PROVIDERS) * DIALOGUES * TURNS
    assert sum(report["kills"].values()) == KILLS


def test_sigterm_lets_calls_finish_and_gives_everything_back(started: Run, stub: StubServer, celery: Celery) -> None:
    celery.start()
    until(lambda: Response.objects.count() >= 15, celery)
    assert celery.terminate() == 0
    assert stub.counts.requests == Response.objects.count() == Attempt.objects.count() < ITEMS * TURNS
    assert not Dialogue.objects.filter(lease_token__isnull=False).exists()
    assert not Dialogue.objects.filter(state="running").exists()
    assert not Worker.objects.filter(stopped_at__isnull=True).exists()
    celery.start()
    until(lambda: Run.objects.get().state == "complete", celery)
    assert stub.counts.repeated == 0
