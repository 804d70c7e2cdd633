"""What was spent is added up where calls are written; what it costs is reckoned by prices that are kept."""

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.db.models import F

from benchmark import costs
from benchmark.models import DetectionJob, Response, Run, Spending
from fpco_site.llm.engine import Call
from fpco_site.llm.money import NOTHING, Sums

COLUMNS = {
    "calls": "calls",
    "replies": "replies",
    "counted": "counted",
    "input_tokens": "input",
    "cached_tokens": "cached",
    "output_tokens": "output",
    "reasoning_tokens": "reasoning",
}


def open_run(*, run: Run, sums: Sums | None = None) -> Spending:
    """Keep the prices of a run's model as they are now, beside sums that start at nothing."""
    return Spending.objects.create(run=run, **run.model.price_columns(), **columns(sums or Sums()))


def open_imported(*, runs: Collection[Run]) -> None:
    """Keep what the answers of imported runs tell of their tokens. What they cost, whoever ran them knows."""
    sums = costs.added_up(Response.objects.filter(dialogue__run__in=runs), by="dialogue__run")
    Spending.objects.bulk_create(Spending(run=run, **columns(sums.get(run.pk, Sums()))) for run in runs)


def open_job(*, job: DetectionJob, discount: Decimal = NOTHING) -> Spending:
    """Keep the prices of a job: those it has already, else its detector's as they are now; none of an imported one."""
    known = Spending.objects.filter(job=job).order_by("pk").first()
    prices = known.price_columns() if known else {} if job.detector.imported else job.detector.price_columns()
    return Spending.objects.get_or_create(job=job, discount=discount, defaults=prices)[0]


def by_group(calls: Iterable[Call[Any]]) -> dict[int, Sums]:
    """The sums of calls for each run or job that they belong to."""
    found: dict[int, Sums] = {}
    for call in calls:
        one = Sums.of(call.reply.usage if call.reply else None)
        found[call.claim.group] = found.get(call.claim.group, Sums()) + one
    return found


def add_to_runs(*, sums: Mapping[int, Sums]) -> None:
    """Add calls to what their runs have spent, inside the transaction that writes these calls."""
    for run, more in sorted(sums.items()):
        if not Spending.objects.filter(run=run).update(**_increments(more)):
            open_run(run=Run.objects.select_related("model").get(pk=run), sums=more)


def add_to_jobs(*, sums: Mapping[int, Sums], discount: Decimal = NOTHING) -> None:
    """Add calls to what their detection jobs have spent, inside the transaction that writes these calls.

    `discount` is the part of the price that these calls are let off, 0.5 for a batch at half the price.
    """
    for job, more in sorted(sums.items()):
        rows = Spending.objects.filter(job=job, discount=discount)
        if not rows.update(**_increments(more)):
            open_job(job=DetectionJob.objects.select_related("detector").get(pk=job), discount=discount)
            rows.update(**_increments(more))


def columns(sums: Sums) -> dict[str, int]:
    return {column: getattr(sums, name) for column, name in COLUMNS.items()}


def _increments(sums: Sums) -> dict[str, Any]:
    return {column: F(column) + more for column, more in columns(sums).items() if more}
