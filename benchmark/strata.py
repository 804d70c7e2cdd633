"""The strata of a draw as a table: a row for each model or group, a column for each class. Pure functions."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from annotate.axes import PremiseClass
from benchmark.designs import CORRECT_TURNS, Survey

FALSE_TURNS = "false-premise turns"


@dataclass(frozen=True)
class StratumCell:
    """What a stratum holds, how many answers of it name a model, and how many are wanted and drawn."""

    stratum: list[str]
    size: int
    named: int
    wanted: int
    drawn: int
    probability: float

    @property
    def short(self) -> int:
        """How many answers are missing from what was wanted."""
        return self.wanted - self.drawn


@dataclass(frozen=True)
class StrataTable:
    """Rows with a cell for each column, None where the design has no such stratum."""

    columns: list[str]
    rows: list[tuple[str, list[StratumCell | None]]]


def of_survey(found: Survey) -> list[StratumCell]:
    """The strata of a draw that has not been made."""
    return [
        StratumCell(
            list(cell.stratum),
            cell.size,
            found.named.get(cell.stratum, 0),
            cell.wanted,
            cell.given,
            cell.probability,
        )
        for cell in found.cells
    ]


def of_design(design: dict[str, Any]) -> list[StratumCell]:
    """The strata of a draw that was made; none where a release doesn't tell of them."""
    return [StratumCell(**cell) for cell in design.get("cells") or []]


def table(cells: Iterable[StratumCell]) -> StrataTable:
    """Strata by their first level and their last: classes in the order of the benchmark, correct turns last."""
    at = {(cell.stratum[0], _column(cell)): cell for cell in cells}
    columns = sorted({column for _, column in at}, key=_place)
    rows = sorted(dict.fromkeys(row for row, _ in at), key=lambda row: (row, FALSE_TURNS) not in at)
    return StrataTable(columns, [(row, [at.get((row, column)) for column in columns]) for row in rows])


def _column(cell: StratumCell) -> str:
    return cell.stratum[1] if len(cell.stratum) > 1 else FALSE_TURNS


def _place(column: str) -> int:
    return [FALSE_TURNS, *PremiseClass.values, CORRECT_TURNS].index(column)
