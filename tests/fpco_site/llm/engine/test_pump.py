"""What goes in comes out once, whatever happens on the way."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from annotate.models import Draft
from fpco_site.llm.engine import leases, pump, work
from fpco_site.llm.models import Worker
from fpco_site.llm.types import ErrorKind, Outcome, ProviderError, Reply, Request
from tests.engine import FAST, Background, FakeProvider, run_engine, say_yes
from tests.fpco_site.llm.engine.example import ExampleWork

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker]
MakeDrafts = Callable[..., list[Draft]]
Start = Callable[..., Background]


def states() -> list[str]:
    return list(Draft.objects.order_by("pk").values_list("state", flat=True))


def test_every_row_is_asked_once_and_given_back(drafts: MakeDrafts) -> None:
    drafts(20)
    provider = FakeProvider(say_yes)
    run_engine(provider)
    assert states() == ["ready"] * 20
    assert len(provider.asked) == len(set(provider.asked)) == 20
    assert not Draft.objects.filter(lease_token__isnull=False).exists()
    assert Worker.objects.get().stopped_at is not None
    assert provider.closed


def test_without_work_no_worker_is_registered(transactional_db: None) -> None:
    run_engine(FakeProvider(say_yes))
    assert not Worker.objects.exists()


def test_a_second_pump_of_a_process_does_nothing(drafts: MakeDrafts) -> None:
    drafts(1)
    process = pump.Process()
    with process.pumping:
        assert not pump.run(stop=pump.Stop(), process=process)
    assert states() == ["waiting"]


def test_a_process_keeps_its_row_among_the_workers(drafts: MakeDrafts) -> None:
    process = pump.Process()
    drafts(1)
    for _ in range(2):
        Draft.objects.update(state="waiting")
        assert pump.run(stop=pump.Stop(), make=lambda endpoint: FakeProvider(say_yes), process=process)
    assert Worker.objects.count() == 1


def test_a_transient_error_is_tried_again_and_counted(drafts: MakeDrafts) -> None:
    row = drafts(1)[0]
    failures = [ProviderError(ErrorKind.TRANSIENT, "cut"), ProviderError(ErrorKind.TRANSIENT, "cut again")]

    async def answer(request: Request) -> Reply:
        if failures:
            raise failures.pop()
        return Reply(Outcome.ANSWERED, "yes")

    run_engine(FakeProvider(answer))
    row.refresh_from_db()
    assert (row.state, row.tries, row.error) == ("ready", 3, "")


def test_a_transient_error_ends_after_the_last_try(drafts: MakeDrafts) -> None:
    row = drafts(1)[0]

    async def answer(request: Request) -> Reply:
        raise ProviderError(ErrorKind.TRANSIENT, "cut")

    run_engine(FakeProvider(answer))
    row.refresh_from_db()
    assert (row.state, row.tries) == ("failed", 5)


def test_a_provider_that_breaks_is_a_permanent_error(drafts: MakeDrafts) -> None:
    row = drafts(1)[0]

    async def answer(request: Request) -> Reply:
        raise ZeroDivisionError

    run_engine(FakeProvider(answer))
    row.refresh_from_db()
    assert (row.state, row.tries) == ("failed", 1)
    assert "ZeroDivisionError" in row.error


def test_a_row_that_can_not_be_stored_fails_alone(drafts: MakeDrafts, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = drafts(12)
    bad = rows[3].pk
    whole = ExampleWork._record

    def record(self: ExampleWork, call: work.Call[str]) -> work.Claim[str] | None:
        if call.claim.id == bad and call.reply is not None:
            with connection.cursor() as cursor:
                cursor.execute("SELECT * FROM no_such_table")
        return whole(self, call)

    monkeypatch.setattr(ExampleWork, "_record", record)
    provider = FakeProvider(say_yes)
    run_engine(provider)
    assert states() == ["failed" if row.pk == bad else "ready" for row in rows]
    assert "could not be stored" in Draft.objects.get(pk=bad).error
    assert len(provider.asked) == 12


def test_an_answer_under_a_lost_lease_is_not_written(drafts: MakeDrafts) -> None:
    row = drafts(1)[0]
    other = Worker.objects.create(host="elsewhere", pid=1, beats=1)
    taken = {"state": "running", "lease_worker_id": other.pk, "lease_token": uuid4()}

    def take() -> None:
        Draft.objects.update(**taken)
        connection.close()

    async def answer(request: Request) -> Reply:
        await asyncio.to_thread(take)
        stop.set()
        return Reply(Outcome.ANSWERED, "too late")

    stop = pump.Stop()
    run_engine(FakeProvider(answer), stop=stop)
    row.refresh_from_db()
    assert (row.state, row.payload, row.lease_token) == ("running", None, taken["lease_token"])


def test_a_dead_workers_rows_are_freed_on_the_sweepers_own_clock(drafts: MakeDrafts) -> None:
    rows = drafts(2)
    dead = Worker.objects.create(host="gone", pid=1, beats=7)
    live = Worker.objects.create(host="here", pid=2, beats=7)
    for row, holder in zip(rows, (dead, live), strict=True):
        Draft.objects.filter(pk=row.pk).update(state="running", lease_worker=holder, lease_token=uuid4())
    now = [1000.0]
    sweeper = leases.Sweeper(lambda: now[0])
    kinds = [ExampleWork()]
    assert sweeper.sweep(kinds, stale=30) == []
    for _ in range(2):
        now[0] += 12
        leases.beat(live.pk)
        assert sweeper.sweep(kinds, stale=30) == []
    now[0] += 6
    assert sweeper.sweep(kinds, stale=30) == [dead.pk]
    assert states() == ["waiting", "running"]
    assert not leases.beat(dead.pk), "A worker that was declared dead learns of it."


def test_nobody_is_dead_because_the_sweeper_could_not_look(drafts: MakeDrafts) -> None:
    Worker.objects.create(host="here", pid=2, beats=7)
    now = [1000.0]
    sweeper = leases.Sweeper(lambda: now[0])
    assert sweeper.sweep([], stale=30) == []
    now[0] += 3600
    assert sweeper.sweep([], stale=30) == [], "The database was away for an hour: nobody could beat."


def test_work_of_a_dead_worker_is_done_by_another(drafts: MakeDrafts) -> None:
    drafts(1)
    dead = Worker.objects.create(host="gone", pid=1)
    Draft.objects.update(state="running", lease_worker=dead, lease_token=uuid4())
    run_engine(FakeProvider(say_yes))
    assert states() == ["ready"]


def test_told_to_stop_it_finishes_its_calls_and_claims_no_more(
    drafts: MakeDrafts, background: Start, settings: Any
) -> None:
    settings.ENGINE = {**settings.ENGINE, "lanes": 2}
    drafts(5)
    started, go_on = threading.Event(), threading.Event()

    async def answer(request: Request) -> Reply:
        started.set()
        await asyncio.to_thread(go_on.wait)
        return Reply(Outcome.ANSWERED, "yes")

    engine = background(FakeProvider(answer))
    assert started.wait(10)
    engine.stop.set()
    go_on.set()
    engine.join()
    assert states().count("running") == 0
    assert 1 <= states().count("ready") <= 2
    assert not Draft.objects.filter(lease_token__isnull=False).exists()


def test_calls_that_outlast_the_grace_are_given_back(drafts: MakeDrafts, background: Start, settings: Any) -> None:
    settings.ENGINE = {**settings.ENGINE, "grace": 0.05}
    drafts(1)
    started = threading.Event()

    async def answer(request: Request) -> Reply:
        started.set()
        await asyncio.sleep(60)
        raise AssertionError

    engine = background(FakeProvider(answer))
    assert started.wait(10)
    engine.stop.set()
    engine.join()
    assert states() == ["waiting"]


def test_two_workers_ask_nothing_twice(drafts: MakeDrafts, background: Start, settings: Any) -> None:
    # On a busy machine a live worker may be late with its beat; nobody is meant to take it for dead here.
    settings.ENGINE = {**FAST, "stale": 60.0}
    drafts(60)
    providers = [FakeProvider(say_yes), FakeProvider(say_yes)]
    engines = [background(provider) for provider in providers]
    for engine in engines:
        engine.join()
    asked = [text for provider in providers for text in provider.asked]
    assert states() == ["ready"] * 60
    assert len(asked) == len(set(asked)) == 60


@pytest.mark.parametrize(("breaks", "state", "asked"), [(1, "ready", 2), (100, "waiting", 3)])
def test_a_row_whose_lane_breaks_off_is_asked_again_but_not_for_ever(
    drafts: MakeDrafts, background: Start, monkeypatch: pytest.MonkeyPatch, breaks: int, state: str, asked: int
) -> None:
    drafts(1)
    provider = FakeProvider(say_yes)
    whole = ExampleWork.record

    def record(self: ExampleWork, calls: Any) -> Any:
        if len(provider.asked) <= breaks:
            raise ZeroDivisionError
        return whole(self, calls)

    monkeypatch.setattr(ExampleWork, "record", record)
    engine = background(provider)
    end = time.monotonic() + 30
    while (states() != ["ready"] if breaks == 1 else len(provider.asked) < asked) and time.monotonic() < end:
        time.sleep(0.02)
    time.sleep(0.2)  # ten beats, in any of which a row would be given back
    assert len(provider.asked) == asked
    engine.stop.set()
    engine.join()
    assert states() == [state]


def test_a_worker_that_was_declared_dead_begins_no_further_call_for_what_it_held(
    drafts: MakeDrafts, background: Start, settings: Any
) -> None:
    settings.ENGINE = {**FAST, "stale": 60.0}
    [row] = drafts(1)
    failing, taken = threading.Event(), threading.Event()

    async def answer(request: Request) -> Reply:
        failing.set()
        await asyncio.to_thread(taken.wait, 30)
        raise ProviderError(ErrorKind.TRANSIENT, "cut")

    provider = FakeProvider(answer)
    engine = background(provider)
    assert failing.wait(30)
    first = Worker.objects.get()
    other = Worker.objects.create(host="elsewhere", pid=1)
    token = uuid4()
    Worker.objects.filter(pk=first.pk).update(stopped_at=timezone.now())
    Draft.objects.update(lease_worker=other, lease_token=token)
    end = time.monotonic() + 30
    while Worker.objects.count() < 3 and time.monotonic() < end:
        time.sleep(0.02)
    taken.set()
    engine.stop.set()
    engine.join()
    row.refresh_from_db()
    assert (row.tries, row.state, row.lease_token) == (0, "running", token), "What it still brought is not written."
    assert len(provider.asked) == 1
    assert Worker.objects.exclude(pk__in=[first.pk, other.pk]).count() == 1
