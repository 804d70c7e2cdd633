"""The study's tables 5, 6 and 7 in their published shape: `corr_tp`, `turn_corr`, `corr_fp`."""

from typing import Literal

import numpy as np

from benchmark.frames import AVG, OVERALL, Masks, cells, coverage, levels
from benchmark.leaderboard import LEVEL_NAMES, MEASURE_NAMES, cell_query, row_query
from benchmark.printed import Printed, Table, as_csv
from benchmark.statistics.patterns import window
from benchmark.statistics.rates import exact, published_mean
from fpco_site.errors import Invalid

__all__ = [
    "PAIR",
    "Rounding",
    "Table",
    "as_csv",
    "coverage_csv",
    "coverage_table",
    "measure_table",
    "published_shape",
    "require_pair",
]

type Rounding = Literal["exact", "published"]

PAIR = 2
LEVELS = (OVERALL, "identity", "attribute", "location")
WORDS = {
    "corr_tp": "Corrections among all answers to false-premise turns up to turn K",
    "turn_corr": "Corrections among the answers at turn K alone, a false-premise turn",
    "corr_fp": "Corrections, all of them needless, among all answers to turns with a correct premise up to turn K",
}


def published_shape(found: Masks, measure: str, rounding: Rounding = "exact") -> Table:
    """One row a model and cutoff; columns `overall_<slug>` ... `location_avg` as in `published/`.

    `exact` prints each rate to three decimals from its counts, Avg the exact mean of the labels;
    `published` makes Avg as the paper did, from the two printed cells. Empty where undefined.

    Raises
    ------
    Invalid
        If `published` is asked for and there isn't exactly one pair of primary detectors.
    """
    require_pair(found, rounding)
    table: dict[tuple[str, int], dict[str, str]] = {}
    for cell in cells(found, measure):
        row = table.setdefault((cell.model.name, cell.k), {"model": cell.model.name, "k": str(cell.k)})
        row[f"{cell.level}_{cell.column}"] = exact(cell.estimate.corrections, cell.estimate.n)
    if rounding == "published":
        _average_as_printed(found, table)
    return [table[key] for key in sorted(table)]


def require_pair(found: Masks, rounding: Rounding) -> None:
    """Refuse the published rounding where there isn't exactly one pair of primary detectors.

    Raises
    ------
    Invalid
        With the reason.
    """
    if rounding == "published" and len(found.primary) != PAIR:
        raise Invalid("The published rounding averages two detectors; this result set has no such pair.")


def _average_as_printed(found: Masks, table: dict[tuple[str, int], dict[str, str]]) -> None:
    first, second = (found.detectors[index].slug for index in found.primary)
    for row in table.values():
        for level in LEVELS:
            row[f"{level}_{AVG}"] = published_mean(row[f"{level}_{first}"], row[f"{level}_{second}"])


def measure_table(found: Masks, measure: str, rounding: Rounding = "exact") -> Printed:
    """One of the three tables as it is printed.

    Raises
    ------
    Invalid
        Where no detector labelled, no turn is measured, or the rounding can't be had.
    """
    if not found.detectors:
        raise Invalid("No detector has been asked over this dataset yet, so no rate is defined.")
    if not found.measured_turns(measure):
        kind = "turns with a correct premise" if measure == "corr_fp" else "false-premise turns"
        raise Invalid(f"This dataset's protocol has no {kind}.")
    rows = published_shape(found, measure, rounding)
    names = {detector.slug: detector.name for detector in found.detectors} | {AVG: "Avg"}
    columns = [f"{level}_{column}" for level in LEVELS for column in found.columns]
    return Printed(
        name=measure,
        caption=f"{MEASURE_NAMES[measure]}@K by model. {WORDS[measure]}, overall and by class of the false premise.",
        rows=rows,
        heads=["Model", "K", *[names[column] for column in found.columns] * len(LEVELS)],
        cells=[[row["model"], row["k"], *(row[column] or "–" for column in columns)] for row in rows],
        groups=[("", 2), *((LEVEL_NAMES[level], len(found.columns)) for level in LEVELS)],
        by_first=True,
        notes=_notes(found, measure, rows, rounding),
        sources=[_sources(found, measure, row) for row in rows],
    )


def _sources(found: Masks, measure: str, row: dict[str, str]) -> list[str]:
    """What asks for the dialogues behind each cell of a row; nothing behind a rate that is undefined."""
    asked = row_query(row["model"], measure, int(row["k"]), "premise_class")
    cells = [(level, column) for level in LEVELS for column in found.columns]
    return ["", "", *(cell_query(asked, *cell) if row["_".join(cell)] else "" for cell in cells)]


def _notes(found: Masks, measure: str, rows: Table, rounding: Rounding) -> list[str]:
    """What a reader must know who sees the table alone."""
    notes = [_basis(found, measure)]
    if len(found.primary) > 1 and rounding == "published":
        notes.append("Avg is the mean of the two printed cells, rounded again, as the paper prints it.")
    elif len(found.primary) > 1:
        notes.append("Avg is the exact mean of the primary detectors' labels, over the answers that both labelled.")
    if any(value == "" for row in rows for value in row.values()):
        notes.append("–: undefined, no labelled answer.")
    made_up = [model.name for model in found.models if model.simulated]
    made_up += [detector.name for detector in found.detectors if detector.simulated]
    if made_up:
        notes.append(f"Simulated, not from a real model or detector: {', '.join(made_up)}.")
    return notes


def _basis(found: Masks, measure: str) -> str:
    """How many answers a cell rests on."""
    turns = window(found.measured_turns(measure))
    sizes = [f"{keep.sum():,} {LEVEL_NAMES[level].lower()}" for level, keep in levels(found, "premise_class").items()]
    planned = "one answer of each at turn K" if measure == "turn_corr" else "one answer of each at every turn counted"
    said = f"n: {planned} of the dialogues ({', '.join(sizes)})"
    missing = len(found.items) * len(found.models) * len(found.detectors) * turns.bit_count()
    missing -= int(np.bitwise_count(found.labelled & turns).sum())
    return f"{said}, less {missing:,} labels that are missing (coverage.csv)." if missing else f"{said}."


def coverage_table(found: Masks) -> Printed:
    """How many answers each detector labelled, a row a model and detector."""
    rows = coverage(found)
    heads = ["Model", "Detector", "Turns planned", "With text", "Labelled", "Missing"]
    keys = ["planned", "with_text", "labelled", "missing"]
    return Printed(
        name="coverage",
        caption="Labelled answers of those with text, over all turns. A missing label is in no rate.",
        rows=[{name: str(value) for name, value in row.items()} for row in rows],
        heads=heads,
        cells=[[row["model"], row["detector"], *(f"{row[key]:,}" for key in keys)] for row in rows],
        words=2,
        by_first=True,
    )


def coverage_csv(found: Masks) -> str:
    """`frames.coverage` as CSV text, as all tables are written."""
    return coverage_table(found).csv
