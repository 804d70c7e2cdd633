"""What was spent, added up: by run, model and detector. Reads only, and aggregates only."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Least

from annotate import draft_progress
from annotate.models import DraftJob
from annotate.services import variant_checks
from benchmark import progress
from benchmark.models import Attempt, DetectionJob, Response, Run, Spending
from fpco_site.llm import endpoints, money
from fpco_site.llm.money import Sums

# A call without a reply has the class of its error; a reply that could not be used is a reply, and so is an error
# that tells tokens, for these are paid for.
TOLD_SOME = Q(input_tokens__isnull=False) | Q(output_tokens__isnull=False)
REPLIED = Q(error_class="") | Q(error_class__startswith="unusable") | TOLD_SOME


def added_up(rows: QuerySet[Any], *by: str, replied: Q | None = None) -> dict[Any, Sums]:
    """The sums of calls or answers, read off their rows, for each value of the column `by`, or of several.

    The kept sums must equal these (`Spending`). `replied` tells which rows are replies; None: all are.
    """
    told = Q(input_tokens__isnull=False, output_tokens__isnull=False)
    input_, output = Coalesce(F("input_tokens"), 0), Coalesce(F("output_tokens"), 0)
    found = (
        rows.order_by()
        .values_list(*by)
        .annotate(
            n_calls=Count("pk"),
            n_replies=Count("pk", filter=replied) if replied is not None else Count("pk"),
            n_counted=Count("pk", filter=told if replied is None else told & replied),
            n_input=Sum(input_),
            n_cached=Sum(Least(Coalesce(F("cached_tokens"), 0), input_)),
            n_output=Sum(output),
            n_reasoning=Sum(Least(Coalesce(F("reasoning_tokens"), 0), output)),
        )
    )
    return {row[0] if len(by) == 1 else row[: len(by)]: Sums(*row[len(by) :]) for row in found}


def imported(runs: Collection[Run]) -> dict[int, Sums]:
    """The sums of imported runs: their answers, and the last calls of turns without text that tell tokens."""
    answers = added_up(Response.objects.filter(dialogue__run__in=runs), "dialogue__run")
    silent = added_up(Attempt.objects.filter(TOLD_SOME, dialogue__run__in=runs), "dialogue__run")
    return {run.pk: answers.get(run.pk, Sums()) + silent.get(run.pk, Sums()) for run in runs}


class Kind(StrEnum):
    """What money was spent for."""

    RUN = "run"
    DETECTOR = "detector"
    DRAFTING = "drafting"
    CHECKS = "checks"


@dataclass(frozen=True)
class Line:
    """One run, one detector over a dataset, or all that a drafter drafted or a checker checked.

    `who` is the model, detector, drafter or checker; `pk` is the run's or the detection job's id.
    """

    kind: Kind
    who: str
    over: str
    bill: money.Bill
    pk: int | None = None
    state: str = ""
    budget: Decimal | None = None


@dataclass(frozen=True)
class Total:
    """Lines in sum. `cost` adds up what is known; `unknown` lines have a cost that can't be told."""

    name: str
    sums: Sums
    cost: Decimal
    unknown: int
    lines: int
    simulated: bool

    @property
    def words(self) -> str:
        """The cost to the cent; "at least" where a part of it is not known."""
        if self.unknown == self.lines and self.lines:
            return "unknown"
        partly = self.unknown or (self.sums.uncounted and not self.simulated)
        return f"at least {money.dollars(self.cost)}" if partly else money.dollars(self.cost)


def lines() -> list[Line]:
    """Everything that money is spent for, the newest first within each kind. The queries don't grow with the rows."""
    return [*_runs(), *_jobs(), *_drafting(), *_checks()]


def total(name: str, found: Iterable[Line]) -> Total:
    bills = [line.bill for line in found]
    known = [bill.cost for bill in bills if bill.cost is not None]
    return Total(
        name=name,
        sums=sum(bills, Sums()),
        cost=sum(known, money.NOTHING),
        unknown=len(bills) - len(known),
        lines=len(bills),
        simulated=bool(bills) and all(bill.simulated for bill in bills),
    )


def by_who(found: Iterable[Line], kind: Kind) -> list[Total]:
    """The lines of one kind in sum for each model or detector, by name."""
    groups: dict[str, list[Line]] = {}
    for line in found:
        if line.kind is kind:
            groups.setdefault(line.who, []).append(line)
    return [total(name, groups[name]) for name in sorted(groups, key=str.lower)]


def _runs() -> Iterable[Line]:
    rows = Spending.objects.filter(run__isnull=False).select_related("run__model", "run__dataset").order_by("-run")
    for row in rows:
        run = row.run
        assert run is not None
        bill = money.bill(row.sums, row.prices, simulated=run.simulated)
        yield Line(Kind.RUN, run.model.name, run.dataset.name, bill, run.pk, run.state, run.budget)


def _jobs() -> Iterable[Line]:
    jobs = list(DetectionJob.objects.select_related("detector", "dataset").order_by("-pk"))
    bills = progress.spent_by_jobs(jobs)
    for job in jobs:
        yield Line(Kind.DETECTOR, str(job.detector), job.dataset.name, bills[job.pk], job.pk, job.state)


def _drafting() -> Iterable[Line]:
    jobs = list(DraftJob.objects.select_related("drafter").order_by("-pk"))
    spent = draft_progress.spent(jobs)
    found: dict[str, list[draft_progress.Spent]] = {}
    simulated = {job.drafter.name: endpoints.is_simulated(job.drafter.provider) for job in jobs}
    for job in jobs:
        found.setdefault(job.drafter.name, []).append(spent[job.pk])
    for name, parts in found.items():
        over = f"{len(parts)} drafting job{'' if len(parts) == 1 else 's'}"
        yield Line(Kind.DRAFTING, name, over, _bill(draft_progress.together(parts), simulated=simulated[name]))


def _checks() -> Iterable[Line]:
    for row in variant_checks.spent():
        simulated = endpoints.is_simulated(row.checker.provider)
        yield Line(Kind.CHECKS, row.checker.name, "candidate variants", _bill(row.used, simulated=simulated))


def _bill(used: draft_progress.Spent, *, simulated: bool) -> money.Bill:
    return money.Bill(
        calls=used.calls,
        replies=used.replies,
        counted=used.counted,
        input=used.input,
        cached=used.cached,
        output=used.output,
        cost=used.cost,
        reason=used.note if used.cost is None else "",
        notes=(used.note,) if used.cost is not None and used.note else (),
        simulated=simulated,
    )
