"""Pictures in a zip, read one by one and never unpacked to disk; what a zip says of itself is not believed."""

import zipfile
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO

from fpco_site.errors import Invalid

MAX_FILES = 20_000
# Photographs hardly shrink; a plain bitmap of one colour may, so small archives are left alone.
MAX_RATIO, HARMLESS_BYTES = 100, 1_000_000_000
_ENCRYPTED = 0x1


@dataclass(frozen=True)
class Member:
    """A file in a zip: where it lies, its size as the zip says it, and why it can't be taken, if so."""

    path: str
    size: int
    refusal: str = ""


class Archive:
    """A zip that can be read. Raises Invalid, naming it, where it is broken or a bomb."""

    def __init__(self, file: IO[bytes], *, name: str) -> None:
        self.name = name
        try:
            self._zip = zipfile.ZipFile(file)
        except Exception as error:  # of broken bytes each decoder raises what its library does
            raise Invalid(f"{name} is not a zip, or it is broken or cut off ({error}).") from error
        self._members = _by_path(info for info in self._zip.infolist() if not info.is_dir())
        self._refuse_a_bomb(max(1, sum(info.compress_size for info in self._members.values())))
        if self._members and all(info.flag_bits & _ENCRYPTED for info in self._members.values()):
            raise Invalid(f"{name} is encrypted; unlock it and give it without a password.")

    def members(self) -> list[Member]:
        """All files, in the order of their paths; hidden ones, and what a Mac adds, are left out."""
        shown = [(path, info) for path, info in sorted(self._members.items()) if not hidden(path)]
        return [Member(path, info.file_size, _refusal(info)) for path, info in shown]

    def read(self, path: str, *, most: int) -> bytes:
        """The bytes of one file, `most` at most. Raises Invalid."""
        name = PurePosixPath(path).name
        if (info := self._members.get(path)) is None:
            raise Invalid(f"{name} is no longer in {self.name}.")
        if refusal := _refusal(info):
            raise Invalid(refusal)
        try:
            with self._zip.open(info) as file:
                data = file.read(most + 1)
        except Exception as error:
            raise Invalid(f"{name} is damaged in {self.name} ({error}).") from error
        if len(data) > most:
            raise Invalid(f"{name} is larger than {most:,} bytes, whatever {self.name} says of it.")
        return data

    def _refuse_a_bomb(self, packed: int) -> None:
        if len(self._members) > MAX_FILES:
            raise Invalid(
                f"{self.name} holds {len(self._members):,} files; at most {MAX_FILES:,} are imported at once."
            )
        unpacked = sum(info.file_size for info in self._members.values())
        if unpacked > HARMLESS_BYTES and unpacked > MAX_RATIO * packed:
            raise Invalid(
                f"{self.name} says that its {packed:,} bytes become {unpacked:,} when unpacked; no pictures do that, "
                "so it is refused as a zip bomb."
            )


def numbered(path: str, taken: Container[str]) -> str:
    """`path`, with a number before its suffix where another file has that path."""
    stem, dot, suffix = path.rpartition(".")
    found, number = path, 2
    while found in taken:
        found, number = f"{stem or suffix} ({number}){dot}{suffix if stem else ''}", number + 1
    return found


def _by_path(infos: Iterable[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
    """Files by their path with slashes; a zip may hold two of one path, and both are kept."""
    found: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        found[numbered(info.filename.replace("\\", "/"), found)] = info
    return found


def hidden(path: str) -> bool:
    """Whether a file or one of its folders is hidden, or of those that a Mac adds to a zip."""
    return any(part == "__MACOSX" or (part.startswith(".") and part not in {".", ".."}) for part in path.split("/"))


def _refusal(info: zipfile.ZipInfo) -> str:
    parts = PurePosixPath(info.filename.replace("\\", "/")).parts
    name = parts[-1] if parts else info.filename
    if ".." in parts or info.filename.startswith(("/", "\\")) or (parts and parts[0].endswith(":")):
        return f"{name} is refused: its path in the zip, {info.filename}, leads out of it."
    if info.flag_bits & _ENCRYPTED:
        return f"{name} is encrypted in the zip; unlock it and give it without a password."
    return ""
