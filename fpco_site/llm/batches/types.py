"""What every provider's batches have in common."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fpco_site.llm.types import ProviderError, Reply, Request


@dataclass(frozen=True)
class Limits:
    """What one file may hold."""

    requests: int
    size: int


@dataclass(frozen=True)
class Remote:
    """A batch as its provider tells of it.

    `status` is the provider's own word. `over` is true where nothing more will come; then `files` are
    what there is to read. `done` counts the requests that ended so far, None where it isn't told.
    """

    id: str
    status: str
    over: bool
    files: tuple[str, ...] = ()
    done: int | None = None
    error: str = ""


@dataclass(frozen=True)
class Result:
    """How one request of a batch ended: with a `reply` or with an `error`, never both.

    `id` is as the request was given it. A request that the provider never came to has no result.
    """

    id: str
    reply: Reply | None = None
    error: ProviderError | None = None


class Batches(Protocol):
    """One small class per interface, made for one endpoint. Everything that speaks raises ProviderError."""

    limits: Limits

    def line(self, id: str, request: Request) -> bytes:
        """A request as a line of the file, with its end."""
        ...

    def upload(self, file: Path) -> str:
        """Send a file of lines; returns the provider's name for it."""
        ...

    def create(self, file: str, key: str) -> Remote:
        """Start a batch that carries `key`, by which `find` finds it."""
        ...

    def find(self, key: str, file: str) -> list[Remote]:
        """Every batch that carries `key`, or is of the `file` that was uploaded for it, the oldest first."""
        ...

    def get(self, id: str) -> Remote: ...

    def cancel(self, id: str) -> None:
        """Ask for an end; what is answered until then still comes. No error where it is over already."""
        ...

    def results(self, files: Sequence[str], folder: Path) -> Iterator[Result]:
        """Fetch the `files` of a batch into `folder`, then read them line by line, in the file's order."""
        ...

    def close(self) -> None: ...
