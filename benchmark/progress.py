"""How far runs and detections are, in counts: turns by outcome, calls, tokens, cost, coverage. Reads only.

Everything here is an aggregate: no single answer, verdict or label can be read off it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from django.db.models import Count, Max, OuterRef, QuerySet, Subquery

from annotate.models import Dataset
from benchmark.models import (
    Attempt,
    Detection,
    DetectionJob,
    Detector,
    DetectorLabel,
    Dialogue,
    Response,
    Run,
    Spending,
)
from benchmark.models.detectors import DetectionState, JobState
from benchmark.models.responses import CallOutcome
from benchmark.models.runs import DialogueState, RunState
from fpco_site.llm import money, providers
from fpco_site.llm.endpoints import is_local
from fpco_site.llm.models import Worker

# A turn's outcome, in words and in the tone it is drawn in.
TONES = {
    "answered": "good",
    "cut": "info",
    "refused": "mark",
    "blocked": "warn",
    "empty": "warn",
    "failed": "bad",
    "not_asked": "idle",
}
WORDS = {
    "answered": "answered",
    "cut": "cut off",
    "refused": "refused",
    "blocked": "blocked",
    "empty": "empty",
    "failed": "failed",
    "not_asked": "not asked",
}
WITHOUT_TEXT = (CallOutcome.BLOCKED, CallOutcome.EMPTY, CallOutcome.FAILED)


@dataclass(frozen=True)
class TurnCounts:
    """Every planned turn in exactly one column (design section 4, outcomes)."""

    answered: int = 0
    cut: int = 0
    refused: int = 0
    blocked: int = 0
    empty: int = 0
    failed: int = 0
    not_asked: int = 0

    @property
    def planned(self) -> int:
        return sum(getattr(self, field.name) for field in fields(self))

    @property
    def with_text(self) -> int:
        """What a detector can label: answered, cut and refused."""
        return self.answered + self.cut + self.refused

    @property
    def asked(self) -> int:
        return self.planned - self.not_asked

    @property
    def columns(self) -> list[tuple[str, str, int]]:
        """(outcome, words, count) in order."""
        return [(name, WORDS[name], getattr(self, name)) for name in WORDS]

    @property
    def parts(self) -> list[tuple[str, int, str]]:
        """As `{% stack %}` draws them."""
        return [(words, count, TONES[name]) for name, words, count in self.columns]


def turn_counts(run: Run) -> TurnCounts:
    """The planned turns of a run by outcome.

    A dialogue that stopped or failed has one turn without text, that of its latest attempt; the turns
    after it are not asked, nor is a turn that is being asked or will be asked again. Answers of complete
    dialogues are counted by the dialogue, so that a look costs the same however long a run has gone on.
    """
    return turn_counts_of([run.pk], run.dataset.turns)[run.pk]


def turn_counts_of(runs: Sequence[int], turns: int) -> dict[int, TurnCounts]:
    """`turn_counts` of several runs over one dataset, by their ids. Five queries at most, however many they are."""
    states = _by_state(runs, _states(runs))
    others = [state for state in DialogueState if state != DialogueState.COMPLETE]
    incomplete = [pk for pk in runs if states[pk].total > states[pk].complete]
    ends = lost_turns(incomplete)
    open_ended = _by_run(Response.objects.filter(dialogue__run__in=incomplete, dialogue__state__in=others))
    rows = Response.objects.filter(dialogue__run__in=runs)
    cut, refused = _by_run(rows.filter(cut=True, refusal=False)), _by_run(rows.filter(refusal=True))
    found = {}
    for pk in runs:
        with_text = states[pk].complete * turns + open_ended.get(pk, 0)
        lost = {outcome.value: ends.get(pk, {}).get(outcome, 0) for outcome in WITHOUT_TEXT}
        found[pk] = TurnCounts(
            answered=with_text - cut.get(pk, 0) - refused.get(pk, 0),
            cut=cut.get(pk, 0),
            refused=refused.get(pk, 0),
            **lost,
            not_asked=states[pk].total * turns - with_text - sum(lost.values()),
        )
    return found


def _by_run(rows: QuerySet[Response]) -> dict[int, int]:
    return dict(rows.order_by().values_list("dialogue__run").annotate(n=Count("pk")))


def lost_turns(runs: Iterable[int]) -> dict[int, dict[str, int]]:
    """Dialogues of each run that ended at a turn without text, by the outcome of their latest attempt."""
    latest = Attempt.objects.filter(dialogue=OuterRef("pk")).order_by("-turn", "-id").values("outcome")[:1]
    over = Dialogue.objects.filter(run__in=runs, state__in=(DialogueState.STOPPED, DialogueState.FAILED)).order_by()
    rows = over.annotate(outcome=Subquery(latest)).values_list("run", "outcome").annotate(n=Count("pk"))
    found: dict[int, dict[str, int]] = {run: {} for run in runs}
    for run, outcome, n in rows:
        if outcome in WITHOUT_TEXT:
            found[run][outcome] = n
    return found


def spent(run: Run) -> money.Bill:
    """Calls, tokens and cost of a run by the prices that it keeps; of an imported one, what its responses say."""
    row = Spending.objects.get(run=run)
    return money.bill(row.sums, row.prices, simulated=run.simulated)


def spent_by_jobs(jobs: Iterable[DetectionJob]) -> dict[int, money.Bill]:
    """The same of each detection job, by its id, live calls and batches together; `detector` is read from each."""
    simulated = {job.pk: job.detector.simulated for job in jobs}
    rows: dict[int, list[money.Bill]] = {pk: [] for pk in simulated}
    for row in Spending.objects.filter(job__in=simulated):
        assert row.job_id is not None
        rows[row.job_id].append(money.bill(row.sums, row.prices, simulated=simulated[row.job_id]))
    return {pk: money.together(bills) for pk, bills in rows.items()}


@dataclass(frozen=True)
class Trouble:
    """Calls of a run that brought no text and are alike; `example` is the newest of them."""

    outcome: str
    error_class: str
    status: int | None
    calls: int
    example: int


def troubles(run: Run) -> list[Trouble]:
    """A run's calls without text, grouped, the most frequent first."""
    rows = Attempt.objects.filter(dialogue__run=run, outcome__in=WITHOUT_TEXT).order_by()
    grouped = rows.values_list("outcome", "error_class", "status").annotate(calls=Count("pk"), example=Max("pk"))
    return [Trouble(*row) for row in grouped.order_by("-calls", "outcome", "error_class", "status")]


@dataclass(frozen=True)
class Coverage:
    """One detector's labels of a run: labelled + missing = answered + cut + refused."""

    detector: Detector
    job: DetectionJob
    labelled: int
    with_text: int
    failed: int

    @property
    def missing(self) -> int:
        return self.with_text - self.labelled

    @property
    def can_ask(self) -> bool:
        """Whether asking the detector again would bring labels that no open job brings by itself."""
        ended = self.job.state in (JobState.COMPLETE, JobState.INCOMPLETE)
        return bool(self.missing) and ended and self.detector.active and not self.detector.imported


def coverage(run: Run, with_text: int) -> list[Coverage]:
    """Coverage of a run by every detector that was asked over its dataset."""
    jobs = list(DetectionJob.objects.filter(dataset=run.dataset_id).select_related("detector").order_by("id"))
    if not jobs:
        return []
    labels = DetectorLabel.objects.filter(dialogue__run=run).order_by()
    labelled = dict(labels.values_list("detector").annotate(n=Count("pk")))
    lost = Detection.objects.filter(dialogue__run=run, state=DetectionState.FAILED).order_by()
    failed = dict(lost.values_list("job").annotate(n=Count("pk")))
    return [
        Coverage(job.detector, job, labelled.get(job.detector_id, 0), with_text, failed.get(job.pk, 0)) for job in jobs
    ]


def is_live(run: Run) -> bool:
    """Whether something still moves: the run itself, or a detector that works on its dialogues."""
    if run.state in (RunState.RUNNING, RunState.PAUSED):
        return True
    waiting = Detection.objects.filter(dialogue__run=run, job__state=JobState.RUNNING)
    return waiting.exclude(state__in=(DetectionState.COMPLETE, DetectionState.FAILED)).exists()


def is_unserved(run: Run) -> bool:
    """Whether a run waits for a worker for local models while none is at work; one that is there wakes in seconds."""
    if run.state != RunState.RUNNING or not is_local(run.settings.get("provider", "")):
        return False
    return not Worker.objects.filter(place=providers.LOCAL, stopped_at__isnull=True).exists()


@dataclass(frozen=True)
class DialogueCounts:
    """How many dialogues of a run, or detections of a job, are in which state."""

    waiting: int = 0
    running: int = 0
    batched: int = 0
    complete: int = 0
    stopped: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        return self.waiting + self.running + self.batched + self.complete + self.stopped + self.failed

    @property
    def ended(self) -> int:
        return self.complete + self.stopped + self.failed

    @property
    def tenths(self) -> str:
        """The share of what ended in whole tenths, for words that should not change all the time."""
        return f"{10 * (10 * self.ended // self.total) if self.total else 0} %"


def dialogue_counts(runs: Iterable[Run]) -> dict[int, DialogueCounts]:
    """Dialogues by state, for each run's id."""
    keys = [run.pk for run in runs]
    return _by_state(keys, _states(keys))


def _states(runs: Iterable[int]) -> Iterable[tuple[int, str, int]]:
    return Dialogue.objects.filter(run__in=runs).order_by().values_list("run", "state").annotate(n=Count("pk"))


def detection_counts(jobs: Iterable[DetectionJob]) -> dict[int, DialogueCounts]:
    """Detections by state, for each job's id."""
    keys = [job.pk for job in jobs]
    rows = Detection.objects.filter(job__in=keys).order_by().values_list("job", "state").annotate(n=Count("pk"))
    return _by_state(keys, rows)


def _by_state(keys: Sequence[int], rows: Iterable[tuple[int, str, int]]) -> dict[int, DialogueCounts]:
    found: dict[int, dict[str, int]] = {key: {} for key in keys}
    for key, state, n in rows:
        found[key][state] = n
    return {key: DialogueCounts(**states) for key, states in found.items()}


def planned_calls(dataset: Dataset) -> tuple[int, int]:
    """(dialogues, calls) of one run over a dataset where no call has to be repeated."""
    dialogues = dataset.items.count()
    return dialogues, dialogues * dataset.turns
