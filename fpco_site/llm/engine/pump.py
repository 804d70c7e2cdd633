"""The engine of one worker: it claims for every kind of work, runs lanes, and keeps watch over leases."""

import asyncio
import logging
import math
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import UUID

from django.db import close_old_connections

from fpco_site.llm import providers
from fpco_site.llm.engine import config as configuration
from fpco_site.llm.engine import gate_rows, gates, leases
from fpco_site.llm.engine.config import Config
from fpco_site.llm.engine.faults import Faults
from fpco_site.llm.engine.lanes import Lane, Providers
from fpco_site.llm.engine.work import Claim, Work, works
from fpco_site.llm.engine.writer import Writer
from fpco_site.llm.types import Endpoint, Provider

log = logging.getLogger(__name__)
SHORTEST_ROUND = 0.01  # seconds between two rounds of claims, however fast lanes end


class Stop:
    """Tells an engine to stop, from any thread, before or after it has started."""

    def __init__(self) -> None:
        self._told = threading.Event()
        self._tell: Callable[[], object] | None = None
        self._lock = threading.Lock()

    def set(self) -> None:
        with self._lock:
            self._told.set()
            if self._tell is not None:
                self._tell()

    def is_set(self) -> bool:
        return self._told.is_set()

    def wait(self, seconds: float) -> bool:
        """Whether it was told to stop, within so many seconds."""
        return self._told.wait(seconds)

    def attach(self, loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
        with self._lock:
            self._tell = partial(loop.call_soon_threadsafe, event.set)
        if self._told.is_set():
            event.set()

    def detach(self) -> None:
        with self._lock:
            self._tell = None


class Process:
    """What outlives a pump in one process: its row among the workers, and what its sweeper has seen.

    A process that asks both models elsewhere and models of its own machine has one of these for each place.
    """

    def __init__(self, place: str = providers.ANYWHERE) -> None:
        self.place = place
        self.pumping = threading.Lock()
        self.again = threading.Event()
        self.sweeper = leases.Sweeper()
        self.worker: UUID | None = None

    def join(self) -> UUID:
        """DB. The process's worker, alive again or new."""
        if self.worker is None or not leases.revive(self.worker):
            self.worker = leases.register(self.place)
        return self.worker


ELSEWHERE = Process()
LOCAL = Process(providers.LOCAL)


def process_for(provider: str) -> Process:
    """Which of the two asks a provider."""
    return LOCAL if providers.place_of(provider) == providers.LOCAL else ELSEWHERE


def run(
    *,
    stop: Stop,
    stay: bool = False,
    make: Callable[[Endpoint], Provider] = providers.make,
    process: Process = ELSEWHERE,
) -> bool:
    """Work until there is nothing to do (with `stay`: until told to stop); False where this process already does."""
    process.again.set()  # a hint that comes while a pump is about to rest is not lost
    if not process.pumping.acquire(blocking=False):
        return False
    try:
        close_old_connections()
        kinds = works(process.place)
        while process.again.is_set() and not stop.is_set():
            process.again.clear()
            if stay or any(work.pending() for work in kinds):
                asyncio.run(_run(kinds, stop=stop, stay=stay, make=make, process=process))
    finally:
        process.pumping.release()
    return True


async def _run(
    kinds: Sequence[Work[Any]], *, stop: Stop, stay: bool, make: Callable[[Endpoint], Provider], process: Process
) -> None:
    engine = Engine(kinds, config=configuration.load(), make=make, process=process)
    stop.attach(asyncio.get_running_loop(), engine.stopping)
    try:
        await engine.run(stay=stay)
    finally:
        stop.detach()


class Engine:
    """Lanes over all kinds of work in one event loop, with one writer thread."""

    def __init__(
        self, kinds: Sequence[Work[Any]], *, config: Config, make: Callable[[Endpoint], Provider], process: Process
    ) -> None:
        self.config = config
        self.gates = gates.Gates()
        self.faults = Faults()
        self.stopping = asyncio.Event()
        self.writer = Writer(config, self.gates.see, self.stopping.is_set)
        self.providers = Providers(make)
        self._kinds = kinds
        self._process = process
        self._worker: UUID
        self._lanes: dict[asyncio.Task[None], tuple[Work[Any], Lane]] = {}
        self._broken: dict[tuple[Work[Any], int], Claim[Any]] = {}  # what lanes that broke off still hold
        self._outages = 0
        self._closed: set[tuple[str, int]] = set()
        self._used: set[str] = set()  # keys that the database knows this worker to use
        self._changed = asyncio.Event()
        self._freed: set[Work[Any]] = set()  # kinds of which a lane ended since they were last claimed
        self._looked: dict[Work[Any], float] = {}
        self._ending: set[tuple[Work[Any], int]] = set()  # rows of lanes that have nothing to do but to end
        self._idle: set[Work[Any]] = set()  # kinds of which the last look found nothing to claim

    def is_open(self, work: Work[Any], group: int) -> bool:
        return (work.kind, group) not in self._closed

    def close(self, work: Work[Any], group: int) -> None:
        """Ask no more for a group that is about to be paused; the next look says what the database holds."""
        self._closed.add((work.kind, group))

    def make_room(self, work: Work[Any], claim: Claim[Any]) -> None:
        """Claim another row in place of this one, whose last call is about to be recorded."""
        self._ending.add((work, claim.id))
        self._freed.add(work)
        self._changed.set()

    async def run(self, *, stay: bool) -> None:
        self._worker = await self.writer.do(self._process.join)
        log.info("The engine works as %s", self._worker)
        watch = asyncio.create_task(self._watch())
        look = asyncio.create_task(self._look())
        try:
            await self._work(stay=stay)
            await self._drain()
        finally:
            for task in (watch, look, *self._lanes):
                task.cancel()
            await asyncio.gather(watch, look, *self._lanes, return_exceptions=True)
            await self._leave()
            await self.writer.close()
            await self.providers.close()

    async def _leave(self) -> None:
        try:
            freed = await self.writer.do(partial(leases.leave, self._worker, self._kinds))
            log.info("The engine rests; it gave back %d rows", freed)
        except Exception as error:
            log.warning("The engine ends without a database; others will free what it held: %s", error)

    async def _work(self, *, stay: bool) -> None:
        """Claim and run lanes until told to stop or, unless `stay`, until nothing is left to do."""
        rested_since: float | None = None
        while not self.stopping.is_set():
            self._changed.clear()
            if self._process.again.is_set():
                self._process.again.clear()
                self._idle.clear()
            await self._reconcile()
            claimed = await self._claim()
            if claimed or self._lanes or await self._pending():
                rested_since = None
            elif rested_since is None:
                rested_since = time.monotonic()
            elif not stay and time.monotonic() - rested_since >= self.config.idle:
                return
            await asyncio.sleep(SHORTEST_ROUND)
            await self._until_changed()

    async def _until_changed(self) -> None:
        waits = [asyncio.create_task(event.wait()) for event in (self._changed, self.stopping)]
        await asyncio.wait(waits, timeout=self.config.tick, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()

    async def _reconcile(self) -> None:
        """After an outage, give back rows that no lane knows of: a claim may be committed and never confirmed."""
        if self._outages == self.writer.outages:
            return
        self._outages = self.writer.outages
        known = self._broken.keys() | {(work, lane.claim.id) for work, lane in self._lanes.values()}
        with suppress(Exception):
            for work in self._kinds:
                keep = {row for of, row in known if of is work}
                freed = await self.writer.do(partial(work.free, self._worker, keep=keep))
                log.warning("After an outage of the database, %d %s were given back", freed, work.kind)

    async def _claim(self) -> int:
        """Start a lane for each new claim; returns how many."""
        started = 0
        for work, claims in await asyncio.gather(*(self._claims_of(work) for work in self._kinds)):
            for claim in claims:
                started += 1
                self._start(work, claim)
        return started

    async def _claims_of(self, work: Work[Any]) -> tuple[Work[Any], list[Claim[Any]]]:
        mine = [lane for held, lane in self._lanes.values() if held is work]
        room = self.config.lanes - sum((work, lane.claim.id) not in self._ending for lane in mine)
        if room <= 0 or not self._is_due(work):
            return work, []
        try:
            claims = await self.writer.do(partial(self._take, work, room))
        except Exception:
            log.exception("No %s could be claimed", work.kind)
            return work, []
        if claims:
            self._idle.discard(work)
        else:
            self._idle.add(work)
        return work, claims

    def _take(self, work: Work[Any], room: int) -> list[Claim[Any]]:
        """DB. Claims; what was set aside until now, even by a call of this very group of writes, comes last."""
        work.aside = self.faults.aside(work.kind)
        return work.claim(room=room, worker=self._worker)

    def _is_due(self, work: Work[Any]) -> bool:
        """Whether to look for work of this kind now: one of its lanes ended or somebody said that there is some,
        or a tick went by since the last look; four ticks where that one found nothing.
        """
        now = time.monotonic()
        pause = self.config.tick * (4 if work in self._idle else 1)
        if work not in self._freed and now - self._looked.get(work, -math.inf) < pause:
            return False
        self._freed.discard(work)
        self._looked[work] = now
        return True

    async def _pending(self) -> bool:
        found = await asyncio.gather(*(self.writer.do(work.pending) for work in self._kinds), return_exceptions=True)
        return any(answer is True or isinstance(answer, Exception) for answer in found)

    def _start(self, work: Work[Any], claim: Claim[Any]) -> None:
        self._closed.discard((work.kind, claim.group))
        lane = Lane(self, work, claim)
        task = asyncio.create_task(lane.run())
        self._lanes[task] = (work, lane)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        work, lane = self._lanes.pop(task)
        self._ending.discard((work, lane.claim.id))
        self._freed.add(work)
        self._changed.set()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("A lane of %s broke off", work.kind, exc_info=error)
            self.faults.group(work.kind, lane.group).broke(lane.claim.id)
            self._broken[work, lane.claim.id] = lane.claim

    async def _drain(self) -> None:
        """Let calls in flight finish and be committed; lanes end after their call once the engine stops."""
        self.stopping.set()
        if self._lanes:
            await asyncio.wait(list(self._lanes), timeout=self.config.grace)

    async def _watch(self) -> None:
        """Beat, and free what dead workers and broken lanes hold."""
        while True:
            with suppress(Exception):
                if not await self.writer.do(partial(leases.beat, self._worker)):
                    await self._begin_anew()
                sweep = partial(self._process.sweeper.sweep, self._kinds, stale=self.config.stale)
                for dead in await self.writer.do(sweep):
                    log.warning("Worker %s stood still; what it held is free again", dead)
                    self._changed.set()
                await self._mend()
            await asyncio.sleep(self.config.beat)

    async def _begin_anew(self) -> None:
        """Go on as a new worker: what the one declared dead held is no longer ours to ask for."""
        log.warning("This worker was declared dead; it goes on as a new one")
        for _, lane in self._lanes.values():
            lane.lost = True
        self._process.worker, self._used = None, set()
        self._worker = await self.writer.do(self._process.join)

    async def _mend(self) -> None:
        """Give back what broken lanes hold. A row that breaks lane after lane stays held until this worker leaves."""
        for (work, row), claim in list(self._broken.items()):
            if self.faults.group(work.kind, claim.group).may_go_on(row):
                await self.writer.do(partial(work.release, [claim]))
                del self._broken[work, row]

    async def _look(self) -> None:
        """See, every tick, which groups were closed and how many workers share each limit."""
        while True:
            await asyncio.sleep(self.config.tick)
            with suppress(Exception):
                groups: dict[str, set[int]] = defaultdict(set)
                keys = set()
                for work, lane in list(self._lanes.values()):
                    groups[work.kind].add(lane.group)
                    keys.add(lane.key)
                users, self._closed = await self.writer.do(partial(self._facts, groups, keys))
                self._used = keys
                self.gates.count(users)

    def _facts(self, groups: dict[str, set[int]], keys: set[str]) -> tuple[Counter[str], set[tuple[str, int]]]:
        """DB. How many live workers use each key, and which of the groups are closed."""
        if keys != self._used:
            gate_rows.use(self._worker, keys)
        closed = {
            (work.kind, group)
            for work in self._kinds
            if groups.get(work.kind)
            for group in groups[work.kind] - work.open_groups(groups[work.kind])
        }
        return gate_rows.users(), closed
