"""Keeps API keys out of what is written: replies, errors, logs (design section 6, rule 5)."""

import logging
import re
from functools import cache

MARK = "[key]"
_known: set[str] = set()


def remember(key: str) -> None:
    """A key that this process has read; from now on its logs and error pages leave it out."""
    if key:
        _known.add(key)


def scrub(text: str, key: str) -> str:
    """`text` without the key, plain or as JSON and addresses escape it."""
    return _forms(key).sub(MARK, text) if key and _anchor(key) in text else text


def scrub_bytes(raw: bytes, key: str) -> bytes:
    """The same for bytes as they came; any other byte stays as it is."""
    if not key or _anchor(key).encode() not in raw:
        return raw
    return scrub(raw.decode("utf-8", "surrogateescape"), key).encode("utf-8", "surrogateescape")


def scrub_known(text: str) -> str:
    for key in _known:
        text = scrub(text, key)
    return text


class Formatter(logging.Formatter):
    """Log lines, tracebacks included, without any known key."""

    def format(self, record: logging.LogRecord) -> str:
        return scrub_known(super().format(record))


@cache
def _anchor(key: str) -> str:
    """The longest part that nothing escapes: a quick look for it decides whether there is anything to do."""
    parts: list[str] = re.findall("[A-Za-z0-9]+", key) or [key]
    return max(parts, key=len)


@cache
def _forms(key: str) -> re.Pattern[str]:
    """Each character plain, behind a backslash, as `\\u002f`, as `%2F` or, for HTML, as `&#x27;` and `&amp;`."""
    return re.compile("".join(map(_forms_of, key)))


def _forms_of(character: str) -> str:
    code = ord(character)
    named = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}.get(character, f"&#{code};")
    return rf"(?:\\*{re.escape(character)}|(?i:\\+u00{code:02x}|%{code:02x}|&#x{code:02x};|{named}))"
