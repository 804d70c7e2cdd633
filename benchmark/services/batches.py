"""Batches of detections: what goes into one, who holds it meanwhile, and how it is given back.

A batch's key is ours, is committed before the provider hears of it, and is the token under which the
batch holds its detections, so that no live lane asks about them too. The steps that bring a batch to the
provider and back are in `batch_steps`, the results in `batch_results`.
"""

import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import batched
from pathlib import Path

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from benchmark.models import BatchJob, BatchRequest, Detection, DetectionJob, Run
from benchmark.models.batches import OPEN_BATCHES, BatchState, RequestFate
from benchmark.models.detectors import DetectionState, JobMode, JobState
from benchmark.models.runs import ENDED, RunState
from benchmark.services import detection_work, detectors
from benchmark.services.detections import Case
from fpco_site.llm import batches, detection, engine
from fpco_site.llm.batches import Batches
from fpco_site.llm.models import Leased

ENOUGH = 2_000  # dialogues that wait make a batch of their own while models still answer
GROUP = 200  # dialogues whose texts are in memory at once


def ripe(job: DetectionJob) -> bool:
    """Whether it is time for a batch: much waits, or nothing more is coming for now."""
    if job.state != JobState.RUNNING or job.mode != JobMode.BATCH:
        return False
    waiting = _waiting(job).count()
    if not waiting or waiting >= ENOUGH:
        return bool(waiting)
    return not Run.objects.filter(dataset=job.dataset_id, state=RunState.RUNNING).exists()


def prepare(*, job: DetectionJob) -> BatchJob | None:
    """Put waiting detections into a new batch, as many as one file may hold; None where there is nothing to ask.

    Raises Invalid where the detector can't be asked so, NotConfigured without a key.
    """
    with closing(batches.make(job.detector.endpoint())) as remote:
        chosen = _fitting(job, remote)
    return _hold(job, chosen) if chosen else None


def write_file(batch: BatchJob, remote: Batches, path: Path) -> None:
    """The requests of a batch as lines. Made anew each time: texts never change, so the same lines come out."""
    system = detection_work.system_of(batch.job.detector)
    with path.open("wb") as file:
        for case in cases(batch, batch.requests.order_by("pk").iterator(), system=system):
            request = detection.request(system=case.state.system, items=case.state.items)
            file.write(remote.line(str(case.id), request))


def cases(batch: BatchJob, requests: Iterable[BatchRequest], *, system: str) -> Iterator[Case]:
    """The requests as claims under the batch's key, each with the turns that were asked about."""
    job = batch.job
    for group in batched(requests, GROUP):
        asked = {row.detection_id: set(row.ids) for row in group}
        for case in detection_work.cases(job, list(asked), batch.key, system):
            kept = tuple(item for item in case.state.items if item.id in asked[case.id])
            yield replace(case, state=replace(case.state, items=kept, batch=batch.pk, discount=batch.discount))


@transaction.atomic
def give_back(*, batch: BatchJob) -> int:
    """What a batch still holds waits again; returns how many. The caller ends the batch in the same transaction."""
    left = Detection.objects.filter(lease_token=batch.key, state=DetectionState.BATCHED)
    given = left.update(state=DetectionState.WAITING, **Leased.FREE)
    batch.requests.filter(fate=RequestFate.WAITING).update(fate=RequestFate.RETURNED)
    detectors.finish(job=batch.job_id)
    engine.hint()
    return given


@transaction.atomic
def withdraw(*, batch: BatchJob, worker: str, error: str = "", pause: bool = False) -> bool:
    """End a batch of which nothing will come; what it held waits again. False where another worker has it."""
    held = BatchJob.objects.filter(pk=batch.pk, worker=worker, state__in=OPEN_BATCHES)
    if not held.update(state=BatchState.WITHDRAWN, error=error, ended_at=timezone.now()):
        return False
    give_back(batch=batch)
    if pause:
        detectors.pause_by_engine(job=batch.job_id, reason=error)
    return True


def _waiting(job: DetectionJob) -> QuerySet[Detection]:
    return job.detections.filter(state=DetectionState.WAITING, live=False, dialogue__state__in=ENDED)


def _fitting(job: DetectionJob, remote: Batches) -> list[tuple[int, tuple[int, ...]]]:
    """(detection, turns to ask about) of as many as one file may hold."""
    system = detection_work.system_of(job.detector)
    keys = list(_waiting(job).order_by("pk").values_list("pk", flat=True)[: remote.limits.requests])
    chosen: list[tuple[int, tuple[int, ...]]] = []
    size = 0
    for group in batched(keys, GROUP):
        found = list(detection_work.cases(job, group, uuid.uuid4(), system))
        _close_empty(job, set(group) - {case.id for case in found})
        for case in found:
            request = detection.request(system=system, items=case.state.items)
            size += len(remote.line(str(case.id), request))
            if size > remote.limits.size:
                return chosen
            chosen.append((case.id, case.state.ids))
    return chosen


@transaction.atomic
def _close_empty(job: DetectionJob, ids: set[int]) -> None:
    """End detections that wait with nothing to label."""
    if ids:
        Detection.objects.filter(pk__in=ids, state=DetectionState.WAITING).update(state=DetectionState.COMPLETE)
        detectors.finish(job=job.pk)


@transaction.atomic
def _hold(job: DetectionJob, chosen: Sequence[tuple[int, tuple[int, ...]]]) -> BatchJob | None:
    """Commit a batch with what of `chosen` still waits, before anything is sent."""
    row = DetectionJob.objects.select_for_update().get(pk=job.pk)
    if row.state != JobState.RUNNING or row.mode != JobMode.BATCH:
        return None
    key, asked, taken = uuid.uuid4(), dict(chosen), list[int]()
    for group in batched(asked, 2_000):
        free = _waiting(row).filter(pk__in=group).order_by("pk").select_for_update(of=("self",))
        ids = list(free.values_list("pk", flat=True))
        Detection.objects.filter(pk__in=ids).update(state=DetectionState.BATCHED, lease_worker=None, lease_token=key)
        taken += ids
    if not taken:
        return None
    discount = batches.discount(job.detector.provider)
    batch = BatchJob.objects.create(job=row, key=key, discount=discount)
    rows = [BatchRequest(batch=batch, detection_id=pk, ids=list(asked[pk])) for pk in taken]
    BatchRequest.objects.bulk_create(rows, batch_size=2_000)
    return batch
