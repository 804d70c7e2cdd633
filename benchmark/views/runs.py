"""Runs: the list, one run with its live progress, and what an author does with it."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_POST, require_safe

from annotate.models import Dataset
from annotate.permissions import author_required, person_of, reader_required
from benchmark import connections, estimates, pace, progress
from benchmark.forms.runs import ChangeForm, RetryForm, RunForm
from benchmark.models import Detector, Dialogue, EvaluatedModel, Run
from benchmark.models.runs import DialogueState, RunState
from benchmark.progress import WORDS
from benchmark.services import blindness, runs
from benchmark.views._shared import chosen, page_of
from fpco_site.errors import FpcoError
from fpco_site.forms import whole_number

DIALOGUES_PER_PAGE = 25


@require_safe
@reader_required
def run_list(request: HttpRequest) -> HttpResponse:
    filters = {
        "state": chosen(request, "state", RunState.values),
        "model": _number(request, "model"),
        "dataset": _number(request, "dataset"),
    }
    rows = Run.objects.select_related("model", "dataset").filter(**{k: v for k, v in filters.items() if v})
    page = page_of(request, rows)
    counts = progress.dialogue_counts(page.object_list)
    context = {
        "page_obj": page,
        "rows": [(run, counts[run.pk]) for run in page.object_list],
        "filters": filters,
        "states": RunState.choices,
        "models": EvaluatedModel.objects.filter(runs__isnull=False).distinct(),
        "datasets": Dataset.objects.order_by("-id"),
        "any": bool(rows) or Run.objects.exists(),
    }
    return render(request, "benchmark/run_list.html", context)


@require_safe
@reader_required
def run_detail(request: HttpRequest, pk: int) -> HttpResponse:
    run = _run(pk)
    state = chosen(request, "state", DialogueState.values)
    rows: dict[str, Any] = {"page_obj": page_of(request, _dialogues(run, state), DIALOGUES_PER_PAGE), "state": state}
    if request.headers.get("HX-Target") == "dialogue-rows":  # the list asks for itself again while something moves
        rows["live"] = progress.is_live(run)
        return render(request, "benchmark/run_detail.html#rows", rows)
    change = (
        ChangeForm(initial={"concurrency": run.concurrency, "budget": run.budget}) if run.state in runs.OPEN else None
    )
    withheld = blindness.withheld_from(person_of(request), run.dataset)
    context = {
        **_live(run),
        "withheld": withheld,
        "change": change,
        **rows,
        "states": DialogueState.choices,
    }
    answer = render(request, "benchmark/run_detail.html", context)
    patch_vary_headers(answer, ["HX-Target"])
    return answer


@require_safe
@reader_required
def run_live(request: HttpRequest, pk: int) -> HttpResponse:
    """The part of the page that moves; it asks for itself again while something does."""
    return render(request, "benchmark/run_detail.html#live", _live(_run(pk)))


@author_required
def run_new(request: HttpRequest) -> HttpResponse:
    form = RunForm(request.POST or None, initial=_wanted(request))
    if request.method == "POST" and form.is_valid():
        try:
            made = _create(form, request)
        except FpcoError as error:
            form.add_error(None, error.message)
        else:
            if len(made) == 1:
                return redirect("run_detail", made[0].pk)
            return redirect(f"{reverse('run_list')}?dataset={made[0].dataset_id}")
    return render(request, "benchmark/run_new.html", {"form": form, **_estimate(form)})


@require_safe
@author_required
def run_estimate(request: HttpRequest) -> HttpResponse:
    """What the form as it stands would take: calls, tokens, dollars, time."""
    return render(request, "benchmark/run_new.html#estimate", _estimate(RunForm(request.GET)))


@require_POST
@author_required
def run_start(request: HttpRequest, pk: int) -> HttpResponse:
    runs.start(run=_run(pk), by=person_of(request))
    return redirect("run_detail", pk)


@require_POST
@author_required
def run_pause(request: HttpRequest, pk: int) -> HttpResponse:
    runs.pause(run=_run(pk), by=person_of(request))
    messages.success(request, "Paused. Calls in flight are finished and kept.")
    return redirect("run_detail", pk)


@require_POST
@author_required
def run_resume(request: HttpRequest, pk: int) -> HttpResponse:
    runs.resume(run=_run(pk), by=person_of(request))
    return redirect("run_detail", pk)


@require_POST
@author_required
def run_change(request: HttpRequest, pk: int) -> HttpResponse:
    """Other concurrency or budget for an open run; it goes on from where it is."""
    run, form = _run(pk), ChangeForm(request.POST)
    if form.is_valid():
        runs.change(run=run, by=person_of(request), **form.cleaned_data)
        messages.success(request, "Changed.")
    else:
        messages.error(request, " ".join(str(error) for errors in form.errors.values() for error in errors))
    return redirect("run_detail", pk)


@require_POST
@author_required
def run_stop(request: HttpRequest, pk: int) -> HttpResponse:
    runs.stop(run=_run(pk), by=person_of(request))
    messages.success(request, "Stopped. What was answered is kept.")
    return redirect("run_detail", pk)


@author_required
def run_retry(request: HttpRequest, pk: int) -> HttpResponse:
    """How many dialogues would be taken up again, by outcome, and at what cost; then takes them up."""
    run = _run(pk)
    lost = runs.retriable(run=run)
    form = RetryForm(request.POST or None, lost=lost)
    if request.method == "POST" and form.is_valid():
        count = runs.retry(run=run, outcomes=form.cleaned_data["outcomes"], by=person_of(request))
        went_on = "1 dialogue goes on where it" if count == 1 else f"{count} dialogues go on where they"
        messages.success(request, f"{went_on} stopped.")
        return redirect("run_detail", pk)
    chosen_ = request.POST.getlist("outcomes")
    rows = [
        (row, WORDS[row.outcome], row.outcome in chosen_, estimates.retry(run=run, dialogues=row.ids)) for row in lost
    ]
    context = {"run": run, "form": form, "rows": rows, "larger_cap": _larger_cap(run)}
    return render(request, "benchmark/run_retry.html", context)


def _run(pk: int) -> Run:
    return get_object_or_404(Run.objects.select_related("model", "dataset", "started_by"), pk=pk)


def _number(request: HttpRequest, name: str) -> int | None:
    return whole_number(request.GET.get(name, ""))


def _wanted(request: HttpRequest) -> dict[str, Any]:
    """What a link to the form has chosen before: a dataset, or a run to be made again with other settings."""
    named = _number(request, "from")
    before = None if named is None else Run.objects.select_related("model").filter(pk=named).first()
    if before is None:
        return {"dataset": request.GET.get("dataset", ""), "models": request.GET.getlist("models")}
    kept = {name: value for name in runs.OVERRIDABLE if (value := before.settings.get(name)) is not None}
    own = {name: value for name, value in kept.items() if value != getattr(before.model, name)}
    version = int(before.prompt_version) if before.prompt_version.isdigit() else None
    return {
        **own,
        "dataset": before.dataset_id,
        "models": [before.model_id],
        "concurrency": before.concurrency,
        "budget": before.budget,
        "prompt_version": version,
        "max_output_tokens": _number(request, "cap") or own.get("max_output_tokens"),
    }


def _dialogues(run: Run, state: str) -> QuerySet[Dialogue]:
    rows = run.dialogues.select_related("item", "item__image").order_by("id")
    return rows.filter(state=state) if state else rows


def _live(run: Run) -> dict[str, Any]:
    turns = progress.turn_counts(run)
    dialogues = progress.dialogue_counts([run])[run.pk]
    return {
        "run": run,
        "turns": turns,
        "dialogues": dialogues,
        "spent": progress.spent(run),
        "troubles": progress.troubles(run),
        "coverage": progress.coverage(run, turns.with_text),
        "live": progress.is_live(run),
        "unserved": progress.is_unserved(run),
        "lost": turns.blocked + turns.empty + turns.failed,
        "larger_cap": _larger_cap(run),
        **_moving(run, dialogues),
    }


def _larger_cap(run: Run) -> int | None:
    """A cap to offer for a new run; None where this one's isn't known."""
    cap = run.settings.get("max_output_tokens")
    return runs.larger_cap(cap) if cap and not run.imported else None


def _moving(run: Run, dialogues: progress.DialogueCounts) -> dict[str, Any]:
    """How fast a run goes and why not faster; nothing where it doesn't."""
    if run.imported or not (run.state == RunState.RUNNING or dialogues.running):
        return {}
    now, at_once = pace.pace(run), pace.concurrency(run, dialogues)
    goes = run.state == RunState.RUNNING and at_once.workers
    left = now.left(pace.turns_left(run, dialogues)) if goes else None
    return {"pace": now, "left": left, "at_once": at_once}


@transaction.atomic
def _create(form: RunForm, request: HttpRequest) -> list[Run]:
    """One run a chosen model, all or none."""
    plan, made = form.cleaned_data, []
    for model in plan["models"]:
        try:
            run = runs.create(
                model=model,
                dataset=plan["dataset"],
                concurrency=plan["concurrency"] or model.concurrency,
                budget=plan["budget"],
                prompt_version=plan["prompt_version"],
                overrides=form.overrides(),
                by=person_of(request),
            )
            if "start" in request.POST:
                runs.start(run=run, by=person_of(request))
        except FpcoError as error:
            error.message = f"{model.name}: {error.message}"
            raise
        made.append(run)
    return made


def _estimate(form: RunForm) -> dict[str, Any]:
    """What the chosen models would take over the chosen dataset; nothing where no dataset is."""
    dataset, models = form.chosen()
    if dataset is None:
        return {}
    rows = estimates.of_models(models=models, dataset=dataset, **form.plan())
    judges = list(Detector.objects.filter(active=True, imported=False)) if rows else []
    judged = sum(row.dialogues for row in rows)
    labelling = estimates.of_detectors(detectors=judges, dataset=dataset, dialogues=judged)
    return {
        "dataset": dataset,
        "estimates": rows,
        "labelling": labelling,
        "all": estimates.total(rows),
        "all_labelling": estimates.total(labelling),
        "planned": progress.planned_calls(dataset),
        "untested": connections.untested(models),
        "without_picture": dataset.items.filter(image__isnull=True).count(),
    }
