"""The settings of the study: quotas and rules of review."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotate.forms.study import StudyForm
from annotate.models import Dataset, StudyChange
from annotate.permissions import author_required, person_of
from annotate.services import protocols, rules, study
from fpco_site.errors import FpcoError

SHOWN = 50


@require_http_methods(["GET", "HEAD", "POST"])
@author_required
def study_settings(request: HttpRequest) -> HttpResponse:
    plan, now = protocols.study(), rules.current()
    form = StudyForm(request.POST) if request.method == "POST" else StudyForm(initial=StudyForm.initial_of(plan, now))
    if request.method == "POST" and form.is_valid():
        try:
            changes = study.save(**form.settings(), by=person_of(request))
        except FpcoError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, "Saved." if changes else "Nothing was changed.")
            return redirect("study_settings")
    context = {
        "form": form,
        "plan": plan,
        "published": study.PUBLISHED_PER_CELL,
        "changes": StudyChange.objects.select_related("by")[:SHOWN],
        "datasets": Dataset.objects.filter(origin="frozen")[:SHOWN],
        "section": "review_queue",
    }
    return render(request, "annotate/study_settings.html", context, status=400 if form.errors else 200)
