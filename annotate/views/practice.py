"""Practise: examples with feedback before the first label; what is said there is no label and is not kept."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from annotate import label_page, practice
from annotate.forms.labels import PractiseForm
from annotate.permissions import annotator_required, person_of
from annotate.services import guidelines, task_marks
from annotate.views.labels import get_worklist_for, no_store
from annotate.worklist import Worklist
from fpco_site.errors import Invalid


@annotator_required
@no_store
@require_http_methods(["GET", "POST"])
def label_practice(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """One example; a choice is answered with what the guidelines say and why."""
    work = get_worklist_for(person_of(request), pk)
    if not 1 <= number <= len(practice.examples()):
        raise Http404
    said = _said(request) if request.method == "POST" else None
    if said is not None and number == len(practice.examples()):
        task_marks.practised(assignment=work.assignment)
    return render(request, "annotate/label_practice.html", _context(work, number, said))


def _said(request: HttpRequest) -> bool:
    form = PractiseForm(request.POST)
    if not form.is_valid():
        raise Invalid("Choose one of the two answers.")
    return bool(form.cleaned_data["detect"])


def _context(work: Worklist, number: int, said: bool | None) -> dict[str, object]:
    example = practice.examples()[number - 1]
    return {
        "work": work,
        "set": work.assignment.label_set_id,
        "example": example,
        "case": example.case,
        "number": number,
        "total": len(practice.examples()),
        "said": said,
        "right": said == example.detect,
        "guide": label_page.guide(guidelines.latest(work.assignment.label_set)),
    }
