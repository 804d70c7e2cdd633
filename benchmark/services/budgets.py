"""What a run may still spend, and how many calls may start for it. Calls in flight are counted as spent."""

from collections.abc import Collection, Mapping
from decimal import Decimal

from benchmark.models import Dialogue, Run, Spending
from benchmark.models.runs import DialogueState
from benchmark.services import runs
from fpco_site.llm import money
from fpco_site.llm.money import NOTHING, Sums


def room(*, run: Run, held: int) -> int | None:
    """How many more calls of a run may start while `held` are in flight; None where it has no budget.

    Pauses the run where nothing is in flight and one more call is expected to go beyond the budget.
    """
    if run.budget is None:
        return None
    row = Spending.objects.get(run=run)
    left = _left(row, run.budget, row.sums)
    if not held and left < 1:
        runs.pause_by_engine(run=run.pk, reason=_reason(row, run.budget))
    return max(0, left - held)


def room_after(*, budgets: Mapping[int, Decimal], added: Mapping[int, Sums], back: Collection[int]) -> dict[int, int]:
    """How many calls may start for each run that has a budget, once calls are `added` to what it has spent.

    `back` are the dialogues whose calls have just come back; those of all other held dialogues are in flight.
    """
    found = {}
    for row in Spending.objects.filter(run__in=budgets):
        assert row.run_id is not None
        held = Dialogue.objects.filter(run=row.run_id, state=DialogueState.RUNNING).exclude(pk__in=back).count()
        sums = row.sums + added.get(row.run_id, Sums())
        found[row.run_id] = max(0, _left(row, budgets[row.run_id], sums) - held)
    return found


def spent(row: Spending, sums: Sums) -> Decimal:
    """US dollars as a budget counts them: a reply that told no tokens is taken to cost what is expected of one."""
    return (money.cost(sums, row.prices) or NOTHING) + sums.uncounted * expected(row, sums)


def expected(row: Spending, sums: Sums) -> Decimal:
    """What the next call will cost: what was estimated, or the mean so far where that is more."""
    mean = (money.cost(sums, row.prices) or NOTHING) / sums.counted if sums.counted else NOTHING
    return max(row.expected or NOTHING, mean)


def _left(row: Spending, budget: Decimal, sums: Sums) -> int:
    """Calls that the budget has room for, those in flight among them."""
    left, one = budget - spent(row, sums), expected(row, sums)
    if left <= 0:
        return 0
    return int(left / one) if one else 10**9


def _reason(row: Spending, budget: Decimal) -> str:
    cost = spent(row, row.sums)
    if cost >= budget:
        return f"The budget of {money.dollars(budget)} is spent ({money.dollars(cost)}). Raise it, then resume."
    one = money.dollars(expected(row, row.sums))
    words = f"{money.dollars(cost)}; one more call is expected to cost {one}"
    return f"The budget of {money.dollars(budget)} is spent ({words}). Raise it, then resume."
