"""Batches as their pages show them: states, what became of their requests, cost. Reads only."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count

from benchmark import costs
from benchmark.models import BatchJob, BatchRequest, DetectionCall, DetectionJob, Spending
from benchmark.models.batches import OPEN_BATCHES, BatchState, RequestFate
from fpco_site.llm import money
from fpco_site.llm.money import Prices, Sums

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
    """The batches of these jobs, the newest first; four queries however many there are."""
    known = {job.pk: job for job in jobs}
    rows = list(BatchJob.objects.filter(job__in=known).select_related("job__dataset").order_by("-pk"))
    counts: dict[int, dict[str, int]] = {row.pk: dict.fromkeys(RequestFate.values, 0) for row in rows}
    asked = BatchRequest.objects.filter(batch__in=counts).order_by()
    for batch, fate, n in asked.values_list("batch", "fate").annotate(n=Count("pk")):
        counts[batch][fate] = n
    rows_of = DetectionCall.objects.filter(batch__in=counts)
    used = costs.added_up(rows_of, "batch", replied=costs.REPLIED)
    kept = {(row.job_id, row.discount): row.prices for row in Spending.objects.filter(job__in=known)}
    return [
        _standing(row, counts[row.pk], used.get(row.pk, Sums()), kept.get((row.job_id, row.discount))) for row in rows
    ]


def _standing(batch: BatchJob, counts: dict[str, int], used: Sums, prices: Prices | None) -> BatchStanding:
    """Cost by the prices that the job keeps."""
    cost = money.cost(used, prices) if prices else None
    reason = "" if cost is not None else "price unknown" if used.calls else "nothing came yet"
    if used.calls and not used.counted:
        cost, reason = None, "no tokens reported"
    return BatchStanding(batch, **counts, cost=cost, reason=reason)
