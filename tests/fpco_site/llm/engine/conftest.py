"""An engine with one kind of work, drafts as `example.py` does them, and a provider that a test writes."""

import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from annotate.models import Draft, Drafter, User
from fpco_site.llm.engine import pump, work
from fpco_site.llm.types import Endpoint, Outcome, Reply, Request
from tests import factories

FAST = {"idle": 0.0, "tick": 0.01, "gap": 0.001, "backoff": 0.001, "beat": 0.02, "stale": 0.3, "grace": 5.0}
Answer = Callable[[Request], Awaitable[Reply]]


class FakeProvider:
    """Answers as a test's function does, and remembers what it was asked."""

    simulated = True

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[str] = []
        self.closed = False

    async def ask(self, request: Request) -> Reply:
        self.asked.append(request.messages[-1].text)
        return await self.answer(request)

    async def close(self) -> None:
        self.closed = True


async def say_yes(request: Request) -> Reply:
    return Reply(Outcome.ANSWERED, "yes")


@pytest.fixture(autouse=True)
def fast(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ENGINE = dict(FAST)
    monkeypatch.setattr(work, "_registered", ["tests.fpco_site.llm.engine.example.ExampleWork"])


@pytest.fixture
def drafts(ada: User) -> Callable[..., list[Draft]]:
    """So many drafts that wait to be made."""

    def make(count: int = 1) -> list[Draft]:
        drafter = Drafter.objects.create(name="Fake", provider="scripted", model_id="fake")
        return [
            Draft.objects.create(item=factories.item(), drafter=drafter, kind="questions", requested_by=ada)
            for _ in range(count)
        ]

    return make


def run_engine(provider: FakeProvider, *, stop: pump.Stop | None = None, stay: bool = False) -> None:
    """Run an engine of its own, as one more worker, until it has nothing left to do."""

    def make(endpoint: Endpoint) -> FakeProvider:
        return provider

    assert pump.run(stop=stop or pump.Stop(), stay=stay, make=make, process=pump.Process())


class Background:
    """An engine in a thread."""

    def __init__(self, provider: FakeProvider, *, stay: bool = False) -> None:
        self.stop = pump.Stop()
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._main, args=(provider, stay), daemon=True)
        self._thread.start()

    def _main(self, provider: FakeProvider, stay: bool) -> None:
        from django.db import connections

        try:
            run_engine(provider, stop=self.stop, stay=stay)
        except BaseException as error:
            self.error = error
        finally:
            connections.close_all()

    def join(self) -> None:
        self._thread.join(30)
        assert not self._thread.is_alive(), "The engine did not end."
        if self.error is not None:
            raise self.error


@pytest.fixture
def background(transactional_db: None) -> Iterator[Callable[..., Background]]:
    """Starts engines that run beside the test and end with it."""
    started: list[Background] = []

    def start(provider: FakeProvider, *, stay: bool = False) -> Background:
        started.append(Background(provider, stay=stay))
        return started[-1]

    yield start
    for engine in started:
        engine.stop.set()
        engine.join()
