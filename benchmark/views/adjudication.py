"""Decisions on disagreements: annotate's pages, each look recorded, since they show answers of a dataset."""

import uuid

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404

from annotate.models import LabelSet
from annotate.models.labels import LabelSetState
from annotate.permissions import annotator_required, person_of
from annotate.views import adjudication
from benchmark.services import blindness

adjudication_list = adjudication.adjudication_list


@annotator_required
def adjudication_set(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The disagreements of a closed set."""
    _record(request, pk)
    return adjudication.adjudication_set(request, pk)


@annotator_required
def adjudication_task(request: HttpRequest, pk: int, task: uuid.UUID) -> HttpResponseBase:
    """One disagreement, to be decided."""
    _record(request, pk)
    return adjudication.adjudication_task(request, pk, task)


def _record(request: HttpRequest, pk: int) -> None:
    """An open set shows nothing here, so there is nothing to record."""
    label_set = get_object_or_404(LabelSet.objects.select_related("dataset"), pk=pk)
    if label_set.state == LabelSetState.CLOSED and request.method != "POST":
        blindness.note_decisions(user=person_of(request), label_set=label_set, page=f"decisions of {label_set.name}")
