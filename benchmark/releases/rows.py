"""One line of each file, strictly typed; further fields are ignored, optional ones have a default."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from fpco_site.errors import Invalid

type Outcome = Literal["answered", "cut", "refused", "blocked", "empty", "failed", "not_asked"]
type _Sha256 = Annotated[str, msgspec.Meta(max_length=64)]
WITH_TEXT = frozenset({"answered", "cut", "refused"})


class TurnRow(msgspec.Struct, frozen=True):
    turn: int
    content: str
    false_premise: bool
    modified: str | None = None


class ItemRow(msgspec.Struct, frozen=True):
    item: str
    complexity: Literal["single_clean", "multi_separated", "multi_overlapping"]
    category: Literal["person", "vehicle", "animal", "food"]
    premise_class: Literal["identity", "attribute", "location"]
    target_description: str
    modified_target_description: str
    turns: list[TurnRow]
    image: str | None = None
    sha256: str | None = None
    original_sha256: str | None = None
    source: Literal["coco", "open_images", "other"] = "other"
    source_id: str | None = None
    author: str | None = None
    license: str | None = None
    license_url: str | None = None
    landing_url: str | None = None
    target: str | None = None
    parent: str | None = None
    variant: str | None = None


class ResponseRow(msgspec.Struct, frozen=True):
    model: str
    item: str
    turn: int
    response: str | None = None
    family: str = ""
    outcome: Outcome = "answered"
    finish_reason: str = ""
    reason: str = ""
    model_answered: str = ""
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    seconds: float | None = None
    request_id: Annotated[str, msgspec.Meta(max_length=200)] = ""
    asked_at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    image_sha256: _Sha256 = ""
    request_sha256: _Sha256 = ""
    software: str = ""


class LabelRow(msgspec.Struct, frozen=True):
    model: str
    item: str
    turn: int
    detector: str
    detect: bool


class HumanLabelRow(msgspec.Struct, frozen=True):
    model: str
    item: str
    turn: int
    annotator: str
    detect: bool
    set: str = ""
    unsure: bool = False
    seconds: float | None = None
    guideline: int | None = None
    simulated: bool = False
    inclusion_probability: float = 1.0
    stratum: str = ""


class AdjudicationRow(msgspec.Struct, frozen=True):
    """What was decided where annotators differ; `decided_by` is a pseudonym, or "third" for a third person."""

    model: str
    item: str
    turn: int
    detect: bool
    reason: str
    set: str = ""
    together: bool = False
    decided_by: str = "third"


def read[R: msgspec.Struct](path: Path, kind: type[R]) -> Iterator[tuple[int, R]]:
    """Lines of a JSONL file as rows with their line numbers.

    Raises
    ------
    Invalid
        Naming file, line and reason, at the first line that isn't such a row.
    """
    decoder = msgspec.json.Decoder(kind)
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield number, decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                yield number, _second_try(path, number, line, kind, error)


def _second_try[R: msgspec.Struct](path: Path, number: int, line: bytes, kind: type[R], error: Exception) -> R:
    """Lone surrogates are legal JSON that the fast reader refuses; anything else is refused for good."""
    if not isinstance(error, msgspec.ValidationError):
        try:
            return msgspec.convert(json.loads(line), kind)
        except msgspec.ValidationError as second:
            error = second
        except ValueError:
            pass
    raise Invalid(f"{path.name}, line {number}: {error}.") from error
