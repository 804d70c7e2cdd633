"""The prompts as they are sent: files with a name and a version, written for this project."""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fpco_site import errors

FOLDER = Path(__file__).parent
FILE_NAME = re.compile(r"(?P<name>[a-z_]+)\.v(?P<version>[1-9][0-9]*)\.md")


@dataclass(frozen=True)
class Prompt:
    """A prompt's text and the hash that every row made with it stores."""

    name: str
    version: int
    text: str
    sha256: str

    @property
    def label(self) -> str:
        """Name and version, as its file carries them."""
        return f"{self.name}.v{self.version}"


def make(*, name: str, version: int, text: str) -> Prompt:
    """A prompt from any source (a file here, a version that an author saved)."""
    text = text.strip()
    return Prompt(name=name, version=version, text=text, sha256=hashlib.sha256(text.encode()).hexdigest())


def names() -> tuple[str, ...]:
    return tuple(sorted({name for name, _ in _files()}))


def versions(name: str) -> tuple[int, ...]:
    return tuple(sorted(version for known, version in _files() if known == name))


@cache
def load(name: str, version: int | None = None) -> Prompt:
    """The prompt of that name, its newest version unless one is asked for. Raises Invalid."""
    known = versions(name)
    if not known:
        raise errors.Invalid(f"There is no prompt named {name!r}; known are {', '.join(names())}.")
    version = known[-1] if version is None else version
    if version not in known:
        raise errors.Invalid(f"The prompt {name!r} has no version {version}; its newest is {known[-1]}.")
    return make(name=name, version=version, text=(FOLDER / f"{name}.v{version}.md").read_text(encoding="utf-8"))


def _files() -> list[tuple[str, int]]:
    matches = (FILE_NAME.fullmatch(path.name) for path in FOLDER.iterdir())
    return [(match["name"], int(match["version"])) for match in matches if match]
