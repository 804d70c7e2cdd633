"""Jobs of drafting: the list with the form that starts one, one job, and one draft with all its calls."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import draft_progress, proposals
from annotate.forms.drafting import JobForm
from annotate.models import Draft, DraftCall, DraftJob
from annotate.models.drafts import DraftJobState, DraftState
from annotate.permissions import author_required, person_of
from annotate.selectors import cell_words
from annotate.services import draft_jobs, drafters
from fpco_site.errors import FpcoError

PER_PAGE, DRAFTS_PER_PAGE = 20, 50
ROOM = {"section": "review_queue"}


@require_http_methods(["GET", "HEAD", "POST"])
@author_required
def drafting_list(request: HttpRequest) -> HttpResponse:
    """The jobs, and the form for a new one."""
    drafters.default()
    form = JobForm(
        request.POST or None,
        initial={name: request.GET[name] for name in ("scope", "item", "cell") if name in request.GET},
    )
    if request.method == "POST" and form.is_valid():
        try:
            job = draft_jobs.start(wish=form.wish(), drafter=form.cleaned_data["drafter"], by=person_of(request))
        except FpcoError as error:
            form.add_error(None, error.message)
        else:
            return redirect("drafting_job", job.pk)
    context = {"form": form, **_estimate(form), **_jobs(request), "proposed": proposals.queue().count(), **ROOM}
    return render(request, "annotate/drafting_list.html", context, status=400 if form.errors else 200)


@require_safe
@author_required
def drafting_estimate(request: HttpRequest) -> HttpResponse:
    """How many items and calls the form as it stands would take."""
    return render(request, "annotate/drafting_list.html#estimate", _estimate(JobForm(request.GET)))


@require_safe
@author_required
def drafting_live(request: HttpRequest) -> HttpResponse:
    """The table of jobs; it asks for itself again while one of them works."""
    context = {**_jobs(request), "proposed": proposals.queue().count()}
    return render(request, "annotate/drafting_list.html#jobs", context)


@require_safe
@author_required
def drafting_job(request: HttpRequest, pk: int) -> HttpResponse:
    return render(request, "annotate/drafting_job.html", {**_live(request, _job(pk)), **ROOM})


@require_safe
@author_required
def drafting_job_live(request: HttpRequest, pk: int) -> HttpResponse:
    return render(request, "annotate/drafting_job.html#live", _live(request, _job(pk)))


@require_POST
@author_required
def drafting_stop(request: HttpRequest, pk: int) -> HttpResponse:
    draft_jobs.stop(job=_job(pk), by=person_of(request))
    messages.success(request, "Stopped. Calls in flight are finished and kept.")
    return redirect("drafting_job", pk)


@require_POST
@author_required
def drafting_continue(request: HttpRequest, pk: int) -> HttpResponse:
    draft_jobs.go_on(job=_job(pk), by=person_of(request))
    return redirect("drafting_job", pk)


@require_safe
@author_required
def draft_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One draft: its prompt, every call, what was wrong with each, and what became of it."""
    rows = Draft.objects.select_related("item__image", "drafter", "job", "requested_by", "applied_by", "discarded_by")
    draft = get_object_or_404(rows, pk=pk)
    return render(request, "annotate/draft_detail.html", {"draft": draft, "calls": draft.calls.all(), **ROOM})


@require_safe
@author_required
def draft_call_raw(request: HttpRequest, pk: int, part: str) -> HttpResponse:
    """The request of a call, or its reply, as plain text."""
    if part not in ("request", "reply"):
        raise Http404
    call = get_object_or_404(DraftCall, pk=pk)
    return HttpResponse(getattr(call, part) or b"", content_type="text/plain; charset=utf-8")


def _job(pk: int) -> DraftJob:
    return get_object_or_404(DraftJob.objects.select_related("drafter", "item", "started_by"), pk=pk)


def _estimate(form: JobForm) -> dict[str, Any]:
    """What the form's job would draft now; of a form as it first stands, what its defaults would."""
    if not form.is_bound:
        values = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
        values["drafter"] = drafters.default().pk
        form = JobForm({name: value for name, value in values.items() if value is not None})
    if not form.is_valid():
        return {"plan": None}
    try:
        plan = draft_jobs.plan(wish=form.wish(), drafter=form.cleaned_data["drafter"])
    except FpcoError as error:
        return {"plan": None, "why": error.message}
    return {"plan": plan, "estimated": form.cleaned_data["drafter"]}


def _jobs(request: HttpRequest) -> dict[str, Any]:
    rows = DraftJob.objects.select_related("drafter", "item", "started_by")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    jobs = list(page.object_list)
    standing, spent = draft_progress.standing(jobs), draft_progress.spent(jobs)
    return {
        "page_obj": page,
        "jobs": [{"job": job, "of": _scope(job), "at": standing[job.pk], "spent": spent[job.pk]} for job in jobs],
        "live": any(job.state == DraftJobState.RUNNING for job in jobs),
    }


def _live(request: HttpRequest, job: DraftJob) -> dict[str, Any]:
    rows = job.drafts.select_related("item__image").defer("request", "reply")
    counts = dict(job.drafts.order_by().values_list("state").annotate(n=Count("pk")))
    state = request.GET.get("state", "")
    state = state if state in DraftState.values else ""
    page = Paginator((rows.filter(state=state) if state else rows).order_by("pk"), DRAFTS_PER_PAGE)
    return {
        "job": job,
        "of": _scope(job),
        "at": draft_progress.standing([job])[job.pk],
        "spent": draft_progress.spent([job])[job.pk],
        "live": job.state == DraftJobState.RUNNING,
        "page_obj": page.get_page(request.GET.get("page")),
        "state": state,
        "states": [(value, label, counts.get(value, 0)) for value, label in DraftState.choices if counts.get(value)],
        "proposed": proposals.queue().count(),
    }


def _scope(job: DraftJob) -> str:
    if job.item is not None:
        return job.item.target_description or job.item.target or job.item.key
    if job.complexity:
        return ", ".join(cell_words((job.complexity, job.category, job.premise_class)))
    return job.get_scope_display()
