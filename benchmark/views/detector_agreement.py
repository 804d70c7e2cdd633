"""Agreement of detectors over all false-premise answers of a dataset's newest result set."""

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotate.models import Dataset
from annotate.permissions import person_of, reader_required
from benchmark import agreement_answers, frames_detectors, tables_agreement
from benchmark.agreement_page import DetectorPage, axis_of, level_name, pair_of
from benchmark.frames_agreement import OVERALL
from benchmark.frames_detectors import Verdicts
from benchmark.services import blindness, results
from benchmark.views.agreement import PER_PAGE, pair_words, printed_file
from benchmark.views.files import as_file

OPENED = "agreement of detectors"


@require_safe
@reader_required
def detector_agreement(request: HttpRequest) -> HttpResponse:
    """The newest dataset with results."""
    return _page(request, results.newest_dataset())


@require_safe
@reader_required
def detector_agreement_of(request: HttpRequest, pk: int) -> HttpResponse:
    """One dataset."""
    return _page(request, get_object_or_404(Dataset, pk=pk))


@require_safe
@reader_required
def detector_numbers(request: HttpRequest, pk: int) -> HttpResponse:
    """Every pair of detectors along the chosen axis, with every digit, as CSV."""
    axis = axis_of(request.GET)
    rows = tables_agreement.records(frames_detectors.pairs(_opened(request, pk), axis), axis)
    return as_file(tables_agreement.records_csv(rows), "agreement_detectors.csv")


@require_safe
@reader_required
def detector_table(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """The study's table of detector agreement, as CSV or LaTeX."""
    table = DetectorPage(_opened(request, pk), request.GET).printed
    if table is None:
        raise Http404
    return printed_file(table, form)


@require_safe
@reader_required
def detector_answers(request: HttpRequest, pk: int) -> HttpResponse:
    """The answers behind a number, to read."""
    dataset = get_object_or_404(Dataset, pk=pk)
    blindness.require_open_eyes(user=person_of(request), dataset=dataset, page="answers behind detectors' agreement")
    found = _verdicts(dataset)
    pair, axis = pair_of(request.GET, found.by_key), axis_of(request.GET)
    level = request.GET.get("level", OVERALL)
    kept = found.levels(axis).get(level)
    if pair is None or kept is None:
        raise Http404
    cell = cell if (cell := request.GET.get("cell", "")) in frames_detectors.CELLS else agreement_answers.DIFFER
    places = frames_detectors.matching(found, *pair, kept, cell)
    page = Paginator(range(len(places)), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "dataset": dataset,
        "words": f"{pair_words(cell, pair[0].name, pair[1].name)}, {level_name(axis, level)}",
        "page_obj": page,
        "answers": agreement_answers.of_verdicts(found, places[list(page.object_list)]),
        "section": "agreement",
    }
    return render(request, "benchmark/agreement_answers.html", context)


def _opened(request: HttpRequest, pk: int) -> Verdicts:
    """The aggregates of a dataset, with this look at them noted."""
    dataset = get_object_or_404(Dataset, pk=pk)
    found = _verdicts(dataset)
    blindness.note_opened(user=person_of(request), dataset=dataset, page=OPENED)
    return found


def _verdicts(dataset: Dataset) -> Verdicts:
    result_set = results.default(dataset)
    if result_set is None:
        raise Http404
    return frames_detectors.verdicts(result_set)


def _page(request: HttpRequest, dataset: Dataset | None) -> HttpResponse:
    result_set = results.default(dataset) if dataset else None
    if result_set is not None:
        blindness.note_opened(user=person_of(request), dataset=result_set.dataset, page=OPENED)
    context = {
        "dataset": dataset,
        "datasets": Dataset.objects.order_by("-id"),
        "result_set": result_set,
        "page": DetectorPage(frames_detectors.verdicts(result_set), request.GET) if result_set else None,
        "blind": dataset is not None and blindness.withheld_from(person_of(request), dataset),
        "section": "agreement",
    }
    return render(request, "benchmark/detector_agreement.html", context)
