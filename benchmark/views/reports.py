"""Reports: choose what one holds, have it built, take it away as HTML or PDF."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotate.models import Dataset
from annotate.permissions import person_of, reader_required
from benchmark import analysis_page, study_tables, tables
from benchmark.analyses import KINDS
from benchmark.figures import REGISTER
from benchmark.models import Report, ResultSet
from benchmark.models.releases import BuildState
from benchmark.reports import content
from benchmark.reports.choice import Choice
from benchmark.services import blindness, reports, results
from benchmark.study_tables import ENTRIES
from benchmark.views._results import dataset_of, datasets, result_set_of
from fpco_site.errors import Conflict
from fpco_site.forms import whole_number

SHOWN = 20


@never_cache
@require_safe
@reader_required
def report_page(request: HttpRequest) -> HttpResponse:
    """What a report of this dataset can hold, and those that were built."""
    dataset, result_set = dataset_of(request), result_set_of(request)
    rows = Report.objects.filter(result_set__dataset=dataset).select_related("asked_by", "result_set")
    built = Paginator(rows, SHOWN).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "dataset": dataset,
        "datasets": datasets(),
        "result_set": result_set,
        "page_obj": built,
        "building": any(row.unfinished for row in built),
        "withheld": dataset is not None and blindness.withheld_from(person_of(request), dataset),
    }
    if request.headers.get("HX-Request"):
        return render(request, "benchmark/report.html#built", context)
    return render(request, "benchmark/report.html", context | (_offered(result_set) if result_set else {}))


@require_POST
@reader_required
def report_new(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for a report of a dataset."""
    dataset = get_object_or_404(Dataset, pk=pk)
    result_set = results.default(dataset)
    if result_set is None:
        raise Conflict("Nothing has run over this dataset yet, so there is nothing to report.")
    reports.request(result_set=result_set, choice=choice_of(request.POST), by=person_of(request))
    messages.success(request, "The report is being built; it shows below when it is ready.")
    return redirect(f"{reverse('report')}?dataset={dataset.pk}#built")


@require_POST
@reader_required
def report_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Build one that failed once more."""
    report = reports.again(report=get_object_or_404(Report, pk=pk))
    return redirect(f"{reverse('report')}?dataset={report.result_set.dataset_id}#built")


@never_cache
@require_safe
@reader_required
def report_file(request: HttpRequest, pk: int, form: str) -> HttpResponseBase:
    """A built report; one that tells of people's labels is withheld from people who label."""
    rows = Report.objects.select_related("result_set__dataset")
    report = get_object_or_404(rows, pk=pk, state=BuildState.READY)
    path = reports.path_of(report, form)
    if form not in reports.FORMS or not path.is_file():
        raise Http404
    dataset = report.result_set.dataset
    look = blindness.require_unblinded if report.unblinded else blindness.note_opened
    look(user=person_of(request), dataset=dataset, page=f"report {report.pk}")
    name = f"report-{slugify(dataset.name) or dataset.pk}-{report.pk}.{form}"
    return FileResponse(path.open("rb"), as_attachment=True, filename=name, content_type=reports.FORMS[form])


def choice_of(given: QueryDict) -> Choice:
    """What was ticked; anything unknown is left out."""
    return Choice(
        figures=tuple(slug for slug in REGISTER if slug in given.getlist("figure")),
        tables=tuple(slug for slug in ENTRIES if slug in given.getlist("table")),
        sets=_numbers(given.getlist("set")),
        analyses=_numbers(given.getlist("analysis")),
        settings="settings" in given,
        coverage="coverage" in given,
        rounding="published" if given.get("rounding") == "published" else "exact",
    )


def _numbers(given: list[str]) -> tuple[int, ...]:
    return tuple(sorted({number for value in given if (number := whole_number(value)) is not None}))


def _offered(result_set: ResultSet) -> dict[str, Any]:
    return {
        "figures": [(figure, figure.title.format(k="K")) for figure in REGISTER.values()],
        "tables": ENTRIES.values(),
        "fitting": _fitting(result_set),
        "analyses": [
            (row, KINDS[row.kind], analysis_page.told_apart(row))
            for row in content.stored(result_set).select_related("result_set").defer("result")
        ],
        "sets": study_tables.sets(result_set),
        "pair": len(result_set.primary) == tables.PAIR,
    }


def _fitting(result_set: ResultSet) -> set[str]:
    """The tables that this dataset was made for: of people where some were asked, of words where there are variants."""
    wanted = {
        "pairwise_kappa": study_tables.sets(result_set).exists(),
        "lexical_sensitivity": result_set.dataset.items.exclude(parent="").exists(),
    }
    return {slug for slug in ENTRIES if wanted.get(slug, True)}
