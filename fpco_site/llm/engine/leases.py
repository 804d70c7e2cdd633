"""Who is alive: a worker's counter that grows, watched on the watcher's own monotonic clock.

No wall clock is compared, so that a clock that jumps or differs between machines frees nobody.
"""

import os
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from fpco_site.llm.engine.work import Work
from fpco_site.llm.models import Worker

LONGEST_GAP = 0.4  # between two looks, as a share of `stale`; what is longer counts as so much


def register(place: str = "") -> UUID:
    """DB. A row for this worker."""
    return Worker.objects.create(host=socket.gethostname()[:255], pid=os.getpid(), place=place).pk


def revive(worker: UUID) -> bool:
    """DB. Let a worker that left work again; False where it is unknown. What it held before was given back."""
    return bool(
        Worker.objects.filter(pk=worker).update(beats=F("beats") + 1, gates=[], stopped_at=None, seen_at=timezone.now())
    )


def beat(worker: UUID) -> bool:
    """DB. Say that the worker lives; False where a sweeper has declared it dead."""
    alive = Worker.objects.filter(pk=worker, stopped_at__isnull=True)
    return bool(alive.update(beats=F("beats") + 1, seen_at=timezone.now()))


def leave(worker: UUID, works: Sequence[Work[Any]]) -> int:
    """DB. Give back all that a worker holds and mark it as gone; returns how many rows it held."""
    freed = sum(work.free(worker) for work in works)
    Worker.objects.filter(pk=worker, stopped_at__isnull=True).update(stopped_at=timezone.now())
    return freed


class Sweeper:
    """Frees what dead workers hold. It remembers which counters it saw, so one lives as long as its process.

    Time counts against a worker only while the sweeper looks: after an outage of the database, in which
    nobody could beat, or a pause of this process, all workers get the time to say that they live.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._looked = clock()
        self._seen: dict[UUID, tuple[int, float]] = {}  # the counter, and for how long it was seen to stand still

    def sweep(self, works: Sequence[Work[Any]], *, stale: float) -> list[UUID]:
        """DB. Free the workers whose counter has stood still for `stale` seconds; returns them."""
        now = self._clock()
        gap, self._looked = min(now - self._looked, stale * LONGEST_GAP), now
        rows = dict(Worker.objects.filter(stopped_at__isnull=True).values_list("pk", "beats"))
        seen = {}
        for worker, beats in rows.items():
            before, stood = self._seen.get(worker, (beats - 1, 0.0))
            seen[worker] = (beats, stood + gap if before == beats else 0.0)
        self._seen = seen
        still = [(worker, beats) for worker, (beats, stood) in seen.items() if stood >= stale]
        return [worker for worker, beats in still if _declare_dead(worker, beats, works)]


def _declare_dead(worker: UUID, beats: int, works: Sequence[Work[Any]]) -> bool:
    """Only where its counter still stands: it may have beaten since it was read."""
    found = Worker.objects.filter(pk=worker, beats=beats, stopped_at__isnull=True)
    if not found.update(stopped_at=timezone.now()):
        return False
    for work in works:
        work.free(worker)
    return True
