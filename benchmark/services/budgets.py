"""What a run has cost, and whether that is more than it may."""

from decimal import Decimal

from django.db.models import Sum

from benchmark.models import Attempt, Run
from benchmark.services import runs

MILLION = Decimal(1_000_000)


def spent(run: Run) -> Decimal:
    """US dollars of all calls of a run by its model's prices; a price or count that is unknown adds nothing."""
    used = Attempt.objects.filter(dialogue__run=run).aggregate(
        input=Sum("input_tokens", default=0),
        cached=Sum("cached_tokens", default=0),
        output=Sum("output_tokens", default=0),
    )
    model = run.model
    price_cached = model.price_cached_input if model.price_cached_input is not None else model.price_input
    fresh = (used["input"] - used["cached"]) * (model.price_input or 0)
    return Decimal(fresh + used["cached"] * (price_cached or 0) + used["output"] * (model.price_output or 0)) / MILLION


def pause_if_spent(*, run: Run) -> bool:
    """Pause a run that has used up its budget; calls in flight finish, so a little more may be spent."""
    if run.budget is None or (cost := spent(run)) < run.budget:
        return False
    reason = f"The budget of ${run.budget:.2f} is spent (${cost:.2f}). Raise it, then resume."
    runs.pause_by_engine(run=run.pk, reason=reason)
    return True
