"""How far drafting is and what it cost: drafts by state, calls, tokens, dollars. Reads only."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, Sum

from annotate.models import Draft, DraftCall, DraftJob
from annotate.models.drafts import OPEN, CallVerdict, DraftKind, DraftState, JobKind
from fpco_site.llm import endpoints, money


@dataclass(frozen=True)
class Standing:
    """A job's drafts by state; `to_follow` counts premises that will be asked for once their questions are ready."""

    waiting: int = 0
    running: int = 0
    ready: int = 0
    failed: int = 0
    dropped: int = 0
    to_follow: int = 0
    decided: int = 0

    @property
    def planned(self) -> int:
        return self.waiting + self.running + self.ready + self.failed + self.to_follow

    @property
    def done(self) -> int:
        return self.ready + self.failed

    @property
    def undecided(self) -> int:
        return self.ready - self.decided

    @property
    def parts(self) -> list[tuple[str, int, str]]:
        """As `{% stack %}` draws them."""
        left = self.waiting + self.to_follow
        return [
            ("ready", self.ready, "good"),
            ("failed", self.failed, "bad"),
            ("being made", self.running, "info"),
            ("waiting", left, "idle"),
        ]


def standing(jobs: Iterable[DraftJob]) -> dict[int, Standing]:
    """How far each job is, by its id."""
    found = {job.pk: job for job in jobs}
    counts: dict[int, dict[str, int]] = {pk: {} for pk in found}
    decided = Q(applied_at__isnull=False) | Q(discarded_at__isnull=False)
    rows = Draft.objects.filter(job__in=found).order_by().values_list("job", "kind", "state")
    for job, kind, state, n, done in rows.annotate(n=Count("pk"), done=Count("pk", filter=decided)):
        count = counts[job]
        count[state] = count.get(state, 0) + n
        if state == DraftState.READY:
            count["decided"] = count.get("decided", 0) + done
        if kind == DraftKind.QUESTIONS and state in OPEN and found[job].kind == JobKind.BOTH:
            count["to_follow"] = count.get("to_follow", 0) + n
    return {pk: Standing(**count) for pk, count in counts.items()}


@dataclass(frozen=True)
class Spent:
    """What the calls of a job or a checker used.

    `cost` is in US dollars, None where a price is unknown; `note` says what limits it.
    """

    calls: int = 0
    replies: int = 0
    counted: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    cost: Decimal | None = None
    note: str = ""

    @property
    def words(self) -> str:
        """The cost to the cent; never nought for what is only small or not known."""
        if self.cost is None:
            return "unknown"
        words = money.dollars(self.cost)
        return f"at least {words}" if 0 < self.counted < self.replies else words

    def plus(self, row: Mapping[str, Any]) -> "Spent":
        """With the counts of one more row of sums."""
        return replace(self, **{name: getattr(self, name) + row[name] for name in USED})


USED = ("calls", "replies", "counted", "input", "cached", "output")


def spent(jobs: Iterable[DraftJob]) -> dict[int, Spent]:
    """Calls, tokens and cost of each job, by its id and by the prices it keeps; `drafter` is read from each."""
    found = {job.pk: job for job in jobs}
    rows = DraftCall.objects.filter(draft__job__in=found).order_by().values("draft__job")
    used = rows.annotate(
        calls=Count("pk"),
        replies=Count("pk", filter=~Q(verdict=CallVerdict.FAILED)),
        counted=Count("pk", filter=Q(input_tokens__isnull=False, output_tokens__isnull=False)),
        input=Sum("input_tokens", default=0),
        cached=Sum("cached_tokens", default=0),
        output=Sum("output_tokens", default=0),
    )
    sums = {row["draft__job"]: Spent().plus(row) for row in used}
    return {
        pk: priced(sums.get(pk, Spent()), job.prices, simulated=endpoints.is_simulated(job.drafter.provider))
        for pk, job in found.items()
    }


def priced(used: Spent, prices: money.Prices, *, simulated: bool) -> Spent:
    """What was used with its cost by these prices."""
    if not used.replies or simulated:
        return replace(used, cost=Decimal(0))
    cost = money.cost(money.Sums(input=used.input, cached=used.cached, output=used.output), prices)
    if cost is None:
        return replace(used, note="price unknown")
    if not used.counted:
        return replace(used, note="no token counts reported")
    notes = []
    if missing := max(0, used.replies - used.counted):
        came = "1 reply came" if missing == 1 else f"{missing} replies came"
        notes.append(f"{came} without a token count")
    if used.cached and prices.cached is None:
        notes.append("cached input at the full price, its own is unknown")
    return replace(used, cost=cost, note="; ".join(notes))


def together(parts: Iterable[Spent]) -> Spent:
    """What was used at several prices as one; unknown where the cost of a part is."""
    whole = Spent(cost=Decimal(0))
    for part in parts:
        cost = None if whole.cost is None or part.cost is None else whole.cost + part.cost
        note = "; ".join(dict.fromkeys(filter(None, (whole.note, part.note))))
        whole = replace(whole.plus(vars(part)), cost=cost, note=note)
    return whole
