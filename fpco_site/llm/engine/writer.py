"""The one thread of a worker that writes: it gathers what lanes bring and commits it in groups.

A group is one transaction. Where something in it fails, the group is rolled back and replayed one
by one, so that a bad row fails alone. A database that is away is waited for, however long: lanes hold
answers that were paid for.
"""

import asyncio
import logging
import queue
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import InterfaceError, OperationalError, connection, connections, transaction

from fpco_site.llm.engine import gate_rows
from fpco_site.llm.engine.config import Config
from fpco_site.llm.engine.work import Call, Claim, Work

log = logging.getLogger(__name__)
LARGEST_GROUP = 256
LARGE_GROUP = 8
LONGEST_GAP = 0.1
TRIES = 5  # of a group that a database which answers does not take: a deadlock, a lock held too long


@dataclass(frozen=True)
class _Job:
    """Something to do in a transaction: a call to record, or any function."""

    future: asyncio.Future[Any]
    work: Work[Any] | None = None
    call: Call[Any] | None = None
    do: Callable[[], Any] | None = None


class Writer:
    """Methods are called in the event loop; futures resolve only after the commit.

    `see` gets the gates as each commit left them, before the futures of that commit resolve. `stopping`
    says whether the engine ends: then a database that is away is waited for no longer than `grace`.
    """

    def __init__(
        self, config: Config, see: Callable[[list[gate_rows.Row]], None], stopping: Callable[[], bool] = lambda: False
    ) -> None:
        self.outages = 0  # how often a connection was lost, perhaps with the confirmation of a commit
        self._config = config
        self._see = see
        self._stopping = stopping
        self._leave_by: float | None = None
        self._gates: list[gate_rows.Row] = []
        self._loop = asyncio.get_running_loop()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._main, name="engine-writer", daemon=True)
        self._thread.start()

    def record(self, work: Work[Any], call: Call[Any]) -> "asyncio.Future[Claim[Any] | None]":
        """Record a call; resolves to the claim to go on with, or None."""
        future: asyncio.Future[Claim[Any] | None] = self._loop.create_future()
        self._jobs.put(_Job(future, work=work, call=call))
        return future

    def do[T](self, function: Callable[[], T]) -> "asyncio.Future[T]":
        """Run a function in the next group, after the calls that the group records. It may run twice."""
        future: asyncio.Future[T] = self._loop.create_future()
        self._jobs.put(_Job(future, do=function))
        return future

    async def close(self) -> None:
        """Commit what is queued and end the thread."""
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def _main(self) -> None:
        try:
            open_ = True
            while open_:
                group, open_ = self._gather()
                if group:
                    begun = time.monotonic()
                    self._deliver(group, self._commit(group))
                    time.sleep(self._rest(len(group), time.monotonic() - begun))
        finally:
            connections.close_all()

    def _rest(self, size: int, took: float) -> float:
        """Seconds until the next group. Under load as long as the commit took, so that others may write:
        a person who labels waits for the same lock.
        """
        return max(self._config.gap, min(LONGEST_GAP, took)) if size >= LARGE_GROUP else self._config.gap

    def _gather(self) -> tuple[list[_Job], bool]:
        """All that is queued, waiting for the first; False where it is the end."""
        job = self._jobs.get()
        group: list[_Job] = []
        while job is not None:
            group.append(job)
            if len(group) == LARGEST_GROUP:
                return group, True
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return group, True
        return group, False

    def _commit(self, group: Sequence[_Job]) -> list[Any]:
        """The result of each job, or its exception."""
        try:
            return self._transact(group)
        except Exception as error:
            if len(group) == 1:
                return [error]
            log.warning("A group of %d writes failed and is replayed one by one: %r", len(group), error)
            return [result for job in group for result in self._commit([job])]

    def _transact(self, group: Sequence[_Job]) -> list[Any]:
        """One transaction; again where the database was away or chose this one to end a deadlock."""
        for left in reversed(range(TRIES)):
            try:
                return self._once(group)
            except (OperationalError, InterfaceError) as error:
                if not left:
                    raise
                log.warning("The database did not take a group of writes; it is tried again: %s", error)
                self._wait_for_database()
        raise AssertionError("The last try returns or raises.")

    def _once(self, group: Sequence[_Job]) -> list[Any]:
        with transaction.atomic():
            results = _apply(group)
            rows = gate_rows.read()
        self._gates = rows
        return results

    def _wait_for_database(self) -> None:
        """Return once it answers. Raises where the engine ends meanwhile and has waited for long enough."""
        self.outages += 1
        delay = 0.05
        while True:
            connection.close()
            try:
                with transaction.atomic():
                    gate_rows.read()
                return
            except (OperationalError, InterfaceError):
                if self._has_waited_enough():
                    raise
            time.sleep(delay)
            delay = min(2.0, delay * 2)

    def _has_waited_enough(self) -> bool:
        if not self._stopping():
            return False
        if self._leave_by is None:
            self._leave_by = time.monotonic() + self._config.grace
        return time.monotonic() > self._leave_by

    def _deliver(self, group: Sequence[_Job], results: Sequence[Any]) -> None:
        pairs = [(job.future, result) for job, result in zip(group, results, strict=True)]
        self._loop.call_soon_threadsafe(self._see, self._gates)
        self._loop.call_soon_threadsafe(_resolve, pairs)


def _apply(group: Sequence[_Job]) -> list[Any]:
    """Record the calls of each kind at once, then do the rest in order."""
    results: list[Any] = [None] * len(group)
    calls: dict[int, list[int]] = defaultdict(list)
    for index, job in enumerate(group):
        if job.work is not None:
            calls[id(job.work)].append(index)
    for indexes in calls.values():
        work = group[indexes[0]].work
        assert work is not None
        recorded = work.record([call for index in indexes if (call := group[index].call) is not None])
        for index, claim in zip(indexes, recorded, strict=True):
            results[index] = claim
    for index, job in enumerate(group):
        if job.do is not None:
            results[index] = job.do()
    return results


def _resolve(pairs: Sequence[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, result in pairs:
        if future.done():  # its lane was cancelled meanwhile; the commit holds
            continue
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
