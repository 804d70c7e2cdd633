"""The published tables of the study, as reference data, and the counts behind them.

Source: "FPCO-Dialog: A Multi-Turn False-Premise Benchmark for Correction and Cooperation in
Vision-Language Models", arXiv 2609.03331v1, tables 5 (`corr_tp`), 6 (`turn_corr`) and 7 (`corr_fp`).

Every detector cell is a rate over a full denominator, printed with three decimals: 360 responses a
class and turn, 1,080 a turn. So a TurnCorr cell of a class has one possible count. A CorrFP cell is
over 360 K responses, and at K = 2 and 3 the step is below 0.001; there the classes are solved
together with the overall cell.
"""

import csv
from collections.abc import Iterator
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import NamedTuple

CITATION = (
    "FPCO-Dialog: A Multi-Turn False-Premise Benchmark for Correction and Cooperation in "
    "Vision-Language Models, arXiv 2609.03331v1, tables 5-7"
)
TABLES = ("corr_tp", "turn_corr", "corr_fp")
DETECTORS = ("gpt", "gemini")
PREMISE_CLASSES = ("identity", "attribute", "location")
ITEMS_PER_CLASS = 360
PREFIX_TURNS = (1, 2, 3)
FALSE_PREMISE_TURNS = (4, 5, 6, 7, 8, 9, 10)
FAMILIES = ("Gemini", "GPT", "InternVL", "LLaVA", "Qwen")

_FOLDER = Path(__file__).parent


class PublishedModel(NamedTuple):
    """A model of the study by the name the tables print, and its family."""

    name: str
    family: str


@cache
def table(name: str) -> tuple[dict[str, str], ...]:
    """Rows of one published table, in published order, each cell as the text that was printed.

    Parameters
    ----------
    name : str
        `corr_tp`, `turn_corr` or `corr_fp`.

    Raises
    ------
    ValueError
        If there is no such table.
    """
    if name not in TABLES:
        raise ValueError(f"There is no published table {name!r}; there are {', '.join(TABLES)}.")
    with (_FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


@cache
def models() -> tuple[PublishedModel, ...]:
    """The 20 models with their families, in published order."""
    names = dict.fromkeys(row["model"] for row in table("corr_tp"))
    return tuple(PublishedModel(name, _family(name)) for name in names)


def cell(name: str, model: str, k: int, column: str) -> str:
    """One printed cell, such as `cell("corr_tp", "GPT-5.4", 10, "overall_avg")`.

    Raises
    ------
    KeyError
        If the table has no such model, cutoff or column.
    """
    return _by_model_and_k(name)[model, k][column]


def turn_counts(model: str, detector: str, premise_class: str) -> list[int]:
    """Corrections at each of the turns 4 to 10, of 360 responses a turn.

    Parameters
    ----------
    model : str
        A model as the tables name it.
    detector : str
        `gpt` or `gemini`.
    premise_class : str
        `identity`, `attribute`, `location`, or `overall` for their sum (of 1,080).

    Returns
    -------
    list of int
        Seven counts; TurnCorr@K is one of them over its denominator.

    Examples
    --------
    >>> turn_counts("Gemini 2.5 Flash", "gpt", "identity")
    [334, 347, 347, 344, 350, 345, 346]
    """
    if premise_class == "overall":
        return [sum(counts) for counts in zip(*_all_turn_counts(model, detector), strict=True)]
    column = f"{premise_class}_{detector}"
    return [_only_count(cell("turn_corr", model, k, column)) for k in FALSE_PREMISE_TURNS]


def prefix_counts(model: str, detector: str, premise_class: str) -> list[int]:
    """Cumulative corrections over turns 1..K for K = 1, 2, 3, of 360 K responses.

    Four of the 40 model-detector pairs leave a count at K = 3 open by one (`gemini` for Gemini 2.5
    Flash and InternVL2.5-8B, both detectors for Qwen-VL-Max); there the smallest counts that
    reproduce every printed cell are returned.

    Parameters
    ----------
    model, detector, premise_class : str
        As in `turn_counts`.

    Returns
    -------
    list of int
        Three counts that never fall.
    """
    solution = _prefix_solutions(model, detector)[0]
    if premise_class == "overall":
        return [sum(counts) for counts in zip(*solution, strict=True)]
    return list(solution[PREMISE_CLASSES.index(premise_class)])


def _family(name: str) -> str:
    return next(family for family in FAMILIES if name.startswith(family))


@cache
def _by_model_and_k(name: str) -> dict[tuple[str, int], dict[str, str]]:
    return {(row["model"], int(row["k"])): row for row in table(name)}


def _all_turn_counts(model: str, detector: str) -> list[list[int]]:
    return [turn_counts(model, detector, premise_class) for premise_class in PREMISE_CLASSES]


def _counts_for(printed: str, n: int) -> list[int]:
    """Counts out of n that print as this cell."""
    near = round(float(printed) * n)
    reach = n // 1000 + 1
    candidates = range(max(0, near - reach), min(n, near + reach) + 1)
    return [count for count in candidates if f"{count / n:.3f}" == printed]


def _only_count(printed: str) -> int:
    (count,) = _counts_for(printed, ITEMS_PER_CLASS)
    return count


@cache
def _prefix_solutions(model: str, detector: str) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """All ways to fill the three classes so that class and overall cells print as published."""
    per_class = [list(_prefix_candidates(model, detector, name)) for name in PREMISE_CLASSES]
    overall = [cell("corr_fp", model, k, f"overall_{detector}") for k in PREFIX_TURNS]
    return tuple(way for way in product(*per_class) if _prints_as(way, overall))


def _prefix_candidates(model: str, detector: str, premise_class: str) -> Iterator[tuple[int, ...]]:
    cells = [cell("corr_fp", model, k, f"{premise_class}_{detector}") for k in PREFIX_TURNS]
    options = [_counts_for(printed, ITEMS_PER_CLASS * k) for k, printed in zip(PREFIX_TURNS, cells, strict=True)]
    for way in product(*options):
        if all(0 <= later - earlier <= ITEMS_PER_CLASS for earlier, later in pairwise(way)):
            yield way


def _prints_as(way: tuple[tuple[int, ...], ...], overall: list[str]) -> bool:
    totals = [sum(counts) for counts in zip(*way, strict=True)]
    n = ITEMS_PER_CLASS * len(PREMISE_CLASSES)
    return [f"{total / (n * k):.3f}" for k, total in zip(PREFIX_TURNS, totals, strict=True)] == overall
