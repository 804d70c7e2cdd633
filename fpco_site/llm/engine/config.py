"""The engine's intervals and bounds, from the setting `ENGINE`."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings


@dataclass(frozen=True)
class Config:
    """Seconds, except for `lanes` (claims held by a worker, for each kind) and `tries` (of a transient error)."""

    lanes: int = 128
    tries: int = 5
    backoff: float = 0.5  # the first wait after a transient error; doubles, with jitter
    longest_backoff: float = 30.0
    gap: float = 0.002  # between two small commits of the writer
    tick: float = 0.25  # between two looks at gates, pauses and new work
    beat: float = 5.0  # between two signs of life
    stale: float = 30.0  # without a sign of life, a worker is dead
    idle: float = 1.0  # without work, the engine ends
    grace: float = 30.0  # for calls in flight, and for a database that is away, when the engine is told to stop
    wake: float = 10.0  # between two looks for work of a worker at rest, whatever messages come
    look: float = 3.0  # a command waits so long for a worker before it works itself


def load() -> Config:
    given: dict[str, Any] = getattr(settings, "ENGINE", {})
    return Config(**given)
