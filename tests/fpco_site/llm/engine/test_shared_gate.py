"""Two workers, one key and a real server: what one of them is told, both obey."""

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from annotate.models import Draft, Drafter
from fpco_site.llm.models import Gate
from tests.engine import FAST, Background
from tests.stubs import Do, StubServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker]
LANES, BOUND, LATENCY = 20, 0.5, 0.05
WAIT = float(os.environ.get("FPCO_RETRY_AFTER", "2"))  # seconds
Start = Callable[..., Background]
MakeDrafts = Callable[..., list[Draft]]


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    monkeypatch.setenv("SHARED_KEY", "key-of-the-stub")
    with StubServer(latency=LATENCY) as server:
        yield server


@pytest.fixture
def two_workers(stub: StubServer, drafts: MakeDrafts, background: Start, settings: Any) -> Callable[[int], None]:
    """Two engines with the real intervals of gates, over so many calls to the stub."""

    def start(calls: int) -> None:
        settings.ENGINE = {**FAST, "tick": 0.25, "stale": 60.0, "lanes": LANES}
        drafts(calls)
        Drafter.objects.update(provider="openai", base_url=stub.url("openai"), api_key_env="SHARED_KEY")
        for _ in range(2):
            background()

    return start


class Watch:
    """Looks at something every 10 ms, and at how late it gets to look."""

    def __init__(self) -> None:
        self.late = 0.0

    def until(self, true: Callable[[], bool], seconds: float = 60 + WAIT) -> float:
        """The time at which it came about."""
        end = time.monotonic() + seconds
        while not true():
            before = time.monotonic()
            assert before < end, "It did not come about."
            time.sleep(0.01)
            self.late = max(self.late, time.monotonic() - before - 0.01)
        return time.monotonic()


def ready() -> bool:
    return not Draft.objects.exclude(state="ready").exists()


def assert_ramp(stub: StubServer, first: int) -> None:
    """From request number `first` on, each worker sent one call, and one more for each answer that it got."""
    answered = stub.requests[first].answered
    for number, request in enumerate(stub.requests[first : first + LANES], 1):
        assert number <= 2 + 2 * (request.answered - answered)


def test_a_429_for_one_worker_closes_the_gate_of_both_and_then_it_opens_by_and_by(
    stub: StubServer, two_workers: Callable[[int], None]
) -> None:
    stub.script([*["answer"] * 40, Do("rate_limit", retry_after=f"{WAIT:g}")])
    two_workers(90)
    watch = Watch()
    watch.until(lambda: stub.counts.answered >= 41)
    arrived = watch.until(lambda: Gate.objects.filter(epoch=1).exists())
    watch.until(ready)

    times = [request.at for request in stub.requests]
    opened = next(index for index, at in enumerate(times) if at >= arrived + WAIT / 2)
    late = [at - arrived for at in times[:opened] if at > arrived + BOUND + 2 * watch.late]
    assert late == [], f"The watch itself was {watch.late:.3f} s late at worst."
    assert times[opened] >= stub.requests[40].at + WAIT
    assert_ramp(stub, opened)
    gate = Gate.objects.get()
    assert (gate.epoch, gate.shrunk, gate.reason) == (1, 1, "openai answered 429: The stub was told to misbehave.")
    assert stub.counts.requests == 91


def test_forty_429s_to_two_workers_shrink_once_and_the_limit_grows_back(
    stub: StubServer, two_workers: Callable[[int], None]
) -> None:
    stub.script([Do("rate_limit", retry_after="1")] * 2 * LANES)
    stub.answer_together(2 * LANES)
    two_workers(80)
    watch = Watch()
    watch.until(lambda: Gate.objects.filter(epoch=1).exists())
    shrunk = Gate.objects.get().limit
    watch.until(ready)

    gate = Gate.objects.get()
    assert shrunk is not None
    assert LANES / 2 <= shrunk <= LANES, "Half of what was in flight in both."
    assert (gate.epoch, gate.shrunk) == (1, 1)
    assert gate.limit is not None
    assert gate.limit > shrunk
    assert_ramp(stub, 2 * LANES)


def test_an_answer_that_used_up_the_last_call_holds_both_workers_and_shrinks_nothing(
    stub: StubServer, two_workers: Callable[[int], None]
) -> None:
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "2s"}
    stub.script([*["answer"] * 40, Do("answer", headers=headers)])
    two_workers(90)
    watch = Watch()
    watch.until(lambda: stub.counts.answered >= 41)
    arrived = watch.until(lambda: Gate.objects.filter(epoch=1).exists())
    watch.until(ready)

    late = [request.at - arrived for request in stub.requests if BOUND + 2 * watch.late < request.at - arrived < 1.5]
    assert late == []
    gate = Gate.objects.get()
    assert (gate.epoch, gate.shrunk, gate.limit) == (1, 0, None)
    assert "nothing is left" in gate.reason
    assert stub.counts.requests == 90
