"""A lane: one claim, asked call by call. It holds no database connection and goes on only after a commit."""

import asyncio
import json
import logging
import random
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Protocol

from django.utils import timezone

from fpco_site.errors import FpcoError, NotConfigured
from fpco_site.llm import sent
from fpco_site.llm.engine import gate_rows, gates
from fpco_site.llm.engine.advice import NOT_CONFIGURED, is_everybodys
from fpco_site.llm.engine.config import Config
from fpco_site.llm.engine.faults import Fault, Faults
from fpco_site.llm.engine.work import Call, Claim, Work
from fpco_site.llm.engine.writer import Writer
from fpco_site.llm.providers import warm
from fpco_site.llm.types import Endpoint, ErrorKind, Provider, ProviderError, Reply, Request

log = logging.getLogger(__name__)
MARGIN = 30.0  # seconds that a provider gets beyond its own timeout


class Providers:
    """One provider an endpoint, shared by all lanes of a loop."""

    def __init__(self, make: Callable[[Endpoint], Provider]) -> None:
        self._make = make
        self._made: dict[str, Provider] = {}

    async def get(self, endpoint: Endpoint) -> Provider:
        key = json.dumps(asdict(endpoint), sort_keys=True, default=str)
        if key not in self._made:
            await asyncio.to_thread(warm, endpoint.provider)
        if key not in self._made:
            self._made[key] = self._make(endpoint)
        return self._made[key]

    async def close(self) -> None:
        for provider in self._made.values():
            try:
                await provider.close()
            except Exception:
                log.exception("A provider did not close cleanly")


class House(Protocol):
    """What a lane uses of the engine that runs it."""

    config: Config
    writer: Writer
    gates: gates.Gates
    providers: Providers
    faults: Faults
    stopping: asyncio.Event

    def is_open(self, work: Work[Any], group: int) -> bool: ...

    def close(self, work: Work[Any], group: int) -> None: ...

    def make_room(self, work: Work[Any], claim: Claim[Any]) -> None: ...


class Lane:
    """Asks for one claim until the work says that it is over, its group closes or the engine stops."""

    def __init__(self, house: House, work: Work[Any], claim: Claim[Any]) -> None:
        self._house = house
        self._work = work
        self.claim = claim
        self.group = claim.group
        self.key = gate_rows.key_of(claim.endpoint)
        self.lost = False  # its worker was declared dead: the row may be somebody else's by now
        self._troubles = house.faults.group(work.kind, claim.group)
        self._tries = 0
        self._provider: tuple[Endpoint, Provider] | None = None

    async def run(self) -> None:
        claim = await self._open(self.claim)
        while claim is not None and not self._leaving():
            claim = await self._step(claim)
        if claim is not None:
            await self._house.writer.do(partial(self._work.release, [claim]))

    def _leaving(self) -> bool:
        return self.lost or self._house.stopping.is_set() or not self._house.is_open(self._work, self.group)

    async def _open(self, claim: Claim[Any]) -> Claim[Any] | None:
        try:
            return await asyncio.to_thread(self._work.open, claim)
        except Exception as error:
            return await self._give_up(_call(claim, error=_permanent(error)))

    async def _step(self, claim: Claim[Any]) -> Claim[Any] | None:
        """One call, recorded; returns the claim to go on with."""
        try:
            request = self._work.request(claim)
            provider = await self._provider_of(claim.endpoint)
        except Exception as error:
            return await self._give_up(_call(claim, error=_permanent(error)))
        epoch = await self._house.gates.enter(self.key, give_up=self._leaving, tick=self._house.config.tick)
        if epoch is None:
            return claim
        try:
            call = await _ask(provider, claim, request)
        finally:
            self._house.gates.leave(self.key)
        return await self._settle(call, epoch)

    async def _provider_of(self, endpoint: Endpoint) -> Provider:
        """Looked up where the endpoint is another than that of the call before, which it seldom is."""
        if self._provider is None or self._provider[0] is not endpoint:
            self._provider = (endpoint, await self._house.providers.get(endpoint))
        return self._provider[1]

    async def _settle(self, call: Call[Any], epoch: int) -> Claim[Any] | None:
        """Record a call that was made and do what its end asks for: go on, wait, or try again."""
        error = call.error
        if error is None:
            self._answered(call.reply, epoch)
            if self._work.ends(call):
                self._house.make_room(self._work, self.claim)
            return await self._record(call)
        if error.kind is ErrorKind.PERMANENT or is_everybodys(error):
            return await self._give_up(call)
        if error.kind is ErrorKind.RATE_LIMITED:
            return await self._limited(replace(call, last=False), error, epoch)
        if error.retry_after is not None:
            self._hold(error.retry_after, epoch, error.message)
        self._tries += 1
        if self._tries >= self._house.config.tries:
            return await self._give_up(call)
        self._troubles.failed(call.claim.id, error)
        claim = await self._record(replace(call, last=False))
        if claim is not None:
            await self._back_off()
        return claim

    async def _give_up(self, call: Call[Any]) -> Claim[Any] | None:
        """Record an error that isn't tried again, with whose trouble it is."""
        assert call.error is not None
        self._troubles.failed(call.claim.id, call.error)
        fault = self._troubles.judge(call.claim.id, call.error)
        if fault is Fault.EVERYBODYS:
            self._house.close(self._work, self.group)
        return await self._record(replace(call, last=True, fault=fault))

    def _answered(self, reply: Reply | None, epoch: int) -> None:
        self._tries = 0
        self._troubles.answered(self.claim.id)
        view = self._house.gates.view(self.key)
        limit = view.answered() if view.epoch == epoch else None
        if limit is not None:
            self._house.writer.do(partial(gate_rows.grow, key=self.key, epoch=epoch, limit=limit))
        if reply is not None and reply.hold is not None:
            self._hold(reply.hold, epoch, "The provider says that nothing is left until its next reset.")

    def _hold(self, seconds: float, epoch: int, reason: str) -> None:
        """Close the gate for all workers, at the same limit: it was no 429."""
        wait = self._house.gates.view(self.key).hold(seconds)
        if wait is not None:
            self._house.writer.do(partial(gate_rows.hold, key=self.key, epoch=epoch, wait=wait, reason=reason))

    async def _limited(self, call: Call[Any], error: ProviderError, epoch: int) -> Claim[Any] | None:
        view = self._house.gates.view(self.key)
        wait, limit = view.limited(error.retry_after, epoch)
        told_at = None if error.retry_after is None else time.monotonic()
        shrink = partial(gate_rows.shrink, key=self.key, epoch=epoch, wait=wait, limit=limit, told_at=told_at)
        try:
            shrunk = self._house.writer.do(partial(shrink, reason=error.message))
            claim = await self._record(call)
            await shrunk
        finally:
            view.settled()
        return claim

    async def _back_off(self) -> None:
        config = self._house.config
        delay = min(config.longest_backoff, config.backoff * 2 ** (self._tries - 1)) * random.uniform(0.5, 1.5)
        end = time.monotonic() + delay
        while not self._leaving() and (left := end - time.monotonic()) > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._house.stopping.wait(), min(left, config.tick))

    async def _record(self, call: Call[Any]) -> Claim[Any] | None:
        """Commit a call. One that can't be stored is recorded as an error, so that it isn't paid for again."""
        try:
            return await self._house.writer.record(self._work, call)
        except Exception as error:
            log.exception("A call of %s %d could not be stored", self._work.kind, call.claim.id)
            refused = ProviderError(ErrorKind.PERMANENT, f"The answer could not be stored: {type(error).__name__}.")
            lost = replace(call, reply=None, error=refused, last=True, fault=Fault.OWN)
            return await self._house.writer.record(self._work, lost)


async def _ask(provider: Provider, claim: Claim[Any], request: Request) -> Call[Any]:
    """Ask once. Whatever goes wrong comes back as the call's error."""
    note = sent.watch(request.picture)
    started_at, begin = timezone.now(), time.monotonic()
    reply: Reply | None = None
    error: ProviderError | None = None
    try:
        async with asyncio.timeout(claim.endpoint.timeout + MARGIN):
            reply = await provider.ask(request)
    except ProviderError as given:
        error = given
    except TimeoutError:
        error = ProviderError(ErrorKind.TRANSIENT, f"No answer within {claim.endpoint.timeout:.0f} seconds.")
    except Exception as unexpected:
        log.exception("A provider raised what it should not")
        error = _permanent(unexpected)
    seconds = time.monotonic() - begin
    return Call(
        claim=claim,
        request=request,
        started_at=started_at,
        seconds=seconds,
        reply=reply,
        error=error,
        sent_sha256=note.sha256,
    )


def _call(claim: Claim[Any], *, error: ProviderError) -> Call[Any]:
    """A call that was never sent."""
    return Call(claim=claim, request=None, started_at=timezone.now(), seconds=0.0, error=error)


def _permanent(error: Exception) -> ProviderError:
    if isinstance(error, ProviderError):
        return error
    if isinstance(error, NotConfigured):
        return ProviderError(ErrorKind.PERMANENT, error.message, code=NOT_CONFIGURED)
    if isinstance(error, FpcoError):
        return ProviderError(ErrorKind.PERMANENT, error.message)
    if isinstance(error, FileNotFoundError):
        return ProviderError(ErrorKind.PERMANENT, f"The file {error.filename} is missing: put it back, then go on.")
    return ProviderError(ErrorKind.PERMANENT, f"{type(error).__name__}: see the worker's log, then go on.")
