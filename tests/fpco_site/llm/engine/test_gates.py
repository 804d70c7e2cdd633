"""A rate limit is learned once for all workers and waited out on each one's own clock."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from annotate.models import Draft
from fpco_site.llm.engine import gates
from fpco_site.llm.models import Gate
from fpco_site.llm.types import ErrorKind, Outcome, ProviderError, Reply, Request
from tests.engine import FakeProvider, run_engine

KEY = "openai||KEY"


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.django_db
@pytest.mark.worker
def test_only_the_first_429_of_an_epoch_shrinks() -> None:
    shrunk = [gates.shrink(key=KEY, epoch=0, wait=2, limit=16, reason="slow down") for _ in range(40)]
    assert shrunk == [True] + [False] * 39
    assert gates.read() == [gates.Row(KEY, 1, 2.0, 16.0)]


@pytest.mark.django_db
@pytest.mark.worker
def test_a_limit_grows_only_in_the_epoch_it_held_in() -> None:
    gates.shrink(key=KEY, epoch=0, wait=2, limit=16, reason="")
    assert not gates.grow(key=KEY, epoch=0, limit=17)
    assert gates.grow(key=KEY, epoch=1, limit=17)
    assert not gates.grow(key=KEY, epoch=1, limit=17), "Two workers that grow at once grow once."
    assert Gate.objects.get().limit == 17


@pytest.mark.django_db(transaction=True)
@pytest.mark.worker
def test_forty_429s_shrink_once_and_every_row_is_answered(drafts: Callable[..., list[Draft]]) -> None:
    drafts(40)
    arrived, all_in = [0], asyncio.Event()

    async def answer(request: Request) -> Reply:
        arrived[0] += 1
        if arrived[0] > 40:
            return Reply(Outcome.ANSWERED, "yes")
        if arrived[0] == 40:
            all_in.set()
        await all_in.wait()
        raise ProviderError(ErrorKind.RATE_LIMITED, "slow down", status=429, retry_after=0.05)

    run_engine(FakeProvider(answer))
    gate = Gate.objects.get()
    assert gate.epoch == 1
    assert gate.limit is not None
    assert gate.limit >= 20
    assert gate.reason == "slow down"
    assert set(Draft.objects.values_list("state", "tries")) == {("ready", 2)}


def test_a_worker_waits_on_its_own_clock_then_ramps_up() -> None:
    clock = Clock()
    view = gates.Gates(clock).view(KEY)
    view.see(gates.Row(KEY, 1, 10.0, 8.0), workers=2)
    assert not view.is_open()
    clock.now += 10
    assert view.is_open()
    view.in_flight = 1
    assert not view.is_open(), "One call first."
    for _ in range(3):
        view.answered()
    view.in_flight = 3
    assert view.is_open()
    view.in_flight = 4
    assert not view.is_open(), "Two workers share a limit of eight."


def test_the_wait_doubles_until_an_answer_comes() -> None:
    view = gates.View(Clock())
    wait, _ = view.limited(None, 1)
    view.see(gates.Row(KEY, 1, wait, 4.0), workers=1)
    longer, _ = view.limited(None, 1)
    assert longer == 2 * wait
    view.answered()
    assert view.limited(None, 1)[0] == wait


def test_what_the_provider_asks_for_is_waited() -> None:
    view = gates.View(Clock())
    assert view.limited(17.0, 1)[0] == 17.0


def test_a_lane_at_the_gate_gives_up_when_it_has_to() -> None:
    async def main() -> int | None:
        doors = gates.Gates()
        doors.see([gates.Row(KEY, 1, 60.0, 8.0)])
        leave = threading.Event()
        asyncio.get_running_loop().call_later(0.02, leave.set)
        return await doors.enter(KEY, give_up=leave.is_set, tick=0.01)

    assert asyncio.run(main()) is None
