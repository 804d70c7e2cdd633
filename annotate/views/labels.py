"""Label: one's own sets, one task at a time, blind."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate import label_page, worklist
from annotate.forms.labels import AdvanceForm, FlagForm
from annotate.label_list import Listing
from annotate.models import Assignment, LabelSet, LabelTask, User
from annotate.permissions import annotator_required, person_of
from annotate.services import claims, guidelines, labels, presses, task_marks
from annotate.worklist import Worklist
from fpco_site.errors import Invalid

no_store = cache_control(no_store=True, private=True)


def get_worklist_for(user: User, pk: int) -> Worklist:
    """This person's work on a set; 404 where there is none."""
    mine = Assignment.objects.select_related("label_set", "guideline_read")
    return Worklist(get_object_or_404(mine, label_set__pk=pk, person=user))


def get_task_for(work: Worklist, pk: uuid.UUID) -> LabelTask:
    """A task of one's own set; 404 for any other."""
    tasks = LabelTask.objects.filter(label_set=work.assignment.label_set_id).select_related("image")
    return get_object_or_404(tasks, pk=pk)


@annotator_required
@no_store
@require_GET
def label_home(request: HttpRequest) -> HttpResponse:
    """The sets that this person labels."""
    person = person_of(request)
    context = {"shares": worklist.shares_of(person), "pools": worklist.pools_for(person)}
    return render(request, "annotate/label_home.html", context)


@annotator_required
@no_store
@require_GET
def label_set(request: HttpRequest, pk: int) -> HttpResponse:
    """One's own progress in a set, what is missing, flagged or unsure, and the way to submit."""
    work = get_worklist_for(person_of(request), pk)
    context = {
        "work": work,
        "listing": Listing(work, request.GET.get("show", "")),
        "next": work.next_after(),
        "back": work.last_before(),
        "guide": label_page.guide(guidelines.latest(work.assignment.label_set)),
        "news": guidelines.unread(work.assignment),
    }
    return render(request, "annotate/label_set.html", context)


@annotator_required
@no_store
@require_http_methods(["GET", "POST"])
def label_task(request: HttpRequest, pk: int, task: uuid.UUID) -> HttpResponse:
    """One answer to judge: a press saves it and shows the next one. A script asks for the parts that change."""
    if request.method == "POST":
        return _press(request, pk, task)
    work = get_worklist_for(person_of(request), pk)
    if request.GET.get("part") == "standing" and task in work.places:
        return JsonResponse(_parts(request, work, task))
    chosen = get_task_for(work, task)
    if work.assignment.is_locked:
        return redirect("label_set", pk)
    if not claims.take(assignment=work.assignment, task=task):
        return redirect_to(work, claims.hand_out(work=work, after=task))
    if request.headers.get("HX-Request") == "true":
        newest = guidelines.latest(work.assignment.label_set)
        return render(request, "annotate/label_task.html#labelling", label_page.part(work, chosen, newest))
    return render(request, "annotate/label_task.html", label_page.context(work, chosen))


def _press(request: HttpRequest, pk: int, task: uuid.UUID) -> HttpResponse:
    """Store the press and go on. No text of the task is read for it."""
    press = presses.read(request.POST)
    try:
        work = Worklist(presses.store(person=person_of(request), label_set=pk, task=task, press=press))
    except LabelTask.DoesNotExist:
        raise Http404 from None
    return _after(request, work, task, ahead=press.shown != task and press.shown in work.places)


def _after(request: HttpRequest, work: Worklist, task: uuid.UUID, *, ahead: bool) -> HttpResponse:
    """Where it goes on: nowhere for a page that went on already, else the next answer or the same one."""
    if ahead and _wants_json(request):
        return JsonResponse({})
    goes_on = work.assignment.auto_advance
    following = claims.hand_out(work=work, after=task) if goes_on else work.next_after(task)
    target = _address(work, following) if following else reverse("label_set", args=[work.assignment.label_set_id])
    if _wants_json(request):
        return JsonResponse({"next": target, "more": following is not None})
    return redirect(target if goes_on else _address(work, task))


def _parts(request: HttpRequest, work: Worklist, shown: uuid.UUID) -> dict[str, Any]:
    """The parts of a page on answer `shown` that a saved press changes, and the guidelines' version now.

    Asked for by itself: a press that is saved has not to wait for what is drawn from it.
    """
    context = label_page.progress(work, shown)
    return {
        "version": guidelines.newest_version(work.assignment.label_set),
        "state": render_to_string("annotate/label_task.html#state", context, request),
        "moves": render_to_string("annotate/label_task.html#moves", context, request),
    }


def _address(work: Worklist, task: uuid.UUID) -> str:
    return reverse("label_task", args=[work.assignment.label_set_id, task])


def redirect_to(work: Worklist, task: uuid.UUID | None) -> HttpResponse:
    """Back to an answer of the set, or to the set's own page."""
    if task in work.places:
        return redirect("label_task", work.assignment.label_set_id, task)
    return redirect("label_set", work.assignment.label_set_id)


def _wants_json(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "").startswith("application/json")


@annotator_required
@no_store
@require_POST
def label_flag(request: HttpRequest, pk: int, task: uuid.UUID) -> HttpResponse:
    """Flag an answer to come back to, or take the flag away."""
    work = get_worklist_for(person_of(request), pk)
    chosen = get_task_for(work, task)
    form = FlagForm(request.POST)
    if not form.is_valid():
        raise Invalid("Say whether the answer is to be flagged.")
    mark = task_marks.flag(assignment=work.assignment, task=chosen, flagged=form.cleaned_data["flagged"])
    if _wants_json(request):
        return JsonResponse({"flagged": mark.flagged, **_parts(request, work, chosen.pk)})
    return redirect("label_task", pk, task)


@annotator_required
@no_store
@require_POST
def label_advance(request: HttpRequest, pk: int) -> HttpResponse:
    """Choose whether a saved label brings the next answer by itself."""
    work = get_worklist_for(person_of(request), pk)
    form = AdvanceForm(request.POST)
    if not form.is_valid():
        raise Invalid("Say whether to go on by itself.")
    task_marks.advance(assignment=work.assignment, on=form.cleaned_data["on"])
    if _wants_json(request):
        return JsonResponse({"on": form.cleaned_data["on"]})
    return redirect_to(work, form.cleaned_data["task"])


@annotator_required
@require_POST
def label_submit(request: HttpRequest, pk: int) -> HttpResponse:
    """Lock one's labels."""
    work = get_worklist_for(person_of(request), pk)
    labels.submit(assignment=work.assignment)
    messages.success(request, "Submitted. Your labels are locked now. Thank you.")
    return redirect("label_set", pk)


@annotator_required
@require_POST
def label_join(request: HttpRequest, pk: int) -> HttpResponse:
    """Take part in an open pool."""
    labels.join(label_set=get_object_or_404(LabelSet, pk=pk, mode="pool"), by=person_of(request))
    return redirect("label_set", pk)
