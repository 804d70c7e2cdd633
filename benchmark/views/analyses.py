"""Analyses: which there are, what is stored of each, running one, and its files."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotate.models import Dataset, User
from annotate.permissions import author_required, person_of, reader_required
from benchmark import analysis_page
from benchmark.analyses import KINDS
from benchmark.analyses.kinds import Kind
from benchmark.charts import paper
from benchmark.models import Analysis, ResultSet
from benchmark.models.results import AnalysisState
from benchmark.services import analyses, blindness, results
from benchmark.views._results import datasets, result_set_of
from benchmark.views.files import as_file
from fpco_site.errors import FpcoError, Invalid
from fpco_site.forms import whole_number

FIGURE_TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf"}
PREFIX = "parameter_"


@dataclass(frozen=True)
class Field:
    """One parameter as the page asks for it; `choices` where it is one of few values."""

    name: str
    label: str
    value: Any
    choices: list[tuple[str, str]]

    @property
    def post(self) -> str:
        return f"{PREFIX}{self.name}"

    @property
    def shown(self) -> str:
        """The value in words, as its choice names it."""
        return dict(self.choices).get(self.value, str(self.value))

    @property
    def is_number(self) -> bool:
        return isinstance(self.value, int | float)


@dataclass(frozen=True)
class Entry:
    """A kind on the list: what is stored of it, and what it asks for."""

    kind: Kind
    rows: list[Analysis]
    fields: list[Field]

    @property
    def listed(self) -> list[tuple[Analysis, str]]:
        """Each with what tells it from the others."""
        return [(row, analysis_page.told_apart(row)) for row in self.rows]

    @property
    def unfinished(self) -> bool:
        """Whether the list of what is stored, and it alone, is asked for again: nobody's form changes under them."""
        return any(row.unfinished for row in self.rows)


@reader_required
@require_safe
def analysis_list(request: HttpRequest) -> HttpResponse:
    result_set = result_set_of(request)
    stored = list(_stored().filter(dataset=result_set.dataset)) if result_set else []
    context = {
        "result_set": result_set,
        "dataset": result_set.dataset if result_set else None,
        "datasets": datasets(),
        "entries": [_entry(kind, stored, result_set) for kind in KINDS.values()] if result_set else [],
        "seed": analyses.SEED,
    }
    return render(request, "benchmark/analysis_list.html", context)


@author_required
@require_POST
def analysis_run(request: HttpRequest, kind: str) -> HttpResponse:
    """Run a kind over a dataset's newest result set, or find it stored."""
    if kind not in KINDS:
        raise Http404
    dataset = get_object_or_404(Dataset, pk=whole_number(request.POST.get("dataset", "")))
    result_set = results.default(dataset)
    if result_set is None:
        raise Http404
    if KINDS[kind].unblinded:
        blindness.require_unblinded(user=person_of(request), dataset=dataset, page=f"analysis: {kind}")
    given = {
        name: request.POST[f"{PREFIX}{name}"] for name in KINDS[kind].defaults if f"{PREFIX}{name}" in request.POST
    }
    try:
        seed = _seed(request.POST.get("seed", ""))
        row = analyses.request(kind=kind, result_set=result_set, parameters=given, seed=seed, by=person_of(request))
    except FpcoError as error:
        messages.error(request, f"{KINDS[kind].title}: {error.message}")
        return redirect(f"{reverse('analysis_list')}?dataset={dataset.pk}#{kind}")
    return redirect("analysis_detail", pk=row.pk)


def _seed(text: str) -> int | None:
    """The seed that a form gives, None where it gives none. Raises Invalid where it is no number."""
    seed = whole_number(text)
    if text and seed is None:
        raise Invalid("A seed is a whole number, such as 1.")
    return seed


@reader_required
@require_safe
def analysis_detail(request: HttpRequest, pk: int) -> HttpResponse:
    row = get_analysis_for(person_of(request), pk)
    kind = analysis_page.kind_of(row)
    newest = results.default(row.dataset)
    done, parts = row.state == AnalysisState.DONE, analysis_page.parts(row)
    context = {
        "analysis": row,
        "kind": kind,
        "dataset": row.dataset,
        "parts": parts,
        "fields": _fields(kind, row.result_set, row.parameters),
        "section": "results",
        "older": analysis_page.is_older(row),
        "changed": done and newest is not None and _changed(row, newest),
        "simulated": _simulated(row.result_set),
        "specs": {f"figure-{part.number}": part.section.figure for part in parts},
    }
    template = "benchmark/analysis_detail.html"
    if not request.headers.get("HX-Request"):
        return render(request, template, context)
    # A page that waited is loaded anew once there is more to show.
    headers = {} if row.unfinished else {"HX-Refresh": "true"}
    return HttpResponse(render(request, f"{template}#waiting", context).content, headers=headers)


@reader_required
@require_safe
def analysis_table(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """One table of an analysis as CSV, with every digit."""
    row, part = _part(request, pk, number)
    if not part.has_table:
        raise Http404
    return as_file(analysis_page.as_csv(part.section), f"{row.kind}-{row.pk}-{number}.csv")


@reader_required
@require_safe
def analysis_figure(request: HttpRequest, pk: int, number: int, form: str) -> HttpResponse:
    """One figure of an analysis as SVG, PNG or PDF, as wide as both columns of a paper, or as one of them."""
    row, part = _part(request, pk, number)
    if part.section.figure is None or form not in FIGURE_TYPES:
        raise Http404
    name = f"{row.kind}-{row.pk}-{number}.{form}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    width = "single" if request.GET.get("width") == "single" else "double"
    drawn = paper.figure(part.section.figure, form, width)
    return HttpResponse(drawn, content_type=FIGURE_TYPES[form], headers=headers)


@reader_required
@require_safe
def analysis_json(request: HttpRequest, pk: int) -> HttpResponse:
    """All that is stored of an analysis."""
    row = get_analysis_for(person_of(request), pk)
    headers = {"Content-Disposition": f'attachment; filename="{row.kind}-{row.pk}.json"'}
    return HttpResponse(analysis_page.as_json(row), content_type="application/json", headers=headers)


def get_analysis_for(user: User, pk: int, *, way: str = "") -> Analysis:
    """The analysis, with this look at its aggregates noted; 404 where there is none.

    Raises
    ------
    Withheld
        If it tells of people's labels, and this person labels its dataset.
    """
    row = get_object_or_404(Analysis.objects.select_related("dataset", "result_set", "created_by"), pk=pk)
    if row.kind not in KINDS:
        raise Http404
    look = blindness.require_unblinded if KINDS[row.kind].unblinded else blindness.note_opened
    look(user=user, dataset=row.dataset, page=f"analysis{way}: {row.kind}")
    return row


def _stored() -> QuerySet[Analysis]:
    return Analysis.objects.defer("result").select_related("result_set", "created_by").order_by("-id")


def _entry(kind: Kind, stored: list[Analysis], result_set: ResultSet) -> Entry:
    return Entry(kind, [row for row in stored if row.kind == kind.slug], _fields(kind, result_set, kind.defaults))


def _fields(kind: Kind, result_set: ResultSet, values: dict[str, Any]) -> list[Field]:
    offered = analyses.choices(kind, result_set)
    return [
        Field(name, kind.names.get(name, name.replace("_", " ").capitalize()), values.get(name), offered.get(name, []))
        for name in kind.defaults
    ]


def _changed(row: Analysis, newest: ResultSet) -> bool:
    """Whether the same question would now be asked of other data."""
    return analyses.inputs_now(analysis=row, result_set=newest) != row.inputs_sha256


def _simulated(result_set: ResultSet) -> bool:
    """Whether a model that ran or a detector that labelled is simulated."""
    runs, detectors = result_set.held_runs, result_set.held_detectors
    return any(row.run.simulated for row in runs) or any(row.detector.simulated for row in detectors)


def _part(request: HttpRequest, pk: int, number: int) -> tuple[Analysis, analysis_page.Part]:
    row = get_analysis_for(person_of(request), pk)
    found = next((part for part in analysis_page.parts(row) if part.number == number), None)
    if found is None:
        raise Http404
    return row, found
