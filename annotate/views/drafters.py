"""Drafters: the list, new, edit, in use or not."""

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate.forms.drafting import DrafterForm
from annotate.models import Drafter
from annotate.permissions import author_required, person_of
from annotate.services import drafters
from fpco_site.errors import FpcoError
from fpco_site.llm import endpoints
from fpco_site.llm.settings_rules import DRAFT_CAP

ROOM = {"section": "review_queue"}


@require_safe
@author_required
def drafter_list(request: HttpRequest) -> HttpResponse:
    drafters.default()
    rows = Drafter.objects.annotate(made=Count("drafts")).order_by("-active", "name")
    entries = [{"drafter": row, "key": endpoints.key_of(row), "prices": endpoints.prices_of(row)} for row in rows]
    simulated = {row.pk for row in rows if endpoints.is_simulated(row.provider)}
    return render(request, "annotate/drafter_list.html", {"entries": entries, "simulated": simulated, **ROOM})


@require_http_methods(["GET", "HEAD", "POST"])
@author_required
def drafter_new(request: HttpRequest) -> HttpResponse:
    form = DrafterForm(request.POST or None, initial={"max_output_tokens": DRAFT_CAP})
    if request.method == "POST" and form.is_valid():
        try:
            drafters.create(by=person_of(request), **form.values())
        except FpcoError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, "Saved.")
            return redirect("drafter_list")
    return render(request, "annotate/drafter_form.html", {"form": form, **ROOM}, status=400 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@author_required
def drafter_edit(request: HttpRequest, pk: int) -> HttpResponse:
    drafter = get_object_or_404(Drafter, pk=pk)
    form = DrafterForm(request.POST or None, instance=get_object_or_404(Drafter, pk=pk))
    if request.method == "POST" and form.is_valid():
        try:
            drafters.update(drafter=drafter, by=person_of(request), **form.values())
        except FpcoError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, "Saved. Calls from now on are made like this.")
            return redirect("drafter_list")
    context = {"form": form, "drafter": drafter, **ROOM}
    return render(request, "annotate/drafter_form.html", context, status=400 if form.errors else 200)


@require_POST
@author_required
def drafter_active(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a drafter out of use, or back into it."""
    active = request.POST.get("active") == "1"
    drafters.set_active(drafter=get_object_or_404(Drafter, pk=pk), active=active, by=person_of(request))
    return redirect("drafter_list")
