"""Label: one's own sets, one task at a time, blind."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect, push_url

from annotate import guidelines, worklist
from annotate.drafting import Segment, split_marks
from annotate.forms.labels import LabelForm
from annotate.models import Assignment, LabelSet, LabelTask, User
from annotate.permissions import annotator_required, person_of
from annotate.services import labels
from annotate.worklist import Worklist
from fpco_site.errors import Invalid

no_store = cache_control(no_store=True, private=True)


def get_worklist_for(user: User, pk: int) -> Worklist:
    """This person's work on a set; 404 where there is none."""
    return Worklist(get_object_or_404(Assignment.objects.select_related("label_set"), label_set__pk=pk, person=user))


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
    """One's own progress in a set, every label that one gave, and the way to submit them."""
    work = get_worklist_for(person_of(request), pk)
    rows = [(work.places[task.pk], task, work.labels[task.pk]) for task in work.tasks if task.pk in work.labels]
    if request.GET.get("show") == "unsure":
        rows = [row for row in rows if row[2].unsure]
    context = {"work": work, "rows": rows, "next": work.next_after(), "guideline": _guideline(work.assignment)}
    return render(request, "annotate/label_set.html", context)


@annotator_required
@no_store
@require_http_methods(["GET", "POST"])
def label_task(request: HttpRequest, pk: int, task: uuid.UUID) -> HttpResponse:
    """One answer to judge: a press saves it and shows the next one."""
    work = get_worklist_for(person_of(request), pk)
    chosen = get_task_for(work, task)
    if request.method == "POST":
        _record(request, work, chosen)
        return _after(request, Worklist(work.assignment), chosen)
    if work.assignment.is_locked:
        return redirect("label_set", pk)
    return render(request, "annotate/label_task.html", _task_context(work, chosen))


def _record(request: HttpRequest, work: Worklist, task: LabelTask) -> None:
    form = LabelForm(request.POST)
    if not form.is_valid():
        raise Invalid("Choose one of the two answers." if "detect" in form.errors else "The page sent a broken label.")
    values = form.cleaned_data
    labels.record(assignment=work.assignment, task=task, **values)


def _after(request: HttpRequest, work: Worklist, task: LabelTask) -> HttpResponse:
    """The next task without a label, as a part of the page or as a redirect; else the summary."""
    following = work.next_after(task.pk)
    if following is None:
        target = reverse("label_set", args=[work.assignment.label_set_id])
        return HttpResponseClientRedirect(target) if _is_htmx(request) else redirect(target)
    target = reverse("label_task", args=[work.assignment.label_set_id, following])
    if not _is_htmx(request):
        return redirect(target)
    context = _task_context(work, get_task_for(work, following))
    return push_url(render(request, "annotate/label_task.html#labelling", context), target)


def _is_htmx(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request") == "true"


def _task_context(work: Worklist, task: LabelTask) -> dict[str, Any]:
    right, asked = split_marks(task.content, task.modified) if task.modified else ([Segment(task.content, False)], [])
    return {
        "work": work,
        "task": task,
        "right": right,
        "asked": asked,
        "label": work.label_of(task.pk),
        "place": work.places[task.pk],
        "back": work.last_before(task.pk),
        "skip": work.next_after(task.pk),
        "earlier": work.neighbour(task.pk, -1),
        "later": work.neighbour(task.pk, 1),
        "client": uuid.uuid4(),
        "guideline": _guideline(work.assignment),
    }


def _guideline(assignment: Assignment) -> list[guidelines.Block]:
    written = assignment.label_set.guidelines.last()
    return guidelines.blocks(written.text) if written else []


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
