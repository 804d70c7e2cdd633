"""What a key's rate limit lets through: shared facts in rows, waiting on each worker's own clock.

A 429 changes the row only where no other did since the call was sent, so that forty 429s shrink the
limit once. A worker that sees a new epoch waits, then lets calls through one more for each answer,
up to its share of the limit.
"""

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from fpco_site.llm.engine.gate_rows import Row

# What a provider asks for is obeyed up to here; one that asks for more pauses the work.
LONGEST_WAIT = 900.0
# Waits of our own, where a provider names none: the first, and what doubling ends at.
FIRST_WAIT = 1.0
LONGEST_GUESS = 120.0
# A shorter wait after an answer is over before other workers would hear of it.
SHARED_HOLD = 1.0


class View:
    """One gate as this worker sees it. Only used in the event loop."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.epoch = 0
        self.limit: float | None = None
        self.workers = 1  # alive and with work for this key, ours included
        self.allowed = math.inf  # calls at once while it ramps up
        self.opens_at = 0.0
        self.in_flight = 0
        self.successes = 0  # since the epoch or the last growth
        self.proven = True  # whether this epoch has brought an answer
        self.settling = 0  # 429s on their way to the database
        self.wait = 0.0
        self.changed = asyncio.Event()

    @property
    def share(self) -> float:
        """Of the limit, for this worker."""
        return math.inf if self.limit is None else max(1.0, self.limit / max(1, self.workers))

    def see(self, row: Row, *, fresh: bool = False) -> None:
        """Take over what the database says; a worker that is `fresh` waits only for what is left."""
        if (row.epoch, row.limit) == (self.epoch, self.limit):
            return
        self.limit = row.limit
        if row.epoch != self.epoch:
            self.epoch, self.wait = row.epoch, row.wait
            left = max(0.0, row.wait - row.age) if fresh else row.wait
            self.opens_at = max(self.opens_at, self._clock() + left)
            self.allowed, self.successes, self.proven = 1.0, 0, False
        self.changed.set()

    def is_open(self) -> bool:
        if self.settling or self._clock() < self.opens_at:
            return False
        return self.in_flight + 1 <= max(1.0, min(self.allowed, self.share))

    def answered(self) -> float | None:
        """Count an answer; returns the limit to grow to, where this one has held for long enough."""
        self.proven = True
        self.allowed += 1
        if self.limit is None:
            return None
        busy = self.in_flight + 1 >= int(self.share)
        self.successes += 1
        if busy and self.allowed >= self.share and self.successes >= self.limit:
            self.successes = 0
            return self.limit + 1
        return None

    def limited(self, retry_after: float | None, epoch: int) -> tuple[float, float]:
        """The wait in seconds and the new limit after a 429 sent under `epoch`; holds the gate until `settled`.

        A 429 to the first call after a wait says that the wait was too short, not that too many
        calls are in flight: the limit stays.
        """
        self.settling += 1
        backed_off = FIRST_WAIT if self.proven or not self.wait else min(LONGEST_GUESS, self.wait * 2)
        at_once = float((self.in_flight + 1) * max(1, self.workers))
        limit = at_once if self.limit is None else min(self.limit, at_once)
        too_early = epoch == self.epoch and not self.proven
        if too_early and self.limit is not None:
            # A provider that asks for no time at all, or too little, is not asked as fast as it refuses.
            return self._bounded(max(retry_after or 0.0, backed_off)), self.limit
        return self._bounded(backed_off if retry_after is None else retry_after), max(1.0, limit / 2)

    def settled(self) -> None:
        """The 429 is committed, and `see` was told so."""
        self.settling -= 1
        self.changed.set()

    def hold(self, seconds: float) -> float | None:
        """Let no call start for so long, as an answer asked for; returns the wait that others should hear of."""
        wait, before = self._bounded(seconds), self.opens_at
        self.opens_at = max(before, self._clock() + wait)
        return wait if wait >= SHARED_HOLD and self.opens_at > before + SHARED_HOLD else None

    def pause(self, tick: float) -> float:
        """How long to wait before the next look, in seconds."""
        left = self.opens_at - self._clock()
        return max(0.01, min(tick, left)) if left > 0 else tick

    @staticmethod
    def _bounded(wait: float) -> float:
        return min(LONGEST_WAIT, max(0.0, wait))


class Gates:
    """Every gate that this worker's calls go through."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._views: dict[str, View] = {}
        self._fresh = True

    def view(self, key: str) -> View:
        if key not in self._views:
            self._views[key] = View(self._clock)
        return self._views[key]

    def see(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.view(row.key).see(row, fresh=self._fresh)
        self._fresh = False

    def count(self, workers: Mapping[str, int]) -> None:
        """How many live workers hold work for each key."""
        for key, view in self._views.items():
            view.workers = max(1, workers.get(key, 1))
            view.changed.set()

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
