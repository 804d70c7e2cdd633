"""What a run has cost, and whether that is more than it may."""

from benchmark.models import Run, Spending
from benchmark.services import runs
from fpco_site.llm import money


def pause_if_spent(*, run: Run) -> bool:
    """Pause a run that has used up its budget; calls in flight finish, so a little more may be spent."""
    if run.budget is None:
        return False
    row = Spending.objects.get(run=run)
    cost = money.cost(row.sums, row.prices) or money.NOTHING
    if cost < run.budget:
        return False
    reason = f"The budget of {money.dollars(run.budget)} is spent ({money.dollars(cost)}). Raise it, then resume."
    runs.pause_by_engine(run=run.pk, reason=reason)
    return True
