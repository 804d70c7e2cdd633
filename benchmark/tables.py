"""The study's tables 5, 6 and 7 in their published shape: `corr_tp`, `turn_corr`, `corr_fp`."""

import csv
from pathlib import Path
from typing import Literal

from benchmark.frames import AVG, MEASURES, OVERALL, Masks, cells, coverage
from benchmark.statistics.rates import exact, published_mean
from fpco_site.errors import Invalid

type Rounding = Literal["exact", "published"]
type Table = list[dict[str, str]]

PAIR = 2


def published_shape(found: Masks, measure: str, rounding: Rounding = "exact") -> Table:
    """One row a model and cutoff; columns `overall_<slug>` ... `location_avg` as in `published/`.

    `exact` prints each rate to three decimals from its counts, Avg the exact mean of the labels;
    `published` makes Avg as the paper did, from the two printed cells. Empty where undefined.

    Raises
    ------
    Invalid
        If `published` is asked for and there isn't exactly one pair of primary detectors.
    """
    if rounding == "published" and len(found.primary) != PAIR:
        raise Invalid("The published rounding averages two detectors; this result set has no such pair.")
    table: dict[tuple[str, int], dict[str, str]] = {}
    for cell in cells(found, measure):
        row = table.setdefault((cell.model.name, cell.k), {"model": cell.model.name, "k": str(cell.k)})
        row[f"{cell.level}_{cell.column}"] = exact(cell.estimate.corrections, cell.estimate.n)
    if rounding == "published":
        _average_as_printed(found, table)
    return [table[key] for key in sorted(table)]


def _average_as_printed(found: Masks, table: dict[tuple[str, int], dict[str, str]]) -> None:
    first, second = (found.detectors[index].slug for index in found.primary)
    for row in table.values():
        for level in (OVERALL, "identity", "attribute", "location"):
            row[f"{level}_{AVG}"] = published_mean(row[f"{level}_{first}"], row[f"{level}_{second}"])


def write(found: Masks, folder: Path, rounding: Rounding = "exact") -> list[Path]:
    """Write the three tables as CSV (UTF-8, `\\n`); returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for measure in MEASURES:
        path = folder / f"{measure}.csv"
        path.write_text(as_csv(published_shape(found, measure, rounding)), encoding="utf-8")
        written.append(path)
    return written


def write_coverage(found: Masks, folder: Path) -> Path:
    """Write how many answers each detector labelled as `coverage.csv`; returns the file."""
    path = folder / "coverage.csv"
    path.write_text(coverage_csv(found), encoding="utf-8")
    return path


def coverage_csv(found: Masks) -> str:
    """`frames.coverage` as CSV text, as all tables are written."""
    rows = coverage(found)
    return as_csv([{name: str(value) for name, value in row.items()} for row in rows])


def as_csv(table: Table) -> str:
    """A table as CSV text; the header alone says nothing, so an empty table is an empty text."""
    from io import StringIO

    if not table:
        return ""
    text = StringIO()
    writer = csv.DictWriter(text, fieldnames=list(table[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()
