"""What a call put on the wire, by its hash: noted where it leaves, read by the lane that asked.

The picture stands in the hash by its own sha256, so that a body can be compared without its bytes: the few
kilobytes around it are hashed, in microseconds. A provider that puts nothing on a wire notes nothing.
"""

from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256

from fpco_site.llm.types import Picture

_HEAD = 64  # characters of a picture's base64 that find it in a body


@dataclass
class Note:
    """One call: the picture that goes with it and, once it was sent, the hash of its body."""

    picture: Picture | None
    sha256: str = ""


_current: ContextVar[Note | None] = ContextVar("sent", default=None)


def watch(picture: Picture | None) -> Note:
    """The note that this task's next call is written to."""
    made = Note(picture)
    _current.set(made)
    return made


def note(body: bytes) -> None:
    """Keep the hash of a body that is sent now; the last one of a call counts."""
    if (current := _current.get()) is not None:
        current.sha256 = fingerprint(body, current.picture)


def fingerprint(body: bytes, picture: Picture | None) -> str:
    """The sha256 of a body in which the picture's base64 is replaced by `Picture.name`."""
    digest = sha256()
    at = -1 if picture is None else body.find(picture.base64[:_HEAD].encode())
    if picture is None or at < 0:
        digest.update(body)
        return digest.hexdigest()
    digest.update(body[:at])
    digest.update(picture.name.encode())
    digest.update(memoryview(body)[at + len(picture.base64) :])
    return digest.hexdigest()
