"""A brake on guessing passwords: counts of failed sign-ins by name and address, for a few minutes."""

from hashlib import sha256

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest

FAILURES = 10
SECONDS = 300


def is_braked(*, username: str, address: str) -> bool:
    """Whether this name failed too often from this address."""
    return int(cache.get(_key(username, address), 0)) >= FAILURES


def record_failure(*, username: str, address: str) -> None:
    key = _key(username, address)
    cache.add(key, 0, SECONDS)
    try:
        cache.incr(key)
    except ValueError:  # It ran out between the two calls: this failure is the first of a new window.
        cache.set(key, 1, SECONDS)


def forget_failures(*, username: str, address: str) -> None:
    cache.delete(_key(username, address))


def address_of(request: HttpRequest) -> str:
    """The caller's address; behind our own proxy, the one that the proxy saw."""
    if settings.SECURE_PROXY_SSL_HEADER:
        forwarded = request.headers.get("X-Forwarded-For", "")
        if seen := forwarded.rpartition(",")[2].strip():
            return seen
    return str(request.META.get("REMOTE_ADDR", ""))


def _key(username: str, address: str) -> str:
    return "sign-in:" + sha256(f"{username.strip().casefold()}\n{address}".encode("utf-8", "replace")).hexdigest()
