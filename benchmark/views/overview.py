"""Overview: where the study stands, and what waits for me."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from annotate.permissions import person_of
from benchmark import overview


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """For authors and readers; people who only annotate go to their labels."""
    person = person_of(request)
    if person.is_annotator:
        return redirect("label_home")
    if overview.is_new():
        return render(request, "benchmark/overview.html", {"new": True})
    context = {
        "stages": overview.stages(person),
        "waiting": overview.waiting_for(person),
        "grid": overview.grid(person),
    }
    return render(request, "benchmark/overview.html", context)
