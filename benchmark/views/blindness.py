"""The blindness report of a validation set, as a page and as a PDF; withheld from those who are still blind."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from annotate.permissions import author_required, person_of
from annotate.views.labels import no_store
from benchmark import blindness_pdf
from benchmark import blindness_report as reports
from benchmark.blindness_report import Report
from benchmark.models import ValidationSet
from benchmark.services import blindness
from benchmark.views.validation import get_validation_set


@require_safe
@author_required
@no_store
def blindness_report(request: HttpRequest, pk: int) -> HttpResponse:
    """All that is on record of who could have known what; people by pseudonym, or `?names=1`."""
    row = get_validation_set(pk)
    context = {"row": row, "report": _report(request, row), "names": _names(request), "section": "agreement"}
    return render(request, "benchmark/blindness_report.html", context)


@require_safe
@author_required
@no_store
def blindness_pdf_file(request: HttpRequest, pk: int) -> HttpResponse:
    """The same to attach to a paper."""
    row = get_validation_set(pk)
    data = blindness_pdf.pdf(_report(request, row))
    name = f"blindness-{slugify(row.label_set.name) or row.pk}.pdf"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(data, content_type="application/pdf", headers=headers)


def _report(request: HttpRequest, row: ValidationSet) -> Report:
    page = f"blindness report: {row.label_set.name}"
    blindness.require_unblinded(user=person_of(request), dataset=row.label_set.dataset, page=page)
    return reports.report(row, names=_names(request))


def _names(request: HttpRequest) -> bool:
    return request.GET.get("names") == "1"
