"""The CSV that tells where pictures come from, what their licence is and where they are placed."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from annotate.axes import Category, Cell, Complexity, PremiseClass
from annotate.models.images import Source
from fpco_site.errors import Invalid
from fpco_site.fields import escape

FACTS = ("source", "source_id", "author", "license", "license_url", "landing_url", "target")
PLACE = ("complexity", "category", "premise_class")
COLUMNS = ("file", "source", "source_id", "author", "license", "license_url", "landing_url", *PLACE, "target")
# Characters at most, as in the forms in which people correct them.
LONGEST = {"target": 200, "source_id": 200, "author": 300, "license": 200, "license_url": 500, "landing_url": 500}
_CHOICES = {
    "source": tuple(Source.values),
    "complexity": tuple(Complexity.values),
    "category": tuple(Category.values),
    "premise_class": tuple(PremiseClass.values),
}


@dataclass(frozen=True)
class Row:
    """What one line says of one file: `facts` holds only what is filled in; `cell` may be None."""

    line: int
    file: str
    facts: dict[str, str] = field(default_factory=dict)
    cell: Cell | None = None


class Table:
    """Rows by file: the path below the folder where the CSV says it, else the bare name."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = {row.file: row for row in rows}

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows.values())

    def find(self, path: str) -> Row | None:
        """The row for a file at `path` (posix, below the folder)."""
        return self._rows.get(path) or self._rows.get(path.rpartition("/")[2])


def parse(data: bytes, *, name: str) -> Table:
    """Read the whole table; the first bad column or row raises Invalid with its line."""
    reader = csv.reader(io.StringIO(_text(data, name), newline=""), strict=True)
    try:
        header = [column.strip().lower() for column in next(reader, [])]
        _check_header(header, name)
        rows = [_row(header, values, f"{name}, line {reader.line_num}", reader.line_num) for values in reader if values]
    except csv.Error as error:
        raise Invalid(f"{name}, line {reader.line_num}: this is not CSV ({error}).") from error
    seen: dict[str, int] = {}
    for row in rows:
        if row.file in seen:
            raise Invalid(f"{name}, line {row.line}: {row.file} is already on line {seen[row.file]}.")
        seen[row.file] = row.line
    return Table(rows)


def web_address(text: str) -> bool:
    """Whether `text` may be shown as a link: an http or https address."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc)


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise Invalid(f"{name}, line {line}: this is not UTF-8 text.") from error


def _check_header(header: list[str], name: str) -> None:
    if "file" not in header:
        raise Invalid(f"{name}, line 1: there is no column 'file'; known columns are {', '.join(COLUMNS)}.")
    for column in header:
        if column not in COLUMNS:
            raise Invalid(f"{name}, line 1: there is no column {column!r}; known columns are {', '.join(COLUMNS)}.")
        if header.count(column) > 1:
            raise Invalid(f"{name}, line 1: the column {column!r} comes twice.")


def _row(header: list[str], values: list[str], where: str, line: int) -> Row:
    if len(values) != len(header):
        raise Invalid(f"{where}: there are {len(values)} values for {len(header)} columns.")
    given = {column: value.strip() for column, value in zip(header, values, strict=True) if value.strip()}
    file = given.get("file", "").replace("\\", "/").removeprefix("./")
    if not file:
        raise Invalid(f"{where}: the column 'file' is empty.")
    if given.get("category", "").isdigit():
        given["category"] = _numbered_category(given["category"])
    for column, choices in _CHOICES.items():
        if column in given and given[column] not in choices:
            raise Invalid(f"{where}: {column} must be one of {', '.join(choices)}, not {given[column]!r}.")
    for column, value in given.items():
        if len(value) > (longest := LONGEST.get(column, len(value))):
            raise Invalid(f"{where}: {column} has {len(value):,} characters; at most {longest} are allowed.")
        if escape(value) != value:
            raise Invalid(f"{where}: {column} holds a control character that can't be typed; remove it.")
    for column in ("license_url", "landing_url"):
        if column in given and not web_address(given[column]):
            raise Invalid(f"{where}: {column} must be an http or https address, not {given[column]!r}.")
    return Row(line, file, {column: given[column] for column in FACTS if column in given}, _cell(given, where))


def _numbered_category(number: str) -> str:
    """The study's metadata writes categories as numbers, 1 to 4."""
    return {str(category.number): category.value for category in Category}.get(number, number)


def _cell(given: dict[str, str], where: str) -> Cell | None:
    place = [given.get(column, "") for column in PLACE]
    if not any(place):
        return None
    if not all(place):
        missing = ", ".join(column for column in PLACE if column not in given)
        raise Invalid(f"{where}: a place needs complexity, category and premise_class; {missing} is empty.")
    return (place[0], place[1], place[2])
