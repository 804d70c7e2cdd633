"""A provider that costs next to nothing, for benchmarks: it counts bodies without reading what they say.

It speaks as much HTTP/1.1 as clients of this project and of others send: keep-alive and Content-Length.
Every answer is the same plain sentences, in the protocol that was asked, after `latency` seconds.
"""

import asyncio
import json
from dataclasses import asdict, dataclass

from fpco_site.llm.types import Request
from tests.stubs.protocols import PROTOCOLS, Asked, Spoken

TEXT = (
    "It looks calm and is easy to see in the middle of the picture, a little to the left of the door. "
    "The light comes from above, so that its outline is clear and its colours are even; behind it are a wall, "
    "two windows and part of a street, and nothing else nearby seems to be of the same kind. (Answer {number}.)"
)
PATHS = {b"/v1/responses": "openai", b"/v1/chat/completions": "openai_compatible"}
BUFFER = 1 << 20


@dataclass
class Counts:
    requests: int = 0
    answered: int = 0
    in_flight: int = 0
    peak: int = 0
    bytes: int = 0


class FastServer:
    """Serve until the event loop ends; `port` 0 takes a free one."""

    def __init__(self, *, port: int = 0, latency: float = 0.0) -> None:
        self.latency = latency
        self.counts = Counts()
        self.port = port
        self.buffer = memoryview(bytearray(BUFFER))
        self._bodies = {name: _template(name) for name in PROTOCOLS}

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Connection(self, loop), "127.0.0.1", self.port, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]

    def answer(self, path: bytes) -> bytes:
        """The whole HTTP answer to a request that has come in and waited."""
        if path == b"/stub/counts":
            return _http(200, json.dumps(asdict(self.counts)).encode())
        protocol = PATHS.get(path) or ("gemini" if path.endswith(b":generateContent") else "")
        if not protocol:
            return _http(404, b'{"error": {"message": "No such path."}}')
        self.counts.answered += 1
        number = b"%d" % self.counts.answered
        return _http(200, self._bodies[protocol].replace(b"{number}", number), request_id=number)


class _Connection(asyncio.BufferedProtocol):
    """One client's connection, a request at a time."""

    def __init__(self, server: FastServer, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop
        self._head = b""
        self._path = b""
        self._left = 0  # bytes of the body still to come
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._server.buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._server.counts.bytes += nbytes
        if self._left:
            self._left -= nbytes
        else:
            self._read_head(bytes(self._server.buffer[:nbytes]))
        if self._path and not self._left:
            self._arrived()

    def _read_head(self, data: bytes) -> None:
        self._head += data
        head, mark, body = self._head.partition(b"\r\n\r\n")
        if not mark:
            return
        first, *lines = head.split(b"\r\n")
        headers = dict(line.lower().split(b": ", 1) for line in lines)
        self._path = first.split(b" ")[1].partition(b"?")[0]
        self._left = int(headers.get(b"content-length", b"0")) - len(body)
        self._head = b""

    def _arrived(self) -> None:
        path, self._path = self._path, b""
        if path.startswith(b"/stub/"):
            self._send(path)
            return
        counts = self._server.counts
        counts.requests += 1
        counts.in_flight += 1
        counts.peak = max(counts.peak, counts.in_flight)
        if self._server.latency:
            self._loop.call_later(self._server.latency, self._leave, path)
        else:
            self._leave(path)

    def _leave(self, path: bytes) -> None:
        self._server.counts.in_flight -= 1
        self._send(path)

    def _send(self, path: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(self._server.answer(path))


def _template(protocol: str) -> bytes:
    """An answer as the stricter stub writes it, with a mark where its number goes."""
    asked = Asked("stub", Request("", ()), ())
    _, body = PROTOCOLS[protocol].write(asked, Spoken(TEXT), 0)
    return json.dumps(body).encode()


def _http(status: int, body: bytes, *, request_id: bytes = b"") -> bytes:
    head = b"HTTP/1.1 %d %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n" % (
        status,
        b"OK" if status == 200 else b"Not Found",
        len(body),
    )
    return head + (b"x-request-id: req_%s\r\n" % request_id if request_id else b"") + b"\r\n" + body
