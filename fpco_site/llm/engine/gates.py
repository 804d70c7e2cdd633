"""What a key's rate limit lets through: shared facts in rows, waiting on each worker's own clock.

A 429 changes the row only where its epoch is the one that the call was sent under, so that forty
429s shrink the limit once. A worker that sees a new epoch waits, then lets calls through one more
for each answer, up to its share of the limit.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from django.db.models import F

from fpco_site.llm.models import Gate

LONGEST_WAIT = 120.0
FIRST_WAIT = 1.0


@dataclass(frozen=True)
class Row:
    """A gate as committed. `limit` is for all workers together, None where no limit is known."""

    key: str
    epoch: int
    wait: float
    limit: float | None


def read() -> list[Row]:
    """DB. All gates; there are as many as keys that were ever limited."""
    return [Row(*values) for values in Gate.objects.values_list("key", "epoch", "wait", "limit")]


def shrink(*, key: str, epoch: int, wait: float, limit: float, reason: str) -> bool:
    """DB. Close a gate for `wait` seconds and lower its limit; False where another 429 did so first."""
    Gate.objects.get_or_create(key=key)
    changed = Gate.objects.filter(key=key, epoch=epoch).update(
        epoch=F("epoch") + 1, wait=wait, limit=limit, reason=reason[:300]
    )
    return bool(changed)


def grow(*, key: str, epoch: int, limit: float) -> bool:
    """DB. Raise a limit that held; False where a 429 came in between."""
    return bool(Gate.objects.filter(key=key, epoch=epoch, limit__lt=limit).update(limit=limit))


class View:
    """One gate as this worker sees it. Only used in the event loop."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.epoch = 0
        self.limit: float | None = None
        self.share: float | None = None  # of the limit, for this worker
        self.allowed = 1.0  # calls at once while it ramps up
        self.opens_at = 0.0
        self.in_flight = 0
        self.successes = 0  # since the epoch or the last growth
        self.proven = False  # whether this epoch has brought an answer
        self.settling = 0  # 429s on their way to the database
        self.wait = 0.0
        self.changed = asyncio.Event()

    def see(self, row: Row, workers: int) -> None:
        """Take over what the database says."""
        self.limit = row.limit
        self.share = None if row.limit is None else max(1.0, row.limit / max(1, workers))
        if row.epoch != self.epoch:
            self.epoch, self.wait = row.epoch, row.wait
            self.opens_at = self._clock() + row.wait
            self.allowed, self.successes, self.proven = 1.0, 0, False
        self.changed.set()

    def is_open(self) -> bool:
        if self.settling or self._clock() < self.opens_at:
            return False
        return self.share is None or self.in_flight < max(1, int(min(self.allowed, self.share)))

    def answered(self) -> float | None:
        """Count an answer; returns the limit to grow to, where this one has held for long enough."""
        self.proven = True
        if self.limit is None or self.share is None:
            return None
        busy = self.in_flight + 1 >= int(self.share)
        self.allowed = min(self.share, self.allowed + 1)
        self.successes += 1
        if busy and self.allowed >= self.share and self.successes >= self.limit:
            self.successes = 0
            return self.limit + 1
        return None

    def limited(self, retry_after: float | None, workers: int) -> tuple[float, float]:
        """The wait in seconds and the new limit after a 429; holds the gate until `settled`."""
        self.settling += 1
        backed_off = FIRST_WAIT if self.proven or not self.wait else self.wait * 2
        wait = retry_after if retry_after is not None else backed_off
        at_once = float((self.in_flight + 1) * max(1, workers))
        limit = at_once if self.limit is None else min(self.limit, at_once)
        return min(LONGEST_WAIT, max(0.0, wait)), max(1.0, limit / 2)

    def settled(self) -> None:
        """The 429 is committed, and `see` was told so."""
        self.settling -= 1
        self.changed.set()

    def pause(self, tick: float) -> float:
        """How long to wait before the next look, in seconds."""
        left = self.opens_at - self._clock()
        return max(0.01, min(tick, left)) if left > 0 else tick


class Gates:
    """Every gate that this worker's calls go through."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._views: dict[str, View] = {}
        self.workers = 1  # alive, ours included

    def view(self, key: str) -> View:
        if key not in self._views:
            self._views[key] = View(self._clock)
        return self._views[key]

    def see(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.view(row.key).see(row, self.workers)

    async def enter(self, key: str, *, give_up: Callable[[], bool], tick: float) -> int | None:
        """Wait until a call may go; returns the epoch it is sent under, None where `give_up` became true."""
        view = self.view(key)
        while not give_up():
            if view.is_open():
                view.in_flight += 1
                return view.epoch
            view.changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(view.changed.wait(), view.pause(tick))
        return None

    def leave(self, key: str) -> None:
        view = self.view(key)
        view.in_flight -= 1
        view.changed.set()
