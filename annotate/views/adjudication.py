"""Disagreements of closed sets: listed without names, decided one by one, with a reason."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from annotate import label_page
from annotate.forms.adjudication import DecisionForm
from annotate.models import LabelSet, LabelTask, User
from annotate.permissions import annotator_required, person_of
from annotate.services import adjudication
from annotate.services.adjudication import Docket
from annotate.views.labels import no_store
from fpco_site.errors import FpcoError


def get_docket_for(user: User, pk: int) -> Docket:
    """The disagreements of a closed set, for who may decide them; 404 where there is no such set."""
    label_set = get_object_or_404(LabelSet.objects.select_related("dataset"), pk=pk)
    adjudication.require_judge(label_set=label_set, by=user)
    return adjudication.docket(label_set)


def get_disagreement_for(found: Docket, pk: uuid.UUID) -> LabelTask:
    """One disagreement of a docket; 404 for any other task."""
    tasks = LabelTask.objects.filter(pk__in=found.order).select_related("image", "label_set")
    return get_object_or_404(tasks, pk=pk)


@annotator_required
@no_store
@require_safe
def adjudication_list(request: HttpRequest) -> HttpResponse:
    """Closed sets with disagreements, and how many are decided."""
    found = adjudication.dockets_for(person_of(request))
    return render(request, "annotate/adjudication_list.html", {"dockets": found, "section": "label_home"})


@annotator_required
@no_store
@require_safe
def adjudication_set(request: HttpRequest, pk: int) -> HttpResponse:
    """The disagreements of one set, without names, in an order that says nothing."""
    found = get_docket_for(person_of(request), pk)
    tasks = LabelTask.objects.in_bulk(found.order)
    context = {
        **_shared(request, found),
        "rows": [(place, tasks[task], found.decisions.get(task)) for place, task in enumerate(found.order, 1)],
        "next": found.next_after(),
    }
    return render(request, "annotate/adjudication_set.html", context)


@annotator_required
@no_store
@require_http_methods(["GET", "POST"])
def adjudication_task(request: HttpRequest, pk: int, task: uuid.UUID) -> HttpResponse:
    """One disagreement: what both sides said, without names, and the decision; what was typed stays if refused."""
    found = get_docket_for(person_of(request), pk)
    chosen = get_disagreement_for(found, task)
    form = DecisionForm(request.POST or None)
    status = 200 if request.method == "GET" else 400
    if request.method == "POST" and form.is_valid():
        try:
            adjudication.decide(task=chosen, by=person_of(request), **form.cleaned_data)
        except FpcoError as error:
            form.add_error(None, error.message)
            status = error.status
        else:
            return _after(request, adjudication.docket(found.label_set), task)
    context = {**_shared(request, found), **_task_context(found, chosen), "form": form}
    return render(request, "annotate/adjudication_task.html", context, status=status)


def _after(request: HttpRequest, found: Docket, task: uuid.UUID) -> HttpResponse:
    """On to the next disagreement without a decision, else back to the list."""
    following = found.next_after(task)
    together = "?together=1" if request.POST.get("together") else ""
    if following is None:
        messages.success(request, "Every disagreement is decided. Each decision can still be changed, with a reason.")
        return redirect(reverse("adjudication_set", args=[found.label_set.pk]) + together)
    return redirect(reverse("adjudication_task", args=[found.label_set.pk, following]) + together)


def _shared(request: HttpRequest, found: Docket) -> dict[str, Any]:
    """Whether this person decides with the others who labelled, and has said that they sit together."""
    labeller = adjudication.is_labeller(person_of(request), found.label_set)
    together = labeller and "1" in (request.GET.get("together"), request.POST.get("together"))
    return {
        "found": found,
        "labeller": labeller,
        "together": together,
        "may_decide": together or not labeller,
        "query": "?together=1" if together else "",
        "section": "label_home",
    }


def _task_context(found: Docket, task: LabelTask) -> dict[str, Any]:
    at = found.place(task.pk)
    return {
        "task": task,
        "case": label_page.of_task(task),
        "said": adjudication.said_of(task),
        "decision": found.decisions.get(task.pk),
        "place": at,
        "back": found.last_before(task.pk),
        "skip": found.next_after(task.pk),
        "earlier": found.order[at - 2] if at > 1 else None,
        "later": found.order[at] if at < found.total else None,
    }
