"""Detectors: their versions, where each was asked, and the jobs over a dataset."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_POST, require_safe

from annotate.models import Dataset
from annotate.permissions import author_required, person_of, reader_required
from benchmark import asking, batching, catalogue, connections, progress
from benchmark.forms.models import DetectorForm
from benchmark.forms.runs import AskForm, AskOverForm
from benchmark.models import DetectionJob, Detector, Run
from benchmark.models.detectors import JobMode, JobState
from benchmark.services import detectors
from fpco_site.errors import FpcoError
from fpco_site.forms import whole_number
from fpco_site.llm import batches, prompts


@require_safe
@reader_required
def detector_list(request: HttpRequest) -> HttpResponse:
    entries = catalogue.detector_entries(Detector.objects.order_by("slug", "-version"))
    return render(request, "benchmark/detector_list.html", {"entries": entries, "section": "model_list"})


@require_safe
@reader_required
def detector_detail(request: HttpRequest, pk: int) -> HttpResponse:
    detector = _detector(pk)
    context = {
        **_jobs(detector),
        "section": "model_list",
        "entry": catalogue.detector_entries(Detector.objects.filter(pk=pk))[0],
        "standing": connections.standing(detector),
        "versions": Detector.objects.filter(slug=detector.slug).order_by("-version"),
        "form": AskOverForm(),
        "has_batches": batches.offered(detector.provider),
        "other_prompt": _other_prompt(detector),
    }
    return render(request, "benchmark/detector_detail.html", context)


@require_safe
@reader_required
def detector_live(request: HttpRequest, pk: int) -> HttpResponse:
    """The jobs of a detector; asks for itself again while one of them works."""
    return render(request, "benchmark/detector_detail.html#live", _jobs(_detector(pk)))


@author_required
def detector_new(request: HttpRequest) -> HttpResponse:
    return _form(request, None)


@author_required
def detector_version(request: HttpRequest, pk: int) -> HttpResponse:
    """A new version of a detector; labels of the old one stay with the old one."""
    return _form(request, _detector(pk))


@require_safe
@author_required
def detector_ask(request: HttpRequest) -> HttpResponse:
    """How many dialogues a detector would be asked about, and at what cost; a press then asks it."""
    form = AskForm(request.GET)
    if not form.is_valid():
        messages.error(request, "Choose a detector that can be asked, and a dataset that something has run over.")
        return redirect("detector_list")
    chosen = form.cleaned_data
    plan = asking.plan(detector=chosen["detector"], dataset=chosen["dataset"], mode=chosen["mode"])
    context = {"plan": plan, "mode": chosen["mode"], "section": "model_list"}
    return render(request, "benchmark/detector_ask.html", context)


@require_POST
@author_required
def detector_request(request: HttpRequest, pk: int) -> HttpResponse:
    detector, form = _detector(pk), AskOverForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose a dataset that this detector shall label.")
        return redirect("detector_detail", pk)
    dataset, mode = form.cleaned_data["dataset"], form.cleaned_data["mode"]
    job = detectors.request(detector=detector, dataset=dataset, by=person_of(request), mode=mode or None)
    how = " in batches" if job.mode == JobMode.BATCH else ""
    messages.success(request, f"{detector} labels the answers over {dataset}{how}, and those still to come.")
    return redirect("detector_detail", pk)


@require_POST
@author_required
def job_pause(request: HttpRequest, pk: int) -> HttpResponse:
    job = _job(pk)
    detectors.pause(job=job, by=person_of(request))
    return redirect("detector_detail", job.detector_id)


@require_POST
@author_required
def job_resume(request: HttpRequest, pk: int) -> HttpResponse:
    job = _job(pk)
    detectors.resume(job=job, by=person_of(request))
    return redirect("detector_detail", job.detector_id)


@require_POST
@author_required
def job_retry(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask again the detections that failed."""
    job = _job(pk)
    detectors.request(detector=job.detector, dataset=job.dataset, by=person_of(request), retry=True)
    return redirect("detector_detail", job.detector_id)


@require_safe
@reader_required
def dataset_runs(request: HttpRequest, pk: int) -> HttpResponse:
    """What ran over a dataset and what labelled it: a fragment for the dataset's page."""
    dataset = get_object_or_404(Dataset, pk=pk)
    runs = list(Run.objects.filter(dataset=dataset).select_related("model", "dataset"))
    counts = progress.dialogue_counts(runs)
    jobs = list(DetectionJob.objects.filter(dataset=dataset).select_related("detector").order_by("id"))
    context = {
        "dataset": dataset,
        "rows": [(run, counts[run.pk]) for run in runs],
        **_with_counts(jobs),
        "form": AskForm(),
        "section": "dataset_list",
    }
    context["live"] = context["live"] or any(run.state == "running" for run in runs)
    # The dataset's page asks for the fragment; who follows the link without JavaScript gets a page.
    template = "_dataset_runs" if request.headers.get("HX-Request") else "dataset_runs"
    answer = render(request, f"benchmark/{template}.html", context)
    patch_vary_headers(answer, ["HX-Request"])
    return answer


def _other_prompt(detector: Detector) -> int | None:
    """The newest version of the prompt that this detector does not use; None where there is no other."""
    others = [number for number in prompts.versions(detectors.PROMPT) if str(number) != detector.prompt_version]
    return max(others, default=None)


def _form(request: HttpRequest, base: Detector | None) -> HttpResponse:
    other = whole_number(request.GET.get("prompt", ""))
    form = DetectorForm(request.POST or None, initial=DetectorForm.initial_of(base, prompt=other) if base else None)
    if request.method == "POST" and form.is_valid():
        try:
            made = detectors.create(by=person_of(request), **form.values())
        except FpcoError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, f"{made} is version {made.version}.")
            return redirect("detector_detail", made.pk)
    return render(request, "benchmark/detector_form.html", {"form": form, "base": base, "section": "model_list"})


def _detector(pk: int) -> Detector:
    return get_object_or_404(Detector, pk=pk)


def _job(pk: int) -> DetectionJob:
    return get_object_or_404(DetectionJob.objects.select_related("detector", "dataset"), pk=pk)


def _jobs(detector: Detector) -> dict[str, Any]:
    jobs = list(detector.jobs.select_related("detector", "dataset").order_by("-id"))
    return {"detector": detector, "batches": batching.standings(jobs), **_with_counts(jobs)}


def _with_counts(jobs: list[DetectionJob]) -> dict[str, Any]:
    counts = progress.detection_counts(jobs)
    return {
        "jobs": [(job, counts[job.pk]) for job in jobs],
        "live": any(job.state == JobState.RUNNING for job in jobs),
    }
