"""The results page's tables: models as rows, levels and detectors as columns, one cutoff at a time."""

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from benchmark import published
from benchmark.charts import Row as ChartRow
from benchmark.frames import AVG, OVERALL, Cell, Masks, ModelRow, cells
from benchmark.statistics.rates import Estimate

MEASURE_NAMES = {"corr_tp": "CorrTP", "turn_corr": "TurnCorr", "corr_fp": "CorrFP"}
LEVEL_NAMES = {
    OVERALL: "Overall",
    "identity": "Identity",
    "attribute": "Attribute",
    "location": "Location",
    "single_clean": "Single, clean",
    "multi_separated": "Multiple, separated",
    "multi_overlapping": "Multiple, overlapping",
    "person": "Person",
    "vehicle": "Vehicle",
    "animal": "Animal",
    "food": "Food",
}


@dataclass(frozen=True)
class CellText:
    """A cell as the page prints it; `query` names it to the page of the dialogues behind it."""

    value: str
    interval: str
    of: str
    gaps: str
    reason: str
    query: str
    first: bool


@dataclass(frozen=True)
class Row:
    """One model at one cutoff, its cells in the order of the table's columns."""

    model: ModelRow
    k: int
    axis: str
    cells: list[Cell]

    @property
    def texts(self) -> tuple[CellText, ...]:
        """The cells as text, made here because a page of many cells spends its time on them."""
        which = row_query(self.model.name, self.cells[0].measure, self.k, self.axis)
        return tuple(_text(cell, which, first=cell.column == self.cells[0].column) for cell in self.cells)

    @property
    def lead(self) -> Cell:
        """The overall cell that ranks the row: the mean where there is a pair, else the first detector's."""
        overall = [cell for cell in self.cells if cell.level == OVERALL]
        return next((cell for cell in overall if cell.column == AVG), overall[0])


def _text(cell: Cell, which: str, *, first: bool) -> CellText:
    found = cell.estimate
    defined = found.value is not None
    return CellText(
        value=f"{found.value:.3f}" if defined else "",
        interval=interval_text(found),
        of=f"{found.n:,} of {cell.planned:,}",
        gaps=f"gaps as no: {cell.filled:.3f}" if defined and not cell.complete and cell.filled is not None else "",
        reason=found.reason,
        query=cell_query(which, cell.level, cell.column),
        first=first,
    )


def row_query(model: str, measure: str, k: int, axis: str) -> str:
    """What a table's row asks the page of dialogues behind a number for; `cell_query` adds its cell."""
    return urlencode({"model": model, "measure": measure, "k": k, "axis": axis})


def cell_query(row: str, level: str, column: str) -> str:
    """The query of a cell. Put together by hand: a page has hundreds of them."""
    return f"{row}&level={level}&column={quote(column)}"


def interval_text(found: Estimate) -> str:
    """An interval as pages print it, marked where it may cover less than it says; blank where there is none."""
    if found.low is None or found.high is None:
        return ""
    return f"[{found.low:.3f}, {found.high:.3f}]{' †' if found.caution else ''}"


@dataclass(frozen=True)
class Board:
    """A table ready to be shown: `levels` head groups of `columns`."""

    measure: str
    levels: list[str]
    columns: list[str]
    rows: list[Row]

    @property
    def title(self) -> str:
        return MEASURE_NAMES[self.measure]

    @property
    def level_names(self) -> list[str]:
        return [LEVEL_NAMES[level] for level in self.levels]

    @property
    def gaps(self) -> bool:
        """Whether any rate rests on fewer labels than were planned."""
        return any(not cell.complete for row in self.rows for cell in row.cells)


def board(found: Masks, measure: str, axis: str, k: int | None = None) -> Board:
    """All models at cutoff `k` (every cutoff where None), the highest overall rate first at each cutoff."""
    grouped: dict[tuple[int, str], list[Cell]] = {}
    for cell in cells(found, measure, axis, only_k=k):
        grouped.setdefault((cell.k, cell.model.name), []).append(cell)
    rows = [Row(group[0].model, key[0], axis, group) for key, group in grouped.items()]
    rows.sort(key=lambda row: (row.k, *best_first(row.lead.estimate.value), row.model.name))
    levels = list(dict.fromkeys(cell.level for row in rows[:1] for cell in row.cells))
    return Board(measure, levels, found.columns, rows)


@dataclass(frozen=True)
class PublishedRow:
    """A model of the paper at one cutoff, as printed."""

    name: str
    family: str
    k: int
    cells: list[str]


PUBLISHED_COLUMNS = ("gpt", "gemini", "avg")
PUBLISHED_LEVELS = (OVERALL, *published.PREMISE_CLASSES)


def published_board(measure: str, k: int | None = None) -> list[PublishedRow]:
    """The paper's table at cutoff `k` (every cutoff where None), the highest overall mean first."""
    families = {model.name: model.family for model in published.models()}
    rows = [
        PublishedRow(
            row["model"],
            families[row["model"]],
            int(row["k"]),
            [row[f"{level}_{column}"] for level in PUBLISHED_LEVELS for column in PUBLISHED_COLUMNS],
        )
        for row in published.table(measure)
        if k is None or row["k"] == str(k)
    ]
    return sorted(rows, key=lambda row: (row.k, -float(row.cells[2]), row.name))


def chart_rows(found: Masks, measure: str, axis: str, k: int | None = None) -> list[ChartRow]:
    """Plain rows for the charts: the lead column's estimates, the models in the order of the board."""
    lead = AVG if AVG in found.columns else found.columns[0]
    order = board_order(found, measure, axis, lead, k)
    return [
        {
            # A figure travels without its page, so it says itself what is simulated.
            "model": f"{cell.model.name} (simulated)" if cell.model.simulated else cell.model.name,
            "family": cell.model.family,
            "premise_class": LEVEL_NAMES[cell.level],
            "k": cell.k,
            "value": cell.estimate.value,
            "low": cell.estimate.low,
            "high": cell.estimate.high,
            "n": cell.estimate.n,
        }
        for cell in order
    ]


def board_order(found: Masks, measure: str, axis: str, column: str, k: int | None) -> list[Cell]:
    """The cells of one column by cutoff, then by model as the board ranks them, then by level."""
    made = cells(found, measure, axis, only_k=k, columns=[column])
    overall = {(cell.k, cell.model.name): cell.estimate.value for cell in made if cell.level == OVERALL}

    def place(cell: Cell) -> tuple[int, bool, float, str]:
        return cell.k, *best_first(overall[cell.k, cell.model.name]), cell.model.name

    return sorted(made, key=place)


def best_first(value: float | None) -> tuple[bool, float]:
    """What rates are sorted by: the highest first, what is undefined last."""
    return value is None, -(value or 0.0)
