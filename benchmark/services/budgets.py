"""What a run has cost, and whether that is more than it may."""

from decimal import Decimal

from benchmark import progress
from benchmark.models import Run
from benchmark.services import runs


def spent(run: Run) -> Decimal:
    """US dollars of all calls of a run by its model's prices, and rather too much than too little.

    Calls without token counts add nothing, nor does a model whose prices were removed.
    """
    used = progress.spent(run)
    return run.model.cost(fresh=used.input - used.cached, cached=used.cached, output=used.output) or Decimal(0)


def pause_if_spent(*, run: Run) -> bool:
    """Pause a run that has used up its budget; calls in flight finish, so a little more may be spent."""
    if run.budget is None or (cost := spent(run)) < run.budget:
        return False
    reason = f"The budget of ${run.budget:.2f} is spent (${cost:.2f}). Raise it, then resume."
    runs.pause_by_engine(run=run.pk, reason=reason)
    return True
