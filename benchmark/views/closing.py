"""Closing a validation set: what would be missing is said before it is confirmed."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotate.models.labels import LabelSetState
from annotate.permissions import author_required, person_of
from benchmark import closing
from benchmark.services import validation
from benchmark.views.validation import get_validation_set


@require_http_methods(["GET", "POST"])
@author_required
def validation_close(request: HttpRequest, pk: int) -> HttpResponse:
    """What is missing, by pseudonym, and the button that locks all labels for ever."""
    row = get_validation_set(pk)
    if request.method == "GET" and row.label_set.state == LabelSetState.OPEN:
        context = {"row": row, "missing": closing.missing(row.label_set), "section": "agreement"}
        return render(request, "benchmark/validation_close.html", context)
    if request.method == "POST":
        row = validation.close(validation_set=row, by=person_of(request))
        messages.success(request, f"Closed {row.label_set.name}. Its labels are locked.")
    return redirect("validation_detail", pk)
