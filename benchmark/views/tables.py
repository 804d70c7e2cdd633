"""The study's tables on a page and as files: CSV, LaTeX, Markdown."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotate.models import Dataset
from annotate.permissions import person_of, reader_required
from benchmark import study_tables
from benchmark.frames import MEASURES
from benchmark.models import ResultSet, ValidationSet
from benchmark.printed import FORMS, Printed
from benchmark.services import blindness, results
from benchmark.study_tables import ENTRIES, Entry, Study
from benchmark.tables import Rounding
from benchmark.views._results import dataset_of, datasets, result_set_of
from benchmark.views.agreement import printed_file
from fpco_site.errors import Invalid, Withheld

DEFAULT = "corr_tp"


@never_cache
@require_safe
@reader_required
def table_page(request: HttpRequest) -> HttpResponse:
    """One table of the dataset that the address names, and the way to the others."""
    result_set = result_set_of(request)
    entry = ENTRIES.get(request.GET.get("table", ""), ENTRIES[DEFAULT])
    context: dict[str, Any] = {
        "dataset": dataset_of(request),
        "datasets": datasets(),
        "result_set": result_set,
        "entries": ENTRIES.values(),
        "entry": entry,
        "forms": FORMS,
        "rounding": _rounding(request),
        "rate": entry.slug in MEASURES,
    }
    if result_set is not None:
        context |= _shown(request, result_set, entry)
    return render(request, "benchmark/tables.html", context)


@never_cache
@require_safe
@reader_required
def table_file(request: HttpRequest, pk: int, slug: str, form: str) -> HttpResponse:
    """One table as a download."""
    result_set = results.default(get_object_or_404(Dataset, pk=pk))
    if result_set is None or slug not in ENTRIES or form not in FORMS:
        raise Http404
    return printed_file(_made(request, result_set, ENTRIES[slug], f"{slug}.{form}"), form)


def _shown(request: HttpRequest, result_set: ResultSet, entry: Entry) -> dict[str, Any]:
    """The table, or why there is none."""
    sets = list(study_tables.sets(result_set)) if entry.unblinded else []
    chosen = _chosen(request, sets)
    asked = {"set": chosen.pk} if chosen else {"rounding": "published"} if _rounding(request) == "published" else {}
    shown: dict[str, Any] = {"sets": sets, "chosen": chosen, "query": f"?{urlencode(asked)}" if asked else ""}
    try:
        printed = _made(request, result_set, entry, entry.slug)
        return shown | {"printed": printed, "behind": _behind(request, result_set.dataset, entry, chosen)}
    except (Invalid, Withheld) as refused:
        return shown | {"reason": refused.message}


def _behind(request: HttpRequest, dataset: Dataset, entry: Entry, chosen: ValidationSet | None) -> str:
    """How addresses of the answers behind the table's numbers begin; none for whoever must not see answers."""
    if blindness.withheld_from(person_of(request), dataset):
        return ""
    if entry.slug == "detector_agreement":
        return f"{reverse('detector_answers', args=[dataset.pk])}?"
    if chosen:
        return f"{reverse('agreement_answers', args=[chosen.pk])}?"
    return f"{reverse('results_cell')}?dataset={dataset.pk}&"


def _made(request: HttpRequest, result_set: ResultSet, entry: Entry, name: str) -> Printed:
    """The table; what would tell a person how far their labels fit is withheld, and the look is on record."""
    look = blindness.require_unblinded if entry.unblinded else blindness.note_opened
    look(user=person_of(request), dataset=result_set.dataset, page=f"results: {name}")
    sets = list(study_tables.sets(result_set)) if entry.unblinded else []
    return Study(result_set, _chosen(request, sets), _rounding(request)).table(entry.slug)


def _chosen(request: HttpRequest, sets: list[ValidationSet]) -> ValidationSet | None:
    """The validation set that the address names; the newest where it names none of these."""
    asked = request.GET.get("set", "")
    return next((row for row in sets if str(row.pk) == asked), sets[0] if sets else None)


def _rounding(request: HttpRequest) -> Rounding:
    return "published" if request.GET.get("rounding") == "published" else "exact"
