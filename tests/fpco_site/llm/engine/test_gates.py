"""A rate limit is learned once for all workers and waited out on each one's own clock."""

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from annotate.models import Draft
from fpco_site.llm.engine import gate_facts, gate_rows, gates
from fpco_site.llm.models import Gate, Worker
from fpco_site.llm.types import Endpoint, ErrorKind, Outcome, ProviderError, Reply, Request
from tests.engine import FakeProvider, run_engine

KEY = "openai||KEY"
ENDPOINT = Endpoint("openai", "gpt-4.1", api_key_env="KEY")


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.django_db
@pytest.mark.worker
def test_only_the_first_429_of_an_epoch_shrinks() -> None:
    shrunk = [gate_rows.shrink(key=KEY, epoch=0, wait=2, limit=16, reason="slow down") for _ in range(40)]
    assert shrunk == [True] + [False] * 39
    assert gate_rows.read() == [gate_rows.Row(KEY, 1, 2.0, 16.0)]


@pytest.mark.django_db
@pytest.mark.worker
def test_a_limit_grows_only_in_the_epoch_it_held_in() -> None:
    gate_rows.shrink(key=KEY, epoch=0, wait=2, limit=16, reason="")
    assert not gate_rows.grow(key=KEY, epoch=0, limit=17)
    assert gate_rows.grow(key=KEY, epoch=1, limit=17)
    assert not gate_rows.grow(key=KEY, epoch=1, limit=17), "Two workers that grow at once grow once."
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
    view.workers = 2
    view.see(gate_rows.Row(KEY, 1, 10.0, 8.0))
    assert not view.is_open()
    clock.now += 10
    assert view.is_open()
    view.in_flight = 1
    assert not view.is_open(), "One call first."
    for _ in range(6):
        view.answered()
    view.in_flight = 3
    assert view.is_open()
    view.in_flight = 4
    assert not view.is_open(), "Two workers share a limit of eight."


def test_the_wait_doubles_until_an_answer_comes() -> None:
    view = gates.View(Clock())
    wait, limit = view.limited(None, 0)
    view.see(gate_rows.Row(KEY, 1, wait, limit))
    longer, same = view.limited(None, 1)
    assert (longer, same) == (2 * wait, limit), "A first call that is refused came too early, not beside too many."
    view.answered()
    assert view.limited(None, 1)[0] == wait


def test_what_the_provider_asks_for_is_waited() -> None:
    view = gates.View(Clock())
    assert view.limited(17.0, 0)[0] == 17.0


def test_a_lane_at_the_gate_gives_up_when_it_has_to() -> None:
    async def main() -> int | None:
        doors = gates.Gates()
        doors.see([gate_rows.Row(KEY, 1, 60.0, 8.0)])
        leave = threading.Event()
        asyncio.get_running_loop().call_later(0.02, leave.set)
        return await doors.enter(KEY, give_up=leave.is_set, tick=0.01)

    assert asyncio.run(main()) is None


@pytest.mark.django_db
@pytest.mark.worker
def test_a_later_429_lengthens_the_wait_and_shrinks_nothing() -> None:
    now = time.monotonic()
    gate_rows.shrink(key=KEY, epoch=0, wait=60, limit=16, reason="slow down", told_at=now)
    assert not gate_rows.shrink(key=KEY, epoch=0, wait=600, limit=8, reason="slower", told_at=now)
    [row] = gate_rows.read()
    assert (row.epoch, row.limit) == (2, 16.0)
    assert 590 < row.wait <= 600
    for late in (
        {"wait": 660, "told_at": now - 120},  # it came before, and was committed after
        {"wait": 900, "told_at": None},  # a guess of ours
    ):
        assert not gate_rows.shrink(key=KEY, epoch=0, limit=8, reason="", **late)
    assert gate_rows.read()[0].epoch == 2


@pytest.mark.django_db
@pytest.mark.worker
def test_a_hold_keeps_the_limit_and_hides_no_429() -> None:
    gate_rows.shrink(key=KEY, epoch=0, wait=2, limit=16, reason="")
    assert gate_rows.hold(key=KEY, epoch=1, wait=5, reason="Nothing is left.")
    assert not gate_rows.hold(key=KEY, epoch=1, wait=5, reason="Nothing is left."), "One answer of many is enough."
    assert gate_rows.read() == [gate_rows.Row(KEY, 2, 5.0, 16.0)]
    assert gate_rows.shrink(key=KEY, epoch=1, wait=9, limit=8, reason="too many"), "Sent before the hold, yet news."
    assert gate_rows.read() == [gate_rows.Row(KEY, 3, 9.0, 8.0)]


@pytest.mark.django_db
@pytest.mark.worker
def test_what_is_known_of_a_key_is_told() -> None:
    usual = Endpoint("openai", "gpt-4.1", base_url="https://api.openai.com/v1/")
    named = Endpoint("openai", "gpt-5", base_url="https://api.openai.com/v1", api_key_env="OPENAI_API_KEY")
    assert gate_rows.key_of(usual) == gate_rows.key_of(named)
    [unknown] = gate_facts([usual])
    assert (unknown.limit, unknown.since, unknown.reason, unknown.opens_in, unknown.workers) == (None, None, "", 0.0, 0)

    gate_rows.shrink(key=KEY, epoch=0, wait=60, limit=7.5, reason="slow down")
    for keys in ([KEY], [KEY, "other"], []):
        gate_rows.use(Worker.objects.create(host="here", pid=1).pk, keys)
    facts, other = gate_facts([ENDPOINT, usual])
    assert (facts.limit, facts.reason, facts.workers) == (7, "slow down", 2)
    assert 0 < facts.opens_in <= 60
    assert facts.since is not None
    assert other == unknown


def test_a_worker_that_has_just_started_waits_only_for_what_is_left() -> None:
    clock = Clock()
    doors = gates.Gates(clock)
    doors.see([gate_rows.Row(KEY, 4, 60.0, 8.0, age=3600.0)])
    assert doors.view(KEY).is_open()
    doors.see([gate_rows.Row(KEY, 5, 60.0, 8.0, age=3600.0)])
    assert not doors.view(KEY).is_open(), "What it sees come is waited for on its own clock."


def test_after_a_hold_calls_ramp_up_even_without_a_limit() -> None:
    clock = Clock()
    view = gates.View(clock)
    view.in_flight = 50
    assert view.is_open()
    assert view.hold(20.0) == 20.0
    assert view.hold(20.5) is None, "Others know already."
    assert not view.is_open()
    view.in_flight = 0
    view.see(gate_rows.Row(KEY, 1, 20.0, None))
    clock.now += 21
    assert view.is_open()
    view.in_flight = 1
    assert not view.is_open()
    view.answered()
    assert view.is_open()


def test_a_short_hold_is_this_workers_own_business() -> None:
    clock = Clock()
    view = gates.View(clock)
    assert view.hold(0.2) is None
    assert not view.is_open()
    clock.now += 0.2
    view.in_flight = 50
    assert view.is_open()
