"""Detectors, and the wish that one of them label every ended dialogue of a dataset."""

from collections.abc import Collection
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from annotate.models import Dataset, User
from benchmark.models import BatchJob, Detection, DetectionJob, Detector, Dialogue, Run
from benchmark.models.batches import OPEN_BATCHES
from benchmark.models.detectors import UNENDED, DetectionState, JobMode, JobState
from benchmark.models.runs import RunState
from benchmark.services import spending
from fpco_site.errors import Conflict, Invalid
from fpco_site.llm import batches, engine, prompts, providers
from fpco_site.llm.models import EndpointFields

OPEN = (JobState.RUNNING, JobState.PAUSED)
PROMPT = "detector"
BATCHES = "benchmark.work_batches"  # the task that takes batches further
# A change of these makes another detector; of name, prices and concurrency does not.
_IDENTITY = (
    "prompt_sha256",
    "provider",
    "model_id",
    "base_url",
    "max_output_tokens",
    "temperature",
    "top_p",
    "options",
    "not_sent",
)


@transaction.atomic
def create(*, by: User | None, **values: Any) -> Detector:
    """A detector from the columns of `Detector`: the first of its slug, or a new version where settings differ.

    Raises Invalid with what is wrong, Conflict where the newest version of the slug is the same.
    """
    made, changed = ensure(by=by, **values)
    if not changed:
        raise Conflict(f"{made} has the same model, prompt and settings already.")
    return made


@transaction.atomic
def ensure(*, by: User | None, slug: str, prompt_version: int | None = None, **values: Any) -> tuple[Detector, bool]:
    """The newest version of a detector with these settings and prompt, and whether it was made now.

    Name, key, prices and concurrency of the version that exists are brought up to date.
    """
    prompt = prompts.load(PROMPT, prompt_version)
    newest = Detector.objects.filter(slug=slug).order_by("-version").first()
    if newest is not None and newest.model_id == values.get("model_id"):
        values.setdefault("not_sent", newest.not_sent)
    made = Detector(
        slug=slug,
        version=newest.version + 1 if newest else 1,
        prompt_name=prompt.name,
        prompt_version=str(prompt.version),
        prompt_sha256=prompt.sha256,
        simulated=providers.is_simulated(values.get("provider", "")),
        **values,
    )
    try:
        made.full_clean()
    except ValidationError as error:
        raise Invalid(f"{made.name or 'The detector'}: {' '.join(error.messages)}") from error
    if newest is None or any(getattr(newest, name) != getattr(made, name) for name in _IDENTITY):
        made.save()
        return made, True
    for name, value in values.items():
        setattr(newest, name, value)
    newest.save()
    return newest, False


@transaction.atomic
def ask_otherwise(*, detector: Detector, by: User | None, **values: Any) -> Detector:
    """A detector with other settings and everything else as it is: a new version, unless nothing differs."""
    kept = {field.name: getattr(detector, field.name) for field in EndpointFields._meta.get_fields()}
    version = int(detector.prompt_version) if detector.prompt_version.isdigit() else None
    kept |= {"slug": detector.slug, "name": detector.name, "prompt_version": version, **values}
    return ensure(by=by, **kept)[0]


@transaction.atomic
def request(
    *, detector: Detector, dataset: Dataset, by: User | None, retry: bool = False, mode: str | None = None
) -> DetectionJob:
    """Have a detector label every dialogue of a dataset's runs, now and while the job is open.

    May be asked any number of times: it adds what is missing and changes no label. With `retry`,
    detections that failed are asked again. A paused job goes on. With `mode`, what is not asked yet goes
    by live calls or by batches from now on; else as before.

    Raises Invalid for a detector that can't run or takes no batches, NotConfigured for a missing key,
    Conflict before any run.
    """
    _check(detector)
    if mode == JobMode.BATCH:
        batches.check(detector.endpoint())
    if not Run.objects.filter(dataset=dataset).exclude(state=RunState.DRAFT).exists():
        raise Conflict(f"Nothing has run over {dataset} yet: run a model first, then detect.")
    job, _ = DetectionJob.objects.get_or_create(
        detector=detector, dataset=dataset, defaults={"concurrency": detector.concurrency, "started_by": by}
    )
    job = DetectionJob.objects.select_for_update().get(pk=job.pk)
    spending.open_job(job=job)
    _add(job, Dialogue.objects.filter(run__dataset=dataset).exclude(run__state=RunState.DRAFT))
    if retry:
        failed = job.detections.filter(state=DetectionState.FAILED)
        failed.update(state=DetectionState.WAITING, bad=0, live=False)
    job.state, job.pause_reason, job.finished_at, job.mode = JobState.RUNNING, "", None, mode or job.mode
    job.save(update_fields=["state", "pause_reason", "finished_at", "mode"])
    finish(job=job.pk)
    _hint(job)
    return DetectionJob.objects.get(pk=job.pk)


@transaction.atomic
def pause(*, job: DetectionJob, by: User | None) -> None:
    """Ask nothing more for now; calls in flight finish and are kept, batches are cancelled and keep what came.

    Where the engine has paused a job, its batches go on until a person pauses it, too.
    """
    reason = f"Paused by {by}." if by else "Paused."
    changed = DetectionJob.objects.filter(pk=job.pk, state=JobState.RUNNING)
    paused = changed.update(state=JobState.PAUSED, pause_reason=reason)
    going = BatchJob.objects.filter(job=job, state__in=OPEN_BATCHES, cancel=False)
    if not going.update(cancel=True) and not paused:
        raise Conflict("Only detecting that is running can be paused.")
    engine.hint(BATCHES)


@transaction.atomic
def resume(*, job: DetectionJob, by: User | None) -> None:
    """Go on with a paused job where it was. Raises NotConfigured where its key is still missing."""
    providers.check(job.detector.endpoint())
    changed = DetectionJob.objects.filter(pk=job.pk, state=JobState.PAUSED)
    if not changed.update(state=JobState.RUNNING, pause_reason=""):
        raise Conflict("Only detecting that is paused can be resumed.")
    _hint(job)


def cover(*, run: Run) -> None:
    """Let every open job of the run's dataset label this run too."""
    for job in DetectionJob.objects.filter(dataset=run.dataset_id, state__in=OPEN):
        _add(job, Dialogue.objects.filter(run=run))


def take_up(*, run: Run, dialogues: Collection[int]) -> None:
    """Dialogues that are asked again: their new answers will want labels too."""
    rows = Detection.objects.filter(dialogue__in=dialogues)
    done = rows.filter(state__in=(DetectionState.COMPLETE, DetectionState.FAILED))
    jobs = set(rows.order_by().values_list("job", flat=True).distinct())
    done.update(state=DetectionState.WAITING, bad=0, live=False)
    closed = DetectionJob.objects.filter(pk__in=jobs).exclude(state__in=OPEN)
    closed.update(state=JobState.RUNNING, finished_at=None)


def pause_by_engine(*, job: int, reason: str) -> None:
    """Pause a running job and say why."""
    DetectionJob.objects.filter(pk=job, state=JobState.RUNNING).update(state=JobState.PAUSED, pause_reason=reason)


def finish_of(*, dataset: int) -> None:
    """End the open jobs of a dataset that have nothing left to do."""
    for job in DetectionJob.objects.filter(dataset=dataset, state__in=OPEN).order_by("pk"):
        finish(job=job.pk)


def finish(*, job: int) -> None:
    """End an open job when each detection has ended and no run over its dataset is open any more."""
    row = DetectionJob.objects.select_for_update().filter(pk=job, state__in=OPEN).first()
    if row is None or Run.objects.filter(_still_open(), dataset=row.dataset_id).exists():
        return
    if row.detections.filter(state__in=UNENDED).exists():
        return
    failed = row.detections.filter(state=DetectionState.FAILED).exists()
    row.state = JobState.INCOMPLETE if failed else JobState.COMPLETE
    row.finished_at, row.pause_reason = timezone.now(), ""
    row.save(update_fields=["state", "finished_at", "pause_reason"])


def _hint(job: DetectionJob) -> None:
    engine.hint_for(job.detector.provider)
    engine.hint(BATCHES)


def _still_open() -> Q:
    return Q(state__in=(RunState.RUNNING, RunState.PAUSED))


def _add(job: DetectionJob, dialogues: models.QuerySet[Dialogue]) -> None:
    """A detection for each dialogue that this detector has none of."""
    missing = dialogues.exclude(detections__detector=job.detector_id).order_by("pk").values_list("pk", flat=True)
    rows = [Detection(job=job, detector_id=job.detector_id, dialogue_id=dialogue) for dialogue in missing]
    Detection.objects.bulk_create(rows, batch_size=2000, ignore_conflicts=True)


def _check(detector: Detector) -> None:
    if detector.imported:
        raise Invalid(f"{detector} is known from a release only: give it a provider before it detects.")
    if not detector.active:
        raise Invalid(f"{detector} is inactive: activate it before it detects.")
    providers.check(detector.endpoint())
