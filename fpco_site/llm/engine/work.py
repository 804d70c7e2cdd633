"""What a client of the engine implements: one *kind* of work, such as drafts, dialogues or detections.

How a claim lives, from the client's side (DB: in the writer's one transaction, shared with others):

1. `claim` (DB) marks rows as running, held by this worker under a fresh token, and returns `Claim`s
   with everything that the first request needs from the database.
2. `open` (a helper thread, no DB) reads files, such as the picture.
3. `request` (the event loop: no DB, no files, quick) builds the next call.
4. The engine waits at the gate of the endpoint, asks once, and hands a `Call` to
5. `record` (DB), which checks the token, writes what came back, and returns the claim to go on with
   (back to 3) or None where it is over. A failed call is recorded too; the engine asks again by
   itself where `Call.last` is false, so `record` returns the claim for such a call.

`release` (DB) gives back what was claimed and not ended; `free` (DB) does so for a dead worker.
An example in thirty lines is `tests/fpco_site/llm/engine/example.py`.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.core.files.storage import default_storage
from django.db import models
from django.utils.module_loading import import_string

from fpco_site.llm import providers
from fpco_site.llm.engine.faults import Fault
from fpco_site.llm.models import Leased
from fpco_site.llm.types import Endpoint, Picture, ProviderError, Reply, Request, Usage


@dataclass(frozen=True)
class Claim[S]:
    """A row that this worker holds.

    `group` is what shares a concurrency and a pause: a run, a job. `state` is what the kind needs to
    build its next request; a claim is a value, so `record` returns a new one (`dataclasses.replace`).
    """

    id: int
    token: UUID
    group: int
    endpoint: Endpoint
    state: S


@dataclass(frozen=True)
class Call[S]:
    """One call and how it ended: with a `reply` or with an `error`, never both.

    `request` is None where it could not be built. `seconds` is wall time from sending to the end.
    `last` is true where the engine won't ask again by itself: after a reply, after a permanent
    error, after the last try of a transient one, and where the provider asks for a wait too long to
    sit out. `fault` says whose trouble the last error is, and so what becomes of the row (`Fault`).
    `sent_sha256` is the hash of the body that was put on the wire, with the picture by its hash (`llm.sent`).
    """

    claim: Claim[S]
    request: Request | None
    started_at: datetime
    seconds: float
    reply: Reply | None = None
    error: ProviderError | None = None
    last: bool = True
    fault: Fault | None = None
    sent_sha256: str = ""

    @property
    def usage(self) -> Usage | None:
        """The tokens of the reply, or of an error that tells some; None where nobody tells of any."""
        return self.reply.usage if self.reply else self.error.usage if self.error else None

    def sent(self, *, picture_sha256: str) -> bytes | None:
        """The request as it was asked, as JSON, with the picture by its hash; None where none could be built."""
        if self.request is None:
            return None
        endpoint = self.claim.endpoint
        asked = {
            "provider": endpoint.provider,
            "model": endpoint.model_id,
            "max_output_tokens": endpoint.max_output_tokens,
            "temperature": endpoint.temperature,
            "top_p": endpoint.top_p,
            "not_sent": endpoint.not_sent,
            "system": self.request.system,
            "messages": [{"role": message.role, "text": message.text} for message in self.request.messages],
            "picture_sha256": picture_sha256 if self.request.picture is not None else None,
            "schema": self.request.schema,
        }
        return json.dumps(asked).encode()


class Work[S](ABC):
    """One kind of work. An instance lives as long as the engine runs and keeps no state but `aside`.

    A worker asks the models of one place (`providers.place_of`), so `claim` takes only rows that are `here`, and
    `pending` counts only them among those that wait.
    """

    kind: ClassVar[str]
    aside: Collection[int] = frozenset()  # rows that the engine wants claimed after all others

    def __init__(self, place: str = providers.ANYWHERE) -> None:
        self.place = place

    def here(self, provider: str) -> models.Q:
        """Rows whose provider, by the lookup of that name, is asked by the workers of this place."""
        local = models.Q(**{f"{provider}__in": providers.of_place(providers.LOCAL)})
        return local if self.place == providers.LOCAL else ~local

    @abstractmethod
    def pending(self) -> bool:
        """Whether some row can be claimed now, or is held by any worker. The engine rests where none is."""

    @abstractmethod
    def claim(self, *, room: int, worker: UUID) -> list[Claim[S]]:
        """DB. Take up to `room` rows for `worker` (a `Worker` id), each under a token that was never used.

        Keeps the concurrency of each group over all workers: lock the group's row first
        (`select_for_update(skip_locked=True)`), then count what is held in it.
        """

    def open(self, claim: Claim[S]) -> Claim[S]:
        """Read files that the requests need; in a helper thread, without the database.

        An exception is recorded as a permanent error of the first call.
        """
        return claim

    @abstractmethod
    def request(self, claim: Claim[S]) -> Request:
        """The next call of a claim. Raises ProviderError where it can't be built."""

    def ends(self, call: Call[S]) -> bool:
        """Whether this call is its row's last, as far as a lane can tell; another row is claimed right behind it."""
        return False

    @abstractmethod
    def record(self, calls: Sequence[Call[S]]) -> list[Claim[S] | None]:
        """DB. Write how calls ended; returns, in order, the claim to go on with or None.

        Every write is fenced: a row whose token is not the claim's belongs to somebody else, is left
        alone and gets None. A claim that ends here must not stay held. May run twice for one call
        (a group that failed is replayed one by one), so all its effects are in the database.
        """

    @abstractmethod
    def release(self, claims: Sequence[Claim[S]]) -> None:
        """DB. Give back what is still held under the claims' tokens."""

    @abstractmethod
    def free(self, worker: UUID, *, keep: Collection[int] = ()) -> int:
        """DB. Give back what a dead or leaving worker holds, except the rows `keep`; returns how many rows."""

    def open_groups(self, groups: Collection[int]) -> set[int]:
        """DB. Which of these groups still want answers; a lane of any other gives its claim back."""
        return set(groups)


class LeasedWork[S](Work[S]):
    """Work over a `Leased` model whose `state` goes from `waiting` to `running` and back."""

    model: ClassVar[type[Leased]]
    waiting: ClassVar[str] = "waiting"
    running: ClassVar[str] = "running"

    def take(self, rows: models.QuerySet[Any], *, room: int, worker: UUID, token: UUID) -> list[int]:
        """Mark up to `room` waiting rows of `rows` as running for `worker`; returns their ids in order."""
        if room <= 0:
            return []
        free = rows.filter(state=self.waiting).select_for_update(skip_locked=True, of=("self",)).only("pk")
        ids = [row.pk for row in (free.exclude(pk__in=self.aside) if self.aside else free)[:room]]
        if self.aside and len(ids) < room:
            ids += [row.pk for row in free.filter(pk__in=self.aside)[: room - len(ids)]]
        self._rows().filter(pk__in=ids).update(state=self.running, lease_worker_id=worker, lease_token=token)
        return ids

    def bounded(self, rows: models.QuerySet[Any], *, most: int) -> int:
        """How many of `rows` wait, counted up to `most`: a claim costs the same however many there are."""
        return rows.filter(state=self.waiting).order_by()[: max(0, most)].count()

    def held(self, claims: Sequence[Claim[S]]) -> dict[int, UUID]:
        """Lock the rows of `claims` and say which token each is held under now, if any."""
        rows = self._rows().filter(pk__in=[claim.id for claim in claims], lease_token__isnull=False)
        return dict(rows.order_by("pk").select_for_update().values_list("pk", "lease_token"))

    def release(self, claims: Sequence[Claim[S]]) -> None:
        for claim in claims:
            self.give_back(self._rows().filter(pk=claim.id, lease_token=claim.token))

    def free(self, worker: UUID, *, keep: Collection[int] = ()) -> int:
        return self.give_back(self._rows().filter(lease_worker_id=worker).exclude(pk__in=keep))

    def give_back(self, rows: models.QuerySet[Any]) -> int:
        """Make held rows claimable again."""
        return rows.filter(state=self.running).update(state=self.waiting, **Leased.FREE)

    def _rows(self) -> models.QuerySet[Any]:
        return self.model._default_manager.all()


def stored_picture(name: str, mime: str) -> Picture:
    """A picture as it is kept, for `Work.open`. Raises FileNotFoundError."""
    with default_storage.open(name, "rb") as file:
        return Picture(file.read(), mime)


def share(room: int, wanted: Mapping[int, int]) -> dict[int, int]:
    """Deal out `room` among groups that want so many each: one each in turn, until either is used up."""
    given = dict.fromkeys(wanted, 0)
    while room > 0 and (hungry := [group for group in wanted if given[group] < wanted[group]]):
        for group in hungry[:room]:
            given[group] += 1
        room -= len(hungry[:room])
    return given


_registered: list[str] = []


def register(dotted: str) -> None:
    """Make a kind known by the dotted name of its class; called in `AppConfig.ready`, imported at use."""
    if dotted not in _registered:
        _registered.append(dotted)


def works(place: str = providers.ANYWHERE) -> list[Work[Any]]:
    """An instance of every registered kind for the workers of a place, in the order of registration."""
    return [import_string(dotted)(place) for dotted in _registered]
