"""What files of all kinds carry: what an annotator was shown, what was said of it, and the rules for both."""

import json
import math
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fpco_site.errors import Invalid

COMMENT = 4000  # characters, as on the labelling page
LONGEST = 24 * 60 * 60.0
CORRECTS, GOES_ALONG = "corrects", "goes along"
PAGE, IMPORTED, SIMULATED = "page", "imported", "simulated"
_TRUE = frozenset({CORRECTS, "1", "true", "yes"})
_FALSE = frozenset({GOES_ALONG, "0", "false", "no"})


@dataclass(frozen=True)
class Shown:
    """Exactly what an annotator may see of one answer; `image` is the hash of the picture, where it is shown."""

    task: str
    premise_class: str
    content: str
    modified: str
    response: str
    image: str = ""


@dataclass(frozen=True)
class Said:
    """One person's label of one task.

    `names` are ways in which the file names the person, the likeliest first. `origin` is page, imported or simulated;
    of these only the last is read, as no label that a machine made up may pass for a person's. `at` (UTC) and `extra`
    (beyond what a pool wants) only go out. `where` is the place in the file that it was read from.
    """

    task: str
    names: tuple[str, ...]
    detect: bool
    unsure: bool = False
    comment: str = ""
    seconds: float | None = None
    guideline: int | None = None
    origin: str = ""
    at: str = field(default="", compare=False)
    extra: bool = field(default=False, compare=False)
    where: str = field(default="", compare=False)

    @property
    def annotator(self) -> str:
        return self.names[0] if self.names else ""


@dataclass(frozen=True)
class File:
    """The labels of a file, and how many of its tasks had none: not labelled yet, or skipped."""

    said: list[Said]
    without: int = 0


def text_of(data: bytes, name: str) -> str:
    """UTF-8 with or without a byte order mark; anything else raises Invalid with its line."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise Invalid(f"{name}, line {line}: this is not UTF-8 text.") from error


def decoder() -> json.JSONDecoder:
    """JSON read strictly: no key twice, no NaN."""
    return json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key comes twice")
    return found


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number in JSON")


def task_id(value: object, *, where: str) -> str:
    """The id of a task as this software writes it."""
    try:
        return str(uuid.UUID(value)) if isinstance(value, str) else _refuse_id(value, where)
    except ValueError:
        return _refuse_id(value, where)


def _refuse_id(value: object, where: str) -> str:
    raise Invalid(f"{where}: {_short(value)} is no id of a task; ids are those of an export of the set.")


def verdict(value: object, *, where: str) -> bool:
    """True for a correction, from our words, a yes or a no, or a number."""
    word = str(value).strip().lower() if isinstance(value, str | bool) or type(value) is int else ""
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise Invalid(f"{where}: detect must be {CORRECTS!r} or {GOES_ALONG!r} (or 1 or 0), not {_short(value)}.")


def said(values: Mapping[str, Any], *, names: tuple[str, ...], where: str) -> Said:
    """A label from its plain values. Raises Invalid for the first that can't be."""
    return Said(
        task=task_id(values.get("task"), where=where),
        names=names,
        detect=verdict(values.get("detect"), where=where),
        unsure=_flag(values.get("unsure"), where),
        comment=_comment(values.get("comment"), where),
        seconds=_seconds(values.get("seconds"), where),
        guideline=_version(values.get("guideline"), where),
        origin=SIMULATED if values.get("origin") == SIMULATED else "",
        where=where,
    )


def _flag(value: object, where: str) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    raise Invalid(f"{where}: unsure must be true or false, not {_short(value)}.")


def _comment(value: object, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Invalid(f"{where}: the comment must be text, not {_short(value)}.")
    if len(value) > COMMENT:
        raise Invalid(f"{where}: the comment has {len(value):,} characters; {COMMENT:,} are the most.")
    return value.strip()


def _seconds(value: object, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise Invalid(f"{where}: the seconds must be a number of at least 0, not {_short(value)}.")
    # A task that was left open overnight: how long it took is not known.
    return float(value) if value <= LONGEST else None


def _version(value: object, where: str) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 0 < value < 2**15:
        raise Invalid(f"{where}: the guideline must be the number of its version, not {_short(value)}.")
    return value


def _short(value: object) -> str:
    """A value as a message quotes it."""
    try:
        written = json.dumps(value)
    except (TypeError, ValueError):
        written = str(value)
    return written if len(written) <= 60 else f"{written[:57]}..."
