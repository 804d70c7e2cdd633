"""A stored analysis as pages and files show it: cells as words, tables as CSV, all of it as JSON."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from benchmark.analyses import KINDS
from benchmark.analyses.kinds import Column, Kind, Section
from benchmark.models import Analysis
from benchmark.services.analyses import SEED

DIGITS = {"rate": 3, "interval": 3, "points": 2, "number": 3, "p": 3}
SMALLEST_P = 0.001


@dataclass(frozen=True)
class Cell:
    """One cell of a table: its words, or why there is no value."""

    text: str
    reason: str = ""
    numeric: bool = True


@dataclass(frozen=True)
class Part:
    """A section as the page shows it; `number` counts sections from 1 in addresses of files."""

    number: int
    section: Section
    rows: list[list[Cell]]

    @property
    def columns(self) -> Sequence[Column]:
        return self.section.columns

    @property
    def has_table(self) -> bool:
        return bool(self.section.columns)


def kind_of(analysis: Analysis) -> Kind:
    return KINDS[analysis.kind]


def is_older(analysis: Analysis) -> bool:
    """Whether an earlier version of its kind made the result, which this one can't word."""
    made_by = analysis.software.get(f"analysis {analysis.kind}")
    return analysis.result is not None and made_by != str(kind_of(analysis).version)


def told_apart(analysis: Analysis) -> str:
    """What of its question is not as by default, so that a list tells it from others of its kind."""
    kind = kind_of(analysis)
    said = [
        f"{kind.names.get(name, name.replace('_', ' '))} {value}"
        for name, value in analysis.parameters.items()
        if value != kind.defaults.get(name)
    ]
    return "; ".join([*said, *([f"seed {analysis.seed}"] if analysis.seed not in (None, SEED) else [])])


def parts(analysis: Analysis) -> list[Part]:
    """The sections of a stored analysis; none before it is done, or where an earlier version made it."""
    if analysis.result is None or is_older(analysis):
        return []
    return [
        Part(number, section, [[_cell(column, row) for column in section.columns] for row in section.rows])
        for number, section in enumerate(kind_of(analysis).sections(analysis.result), 1)
    ]


def _cell(column: Column, row: dict[str, Any]) -> Cell:
    value = row.get(column.key)
    numeric = column.kind != "text"
    if value is None:
        return Cell("", str(row.get("reason") or "undefined"), numeric)
    return Cell(words(column, value), "", numeric)


def words(column: Column, value: Any) -> str:
    """A value as its column shows it; files hold every digit.

    Examples
    --------
    >>> words(Column("a", "A", "points"), -5.125), words(Column("a", "A", "interval"), [0.1, 0.25])
    ('−5.12', '[0.100, 0.250]')
    >>> words(Column("a", "A", "p"), 0.0001), words(Column("a", "A", "count"), 1080)
    ('< 0.001', '1,080')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if column.kind == "text":
        return str(value)
    if column.kind == "count":
        return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
    digits = DIGITS[column.kind] if column.digits is None else column.digits
    if column.kind == "interval":
        return f"[{', '.join(_fixed(one, digits) for one in value)}]"
    if column.kind == "p" and value < SMALLEST_P:
        return f"< {SMALLEST_P}"
    return _fixed(value, digits)


def _fixed(value: float, digits: int) -> str:
    text = f"{abs(value):.{digits}f}"
    return f"−{text}" if value < 0 and float(text) else text


def as_csv(section: Section) -> str:
    """A section's table with every digit: an interval as two columns, undefined empty with its reason beside it."""
    heads = [head for column in section.columns for head in _heads(column)]
    reasons = any(row.get("reason") for row in section.rows)
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*heads, "reason"] if reasons else heads)
    for row in section.rows:
        values = [value for column in section.columns for value in _values(column, row.get(column.key))]
        writer.writerow([*values, row.get("reason") or ""] if reasons else values)
    return text.getvalue()


def _heads(column: Column) -> list[str]:
    return [f"{column.key}_low", f"{column.key}_high"] if column.kind == "interval" else [column.key]


def _values(column: Column, value: Any) -> list[Any]:
    if column.kind == "interval":
        return ["", ""] if value is None else list(value)
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    return ["" if value is None else value]


def record(analysis: Analysis) -> dict[str, Any]:
    """All that is stored of an analysis, as its JSON file and the API give it."""
    return {
        "kind": analysis.kind,
        "title": kind_of(analysis).title,
        "dataset": analysis.dataset.name,
        "result_set": analysis.result_set.name,
        "state": analysis.state,
        "inputs_sha256": analysis.inputs_sha256,
        "request_sha256": analysis.request_sha256,
        "parameters": analysis.parameters,
        "seed": analysis.seed,
        "software": analysis.software,
        "result": analysis.result,
    }


def as_json(analysis: Analysis) -> str:
    return json.dumps(record(analysis), sort_keys=True, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
