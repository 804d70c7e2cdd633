"""What was spent is added up where calls are written; what it costs is reckoned by prices that are kept."""

from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.db import connection, transaction
from django.db.models import F

from annotate.models import User
from benchmark import costs, estimates
from benchmark.models import DetectionJob, PriceChange, Run, Spending
from fpco_site.errors import Conflict, Invalid
from fpco_site.llm import money
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


def expect(*, run: Run) -> None:
    """Keep what a call of a run with a budget is expected to cost: the middle of its estimate."""
    row = Spending.objects.get(run=run)
    [found] = estimates.of_models(
        models=[run.model],
        dataset=run.dataset,
        prompt_version=int(run.prompt_version) if run.prompt_version else None,
        cap=run.settings.get("max_output_tokens"),
    )
    ends = [money.cost(side, row.prices) or NOTHING for side in (found.low, found.high)]
    row.expected = sum(ends, NOTHING) / 2 / max(1, found.calls)
    row.save(update_fields=["expected"])


def open_imported(*, runs: Collection[Run]) -> None:
    """Keep what imported runs tell of their tokens. What they cost, whoever ran them knows."""
    sums = costs.imported(runs)
    Spending.objects.bulk_create(Spending(run=run, **columns(sums[run.pk])) for run in runs)


def open_job(*, job: DetectionJob, discount: Decimal = NOTHING) -> Spending:
    """Keep the prices of a job: those it has already, else its detector's as they are now; none of an imported one."""
    known = Spending.objects.filter(job=job).order_by("pk").first()
    prices = known.price_columns() if known else {} if job.detector.imported else job.detector.price_columns()
    return Spending.objects.get_or_create(job=job, discount=discount, defaults=prices)[0]


@transaction.atomic
def correct(*, owner: Run | DetectionJob, prices: Mapping[str, Decimal | None], note: str, by: User) -> PriceChange:
    """Replace the prices that a run or job keeps, and keep who did it, when, why and what stood there before.

    `prices` has the columns of `PriceFields`. Raises Invalid for a price below 0, no note, or no prices where
    a budget is kept by them, Conflict where nothing would change.
    """
    if not note.strip():
        raise Invalid("Say why the prices are corrected.")
    if any(price is not None and price < 0 for price in prices.values()):
        raise Invalid("A price is 0 or more.")
    budget = owner.budget if isinstance(owner, Run) else None
    if budget is not None and None in (prices["price_input"], prices["price_output"]):
        raise Invalid("This run's budget is kept by its prices: take the budget away first, or give both prices.")
    which = {"run": owner} if isinstance(owner, Run) else {"job": owner}
    rows = list(Spending.objects.select_for_update().filter(**which))
    before = rows[0].price_columns()
    if before == prices:
        raise Conflict("These are the prices that it keeps already.")
    Spending.objects.filter(pk__in=[row.pk for row in rows]).update(**prices)
    if isinstance(owner, Run) and budget is not None:
        expect(run=owner)
    shown = {name: None if price is None else str(price) for name, price in before.items()}
    return PriceChange.objects.create(**which, **prices, before=shown, note=note.strip(), by=by)


def added[K](calls: Iterable[tuple[K, Call[Any]]]) -> dict[K, Sums]:
    """The sums of calls for each key that they stand under."""
    found: dict[K, Sums] = {}
    for key, call in calls:
        found[key] = found.get(key, Sums()) + Sums.of(call.usage)
    return found


def add_to_runs(*, sums: Mapping[int, Sums]) -> None:
    """Add calls to what their runs have spent, inside the transaction that writes these calls."""
    for run, more in sorted(sums.items()):
        if not _add_to_run(run, more):
            open_run(run=Run.objects.select_related("model").get(pk=run), sums=more)


def _add_to_run(run: int, more: Sums) -> bool:
    """Whether there was a row to add to. In SQL, since it is part of every commit of answers."""
    added = {column: value for column, value in columns(more).items() if value}
    if not added:
        return Spending.objects.filter(run=run).exists()
    sets = ", ".join(f"{column} = {column} + %s" for column in added)
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE benchmark_spending SET {sets} WHERE run_id = %s", [*added.values(), run])
        return bool(cursor.rowcount)


def add_to_jobs(*, sums: Mapping[tuple[int, Decimal], Sums]) -> None:
    """Add calls to what detection jobs have spent, inside the transaction that writes these calls.

    Keys are the job and the part of the price that its calls were let off, 0.5 for a batch at half the price.
    """
    for (job, discount), more in sorted(sums.items()):
        rows = Spending.objects.filter(job=job, discount=discount)
        if not rows.update(**_increments(more)):
            open_job(job=DetectionJob.objects.select_related("detector").get(pk=job), discount=discount)
            rows.update(**_increments(more))


def columns(sums: Sums) -> dict[str, int]:
    return {column: getattr(sums, name) for column, name in COLUMNS.items()}


def _increments(sums: Sums) -> dict[str, Any]:
    return {column: F(column) + more for column, more in columns(sums).items() if more}
