"""The CSV that tells where pictures come from, what their licence is and where they are placed."""

import csv
import io
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from annotate.axes import Category, Cell, Complexity, PremiseClass
from annotate.models.images import Source
from fpco_site.errors import Invalid
from fpco_site.fields import escape

FACTS = ("source", "source_id", "author", "license", "license_url", "landing_url", "source_url", "target")
PLACE = ("complexity", "category", "premise_class")
COLUMNS = ("file", *FACTS[:-1], *PLACE, "target")
ADDRESSES = ("license_url", "landing_url", "source_url")
# Characters at most, as in the forms in which people correct them.
LONGEST = {"target": 200, "source_id": 200, "author": 300, "license": 200, **dict.fromkeys(ADDRESSES, 500)}
_CHOICES = {
    "source": tuple(Source.values),
    "complexity": tuple(Complexity.values),
    "category": tuple(Category.values),
    "premise_class": tuple(PremiseClass.values),
}


@dataclass(frozen=True)
class Row:
    """What a table says of one file: `facts` holds only what is filled in; `cell` may be None.

    `where` is the place in the table as a person finds it ("line 5"), `record` the source's own row, and `rotation`
    the degrees, counter-clockwise, by which the file's pixels must be turned to stand upright.
    """

    where: str
    file: str
    facts: dict[str, str] = field(default_factory=dict)
    cell: Cell | None = None
    record: dict[str, Any] = field(default_factory=dict)
    rotation: int = 0


class Table:
    """Rows by file: the path below the folder where the table says it, else the bare name.

    A `catalogue` names all pictures of a public collection, of which only some are given; in any other table a row
    without its file is a file that is missing.
    """

    def __init__(self, rows: list[Row], *, catalogue: bool = False) -> None:
        self.catalogue = catalogue
        self._rows = {_spelt(row.file): row for row in rows}
        bases = Counter(map(_base, self._rows))
        self._by_base = {_base(file): row for file, row in self._rows.items() if bases[_base(file)] == 1}
        if not catalogue:
            self._by_base.clear()

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows.values())

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, path: str) -> Row | None:
        """The row for a file at `path` (posix, below the folder)."""
        path = _spelt(path)
        return self._rows.get(path) or self._rows.get(_base(path)) or self._by_base.get(_base(path))


def parse(data: bytes, *, name: str) -> Table:
    """Read the whole table; the first bad column or row raises Invalid with its line."""
    text = text_of(data, name)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=_delimiter(text))
    try:
        header = [column.strip().lower() for column in next(reader, [])]
        _check_header(header, name)
        rows = [_row(header, values, name, f"line {reader.line_num}") for values in reader if values]
    except csv.Error as error:
        raise Invalid(f"{name}, line {reader.line_num}: this is not CSV ({error}).") from error
    check_once(rows, name)
    return Table(rows)


def _delimiter(text: str) -> str:
    """What stands between two values: in countries with a decimal comma, spreadsheets write semicolons or tabs."""
    first_line = text.partition("\n")[0]
    return next((mark for mark in ",;\t" if mark in first_line), ",")


def check_once(rows: list[Row], name: str) -> None:
    """Raise Invalid where two rows are of one file."""
    seen: dict[str, str] = {}
    for row in rows:
        file = _spelt(row.file)
        if file in seen:
            raise Invalid(f"{name}, {row.where}: {row.file} is already on {seen[file]}.")
        seen[file] = row.where


def _check_facts(given: dict[str, str], where: str) -> None:
    """Refuse a fact that is longer than a form takes, can't be typed, or is no web address but should be."""
    for column, value in given.items():
        if len(value) > (longest := LONGEST.get(column, len(value))):
            raise Invalid(f"{where}: {column} has {len(value):,} characters; at most {longest} are allowed.")
        if escape(value) != value:
            raise Invalid(f"{where}: {column} holds a control character that can't be typed; remove it.")
    for column in ADDRESSES:
        if column in given and not web_address(given[column]):
            raise Invalid(f"{where}: {column} must be an http or https address, not {given[column]!r}.")


def fitting(facts: dict[str, str]) -> dict[str, str]:
    """The facts of a catalogue that a form would take; a row that is not like that must not stop all others.

    What is left out stays in the source's own row.
    """
    return {
        column: value
        for column, value in facts.items()
        if value
        and len(value) <= LONGEST.get(column, len(value))
        and escape(value) == value
        and (column not in ADDRESSES or web_address(value))
    }


def web_address(text: str) -> bool:
    """Whether `text` may be shown as a link: an http or https address."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc)


def text_of(data: bytes, name: str) -> str:
    """UTF-8 with or without a byte order mark; anything else raises Invalid with its line."""
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


def _spelt(path: str) -> str:
    """One spelling of a path: a Mac writes an é as two characters, a spreadsheet as one."""
    return unicodedata.normalize("NFC", path)


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _row(header: list[str], values: list[str], name: str, line: str) -> Row:
    where = f"{name}, {line}"
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
    _check_facts(given, where)
    facts = {column: given[column] for column in FACTS if column in given}
    record = {column: value for column, value in zip(header, values, strict=True) if value}
    return Row(line, file, facts, _cell(given, where), record)


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
