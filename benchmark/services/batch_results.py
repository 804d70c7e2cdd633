"""What a batch brought, read by id in whatever order it comes and kept by the same rules as live calls."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import batched

from django.db import transaction
from django.utils import timezone

from benchmark.models import BatchJob, BatchRequest, Detection, DetectionCall
from benchmark.models.batches import BatchState, RequestFate
from benchmark.models.detectors import DetectionState
from benchmark.models.responses import CallOutcome
from benchmark.services import batches, detections, detectors
from benchmark.services.detections import Case, Judgement
from fpco_site.llm import engine
from fpco_site.llm.batches import Result
from fpco_site.llm.engine import Call
from fpco_site.llm.engine.faults import Fault
from fpco_site.llm.models import Leased
from fpco_site.llm.types import ErrorKind

GROUP = 100  # results in one transaction
LABELLED = (CallOutcome.ANSWERED, CallOutcome.CUT, CallOutcome.REFUSED)


@dataclass
class _Read:
    """The ids that came so far; the first result of an id counts."""

    seen: set[str] = field(default_factory=set)
    strange: int = 0
    asked: frozenset[str] = frozenset()

    def fresh(self, results: Iterable[Result]) -> Iterator[Result]:
        for result in results:
            if result.id not in self.asked:
                self.strange += 1
            elif result.id not in self.seen:
                self.seen.add(result.id)
                yield result


def collect(*, batch: BatchJob, results: Iterable[Result]) -> Iterator[None]:
    """Keep results group by group, yielding after each commit.

    May be broken off and done again: what was kept is no longer held, and is passed over.
    """
    read = _Read(asked=frozenset(map(str, batch.requests.values_list("detection_id", flat=True))))
    for group in batched(read.fresh(results), GROUP):
        _keep(batch, {int(result.id): result for result in group})
        yield
    if read.strange:
        lines = "1 line names" if read.strange == 1 else f"{read.strange:,} lines name"
        BatchJob.objects.filter(pk=batch.pk).update(error=f"{lines} a request that was not sent; nothing came of it.")


@transaction.atomic
def close(*, batch: BatchJob, worker: str) -> bool:
    """End a batch whose results are kept; what it still holds waits again. False where another worker has it."""
    ending = BatchJob.objects.filter(pk=batch.pk, worker=worker, state=BatchState.ENDED)
    if not ending.update(state=BatchState.COLLECTED):
        return False
    batches.give_back(batch=batch)
    if _barren(batch):
        reason = (
            f"Two batches in a row brought nothing; the last ended as {batch.provider_status}. "
            "Ask live, or resume to send another."
        )
        detectors.pause_by_engine(job=batch.job_id, reason=reason)
    return True


def _keep(batch: BatchJob, results: dict[int, Result]) -> None:
    """One group in one transaction: calls, labels, fates, and what is to be asked again."""
    with transaction.atomic():
        rows = batch.requests.filter(detection__in=results, fate=RequestFate.WAITING).order_by("pk")
        calls = [_call(batch, case, results[case.id]) for case in batches.cases(batch, rows, system="")]
        detections.record(calls=calls)
        ids = [call.claim.id for call in calls]
        _mark(batch, ids)
        # What has come and left no label is asked live next: a day for one more try would be long.
        own = [call.claim.id for call in calls if call.fault is not Fault.EVERYBODYS]
        again = Detection.objects.filter(pk__in=own, state__in=(DetectionState.BATCHED, DetectionState.WAITING))
        again.filter(requests__batch=batch).exclude(requests__fate=RequestFate.LABELLED).update(live=True)
        held = Detection.objects.filter(pk__in=ids, lease_token=batch.key, state=DetectionState.BATCHED)
        held.update(state=DetectionState.WAITING, **Leased.FREE)
    engine.hint()


def _call(batch: BatchJob, case: Case, result: Result) -> Call[Judgement]:
    """A result as a call that was made. Only a permanent error is the last word: others are asked again live."""
    error, fault = result.error, None
    if error is not None and error.kind is ErrorKind.PERMANENT:
        fault = Fault.EVERYBODYS if engine.is_everybodys(error) else Fault.OWN
    return Call(
        claim=case,
        request=None,
        started_at=batch.submitted_at or timezone.now(),
        seconds=0.0,
        reply=result.reply,
        error=error,
        last=error is None or fault is not None,
        fault=fault,
    )


def _mark(batch: BatchJob, ids: list[int]) -> None:
    """Write what became of each request, as its call tells."""
    found: dict[str, list[int]] = {}
    for call in batch.calls.filter(detection__in=ids).only("detection_id", "outcome", "error_class"):
        found.setdefault(_fate(call), []).append(call.detection_id)
    for fate, detections_of in found.items():
        batch.requests.filter(detection__in=detections_of).update(fate=fate)


def _fate(call: DetectionCall) -> str:
    if call.outcome in LABELLED:
        return RequestFate.LABELLED
    bad = call.error_class == "unusable" or call.outcome in (CallOutcome.BLOCKED, CallOutcome.EMPTY)
    return RequestFate.UNUSABLE if bad else RequestFate.FAILED


def _barren(batch: BatchJob) -> bool:
    """Whether neither this batch, which nobody cancelled, nor the one before it brought anything."""
    last = list(BatchJob.objects.filter(job=batch.job_id, state=BatchState.COLLECTED, cancel=False).order_by("-pk")[:2])
    came = BatchRequest.objects.filter(batch__in=last).exclude(fate=RequestFate.RETURNED)
    return len(last) == 2 and last[0].pk == batch.pk and not came.exists()
