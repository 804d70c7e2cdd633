"""The first pass over a release: checks every line and keeps what an import needs, without a database.

Memory stays small: texts are read again when they are inserted; labels are kept as integers.
"""

import hashlib
import json
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from annotate import records
from benchmark.releases import ADJUDICATIONS, FORMAT, HUMAN_LABELS, ITEMS, LABELS, RESPONSES
from benchmark.releases.rows import WITH_TEXT, AdjudicationRow, HumanLabelRow, ItemRow, LabelRow, ResponseRow, read
from fpco_site.errors import Invalid

MAX_TURNS = 15
type Progress = Callable[[str, int, int], None]


def quiet(what: str, done: int, total: int) -> None:
    """No progress shown."""


@dataclass
class Checked:
    """A release that holds together. Responses are numbered in the order of their file.

    `place[model]` maps item * turns + turn - 1 to that number, -1 where there is no text, so that a
    label finds its response; `silent` holds outcome and reason of the turns without text, and
    `label_*` are parallel arrays.
    """

    folder: Path
    manifest: dict[str, Any]
    name: str
    hashes: dict[str, str]
    items: list[ItemRow] = field(default_factory=list)
    item_index: dict[str, int] = field(default_factory=dict)
    turns: int = 0
    false_turns: list[int] = field(default_factory=list)
    models: dict[str, str] = field(default_factory=dict)
    place: list["array[int]"] = field(default_factory=list)
    responses: int = 0
    silent: dict[tuple[str, int], tuple[str, str]] = field(default_factory=dict)
    detectors: dict[str, int] = field(default_factory=dict)
    label_response: "array[int]" = field(default_factory=lambda: array("i"))
    label_detector: "array[int]" = field(default_factory=lambda: array("b"))
    label_detect: "array[int]" = field(default_factory=lambda: array("b"))
    human: list[tuple[int, HumanLabelRow]] = field(default_factory=list)
    decided: list[tuple[int, AdjudicationRow]] = field(default_factory=list)

    @property
    def model_index(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.models)}

    def has(self, name: str) -> bool:
        return name in self.hashes


def check(folder: Path, *, progress: Progress = quiet) -> Checked:
    """Check a release folder from its manifest to its last line.

    Raises
    ------
    Invalid
        With one sentence: what is wrong, in which file and line.
    """
    found = open_manifest(folder)
    _items(found)
    if found.has(RESPONSES):
        _responses(found, progress)
    if found.has(LABELS):
        _labels(found, progress)
    if found.has(HUMAN_LABELS):
        _human_labels(found)
    if found.has(ADJUDICATIONS):
        _adjudications(found)
    return found


def open_manifest(folder: Path) -> Checked:
    """The manifest, with every file that it names there and of the hash that it gives."""
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise Invalid(f"{folder} is not a release: it has no manifest.json.") from None
    except ValueError as error:
        raise Invalid(f"manifest.json is not JSON: {error}.") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise Invalid(f"manifest.json does not say that this is a {FORMAT!r}.")
    given, counts = manifest.get("sha256") or {}, manifest.get("counts") or {}
    if not isinstance(given, dict) or not isinstance(counts, dict):
        raise Invalid("manifest.json: counts and sha256 are objects of file names.")
    hashes = {name: _hash_fits(folder, name, given.get(name)) for name in dict.fromkeys([*given, *counts])}
    if ITEMS not in hashes:
        raise Invalid("manifest.json names no items.jsonl, so there is nothing to import.")
    return Checked(folder, manifest, str(manifest.get("dataset") or folder.resolve().name), hashes)


def _hash_fits(folder: Path, name: str, expected: str | None) -> str:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise Invalid(f"manifest.json names {name!r}, which is outside the release.")
    if not path.is_file():
        raise Invalid(f"manifest.json names {name}, but there is no such file.")
    found = file_sha256(path)
    if expected is not None and found != expected:
        raise Invalid(f"{name} is not the file that the manifest describes: its sha256 is {found}.")
    return found


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def refuse(name: str, line: int, reason: str) -> NoReturn:
    raise Invalid(f"{name}, line {line}: {reason}.")


def _count_fits(found: Checked, name: str, count: int) -> None:
    expected = (found.manifest.get("counts") or {}).get(name)
    if expected is not None and expected != count:
        raise Invalid(f"{name} has {count:,} rows, but the manifest says {expected:,}.")


def expected_count(found: Checked, name: str) -> int:
    return int((found.manifest.get("counts") or {}).get(name) or 0)


def _items(found: Checked) -> None:
    path = found.folder / ITEMS
    for line, row in read(path, ItemRow):
        if row.item in found.item_index:
            refuse(ITEMS, line, f"the item {row.item!r} comes twice")
        if not row.item:
            refuse(ITEMS, line, "an item needs a name")
        _one_item(found, line, row)
        found.item_index[row.item] = len(found.items)
        found.items.append(row)
    _count_fits(found, ITEMS, len(found.items))
    if not found.items:
        raise Invalid(f"{ITEMS} has no rows.")
    # A parent is an item of another dataset: its dialogue is longer, and a folder holds one length.
    parents = {row.parent for row in found.items if row.parent}
    nested = next((row for row in found.items if row.parent and row.item in parents), None)
    if nested is not None:
        raise Invalid(f"{ITEMS}: the variant {nested.item!r} is named as a parent; variants have none of their own.")


def _one_item(found: Checked, line: int, row: ItemRow) -> None:
    numbers = sorted(turn.turn for turn in row.turns)
    false = sorted(turn.turn for turn in row.turns if turn.false_premise)
    if numbers != list(range(1, len(numbers) + 1)) or not 1 <= len(numbers) <= MAX_TURNS:
        refuse(ITEMS, line, f"turns must be numbered 1 to n without a gap, n at most {MAX_TURNS}")
    if not found.items:
        found.turns, found.false_turns = len(numbers), false
    if (len(numbers), false) != (found.turns, found.false_turns):
        refuse(ITEMS, line, "its turns follow another plan than those of the first item")
    wrong = next((turn.turn for turn in row.turns if bool(turn.modified) != turn.false_premise), None)
    if wrong is not None:
        refuse(ITEMS, line, f"turn {wrong} must have a modified question exactly where its premise is false")
    if row.image is not None:
        _image(found, line, row)


def _image(found: Checked, line: int, row: ItemRow) -> None:
    name = row.image or ""
    path = found.folder / "images" / name
    if Path(name).name != name or name.startswith("."):
        refuse(ITEMS, line, f"{name!r} is not a plain file name")
    if not path.is_file():
        refuse(ITEMS, line, f"images/{name} is not there")
    if row.sha256 is None or file_sha256(path) != row.sha256:
        refuse(ITEMS, line, f"images/{name} is not the picture that the row describes: the sha256 does not fit")


def _responses(found: Checked, progress: Progress) -> None:
    path, total = found.folder / RESPONSES, expected_count(found, RESPONSES)
    index: dict[str, int] = {}
    line = 0
    for line, row in read(path, ResponseRow):
        model = index.get(row.model)
        if model is None:
            model = index[row.model] = _new_model(found, line, row)
        at = _position(found, RESPONSES, line, row.item, row.turn)
        if found.place[model][at] >= 0 or (row.model, at) in found.silent:
            refuse(RESPONSES, line, f"{row.model}, {row.item}, turn {row.turn} comes twice")
        if (row.outcome in WITH_TEXT) != bool(row.response):
            needs = "needs a response" if row.outcome in WITH_TEXT else "has no response"
            refuse(RESPONSES, line, f"a turn that is {row.outcome} {needs}")
        if row.response:
            found.place[model][at] = found.responses
            found.responses += 1
        else:
            found.silent[row.model, at] = (row.outcome, row.reason)
        if line % 20_000 == 0:
            progress("Checking responses", line, total)
    _count_fits(found, RESPONSES, found.responses + len(found.silent))


def _new_model(found: Checked, line: int, row: ResponseRow) -> int:
    if not row.model.strip():
        refuse(RESPONSES, line, "a response needs its model's name")
    found.models[row.model] = row.family
    found.place.append(array("i", [-1]) * (len(found.items) * found.turns))
    return len(found.place) - 1


def _position(found: Checked, name: str, line: int, item: str, turn: int) -> int:
    index = found.item_index.get(item)
    if index is None:
        refuse(name, line, f"there is no item {item!r}")
    if not 1 <= turn <= found.turns:
        refuse(name, line, f"there is no turn {turn}")
    return index * found.turns + turn - 1


def _response_of(
    found: Checked, models: dict[str, int], name: str, line: int, row: LabelRow | HumanLabelRow | AdjudicationRow
) -> int:
    model = models.get(row.model)
    if model is None:
        refuse(name, line, f"there is no response of {row.model!r}")
    response = found.place[model][_position(found, name, line, row.item, row.turn)]
    if response < 0:
        refuse(name, line, f"{row.model} has no response to {row.item}, turn {row.turn}, so it can't be labelled")
    return response


def _labels(found: Checked, progress: Progress) -> None:
    path, total, models = found.folder / LABELS, expected_count(found, LABELS), found.model_index
    seen: list[bytearray] = []
    count = 0
    for line, row in read(path, LabelRow):
        detector = found.detectors.get(row.detector)
        if detector is None:
            detector = found.detectors[row.detector] = len(found.detectors)
            seen.append(bytearray(found.responses))
        response = _response_of(found, models, LABELS, line, row)
        if seen[detector][response]:
            refuse(LABELS, line, f"{row.detector} labels {row.model}, {row.item}, turn {row.turn} twice")
        seen[detector][response] = 1
        found.label_response.append(response)
        found.label_detector.append(detector)
        found.label_detect.append(row.detect)
        count += 1
        if line % 20_000 == 0:
            progress("Checking labels", line, total)
    _count_fits(found, LABELS, count)


def _human_labels(found: Checked) -> None:
    models, seen = found.model_index, set()
    for line, row in read(found.folder / HUMAN_LABELS, HumanLabelRow):
        response = _response_of(found, models, HUMAN_LABELS, line, row)
        if (row.set, row.annotator, response) in seen:
            refuse(HUMAN_LABELS, line, f"{row.annotator} labels {row.model}, {row.item}, turn {row.turn} twice")
        if not row.annotator:
            refuse(HUMAN_LABELS, line, "a label needs its annotator's pseudonym")
        if not 0 < row.inclusion_probability <= 1:
            refuse(HUMAN_LABELS, line, "an inclusion probability is above 0 and at most 1")
        seen.add((row.set, row.annotator, response))
        found.human.append((response, row))
    _count_fits(found, HUMAN_LABELS, len(found.human))


def _adjudications(found: Checked) -> None:
    """Decisions on answers that differ: each of a set, and of an answer that the set labels in two ways."""
    models, seen = found.model_index, set()
    said: dict[tuple[str, int], set[bool]] = {}
    for response, label in found.human:
        said.setdefault((label.set, response), set()).add(label.detect)
    for line, row in read(found.folder / ADJUDICATIONS, AdjudicationRow):
        response = _response_of(found, models, ADJUDICATIONS, line, row)
        if (row.set, response) in seen:
            refuse(ADJUDICATIONS, line, f"{row.model}, {row.item}, turn {row.turn} is decided twice")
        if len(said.get((row.set, response), ())) < 2:
            refuse(ADJUDICATIONS, line, f"nobody differs on {row.model}, {row.item}, turn {row.turn}")
        if not row.reason.strip():
            refuse(ADJUDICATIONS, line, "a decision needs its reason")
        seen.add((row.set, response))
        found.decided.append((response, row))
    _count_fits(found, ADJUDICATIONS, len(found.decided))


def response_rows(found: Checked) -> Iterator[ResponseRow]:
    """The rows of responses.jsonl once more, in the order in which they were numbered.

    Raises
    ------
    Invalid
        If the file has changed since it was checked.
    """
    if not found.has(RESPONSES):
        return
    path = found.folder / RESPONSES
    if file_sha256(path) != found.hashes[RESPONSES]:
        raise Invalid(f"{RESPONSES} changed while it was imported.")
    for _, row in read(path, ResponseRow):
        yield row


def texts_of(found: Checked, wanted: set[int]) -> dict[int, str]:
    """The texts of some responses, by their numbers."""
    texts: dict[int, str] = {}
    number = 0
    for row in response_rows(found):
        if row.response:
            if number in wanted:
                texts[number] = row.response
            number += 1
    return texts


def raw_dataset_hash(found: Checked) -> str:
    """The dataset hash over the rows of items.jsonl as they stand, fields that we don't know included."""
    with (found.folder / ITEMS).open(encoding="utf-8") as file:
        return records.dataset_hash(json.loads(line) for line in file if line.strip())
