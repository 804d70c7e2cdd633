"""Runs: made, started, paused, resumed, stopped, retried. The engine does the asking."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Count, Max
from django.utils import timezone

from annotate.models import Dataset, User
from annotate.services import datasets
from benchmark.models import Attempt, Dialogue, EvaluatedModel, Run, Spending
from benchmark.models.responses import CallOutcome
from benchmark.models.runs import ENDED, UNENDED, DialogueState, RunState
from benchmark.services import detectors, spending, versions
from fpco_site.errors import Conflict, Invalid
from fpco_site.llm import engine, prompts, providers

PROMPT = "inference"
OPEN = (RunState.DRAFT, RunState.RUNNING, RunState.PAUSED)
NOT_ASKED = "not_asked"
OVERRIDABLE = ("max_output_tokens", "temperature", "top_p")
LARGEST_CAP = 65_536
RETRIABLE = (CallOutcome.FAILED.value, CallOutcome.BLOCKED.value, CallOutcome.EMPTY.value, NOT_ASKED)


@transaction.atomic
def create(
    *,
    model: EvaluatedModel,
    dataset: Dataset,
    by: User | None,
    concurrency: int | None = None,
    budget: Decimal | None = None,
    prompt_version: int | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Run:
    """A draft run with a waiting dialogue for each item, and a copy of everything that it will send.

    `concurrency` is dialogues at once over all workers (default: the model's), `budget` US dollars, `prompt_version`
    that of the inference prompt (default: the newest). `overrides` are settings of this run alone, of those in
    OVERRIDABLE; what is None in it stays as the model has it.

    Raises
    ------
    Invalid
        If the model can't run, the dataset lacks pictures, or concurrency, budget or a setting make no sense.
    NotConfigured
        If the model's key is not in the environment.
    Conflict
        If the model has an open run over the dataset.
    """
    _check_model(model)
    _check_budget(model, budget)
    _check_pictures(dataset)
    _check_no_open_run(model, dataset)
    settings = _settings(model, overrides or {})
    prompt = prompts.load(PROMPT, prompt_version)
    concurrency = model.concurrency if concurrency is None else concurrency
    _check_concurrency(concurrency)
    try:
        with transaction.atomic():
            run = Run.objects.create(
                model=model,
                dataset=dataset,
                concurrency=concurrency,
                budget=budget,
                settings=settings,
                prompt_name=prompt.name,
                prompt_version=str(prompt.version),
                prompt_sha256=prompt.sha256,
                software=versions.installed(),
                simulated=providers.is_simulated(model.provider),
                started_by=by,
            )
    except IntegrityError as error:
        raise Conflict(f"{model} already has an open run over {dataset}.") from error
    spending.open_run(run=run)
    if budget is not None:
        spending.expect(run=run)
    items = dataset.items.order_by("key").values_list("pk", flat=True)
    Dialogue.objects.bulk_create((Dialogue(run=run, item_id=item) for item in items), batch_size=2000)
    return run


@transaction.atomic
def start(*, run: Run, by: User | None) -> Run:
    """Let the engine ask. Raises Conflict for a run that was started before."""
    run = _locked(run)
    if run.state != RunState.DRAFT:
        raise Conflict(f"Run {run.pk} of {run.model} has been started already; it is {run.get_state_display()}.")
    run.state, run.started_at = RunState.RUNNING, timezone.now()
    run.started_by = by or run.started_by
    run.save(update_fields=["state", "started_at", "started_by"])
    detectors.cover(run=run)
    engine.hint_for(run.endpoint().provider)
    return run


@transaction.atomic
def pause(*, run: Run, by: User | None) -> Run:
    """Ask nothing more for now; calls in flight finish and are kept."""
    run = _locked(run)
    if run.state != RunState.RUNNING:
        raise Conflict(f"Run {run.pk} is {run.get_state_display()}, so it can't be paused.")
    run.state, run.pause_reason = RunState.PAUSED, f"Paused by {by}." if by else "Paused."
    run.save(update_fields=["state", "pause_reason"])
    return run


@transaction.atomic
def resume(*, run: Run, by: User | None) -> Run:
    """Go on with a paused run where it was. A missing key is refused, and so is a spent budget."""
    run = _locked(run)
    if run.state != RunState.PAUSED:
        raise Conflict(f"Run {run.pk} is {run.get_state_display()}, so it can't be resumed.")
    providers.check(run.endpoint())
    run.state, run.pause_reason = RunState.RUNNING, ""
    run.save(update_fields=["state", "pause_reason"])
    engine.hint_for(run.endpoint().provider)
    return run


@transaction.atomic
def change(*, run: Run, concurrency: int, budget: Decimal | None, by: User | None) -> Run:
    """Ask more or fewer dialogues at once, or allow more or less to be spent, whatever an open run does now."""
    run = _locked(run)
    if run.state not in OPEN:
        raise Conflict(f"Run {run.pk} is {run.get_state_display()}; only an open run can be changed.")
    _check_concurrency(concurrency)
    _check_budget(run.spending, budget)
    if budget is not None:
        spending.expect(run=run)
    run.concurrency, run.budget = concurrency, budget
    run.save(update_fields=["concurrency", "budget"])
    return run


@transaction.atomic
def stop(*, run: Run, by: User | None) -> Run:
    """End an open run for good: what was not asked is not asked. A retry can still take it up again."""
    run = _locked(run)
    if run.state not in OPEN:
        raise Conflict(f"Run {run.pk} is {run.get_state_display()} already.")
    run.state, run.finished_at = RunState.STOPPED, timezone.now()
    run.pause_reason = f"Stopped by {by}." if by else "Stopped."
    run.save(update_fields=["state", "finished_at", "pause_reason"])
    run.dialogues.filter(state=DialogueState.WAITING).update(state=DialogueState.STOPPED)
    detectors.finish_of(dataset=run.dataset_id)
    return run


@transaction.atomic
def retry(*, run: Run, outcomes: Collection[str], by: User | None) -> int:
    """Ask again the turns without text whose latest outcome is one of `outcomes`; returns how many dialogues.

    `outcomes`: failed, blocked, empty, not_asked. Only dialogues whose answers have no gap: the turn
    and all later ones have no Response. Detections of these dialogues are taken up again too.
    """
    if not outcomes or (unknown := sorted(set(outcomes) - set(RETRIABLE))):
        raise Invalid(
            f"A retry is for turns that are {', '.join(RETRIABLE)}; not {unknown[0] if outcomes else 'none'}."
        )
    run = _locked(run)
    if run.imported or run.state in (RunState.DRAFT, RunState.COMPLETE):
        raise Conflict(f"Run {run.pk} is {'imported' if run.imported else run.get_state_display()}: no retry.")
    providers.check(run.endpoint())
    chosen = [dialogue for dialogue, (outcome, _) in _stuck(run).items() if outcome in outcomes]
    if not chosen:
        raise Conflict(f"Run {run.pk} has no turn to ask again that is {' or '.join(sorted(outcomes))}.")
    if run.state not in OPEN:
        _check_no_open_run(run.model, run.dataset)
    run.dialogues.filter(pk__in=chosen, state__in=ENDED).update(state=DialogueState.WAITING)
    run.state, run.pause_reason, run.finished_at = RunState.RUNNING, "", None
    run.save(update_fields=["state", "pause_reason", "finished_at"])
    detectors.take_up(run=run, dialogues=chosen)
    engine.hint_for(run.endpoint().provider)
    return len(chosen)


@dataclass(frozen=True)
class Lost:
    """What a retry of one outcome would take up: `turns` are those without text and all after them, to be asked."""

    outcome: str
    ids: tuple[int, ...]
    turns: int

    @property
    def dialogues(self) -> int:
        return len(self.ids)


def retriable(*, run: Run) -> list[Lost]:
    """What a retry would take up, for each outcome that there is. Two queries."""
    dialogues: dict[str, list[int]] = defaultdict(list)
    turns: Counter[str] = Counter()
    for dialogue, (outcome, answered) in _stuck(run).items():
        dialogues[outcome].append(dialogue)
        turns[outcome] += run.dataset.turns - answered
    return [Lost(outcome, tuple(dialogues[outcome]), turns[outcome]) for outcome in RETRIABLE if outcome in dialogues]


def pause_by_engine(*, run: int, reason: str) -> None:
    """Pause a running run and say why."""
    Run.objects.filter(pk=run, state=RunState.RUNNING).update(state=RunState.PAUSED, pause_reason=reason)


def finish(*, run: int) -> None:
    """End an open run whose dialogues have all ended: complete where each of them is, else incomplete.

    The run's row is locked first, so that of two workers that end the last two dialogues one sees both.
    """
    row = Run.objects.select_for_update().filter(pk=run, state__in=(RunState.RUNNING, RunState.PAUSED)).first()
    if row is None:
        return
    # Looked up by state, never counted: it is asked for at every dialogue's end, however many there are.
    if row.dialogues.filter(state__in=UNENDED).exists():
        return
    gaps = row.dialogues.filter(state__in=(DialogueState.STOPPED, DialogueState.FAILED)).exists()
    row.state = RunState.INCOMPLETE if gaps else RunState.COMPLETE
    row.finished_at, row.pause_reason = timezone.now(), ""
    row.save(update_fields=["state", "finished_at", "pause_reason"])
    detectors.finish_of(dataset=row.dataset_id)


def _locked(run: Run) -> Run:
    return Run.objects.select_for_update(of=("self",)).select_related("model", "dataset").get(pk=run.pk)


def _stuck(run: Run) -> dict[int, tuple[str, int]]:
    """The outcome of the first turn without text of each ended dialogue that isn't complete, and the answers before.

    A dialogue with a gap between its answers is left out: a later answer stands on the missing one.
    """
    ended = run.dialogues.filter(state__in=(DialogueState.STOPPED, DialogueState.FAILED)).order_by("pk")
    counted = ended.annotate(answers=Count("responses"), last=Max("responses__turn"))
    answered = {
        pk: answers for pk, answers, last in counted.values_list("pk", "answers", "last") if answers == (last or 0)
    }
    attempts = Attempt.objects.filter(dialogue__in=ended.order_by().values("pk")).order_by("pk")
    latest = {
        (dialogue, turn): outcome for dialogue, turn, outcome in attempts.values_list("dialogue", "turn", "outcome")
    }
    return {pk: (latest.get((pk, answers + 1), NOT_ASKED), answers) for pk, answers in answered.items()}


def _settings(model: EvaluatedModel, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The model's settings with those of this run, which its own rules accept. Raises Invalid."""
    given = {name: value for name, value in overrides.items() if value is not None}
    if unknown := sorted(given.keys() - set(OVERRIDABLE)):
        raise Invalid(f"A run can't have a {unknown[0]} of its own; it can have {', '.join(OVERRIDABLE)}.")
    asked = copy(model)
    for name, value in given.items():
        setattr(asked, name, value)
    try:
        asked.clean()
    except ValidationError as error:
        raise Invalid(" ".join(error.messages)) from error
    return asked.settings()


def larger_cap(cap: int) -> int:
    """A cap worth trying where reasoning ate this one: thoughts need room for several times as much."""
    return max(cap, min(LARGEST_CAP, 4 * cap))


def _check_model(model: EvaluatedModel) -> None:
    if model.imported:
        raise Invalid(f"{model} is known from a release only: give it a provider before you run it.")
    if not model.active:
        raise Invalid(f"{model} is inactive: activate it before you run it.")
    providers.check(model.endpoint())


def _check_concurrency(concurrency: int) -> None:
    if not 1 <= concurrency <= 1024:
        raise Invalid("A run asks 1 to 1,024 dialogues at once.")


def _check_budget(kept: EvaluatedModel | Spending, budget: Decimal | None) -> None:
    """A budget makes sense, and there are prices to keep it by: the model's, or those that the run keeps."""
    if budget is None:
        return
    if budget <= 0:
        raise Invalid("A budget is more than 0 dollars.")
    if not kept.prices.known:
        name = kept if isinstance(kept, EvaluatedModel) else kept.run
        raise Invalid(f"{name} has no prices, so a budget can't be kept: give it prices, or leave the budget out.")


def _check_pictures(dataset: Dataset) -> None:
    datasets.attach_images(dataset=dataset)
    total, missing = dataset.items.count(), dataset.items.filter(image=None).count()
    if not total:
        raise Invalid(f"{dataset} has no items.")
    if missing:
        raise Invalid(
            f"{missing:,} of the {total:,} items of {dataset} have no picture: import the picture files "
            f"(Images, or import_images FOLDER); each is attached to its item by its sha256 hash."
        )


def _check_no_open_run(model: EvaluatedModel, dataset: Dataset) -> None:
    found = Run.objects.filter(model=model, dataset=dataset, state__in=OPEN).first()
    if found is not None:
        raise Conflict(f"{model} already has an open run over {dataset}: run {found.pk}, {found.get_state_display()}.")
