"""The study's figures: all of them, one with its data, and each as a file."""

import json
from collections.abc import Callable
from functools import lru_cache
from hashlib import sha256
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.views.decorators.http import require_safe

from annotate.models import Dataset
from annotate.permissions import person_of, reader_required
from benchmark import figure_choice, figures, frames
from benchmark.charts import paper
from benchmark.figures import Figure
from benchmark.models import ResultSet
from benchmark.services import blindness, results
from benchmark.views._results import datasets, result_set_of
from fpco_site.errors import FpcoError

DRAWN = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json", **DRAWN}
KEPT = 64  # drawings that a process keeps, some 50 KB to 1 MB each
WIDTHS = {"double": "both columns (174 mm)", "single": "one column (84 mm)"}


@require_safe
@reader_required
def figure_list(request: HttpRequest) -> HttpResponse:
    """Every figure, drawn small where there is something to draw."""
    result_set = result_set_of(request)
    if result_set is not None:
        blindness.note_opened(user=person_of(request), dataset=result_set.dataset, page="figures")
    context = {
        "section": "results",
        "dataset": result_set.dataset if result_set else None,
        "datasets": datasets(),
        "figures": figures.FIGURES,
        "labelled": result_set is not None and bool(result_set.held_detectors),
    }
    return render(request, "benchmark/figures.html", context)


@require_safe
@reader_required
def figure(request: HttpRequest, slug: str) -> HttpResponseBase:
    """One figure of the chosen models, with its data and in words."""
    shown, result_set = figures.REGISTER[slug], result_set_of(request)
    clean = figure_choice.clean(request.GET)
    if clean != request.GET:
        return redirect(f"{request.path}?{clean.urlencode()}")
    if result_set is None:
        return redirect("figures")
    blindness.note_opened(user=person_of(request), dataset=result_set.dataset, page=f"figures: {slug}")
    context = {
        "section": "results",
        "figure": shown,
        "figures": figures.FIGURES,
        "dataset": result_set.dataset,
        "datasets": datasets(),
        "carried": figure_choice.carried(request.GET, result_set.dataset_id),
        **_drawn(request, shown, result_set),
    }
    return render(request, "benchmark/figure.html", context)


def _drawn(request: HttpRequest, shown: Figure, result_set: ResultSet) -> dict[str, Any]:
    """The figure and what can be chosen of it; or why it can't be drawn."""
    found, options = frames.masks(result_set), figure_choice.read(request.GET)
    try:
        made = shown.made(found, options)
    except FpcoError as error:
        return {"refused": error.message}
    spec = shown.draw(made.rows, made.options)
    return {
        "title": made.title,
        "spec": spec,
        "words": spec["description"],
        "table": figures.data_table(shown, made.rows),
        "options": made.options,
        "offers": figure_choice.offers(found, made, request.GET),
        "turns": found.measured_turns(shown.measure),
        "columns": figure_choice.columns(found),
        "colours": figure_choice.COLOURS,
        "published": figures.PUBLISHED if shown.comparable else (),
        "given": [(name, value) for name, values in request.GET.lists() for value in values if name != "width"],
        "widths": WIDTHS,
    }


@require_safe
@reader_required
def figure_file(request: HttpRequest, pk: int, slug: str, form: str) -> HttpResponseBase:
    """A figure as SVG, PNG or PDF at the width of a column, its data as CSV, or its spec as JSON."""
    dataset = get_object_or_404(Dataset, pk=pk)
    shown, result_set = figures.REGISTER[slug], results.default(dataset)
    if result_set is None:
        raise Http404
    blindness.note_opened(user=person_of(request), dataset=dataset, page=f"figures: {slug}")
    width = width if (width := request.GET.get("width", "")) in WIDTHS else "double"
    found, options = frames.masks(result_set), figure_choice.read(request.GET)
    if form == "csv":
        return _answer(request, f"{slug}.csv", shown.csv(found, options), str.encode)
    spec = json.dumps(shown.spec(found, options), ensure_ascii=False)
    if form == "json":
        return _answer(request, f"{slug}.json", spec, str.encode)
    name = f"{slug}_{paper.MILLIMETRES[width]}mm.{form}"
    return _answer(request, name, spec, lambda source: _file(source, form, width))


def _answer(request: HttpRequest, name: str, source: str, make: Callable[[str], bytes]) -> HttpResponseBase:
    """The file made from its source, unless who asks has it already: drawing costs more than reading."""
    etag = quote_etag(sha256(f"{name}\n{source}".encode()).hexdigest())
    answer = get_conditional_response(request, etag=etag)
    if answer is None:
        kind = TYPES[name.rpartition(".")[2]]
        answer = HttpResponse(make(source), content_type=kind)
        answer["Content-Disposition"] = f'attachment; filename="{name}"'
    answer["ETag"] = etag
    answer["Cache-Control"] = "private, no-cache"
    return answer


@lru_cache(KEPT)
def _file(source: str, form: str, width: str) -> bytes:
    """The same source makes the same bytes, so they are kept: the converter holds the process while it draws."""
    return paper.figure(json.loads(source), form, width)
