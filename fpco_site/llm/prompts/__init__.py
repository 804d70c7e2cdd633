"""The prompts as they are sent, each with a name and a version.

Versions up to 100 are files here, written for this project. Authors save further ones in the browser,
counted from 101, as `PromptVersion` rows. A version never changes, wherever it is kept.
"""

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


def shipped(name: str) -> tuple[int, ...]:
    """The versions that are files; needs no database."""
    return tuple(sorted(version for known, version in _files() if known == name))


def versions(name: str) -> tuple[int, ...]:
    """DB. Every version, shipped and saved, in order."""
    from fpco_site.llm.models import PromptVersion

    saved = PromptVersion.objects.filter(name=name).order_by("version").values_list("version", flat=True)
    return (*shipped(name), *saved)


def newest(name: str) -> int:
    """DB. The version that is used where none is named. Raises Invalid for an unknown prompt."""
    _require_known(name)
    return versions(name)[-1]


def load(name: str, version: int | None = None) -> Prompt:
    """The prompt of that name, its newest version unless one is asked for. Raises Invalid.

    A shipped version asked for by number needs no database.
    """
    _require_known(name)
    if version is not None and version in shipped(name):
        return _read(name, version)
    from fpco_site.llm.models import PromptVersion

    rows = PromptVersion.objects.filter(name=name)
    row = rows.order_by("-version").first() if version is None else rows.filter(version=version).first()
    if row is not None:
        return Prompt(name=name, version=row.version, text=row.text, sha256=row.sha256)
    if version is None:
        return _read(name, shipped(name)[-1])
    raise errors.Invalid(f"The prompt {name!r} has no version {version}; its newest is {newest(name)}.")


def load_exact(name: str, version: int, sha256: str) -> Prompt:
    """The version that a row was made with. Raises Invalid where it is gone or has another text."""
    prompt = load(name, version)
    if prompt.sha256 != sha256:
        raise errors.Invalid(f"The prompt {prompt.label} is no longer the one that this was asked for with.")
    return prompt


@cache
def _read(name: str, version: int) -> Prompt:
    return make(name=name, version=version, text=(FOLDER / f"{name}.v{version}.md").read_text(encoding="utf-8"))


def _require_known(name: str) -> None:
    if name not in names():
        raise errors.Invalid(f"There is no prompt named {name!r}; known are {', '.join(names())}.")


def _files() -> list[tuple[str, int]]:
    matches = (FILE_NAME.fullmatch(path.name) for path in FOLDER.iterdir())
    return [(match["name"], int(match["version"])) for match in matches if match]
