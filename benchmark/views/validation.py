"""Validation sets, for authors: open a draw, follow who has labelled how much, close it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from annotate import worklist
from annotate.permissions import author_required, person_of
from benchmark.forms.validation import OpenForm
from benchmark.models import ValidationSet
from benchmark.services import blindness, validation
from fpco_site.errors import FpcoError


def get_validation_set(pk: int) -> ValidationSet:
    """A validation set with what its pages name; 404 where there is none."""
    return get_object_or_404(
        ValidationSet.objects.select_related("label_set__dataset", "label_set__opened_by", "result_set"), pk=pk
    )


@require_safe
@author_required
def validation_list(request: HttpRequest) -> HttpResponse:
    """All validation sets with their progress."""
    sets = list(ValidationSet.objects.select_related("label_set__dataset").order_by("-id"))
    rows = [(row, worklist.shares(row.label_set.assignments.all())) for row in sets]
    return render(request, "benchmark/validation_list.html", {"rows": rows, "section": "agreement"})


@author_required
def validation_new(request: HttpRequest) -> HttpResponse:
    """Open a set: what was typed stays where the service refuses it."""
    form = OpenForm(request.POST or None, initial={"dataset": request.GET.get("dataset")})
    if request.method == "POST" and form.is_valid():
        try:
            made = validation.open(by=person_of(request), twins=False, **form.cleaned_data)
        except FpcoError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, f"Opened {made.label_set.name} with {made.design['drawn']} answers.")
            return redirect("validation_detail", made.pk)
    return render(request, "benchmark/validation_new.html", {"form": form, "section": "agreement"})


@require_safe
@author_required
def validation_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One set: how far each person is, without a label; the design; the seed only to open eyes."""
    row = get_validation_set(pk)
    seen = blindness.exposures(row.label_set)
    people = [
        (share, seen.get(share.assignment.person_id, blindness.Seen()))
        for share in worklist.shares(row.label_set.assignments.all())
    ]
    context = {
        "row": row,
        "people": people,
        "withheld": blindness.withheld_from(person_of(request), row.label_set.dataset),
        "section": "agreement",
    }
    return render(request, "benchmark/validation_detail.html", context)
