"""Validation sets, for authors: look at a draw before it is made, make it, follow who labels, close the set."""

from uuid import uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotate import worklist
from annotate.models.labels import Mode
from annotate.permissions import author_required, person_of
from benchmark import frames_validation, strata
from benchmark.forms.validation import DESIGNS, NAMING, DrawForm, OpenForm
from benchmark.models import ValidationSet
from benchmark.services import blindness, validation
from benchmark.services.validation import Prepared
from fpco_site.errors import FpcoError, Withheld


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
    """State a design, look at its numbers, draw: what was typed stays at every step and at every refusal."""
    kind = DrawForm if "draw" in request.POST else OpenForm
    form = kind(request.POST or None, initial={"dataset": request.GET.get("dataset")}, person=person_of(request))
    if request.method == "POST" and "change" not in request.POST and form.is_valid():
        try:
            return _draw(request, form) if isinstance(form, DrawForm) else _preview(request, form)
        except FpcoError as error:
            form.add_error(None, error.message)
    return render(request, "benchmark/validation_new.html", {"form": form, "section": "agreement"})


def _draw(request: HttpRequest, form: DrawForm) -> HttpResponse:
    made = validation.open(by=person_of(request), **form.opening())
    messages.success(request, f"Opened {made.label_set.name} with {made.design['drawn']:,} answers.")
    return redirect("validation_detail", made.pk)


def _preview(request: HttpRequest, form: OpenForm) -> HttpResponse:
    """Numbers of the frame alone: nothing is drawn, so nobody sees what will be."""
    prepared = validation.prepare(**form.source())
    given = form.cleaned_data
    people = list(given["annotators"])
    seen = frames_validation.seen_before(given["dataset"], people)
    context = {
        "form": form,
        "prepared": prepared,
        "table": strata.table(strata.of_survey(prepared.survey)),
        "correct_turns": frames_validation.correct_turns(given["dataset"]) if prepared.plan.correct else [],
        "design": DESIGNS[prepared.plan.kind],
        "naming": NAMING[prepared.plan.naming],
        "people": [(person, seen.get(person.pk, 0)) for person in people],
        "labels": _labels(prepared, form),
        "client": uuid4(),
        "section": "agreement",
    }
    return render(request, "benchmark/validation_preview.html", context)


def _labels(prepared: Prepared, form: OpenForm) -> int:
    """How many labels the set will ask for."""
    opening = form.opening()
    each = opening["labels_per_task"] if opening["mode"] == Mode.POOL else len(opening["annotators"])
    return prepared.survey.drawn * int(each)


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
        "table": strata.table(strata.of_design(row.design)),
        "design": DESIGNS.get(row.design.get("kind", "")),
        "naming": NAMING.get((row.design.get("naming") or {}).get("rule", "")),
    }
    return render(request, "benchmark/validation_detail.html", context)


@require_POST
@author_required
def validation_repeat(request: HttpRequest, pk: int) -> HttpResponse:
    """Draw the set again from seed and data and say whether it is the same; stores nothing, shows no answer."""
    row = get_validation_set(pk)
    if blindness.withheld_from(person_of(request), row.label_set.dataset):
        blindness.note_refused(user=person_of(request), dataset=row.label_set.dataset, page="repeat of the draw")
        raise Withheld("A draw can be repeated by people who do not label it: its seed is withheld from you.")
    made = validation.repeat(validation_set=row)
    (messages.success if made.same else messages.warning)(request, made.sentence)
    return redirect("validation_detail", pk)
