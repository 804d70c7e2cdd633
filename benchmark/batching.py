"""Batches as their pages show them: states, what became of their requests, cost. Reads only."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, Sum

from benchmark.models import BatchJob, BatchRequest, DetectionCall, DetectionJob
from benchmark.models.batches import OPEN_BATCHES, BatchState, RequestFate

TONES = {
    BatchState.PREPARED: ("idle", "clock"),
    BatchState.UPLOADED: ("info", "half"),
    BatchState.SUBMITTING: ("info", "half"),
    BatchState.SUBMITTED: ("info", "run"),
    BatchState.ENDED: ("info", "half"),
    BatchState.COLLECTED: ("good", "check"),
    BatchState.WITHDRAWN: ("warn", "stop"),
}


@dataclass(frozen=True)
class BatchStanding:
    """One batch with its requests in exactly one column each; `cost` is in US dollars, None with its reason."""

    batch: BatchJob
    waiting: int
    labelled: int
    unusable: int
    failed: int
    returned: int
    cost: Decimal | None
    reason: str

    @property
    def requests(self) -> int:
        return self.waiting + self.labelled + self.unusable + self.failed + self.returned

    @property
    def open(self) -> bool:
        return self.batch.state in OPEN_BATCHES

    @property
    def tone(self) -> str:
        return TONES[BatchState(self.batch.state)][0]

    @property
    def glyph(self) -> str:
        return TONES[BatchState(self.batch.state)][1]


def standings(jobs: Iterable[DetectionJob]) -> list[BatchStanding]:
    """The batches of these jobs, the newest first; three queries however many there are."""
    known = {job.pk: job for job in jobs}
    rows = list(BatchJob.objects.filter(job__in=known).select_related("job__dataset").order_by("-pk"))
    counts: dict[int, dict[str, int]] = {row.pk: dict.fromkeys(RequestFate.values, 0) for row in rows}
    asked = BatchRequest.objects.filter(batch__in=counts).order_by()
    for batch, fate, n in asked.values_list("batch", "fate").annotate(n=Count("pk")):
        counts[batch][fate] = n
    used = _used(counts)
    return [_standing(row, known[row.job_id], counts[row.pk], used.get(row.pk)) for row in rows]


def _used(batches: Iterable[int]) -> dict[int, dict[str, Any]]:
    rows = DetectionCall.objects.filter(batch__in=list(batches)).order_by().values("batch")
    found = rows.annotate(
        counted=Count("output_tokens"),
        input=Sum("input_tokens", default=0),
        cached=Sum("cached_tokens", default=0),
        output=Sum("output_tokens", default=0),
    )
    return {row["batch"]: row for row in found}


def _standing(batch: BatchJob, job: DetectionJob, counts: dict[str, int], used: dict[str, Any] | None) -> BatchStanding:
    cost, reason = None, "nothing came yet"
    if used and used["counted"]:
        fresh = used["input"] - used["cached"]
        full = job.detector.cost(fresh=fresh, cached=used["cached"], output=used["output"])
        cost, reason = (full * (1 - batch.discount), "") if full is not None else (None, "price unknown")
    elif used:
        reason = "no tokens reported"
    return BatchStanding(batch, **counts, cost=cost, reason=reason)
