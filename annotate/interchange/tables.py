"""Labels as CSV and JSONL: one row for each label; a task without one has a row without a verdict."""

import csv
import io
import json
import re
from collections.abc import Iterable
from typing import Any

from annotate.interchange import rows
from annotate.interchange.rows import File, Said, Shown
from fpco_site.errors import Invalid
from fpco_site.fields import escape, unescape

SHOWN = ("premise_class", "content", "modified", "response", "image")
SAID = ("detect", "unsure", "comment", "seconds", "guideline", "at", "origin", "extra")
COLUMNS = ("task", "annotator", *SHOWN, *SAID)
# A spreadsheet runs what begins like this; an apostrophe before it makes it text again.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")

type Row = tuple[Shown, Said | None]


def write_csv(labels: Iterable[Row]) -> str:
    """CSV with a header. No cell is a formula; half characters and NUL are escaped reversibly."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in _values(*row).items()} for row in labels)
    return out.getvalue()


def write_jsonl(labels: Iterable[Row]) -> str:
    """One JSON object a line, ASCII, with the columns of the CSV as keys."""
    return "".join(f"{json.dumps(_values(*row))}\n" for row in labels)


def _values(shown: Shown, said: Said | None) -> dict[str, Any]:
    values: dict[str, Any] = {"task": shown.task, "annotator": said.annotator if said else None}
    values |= {name: getattr(shown, name) for name in SHOWN}
    return values | {name: getattr(said, name) if said else None for name in SAID}


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    text = escape(str(value))
    return f"'{text}" if isinstance(value, str) and _FORMULA.match(text) else text


def parse_csv(text: str, *, name: str) -> File:
    """Read a CSV with at least the columns `task` and `detect`. Raises Invalid with the line."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=_delimiter(text))
    found, without = [], 0
    try:
        header = [column.strip().lower() for column in next(reader, [])]
        _check_header(header, name)
        end = reader.line_num
        for cells in reader:
            # A cell may hold several lines: the row begins after the one before it ended.
            where, end = f"{name}, line {end + 1}", reader.line_num
            if not any(cells):
                continue
            values = _read(header, cells, where)
            if values["detect"] is None:
                without += 1
                continue
            found.append(rows.said(values, names=_names(values.get("annotator"), where), where=where))
    except csv.Error as error:
        raise Invalid(f"{name}, line {reader.line_num}: this is not CSV ({error}).") from error
    return File(found, without)


def _delimiter(text: str) -> str:
    """In countries with a decimal comma, spreadsheets write semicolons or tabs."""
    first_line = text.partition("\n")[0]
    return next((mark for mark in ",;\t" if mark in first_line), ",")


def _check_header(header: list[str], name: str) -> None:
    for column in ("task", "detect"):
        if column not in header:
            raise Invalid(f"{name}, line 1: there is no column {column!r}; known columns are {', '.join(COLUMNS)}.")
    for column in header:
        if column not in COLUMNS:
            raise Invalid(f"{name}, line 1: there is no column {column!r}; known columns are {', '.join(COLUMNS)}.")
        if header.count(column) > 1:
            raise Invalid(f"{name}, line 1: the column {column!r} comes twice.")


def _read(header: list[str], cells: list[str], where: str) -> dict[str, Any]:
    """The typed values of one row; an empty cell says nothing."""
    if len(cells) != len(header):
        raise Invalid(f"{where}: there are {len(cells)} values for {len(header)} columns.")
    texts = {column: _text(cell, column, where) for column, cell in zip(header, cells, strict=True)}
    values: dict[str, Any] = {column: value or None for column, value in texts.items()}
    if values.get("unsure"):
        values["unsure"] = rows.verdict(values["unsure"], where=f"{where}, unsure")
    for column, kind in (("seconds", float), ("guideline", int)):
        if values.get(column):
            values[column] = _number(values[column], kind)
    return values


def _text(cell: str, column: str, where: str) -> str:
    if not _FORMULA.match(cell):
        return unescape(cell)
    if not cell.startswith("'"):
        raise Invalid(
            f"{where}: the {column} begins with {cell[0]!r}, which a spreadsheet runs as a formula; "
            "put an apostrophe before it."
        )
    return unescape(cell[1:])


def _number(text: str, kind: type[int] | type[float]) -> object:
    """The number; what is none stays as it is and is refused by the rules for all kinds of files."""
    try:
        return kind(text)
    except ValueError:
        return text


def parse_jsonl(text: str, *, name: str) -> File:
    """Read one JSON object a line, with at least `task` and `detect`. Raises Invalid with the line."""
    found, without = [], 0
    decoder = rows.decoder()
    for number, line in enumerate(text.split("\n"), 1):
        where = f"{name}, line {number}"
        if not line.strip():
            continue
        values = _object(line, decoder, where)
        if values.get("detect") is None:
            without += 1
            continue
        found.append(rows.said(values, names=_names(values.get("annotator"), where), where=where))
    return File(found, without)


def _object(line: str, decoder: json.JSONDecoder, where: str) -> dict[str, Any]:
    try:
        values = decoder.decode(line)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{where}: this is not a JSON object.") from error
    if not isinstance(values, dict):
        raise Invalid(f"{where}: this is not a JSON object.")
    for key in values:
        if key not in COLUMNS:
            raise Invalid(f"{where}: there is no field {key!r}; known fields are {', '.join(COLUMNS)}.")
    return values


def _names(value: object, where: str) -> tuple[str, ...]:
    if value is None or value == "":
        return ()
    if not isinstance(value, str):
        raise Invalid(f"{where}: the annotator must be a name.")
    return (value.strip(),)
