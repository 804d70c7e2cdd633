"""How connections are pooled: as many as there are lanes, kept open between turns, one TLS context for all."""

import ssl
from functools import cache

import httpx2

CONNECTIONS = 2000
KEEP_ALIVE_SECONDS = 30.0

LIMITS = httpx2.Limits(
    max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS, keepalive_expiry=KEEP_ALIVE_SECONDS
)


@cache
def tls() -> ssl.SSLContext:
    """Reading the certificates takes 40 ms, so it is done once."""
    return httpx2.create_ssl_context()
