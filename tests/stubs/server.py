"""The server itself, in a thread of its own, so that tests without an event loop can use it."""

import asyncio
import hashlib
import json
import threading
import time
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from fpco_site.llm.types import Outcome
from tests.stubs import refusals, voice
from tests.stubs.batches import BatchDesk
from tests.stubs.misbehaviour import Do, command
from tests.stubs.protocols import (
    CAP_SPENT_ON_REASONING,
    PROTOCOLS,
    Asked,
    BadRequest,
    Dialect,
    Spoken,
    Tokens,
    handed_out,
)

PATHS = {"openai": "/v1", "openai_compatible": "/v1", "gemini": "/"}
OUTCOMES = {
    "empty": Outcome.EMPTY,
    "thinking": Outcome.EMPTY,
    "truncated": Outcome.CUT,
    "filtered": Outcome.BLOCKED,
    "refusal": Outcome.REFUSED,
    "failed": Outcome.FAILED,
}
SPOILT = frozenset({"prose", "wrong_ids", "missing_id", "repeated_id", "not_boolean"})
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Recorded:
    """One request as it came, `at` a monotonic time, after so many were `answered`.

    `body` is the parsed JSON, with the picture in it.
    """

    protocol: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    asked: Asked | None
    key: str
    at: float
    answered: int


@dataclass
class Counts:
    """What the stub saw. `repeated` counts requests whose very body had come before.

    `tokens` is what each answer said that it used, by the number that its request id ends with.
    """

    requests: int = 0
    answered: int = 0
    in_flight: int = 0
    peak: int = 0
    repeated: int = 0
    bodies: Counter[str] = field(default_factory=Counter)
    tokens: dict[int, Tokens] = field(default_factory=dict)

    def summary(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in ("requests", "answered", "in_flight", "peak", "repeated")}


class StubServer:
    """A provider on loopback; `latency` in seconds, `keep` the requests, `plain` answers cost no thought."""

    def __init__(self, *, port: int = 0, latency: float = 0.0, keep: bool = True, plain: bool = False) -> None:
        self.latency = latency
        self.requests: list[Recorded] = []
        self.sent: dict[int, bytes] = {}  # the body of each answer by its number, where requests are kept
        self.counts = Counts()
        self.batches = BatchDesk()
        self._port = port
        self._keep = keep
        self._plain = plain
        self._script: list[Do] = []
        self._rules: dict[int, Do] = {}
        self._models: dict[str, Do] = {}
        self._always: Do | None = None
        self._every: list[tuple[int, Do]] = []
        self._together = 0
        self._all_here = asyncio.Event()
        self._lock = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="stub")
        self._runner: web.AppRunner | None = None

    # For tests

    def url(self, provider: str) -> str:
        """The base URL for a provider of this project."""
        return f"http://127.0.0.1:{self._port}{PATHS[provider]}"

    def script(self, commands: Iterable[str | int | Do | dict[str, object]]) -> None:
        """Do these, one a request in the order of arrival, then answer again."""
        with self._lock:
            self._script += [command(given) for given in commands]

    def when(self, *, turn: int, do: str | int | Do) -> None:
        """Do this at every request of that turn."""
        self._rules[turn] = command(do)

    def for_model(self, model: str, do: str | int | Do) -> None:
        """Do this at every request to that model."""
        self._models[model] = command(do)

    def always(self, do: str | int | Do | None) -> None:
        """Do this at every request; None ends it."""
        self._always = None if do is None else command(do)

    def every(self, number: int, do: str | int | Do) -> None:
        """Do this at every so many-th request."""
        self._every.append((number, command(do)))

    def answer_together(self, number: int) -> None:
        """Answer nobody until so many requests are in flight at once."""
        self._together = number

    def start(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # The server

    async def _start(self) -> None:
        app = web.Application(client_max_size=64 * MEGABYTE)
        app.router.add_post("/v1/responses", self._serve("openai"))
        app.router.add_post("/v1/chat/completions", self._serve("openai_compatible"))
        app.router.add_post("/{version}/models/{model}:batchGenerateContent", self._take_batch)
        app.router.add_post("/{version}/models/{call}", self._serve("gemini"))
        self.batches.routes(app)
        app.router.add_get("/stub/counts", self._show_counts)
        app.router.add_post("/stub/script", self._take_script)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=1024)
        await site.start()
        self._port = self._runner.addresses[0][1]

    async def _stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _show_counts(self, request: web.Request) -> web.Response:
        return web.json_response(self.counts.summary())

    async def _take_script(self, request: web.Request) -> web.Response:
        self.script(await request.json())
        return web.json_response({"scripted": len(self._script)})

    async def _take_batch(self, request: web.Request) -> web.StreamResponse:
        return await self.batches.gemini_create(request, request.match_info["model"])

    def _serve(self, name: str) -> Any:
        async def handle(request: web.Request) -> web.StreamResponse:
            self.counts.in_flight += 1
            self.counts.peak = max(self.counts.peak, self.counts.in_flight)
            try:
                return await self._handle(PROTOCOLS[name], request)
            finally:
                self.counts.in_flight -= 1

        return handle

    async def _handle(self, protocol: Dialect, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = json.loads(raw)
        key = request.headers.get("x-goog-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
        try:
            asked = protocol.read(body, request.match_info.get("call", "").removesuffix(":generateContent"))
        except (BadRequest, KeyError, TypeError) as error:
            self._record(protocol, request, raw, body, None, key)
            return web.json_response(protocol.error(400, "invalid_request_error", str(error)), status=400)
        number = self._record(protocol, request, raw, body, asked, key)
        do = self._models.get(asked.model) or self._next(asked.turn, number)
        if self.counts.in_flight >= self._together:
            self._all_here.set()
        await self._all_here.wait()
        if self.latency:
            await asyncio.sleep(self.latency)
        response = await self._do(do, protocol, request, asked, key, number, body)
        self.counts.answered += 1
        return response

    def _record(
        self, protocol: Dialect, request: web.Request, raw: bytes, body: Any, asked: Asked | None, key: str
    ) -> int:
        digest = hashlib.sha256(request.path.encode() + raw).hexdigest()
        self.counts.requests += 1
        self.counts.repeated += digest in self.counts.bodies
        self.counts.bodies[digest] += 1
        if self._keep:
            headers = {name.lower(): value for name, value in request.headers.items()}
            now, answered = time.monotonic(), self.counts.answered
            self.requests.append(Recorded(protocol.name, request.path, headers, body, asked, key, now, answered))
        return self.counts.requests

    def _next(self, turn: int, number: int) -> Do:
        with self._lock:
            if self._script:
                return self._script.pop(0)
        if due := next((do for step, do in self._every if number % step == 0), None):
            return due
        return self._rules.get(turn) or self._always or Do()

    async def _do(
        self, do: Do, protocol: Dialect, request: web.Request, asked: Asked, key: str, number: int, body: Any
    ) -> web.StreamResponse:
        if do.what == "hang":
            await asyncio.sleep(3600)
        if do.what in {"cut_connection", "cut_midway"}:
            return await _cut(request, midway=do.what == "cut_midway")
        if do.what == "drip":
            return await _drip(request)
        if do.what == "bomb":
            return web.Response(body=_bomb(), headers={"content-encoding": "gzip", "content-type": "application/json"})
        if do.what in {"rate_limit", "quota", "unauthorized", "status"}:
            return _error(do, protocol, key, number)
        if refused := refusals.of(do, asked, body):
            code, message, param, status = refused
            answer = protocol.error(status, code, message)
            answer["error"]["param"] = param
            return web.json_response(answer, status=status, headers=_headers(number))
        if do.what.startswith("echo") or do.what == "redirect":
            return _echo(do, protocol, request, asked, key, number)
        if do.what in {"not_json", "no_choices"}:
            text = "<html>Not here.</html>" if do.what == "not_json" else '{"hello": "world"}'
            return web.Response(text=text, content_type="application/json", headers=_headers(number))
        status, answer = protocol.write(asked, await self._spoken(do, asked), number)
        if (tokens := handed_out(answer)) is not None:
            self.counts.tokens[number] = tokens
        response = web.json_response(answer, status=status, headers=_headers(number) | do.headers)
        if self._keep:
            self.sent[number] = bytes(response.body or b"")  # type: ignore[arg-type]
        return response

    async def _spoken(self, do: Do, asked: Asked) -> Spoken:
        outcome = OUTCOMES.get(do.what, Outcome.ANSWERED)
        if outcome is Outcome.EMPTY:
            return Spoken("", outcome, reasoning=CAP_SPENT_ON_REASONING if do.what == "thinking" else 0)
        text = do.text or await voice.says(asked.request, plain=self._plain, do=do.what)
        if do.what in SPOILT:
            text = voice.spoilt(text, do.what)
        if outcome is Outcome.REFUSED:
            text = "I can't help with that picture."
        if outcome is Outcome.CUT:
            text = " ".join(text.split()[:3])
        return Spoken(text, outcome, prompt_filtered=do.what == "filtered_prompt")


def _headers(number: int) -> dict[str, str]:
    return {"x-request-id": f"req_{number}", "x-ratelimit-remaining-requests": "99", "set-cookie": "session=1"}


def _error(do: Do, protocol: Dialect, key: str, number: int) -> web.Response:
    # Gemini says so with a plain 400.
    unauthorized = 400 if protocol.name == "gemini" else 401
    status = {"rate_limit": 429, "quota": 429, "unauthorized": unauthorized}.get(do.what, do.status)
    code = {"rate_limit": "rate_limit_exceeded", "quota": "insufficient_quota", "unauthorized": "invalid_api_key"}
    message = f"Incorrect API key provided: {key}." if do.what == "unauthorized" else do.message
    headers = _headers(number) | ({"retry-after": do.retry_after} if do.retry_after is not None else {})
    headers |= do.headers
    if do.what == "unauthorized":
        headers["x-ratelimit-key"] = key
    body = protocol.error(status, code.get(do.what, "error"), message)
    return web.json_response(body, status=status, headers=headers)


def _echo(do: Do, protocol: Dialect, request: web.Request, asked: Asked, key: str, number: int) -> web.StreamResponse:
    """A server that gives away what it was sent, as a proxy with debugging switched on may."""
    headers = {"x-request-id": f"req-{key}-{number}", "x-ratelimit-key": key, f"x-ratelimit-{key[:9]}": key}
    sent = "; ".join(f"{name}: {value}" for name, value in request.headers.items())
    if do.what == "redirect":
        return web.Response(status=307, headers=headers | {"location": f"{do.text}?key={key}"}, text=sent)
    if do.what == "echo_garbage":
        return web.Response(text=f"<pre>{sent}</pre>" * 9, content_type="application/json", headers=headers)
    if do.what == "echo_error":
        # So long that the message is cut in the middle of a key.
        body = json.dumps(protocol.error(do.status, key, f"{do.message} {sent}" * 9))
        return web.Response(text=body, status=do.status, content_type="application/json", headers=headers)
    told = Asked(f"{asked.model}-{key}", asked.request, asked.pictures)
    _, answer = protocol.write(told, Spoken(f"You sent {key}, Bearer {key}."), number)
    body = json.dumps(answer).replace("/", "\\/" if number % 2 else "\\u002F")
    return web.Response(text=body, content_type="application/json", headers=headers)


async def _drip(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "application/json"})
    await response.prepare(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.02)


@cache
def _bomb() -> bytes:
    """Of 64 MB of blanks, packed a thousandfold."""
    packer = zlib.compressobj(wbits=31)
    return b"".join([*(packer.compress(b" " * MEGABYTE) for _ in range(64)), packer.flush()])


async def _cut(request: web.Request, *, midway: bool) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "application/json", "content-length": "1000"})
    if midway:
        await response.prepare(request)
        await response.write(b'{"id": "half')
    if request.transport is not None:
        request.transport.abort() if not midway else request.transport.close()
    return response
