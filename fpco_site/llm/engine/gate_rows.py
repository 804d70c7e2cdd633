"""Gates in the database: what all workers know of a key's rate limit. Every function here is DB."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import F
from django.db.models.functions import Now

from fpco_site.fields import escape
from fpco_site.llm.models import Gate, Worker
from fpco_site.llm.providers import usual_key
from fpco_site.llm.types import Endpoint

REASON_LENGTH = 300
# Two waits that differ by less are one and the same.
ALIKE = 1.0


@dataclass(frozen=True)
class Row:
    """A gate as committed. `limit` is for all workers together, None where no limit is known.

    `age` is the seconds since the wait began, on the database's clock; only a worker that has just
    started looks at it.
    """

    key: str
    epoch: int
    wait: float
    limit: float | None
    age: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class GateFacts:
    """What a person is told of a key's concurrency: what it is now, since when, and why.

    `limit` is calls at once over all workers, None where the provider has never limited this key;
    `since` is when it became that, None with `limit`. `reason` is what the provider said last.
    `opens_in` is in seconds, 0 where the gate is open. `workers` are alive and hold work for the key.
    """

    key: str
    limit: int | None = None
    since: datetime | None = None
    reason: str = ""
    opens_in: float = 0.0
    workers: int = 0


def key_of(endpoint: Endpoint) -> str:
    """Calls that share a provider, address and key share one gate, whether the usual key is named or not."""
    variable = endpoint.api_key_env or usual_key(endpoint.provider)
    return f"{endpoint.provider}|{endpoint.base_url.rstrip('/')}|{variable}"


def facts(endpoints: Iterable[Endpoint]) -> list[GateFacts]:
    """The facts of each endpoint's gate, in order. Two queries, however many endpoints there are."""
    keys = [key_of(endpoint) for endpoint in endpoints]
    found = {gate.key: gate for gate in Gate.objects.filter(key__in=keys).annotate(now=Now())}
    workers = users()
    return [_facts(key, found.get(key), workers.get(key, 0)) for key in keys]


def read() -> list[Row]:
    """All gates; there are as many as keys that were ever limited."""
    with connection.cursor() as cursor:  # at every commit, and mostly there is none
        cursor.execute(f"SELECT 1 FROM {Gate._meta.db_table} LIMIT 1")
        if cursor.fetchone() is None:
            return []
    columns = ("key", "epoch", "wait", "limit", "closed_at", "now")
    rows = Gate.objects.annotate(now=Now()).values_list(*columns)
    return [Row(key, epoch, wait, limit, _age(since, now)) for key, epoch, wait, limit, since, now in rows]


def users() -> Counter[str]:
    """How many live workers hold work for each key."""
    alive = Worker.objects.filter(stopped_at__isnull=True).values_list("gates", flat=True)
    return Counter(key for keys in alive for key in keys)


def use(worker: UUID, keys: Iterable[str]) -> None:
    """Say which keys a worker holds work for."""
    Worker.objects.filter(pk=worker).update(gates=sorted(keys))


def shrink(*, key: str, epoch: int, wait: float, limit: float, reason: str, told_at: float | None = None) -> bool:
    """Close a gate for `wait` seconds and lower its limit; False where another 429 did so first.

    Such a late 429 still lengthens a wait that ends before its own, where the provider told it:
    at `told_at`, on this worker's monotonic clock.
    """
    gate, _ = Gate.objects.get_or_create(key=key)
    changed = Gate.objects.filter(pk=gate.pk, shrunk__lte=epoch).update(
        shrunk=F("epoch") + 1, limit=limit, changed_at=Now(), **_closed(wait, reason)
    )
    if not changed and told_at is not None:
        _lengthen(gate.pk, wait - (time.monotonic() - told_at), reason)
    return bool(changed)


def hold(*, key: str, epoch: int, wait: float, reason: str) -> bool:
    """Close a gate for `wait` seconds at the same limit; False where it was closed since `epoch`."""
    gate, _ = Gate.objects.get_or_create(key=key)
    return bool(Gate.objects.filter(pk=gate.pk, epoch=epoch).update(**_closed(wait, reason)))


def grow(*, key: str, epoch: int, limit: float) -> bool:
    """Raise a limit that held; False where the gate was closed in between."""
    held = Gate.objects.filter(key=key, epoch=epoch, limit__lt=limit)
    return bool(held.update(limit=limit, changed_at=Now()))


def _lengthen(pk: int, wait: float, reason: str) -> None:
    gate = Gate.objects.annotate(now=Now()).get(pk=pk)
    if wait > gate.wait - _age(gate.closed_at, gate.now) + ALIKE:
        Gate.objects.filter(pk=pk, epoch=gate.epoch).update(**_closed(wait, reason))


def _closed(wait: float, reason: str) -> dict[str, object]:
    return {"epoch": F("epoch") + 1, "wait": wait, "reason": escape(reason)[:REASON_LENGTH], "closed_at": Now()}


def _age(since: datetime | None, now: datetime) -> float:
    """Seconds, never negative: the database's clock may have been set back."""
    return max(0.0, (now - since).total_seconds()) if since is not None else 0.0


def _facts(key: str, gate: Gate | None, workers: int) -> GateFacts:
    if gate is None:
        return GateFacts(key, workers=workers)
    now: datetime = gate.now  # type: ignore[attr-defined]
    left = min(gate.wait, max(0.0, gate.wait - _age(gate.closed_at, now)))
    limit = None if gate.limit is None else max(1, int(gate.limit))
    return GateFacts(key, limit, gate.changed_at, gate.reason, left, workers)
