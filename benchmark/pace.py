"""How fast a run goes, when it will be through, and what its concurrency is and why. Aggregates; reads only.

Rates are measured from the times that are stored with the answers, over the newest of them: what it costs to look
does not grow with the run.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil, sqrt

from django.db.models import Max
from django.utils import timezone

from benchmark.models import Response, Run
from benchmark.models.runs import DialogueState, RunState
from benchmark.progress import DialogueCounts
from fpco_site.llm import engine
from fpco_site.llm.engine import config
from fpco_site.llm.models import Worker

WINDOW = timedelta(minutes=5)
NEWEST = 2000  # answers that a look reads at most
FEWEST = 3  # answers that tell a rate
BEAT_SEEN = timedelta(seconds=60)
START_A_WORKER = "uv run celery -A fpco_site worker --pool threads --beat"


@dataclass(frozen=True)
class Pace:
    """Answers a minute over the last `seconds`, with a 95 % range; None where too few came to tell."""

    answers: int
    seconds: float
    rate: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def span(self) -> str:
        return span(timedelta(seconds=self.seconds))

    def left(self, turns: int) -> "Left | None":
        """How long so many more turns take; None where that can't be told."""
        if self.rate is None or not self.low or not self.high:
            return None
        expected, best, worst = (timedelta(minutes=turns / rate) for rate in (self.rate, self.high, self.low))
        return Left(turns, expected, best, worst)


@dataclass(frozen=True)
class Left:
    """How long the turns that are left will take at the rate of the last minutes, at best and at worst."""

    turns: int
    expected: timedelta
    best: timedelta
    worst: timedelta

    @property
    def words(self) -> str:
        return f"about {span(self.expected)}"

    @property
    def range(self) -> str:
        best, worst = span(self.best), span(self.worst)
        return best if best == worst else f"{best} to {worst}"


def span(time: timedelta) -> str:
    """A duration in its largest two units, as people say it."""
    seconds = max(1, round(time.total_seconds()))
    if seconds < 60:
        return f"{seconds} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def pace(run: Run, *, now: datetime | None = None) -> Pace:
    """The rate of a run's stored answers over the last minutes. Two queries.

    The range is +-2 standard errors of a count: that of a Poisson count, or what the minutes of the window varied
    by, whichever is more.
    """
    now = now or timezone.now()
    newest = Response.objects.aggregate(newest=Max("pk"))["newest"] or 0
    rows = Response.objects.filter(pk__gt=newest - NEWEST).order_by("pk")
    times = list(rows.values_list("created_at", "dialogue__run"))
    if not times:
        return Pace(0, 0.0)
    whole = len(times) == NEWEST  # older answers may lie in the window, unread
    started = max(filter(None, (now - WINDOW, times[0][0] if whole else None, run.started_at)))
    mine = [at for at, of in times if of == run.pk and at > started]
    seconds = max(1.0, (now - started).total_seconds())
    if len(mine) < FEWEST:
        return Pace(len(mine), seconds)
    rate = 60 * len(mine) / seconds
    error = 2 * 60 * sqrt(max(len(mine), _varied(mine, started, seconds))) / seconds
    return Pace(len(mine), seconds, rate, max(rate / 10, rate - error), rate + error)


def _varied(times: list[datetime], started: datetime, seconds: float) -> float:
    """The variance of the count, as told by how much its minutes differ; 0 where there are less than three."""
    minutes = int(seconds // 60)
    if minutes < 3:
        return 0.0
    counts = Counter(int((at - started).total_seconds() // 60) for at in times)
    each = [counts.get(minute, 0) for minute in range(minutes)]
    mean = sum(each) / minutes
    return minutes * sum((n - mean) ** 2 for n in each) / (minutes - 1)


def turns_left(run: Run, counts: DialogueCounts) -> int:
    """Turns that a run will still ask if nothing else breaks off. One query, by index."""
    open_ = (DialogueState.WAITING, DialogueState.RUNNING)
    answered = Response.objects.filter(dialogue__run=run, dialogue__state__in=open_).count()
    return (counts.waiting + counts.running) * run.dataset.turns - answered


@dataclass(frozen=True)
class Concurrency:
    """Dialogues that are asked at this moment, how many there may be, and what bounds them.

    `why` is a sentence; `tone` is good, info, warn or bad. `workers` are those that give signs of life.
    """

    held: int
    wanted: int
    workers: int
    why: str
    tone: str
    limit: int | None = None
    said: str = ""

    @property
    def command(self) -> str:
        """What to type where nobody works."""
        return START_A_WORKER if self.tone == "bad" else ""

    @property
    def word(self) -> str:
        return {"good": "at full strength", "info": "moving", "warn": "held back", "bad": "nobody works"}[self.tone]

    @property
    def glyph(self) -> str:
        return {"good": "check", "info": "info", "warn": "warn", "bad": "stop"}[self.tone]


def concurrency(run: Run, counts: DialogueCounts) -> Concurrency:
    """What a running run's concurrency is now, and why. Three queries."""
    facts = engine.gate_facts([run.endpoint()])[0]
    alive = Worker.objects.filter(stopped_at__isnull=True, seen_at__gte=timezone.now() - BEAT_SEEN).count()
    why, tone = _why(run, counts, alive, facts)
    said = facts.reason if tone == "warn" else ""
    return Concurrency(counts.running, run.concurrency, alive, why, tone, facts.limit, said)


def _why(run: Run, counts: DialogueCounts, workers: int, facts: engine.GateFacts) -> tuple[str, str]:
    if run.state != RunState.RUNNING:
        return ("Calls in flight finish and are kept.", "info") if counts.running else ("Nothing is asked now.", "info")
    if not workers:
        return "No worker is running, so nothing is asked. Start one:", "bad"
    if facts.opens_in > 0:
        return f"The provider asked to wait; calls go on in {ceil(facts.opens_in)} s.", "warn"
    if facts.limit is not None and facts.limit < run.concurrency:
        return f"Held to {facts.limit} calls at once by the provider's rate limit; it grows back by itself.", "warn"
    if counts.running >= run.concurrency:
        return "As many at once as this run's setting allows.", "good"
    if counts.waiting == 0:
        return "These are the last dialogues.", "good"
    lanes = workers * config.load().lanes
    if lanes <= run.concurrency:
        return f"{workers} worker{'s' * (workers > 1)} with {lanes} lanes, shared with all other runs.", "info"
    return "Workers are taking up dialogues.", "info"
