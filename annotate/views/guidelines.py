"""A set's guidelines with all versions: authors write a new one, annotators of the set read them."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from annotate import label_page
from annotate.forms.labels import GuidelineForm, ReadForm
from annotate.models import LabelSet, User
from annotate.models.labels import LabelSetState
from annotate.models.people import Role
from annotate.permissions import annotator_required, author_required, person_of
from annotate.services import guidelines
from annotate.views.labels import get_worklist_for, no_store, redirect_to
from fpco_site.errors import Conflict, Invalid


def get_set_for(user: User, pk: int) -> LabelSet:
    """A set whose guidelines this person may read: an author's any, an annotator's own; 404 for others."""
    sets = LabelSet.objects.all() if user.role == Role.AUTHOR else LabelSet.objects.filter(assignments__person=user)
    return get_object_or_404(sets, pk=pk)


@annotator_required
@no_store
@require_http_methods(["GET"])
def label_guidelines(request: HttpRequest, pk: int) -> HttpResponse:
    """What holds now, and every version with what it changed."""
    person = person_of(request)
    return render(request, "annotate/label_guidelines.html", _context(get_set_for(person, pk), person))


@author_required
@no_store
@require_http_methods(["GET", "POST"])
def label_guidelines_new(request: HttpRequest, pk: int) -> HttpResponse:
    """Write a new version; what was typed stays when it is refused."""
    person = person_of(request)
    label_set = get_set_for(person, pk)
    form = GuidelineForm(request.POST or None, initial=_newest(label_set))
    if request.method == "POST" and form.is_valid():
        try:
            made = guidelines.revise(label_set=label_set, by=person, **form.cleaned_data)
        except (Conflict, Invalid) as error:
            form.add_error(None, error.message)
            form.data = {
                **request.POST.dict(),
                "base": _newest(label_set)["base"],
            }
        else:
            messages.success(request, f"Version {made.version} holds from now on; each annotator is told.")
            return redirect("label_guidelines", pk)
    context = {"form": form, "set": label_set, "newest": guidelines.latest(label_set)}
    return render(request, "annotate/label_guidelines_new.html", context, status=400 if form.errors else 200)


def _newest(label_set: LabelSet) -> dict[str, Any]:
    newest = guidelines.latest(label_set)
    return {"text": newest.text, "base": newest.version} if newest else {"base": 0}


def _context(label_set: LabelSet, person: User) -> dict[str, Any]:
    return {
        "set": label_set,
        "guide": label_page.guide(guidelines.latest(label_set)),
        "versions": label_set.guidelines.select_related("by").order_by("-version"),
        "writes": person.role == Role.AUTHOR and label_set.state == LabelSetState.OPEN,
        "labels": label_set.assignments.filter(person=person).exists(),
    }


@annotator_required
@no_store
@require_POST
def label_guidelines_read(request: HttpRequest, pk: int) -> HttpResponse:
    """The announcement was read; it goes on where the person was."""
    work = get_worklist_for(person_of(request), pk)
    form = ReadForm(request.POST)
    if not form.is_valid():
        raise Invalid("Say which version you have read.")
    guidelines.mark_read(assignment=work.assignment, version=form.cleaned_data["version"])
    return redirect_to(work, form.cleaned_data["task"])
