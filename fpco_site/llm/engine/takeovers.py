"""Long work beside the engine that one process does at a time: told to end, and taken over when it stands still.

Whoever works names itself in the row's `worker` and bumps its `beat`. No wall clock is compared: another
process takes the row over once it saw both stand still for as long as a dead worker's (see `leases`).
"""

import time
from dataclasses import dataclass, field
from typing import Protocol

from django.conf import settings


class Row(Protocol):
    """A row that names who works on it."""

    pk: int
    worker: str
    beat: int


@dataclass
class Stop:
    """Asks the work in this process to end after the step in hand."""

    asked: bool = False

    def set(self) -> None:
        self.asked = True


@dataclass
class Watch:
    """When this process saw the worker and counter of each row change last, on its own clock."""

    seen: dict[int, tuple[str, int, float]] = field(default_factory=dict)

    def stands_still(self, row: Row) -> bool:
        worker, beat, since = self.seen.get(row.pk, ("", 0, 0.0))
        if (worker, beat) == (row.worker, row.beat):
            return time.monotonic() - since >= float(settings.ENGINE["stale"])
        self.seen[row.pk] = (row.worker, row.beat, time.monotonic())
        return False
