"""Results: curves by K, bars by class, and the study's tables with the published ones beside."""

from functools import lru_cache
from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString

from annotate.models import Dataset
from annotate.permissions import person_of, reader_required
from benchmark import charts, frames, leaderboard, tables
from benchmark.models import ResultSet
from benchmark.services import blindness, results
from benchmark.views._results import dataset_of, datasets
from benchmark.views.files import as_file

type Rows = tuple[tuple[frames.ModelRow, tuple[leaderboard.CellText, ...]], ...]
AXES = [("premise_class", "Premise class"), ("complexity", "Complexity"), ("category", "Category")]


class Choice(forms.Form):
    """What the page shows; anything unknown in the address falls back to the default."""

    measure = forms.ChoiceField(choices=list(leaderboard.MEASURE_NAMES.items()), required=False)
    axis = forms.ChoiceField(choices=AXES, required=False, label="By")
    k = forms.IntegerField(required=False, label="K", min_value=1, max_value=15)

    def chosen(self, name: str, default: Any) -> Any:
        self.is_valid()
        return self.cleaned_data.get(name) or default


@reader_required
def page(request: HttpRequest) -> HttpResponse:
    choice = Choice(request.GET)
    dataset = dataset_of(request)
    result_set = results.default(dataset) if dataset else None
    if result_set is None:
        measure = choice.chosen("measure", "corr_tp")
        context = {
            "choice": choice,
            "dataset": dataset,
            "measure": measure,
            "published": _published(measure, _last(measure)),
        }
        return render(request, "benchmark/results.html", context)
    person = person_of(request)
    blindness.note_opened(user=person, dataset=result_set.dataset, page="results")
    blind = blindness.withheld_from(person, result_set.dataset)
    return render(request, "benchmark/results.html", _context(choice, result_set, blind=blind))


@reader_required
def numbers_csv(request: HttpRequest, pk: int) -> HttpResponse:
    """Every number of the dataset's results as one tidy CSV, for an analysis of one's own."""
    result_set = results.default(get_object_or_404(Dataset, pk=pk))
    if result_set is None:
        raise Http404
    blindness.note_opened(user=person_of(request), dataset=result_set.dataset, page="results: numbers.csv")
    text = frames.numbers(frames.masks(result_set)).to_csv(index=False, lineterminator="\n")
    return as_file(text, "numbers.csv")


@reader_required
def coverage_csv(request: HttpRequest, pk: int) -> HttpResponse:
    """How many answers each detector labelled, for each model."""
    result_set = results.default(get_object_or_404(Dataset, pk=pk))
    if result_set is None:
        raise Http404
    return as_file(tables.coverage_csv(frames.masks(result_set)), "coverage.csv")


def _context(choice: Choice, result_set: ResultSet, *, blind: bool) -> dict[str, Any]:
    found = frames.masks(result_set)
    measure = choice.chosen("measure", "corr_tp")
    axis = choice.chosen("axis", "premise_class")
    turns = found.measured_turns(measure)
    last = turns[-1] if turns else 0
    k = asked if (asked := choice.chosen("k", last)) in turns else last
    board = leaderboard.board(found, measure, axis, k) if found.columns and turns else None
    behind = f"{reverse('results_cell')}?dataset={result_set.dataset_id}&"
    return {
        "choice": choice,
        "dataset": result_set.dataset,
        "datasets": datasets(),
        "result_set": result_set,
        "found": found,
        "measure": measure,
        "measures": leaderboard.MEASURE_NAMES,
        "axis": axis,
        "axes": AXES,
        "turns": turns,
        "k": k,
        "board": board,
        "table": _table(_rows(board), tuple(board.level_names), tuple(board.columns), behind, blind) if board else "",
        "coverage": _coverage(found),
        "pair": len(found.primary) == tables.PAIR,
        **_charts(found, measure, axis, k),
        "published": _published(measure, k or _last(measure)),
    }


def _rows(board: leaderboard.Board) -> Rows:
    return tuple((row.model, row.texts) for row in board.rows)


@lru_cache(maxsize=64)
def _table(rows: Rows, level_names: tuple[str, ...], columns: tuple[str, ...], behind: str, blind: bool) -> SafeString:
    """The table's HTML, which is made of these values and nothing else: kept, for rendering it takes longest."""
    context = {"rows": rows, "level_names": level_names, "columns": columns, "behind": behind, "blind": blind}
    return render_to_string("benchmark/_results_table.html", context)


def _coverage(found: frames.Masks) -> list[dict[str, Any]]:
    """One row a model, as text: its answers, and how many of them each detector labelled."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in frames.coverage(found):
        grouped.setdefault(row["model"], []).append(row)
    return [
        {
            "model": name,
            "family": rows[0]["family"],
            "simulated": rows[0]["simulated"],
            "planned": f"{rows[0]['planned']:,}",
            "with_text": f"{rows[0]['with_text']:,}",
            "detectors": [
                (f"{row['labelled']:,} of {row['with_text']:,}", f"{row['missing']:,}" if row["missing"] else "")
                for row in rows
            ],
        }
        for name, rows in grouped.items()
    ]


def _charts(found: frames.Masks, measure: str, axis: str, k: int) -> dict[str, Any]:
    if not found.columns or not k:
        return {}
    name = leaderboard.MEASURE_NAMES[measure]
    rows = leaderboard.chart_rows(found, measure, axis)
    return {
        "curves": charts.curves_by_k(rows, metric=f"{name}@K"),
        "bars": charts.bars_by_class([row for row in rows if row["k"] == k], metric=f"{name}@{k}"),
    }


@lru_cache
def _published(measure: str, k: int) -> SafeString:
    """The paper's table at a cutoff; it never changes, so it is made once."""
    context = {
        "title": leaderboard.MEASURE_NAMES[measure],
        "k": k,
        "rows": leaderboard.published_board(measure, k),
        "levels": [leaderboard.LEVEL_NAMES[level] for level in leaderboard.PUBLISHED_LEVELS],
        "columns": leaderboard.PUBLISHED_COLUMNS,
    }
    return render_to_string("benchmark/_published_table.html", context)


def _last(measure: str) -> int:
    return 3 if measure == "corr_fp" else 10
