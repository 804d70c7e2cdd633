"""How connections are pooled: as many as there are lanes, kept open between turns, one TLS context for all.

No body is read past a bound, packed or unpacked: a worker holds a hundred of them at once.
"""

import ssl
from collections.abc import AsyncIterator
from functools import cache

import httpx2

CONNECTIONS = 2000
KEEP_ALIVE_SECONDS = 30.0
LARGEST_BODY = 32 << 20  # bytes; answers of a megabyte are read

LIMITS = httpx2.Limits(
    max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS, keepalive_expiry=KEEP_ALIVE_SECONDS
)


@cache
def tls() -> ssl.SSLContext:
    """Reading the certificates takes 40 ms, so it is done once."""
    return httpx2.create_ssl_context()


class TooLarge(httpx2.HTTPError):
    """A body goes on past LARGEST_BODY."""


async def bound(response: httpx2.Response) -> None:
    """A response hook for clients: reading a body that is too large raises TooLarge."""
    if "content-encoding" in response.headers:
        # Unpacked piece by piece here, so that a few packed bytes can't become more than the bound.
        packed = httpx2.Response(response.status_code, headers=response.headers, stream=response.stream)
        response.stream = _Bounded(packed.aiter_bytes(), packed)
        del response.headers["content-encoding"]
    else:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Bounded(aiter(response.stream), response.stream)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, chunks: AsyncIterator[bytes], source: httpx2.AsyncByteStream | httpx2.Response) -> None:
        self._chunks = chunks
        self._source = source

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._chunks:
            size += len(chunk)
            if size > LARGEST_BODY:
                raise TooLarge(f"More than {LARGEST_BODY >> 20} MB.")
            yield chunk

    async def aclose(self) -> None:
        await self._source.aclose()
