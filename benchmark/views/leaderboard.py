"""The leaderboard: models by one number, own ones beside the paper's, and the dialogues behind each number."""

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotate.axes import Category, Complexity, PremiseClass
from annotate.models import Dataset
from annotate.permissions import person_of, reader_required
from benchmark import (
    behind,
    families,
    frames,
    leaderboard_choice,
    leaderboard_page,
    leaderboard_shown,
    published,
    tables,
)
from benchmark.leaderboard import LEVEL_NAMES, MEASURE_NAMES
from benchmark.leaderboard_choice import Choice
from benchmark.leaderboard_page import Board
from benchmark.models import ResultSet
from benchmark.services import blindness
from benchmark.views._results import datasets, result_set_of
from benchmark.views.files import as_file

PER_PAGE = 25
_AXES = {
    "premise_class": ("Class", PremiseClass),
    "complexity": ("Complexity", Complexity),
    "category": ("Category", Category),
}


@require_safe
@reader_required
def page(request: HttpRequest) -> HttpResponse:
    """Models ranked by one number; a request by htmx brings the tidy address along."""
    made, result_set, found = board_of(request, page="leaderboard")
    context = _context(request, made, result_set, found)
    response = render(request, "benchmark/leaderboard.html", context)
    if request.headers.get("HX-Request"):
        response["HX-Push-Url"] = f"{request.path}?{made.choice.query()}"
    return response


@require_safe
@reader_required
def table_csv(request: HttpRequest) -> HttpResponse:
    """The rows of the page as CSV, with every digit."""
    made, _, _ = board_of(request, page="leaderboard.csv")
    rows = [
        {name: "" if value is None else str(value) for name, value in row.items()}
        for row in leaderboard_page.records(made)
    ]
    return as_file(tables.as_csv(rows), "leaderboard.csv")


@never_cache
@require_safe
@reader_required
def cell(request: HttpRequest) -> HttpResponse:
    """The dialogues behind one number.

    Query
    -----
    dataset : int, default the newest with results
    model : str
        The name of an evaluated model of the dataset's result set.
    measure : str, default `corr_tp`
        `corr_tp`, `turn_corr` or `corr_fp`.
    k : int, default the last measured turn
    column : str, default `avg` where there is a pair
        A detector's slug, or `avg`.
    axis, level : str
        One axis (`premise_class`, `complexity`, `category`) and its level, as cells of tables name them; `overall` is
        all. Or each axis by its own name, to combine them: `premise_class=identity&category=food`.
    show : str
        `corrected`, `split`, `not` or `missing`: dialogues with such an answer alone.
    page : int
    """
    result_set = result_set_of(request)
    if result_set is None:
        raise Http404
    blindness.require_open_eyes(user=person_of(request), dataset=result_set.dataset, page="dialogues behind a number")
    found = frames.masks(result_set)
    asked = behind.read(request.GET, found, result_set.dataset_id)
    if asked is None:
        raise Http404
    number = behind.number(found, asked)
    page_obj = Paginator(number.matching, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "section": "results",
        "dataset": result_set.dataset,
        "asked": asked,
        "number": number,
        "detectors": [found.detectors[index].name for index in number.detectors],
        "page_obj": page_obj,
        "rows": behind.rows(found, number, list(page_obj.object_list)),
    }
    return render(request, "benchmark/results_cell.html", context)


def board_of(request: HttpRequest, *, page: str) -> tuple[Board, ResultSet | None, frames.Masks | None]:
    """The board that an address asks for; that this person looked at aggregates of the dataset is noted."""
    result_set = result_set_of(request)
    found = frames.masks(result_set) if result_set else None
    if result_set is not None:
        blindness.note_opened(user=person_of(request), dataset=result_set.dataset, page=page)
    choice = Choice.read(request.GET, found, result_set.dataset_id if result_set else None)
    return leaderboard_page.board(result_set, found, choice), result_set, found


def _context(
    request: HttpRequest, made: Board, result_set: ResultSet | None, found: frames.Masks | None
) -> dict[str, Any]:
    choice = made.choice
    turns = found.measured_turns(choice.measure) if found else leaderboard_choice.published_turns(choice.measure)
    dataset: Dataset | None = result_set.dataset if result_set else None
    shown = leaderboard_shown.shown(made)
    blind = dataset is not None and blindness.withheld_from(person_of(request), dataset)
    return {
        "section": "results",
        "dataset": dataset,
        "datasets": datasets(),
        "result_set": result_set,
        "found": found,
        "board": shown,
        "table": leaderboard_shown.table(shown, blind=blind),
        "choice": choice,
        "blind": blind,
        "measures": MEASURE_NAMES,
        "cutoffs": range(turns[0], turns[-1] + 1) if turns else range(0),
        "columns": found.columns if found else [frames.AVG, *published.DETECTORS],
        "axes": [(name, title, getattr(choice, name), kind.choices) for name, (title, kind) in _AXES.items()],
        "gaps": leaderboard_choice.GAPS,
        "who": leaderboard_choice.WHO,
        "shown_columns": leaderboard_choice.COLUMNS,
        "marks": families.marks(made.families),
        "level_names": LEVEL_NAMES,
    }
