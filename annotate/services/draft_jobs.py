"""Jobs of drafting: which items wait for what, and the start, stop and end of the work on them."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotate.axes import Cell
from annotate.models import Draft, Drafter, DraftJob, Item, Turn, User
from annotate.models.drafts import OPEN, DraftJobState, DraftKind, DraftScope, DraftState, JobKind
from annotate.models.items import ItemState
from annotate.services import items, protocols, variants
from fpco_site.errors import Conflict, Invalid
from fpco_site.llm import drafts as wire
from fpco_site.llm import engine, prompts, providers
from fpco_site.llm.prompts import Prompt

PROMPTS = {DraftKind.QUESTIONS: wire.QUESTIONS, DraftKind.PREMISE: wire.PREMISE}
_UNDECIDED: dict[str, Any] = {"state": DraftState.READY, "applied_at": None, "discarded_at": None}
MOST = 3  # drafts of one item and kind side by side


@dataclass(frozen=True)
class Wish:
    """What is to be drafted. `item` for the scope of one item, `cell` for that of a cell; no version: the newest."""

    kind: str
    scope: str = DraftScope.WAITING
    item: Item | None = None
    cell: Cell | None = None
    alternatives: int = 1
    versions: dict[str, int] = field(default_factory=dict)

    @property
    def kinds(self) -> tuple[DraftKind, ...]:
        return tuple(DraftKind) if self.kind == JobKind.BOTH else (DraftKind(self.kind),)


@dataclass(frozen=True)
class Plan:
    """The items that a job would begin with, by kind, and the calls that takes if no reply has to be mended."""

    questions: list[Item]
    premise: list[Item]
    calls: int

    @property
    def items(self) -> int:
        return len(self.questions) + len(self.premise)


def plan(*, wish: Wish, drafter: Drafter) -> Plan:
    """What a job of this wish would draft now. Raises Invalid for a wish that makes no sense."""
    _check(wish)
    found: dict[DraftKind, list[Item]] = {kind: [] for kind in DraftKind}
    if wish.scope == DraftScope.ITEM:
        found[wish.kinds[0]] = [wish.item] if wish.item else []
    elif wish.scope == DraftScope.VARIANTS:
        found[DraftKind.PREMISE] = variants_waiting(drafter)
    else:
        for kind in wish.kinds:
            found[kind] = list(_in_scope(waiting_for(kind, drafter), wish.cell).order_by("pk"))
    questions, premise = found[DraftKind.QUESTIONS], found[DraftKind.PREMISE]
    steps = 2 if wish.kind == JobKind.BOTH else 1
    return Plan(questions, premise, wish.alternatives * (steps * len(questions) + len(premise)))


def waiting_for(kind: str, drafter: Drafter) -> QuerySet[Item]:
    """Items that want a draft of this kind: nothing is written, being made or proposed for them.

    Of a variant nothing is drafted but on request.
    """
    rows = _without(kind, drafter, Item.objects.filter(parent=None, state=ItemState.DRAFT).exclude(target=""))
    turns = Turn.objects.filter(item=OuterRef("pk"))
    if kind == DraftKind.QUESTIONS:
        return rows.filter(~Exists(turns.exclude(content="")), target_description="")
    false = protocols.study().false_turns
    empty = turns.filter(number__in=false, content="")
    return rows.filter(~Exists(empty), modified_target_description="").exclude(target_description="")


def variants_waiting(drafter: Drafter) -> list[Item]:
    """Variants that want a premise. B of a class waits until there is one for A that it can keep clear of."""
    empty = Item.objects.filter(parent__isnull=False, state=ItemState.DRAFT, modified_target_description="")
    rows = _without(DraftKind.PREMISE, drafter, empty.exclude(target="").exclude(target_description=""))
    written = Item.objects.filter(parent__isnull=False).exclude(modified_target_description="")
    proposed = Draft.objects.filter(kind=DraftKind.PREMISE, **_UNDECIDED, item__parent__isnull=False)
    clear = {
        *written.values_list("parent", "premise_class", "variant"),
        *proposed.values_list("item__parent", "item__premise_class", "item__variant"),
    }
    return [
        row
        for row in rows.order_by("pk")
        if row.variant == variants.LETTERS[0] or (row.parent_id, row.premise_class, variants.LETTERS[0]) in clear
    ]


@transaction.atomic
def start(*, wish: Wish, drafter: Drafter, by: User | None) -> DraftJob:
    """Have the drafts of a wish made in the background.

    Raises
    ------
    Invalid
        If the wish makes no sense, or nothing waits for it.
    NotConfigured
        If the drafter's key is not in the environment.
    Conflict
        If the drafter is not in use, or a draft of the one item is being made already.
    """
    _check(wish)
    if not drafter.active:
        raise Conflict(f"{drafter} is not in use any more.")
    providers.check(drafter.endpoint())
    if wish.item is not None:
        _check_item(items.locked(wish.item), wish)
    planned = plan(wish=wish, drafter=drafter)
    if not planned.items:
        raise Invalid("Nothing waits for such a draft: each item has it, or its proposal waits for your decision.")
    job = _job(wish, drafter, by)
    try:
        with transaction.atomic():
            for kind, rows in ((DraftKind.QUESTIONS, planned.questions), (DraftKind.PREMISE, planned.premise)):
                _add(job, kind, rows)
    except IntegrityError as error:
        one = wish.scope == DraftScope.ITEM
        raise Conflict(
            "This draft is already being made." if one else "Somebody asks for the same: look again."
        ) from error
    engine.hint_for(job.drafter.provider)
    return job


@transaction.atomic
def stop(*, job: DraftJob, by: User | None) -> None:
    """Ask nothing more for now; calls in flight finish and are kept."""
    reason = f"Stopped by {by}." if by else "Stopped."
    running = DraftJob.objects.filter(pk=job.pk, state=DraftJobState.RUNNING)
    if not running.update(state=DraftJobState.STOPPED, stop_reason=reason):
        raise Conflict("Only drafting that is running can be stopped.")


@transaction.atomic
def go_on(*, job: DraftJob, by: User | None) -> None:
    """Continue a stopped job where it was. Raises NotConfigured where its key is still missing."""
    providers.check(job.drafter.endpoint())
    stopped = DraftJob.objects.filter(pk=job.pk, state=DraftJobState.STOPPED)
    if not stopped.update(state=DraftJobState.RUNNING, stop_reason="", finished_at=None):
        raise Conflict("Only drafting that is stopped can be continued.")
    finish(job=job.pk)
    engine.hint_for(job.drafter.provider)


def stop_by_engine(*, job: int, reason: str) -> None:
    """Stop a running job and say why."""
    DraftJob.objects.filter(pk=job, state=DraftJobState.RUNNING).update(state=DraftJobState.STOPPED, stop_reason=reason)


def finish(*, job: int) -> None:
    """End a running job that has nothing left to do; held, so that two last drafts see each other."""
    row = DraftJob.objects.select_for_update().filter(pk=job, state=DraftJobState.RUNNING).first()
    if row is not None and not row.drafts.filter(state__in=OPEN).exists():
        row.state, row.finished_at = DraftJobState.COMPLETE, timezone.now()
        row.save(update_fields=["state", "finished_at"])


def drop_rejected(*, drafter: Drafter) -> None:
    """Ask nothing for items that were rejected while their drafts waited; reopened, they wait anew."""
    rows = drafter.drafts.filter(state=DraftState.WAITING, job__state=DraftJobState.RUNNING)
    found = dict(rows.filter(item__state=ItemState.REJECTED).values_list("pk", "job"))
    Draft.objects.filter(pk__in=found, state=DraftState.WAITING).update(state=DraftState.DROPPED)
    for job in sorted(set(found.values())):
        finish(job=job)


def follow_up(*, draft: int) -> None:
    """After the questions of a job of both: their premise, in the transaction that made them ready."""
    row = Draft.objects.select_related("job", "item", "drafter").get(pk=draft)
    if row.kind != DraftKind.QUESTIONS or row.job.kind != JobKind.BOTH:
        return
    if row.discarded_at is not None or row.item.state == ItemState.REJECTED:
        return
    prompt = prompts.load(wire.PREMISE, int(row.job.premise_version))
    try:
        with transaction.atomic():
            _drop(row.drafter, DraftKind.PREMISE, [row.item])
            following = _draft(row.job, row.item, DraftKind.PREMISE, prompt, row.alternative)
            following.based_on = row
            following.save()
    except IntegrityError:
        return  # a premise for this item is being made by the same drafter already


def _job(wish: Wish, drafter: Drafter, by: User | None) -> DraftJob:
    versions = {kind: wish.versions.get(kind) or prompts.newest(PROMPTS[kind]) for kind in wish.kinds}
    complexity, category, premise_class = wish.cell or ("", "", "")
    return DraftJob.objects.create(
        **drafter.price_columns(),
        drafter=drafter,
        kind=wish.kind,
        scope=wish.scope,
        item=wish.item,
        complexity=complexity,
        category=category,
        premise_class=premise_class,
        alternatives=wish.alternatives,
        started_by=by,
        **{f"{kind}_version": str(version) for kind, version in versions.items()},
    )


def _add(job: DraftJob, kind: DraftKind, rows: Collection[Item]) -> None:
    if not rows:
        return
    _drop(job.drafter, kind, rows)
    prompt = prompts.load(PROMPTS[kind], int(getattr(job, f"{kind}_version")))
    numbers = range(1, job.alternatives + 1)
    # One alternative of every item before the second of any.
    made = (_draft(job, item, kind, prompt, number) for number in numbers for item in rows)
    Draft.objects.bulk_create(made, batch_size=500)


def _draft(job: DraftJob, item: Item, kind: DraftKind, prompt: Prompt, alternative: int) -> Draft:
    return Draft(
        job=job,
        item=item,
        drafter=job.drafter,
        kind=kind,
        alternative=alternative,
        prompt_name=prompt.name,
        prompt_version=str(prompt.version),
        prompt_sha256=prompt.sha256,
        model_asked=job.drafter.model_id,
        simulated=providers.is_simulated(job.drafter.provider),
        requested_by=job.started_by,
    )


def _drop(drafter: Drafter, kind: DraftKind, rows: Iterable[Item]) -> None:
    """What a stopped job still has waiting for these items is made by somebody else now."""
    stale = Draft.objects.filter(drafter=drafter, kind=kind, item__in=[row.pk for row in rows])
    stale.filter(state=DraftState.WAITING, job__state=DraftJobState.STOPPED).update(state=DraftState.DROPPED)


def _without(kind: str, drafter: Drafter, rows: QuerySet[Item]) -> QuerySet[Item]:
    """The items for which no draft of this kind is being made or waits for a decision."""
    same = Draft.objects.filter(item=OuterRef("pk"), kind=kind)
    made = same.filter(state__in=OPEN, drafter=drafter).exclude(job__state=DraftJobState.STOPPED)
    return rows.exclude(Exists(made)).exclude(Exists(same.filter(**_UNDECIDED)))


def _in_scope(rows: QuerySet[Item], cell: Cell | None) -> QuerySet[Item]:
    if cell is None:
        return rows
    return rows.filter(Q(complexity=cell[0], category=cell[1], premise_class=cell[2]))


def _check(wish: Wish) -> None:
    if wish.kind not in JobKind.values:
        raise Invalid(f"A draft is of {' or '.join(JobKind.values)}, not of {wish.kind!r}.")
    if wish.scope not in DraftScope.values:
        raise Invalid(f"Drafts are made for {', '.join(DraftScope.values)}, not for {wish.scope!r}.")
    if not 1 <= wish.alternatives <= MOST:
        raise Invalid("One, two or three drafts can be made side by side.")
    if wish.scope == DraftScope.VARIANTS and wish.kind != JobKind.PREMISE:
        raise Invalid("Of a variant only the false premise is drafted: its questions are its parent's.")
    if (wish.scope == DraftScope.ITEM) != (wish.item is not None):
        raise Invalid("Say which item is to be drafted.")
    if (wish.scope == DraftScope.CELL) != (wish.cell is not None):
        raise Invalid("Say which cell is to be drafted.")
    if wish.cell is not None:
        items.check_cell(wish.cell)


def _check_item(item: Item, wish: Wish) -> None:
    if item.state == ItemState.REJECTED:
        raise Conflict("This item is rejected; reopen it before having a draft made.")
    if item.parent_id is not None and wish.kind != JobKind.PREMISE:
        raise Invalid("Of a variant only the false premise is drafted: its questions are its parent's.")
    if not item.target:
        raise Invalid("Name the target first: the drafting model is told what the picture's target is.")
    if wish.kind == JobKind.PREMISE and (missing := missing_for_premise(item)):
        raise Invalid(f"A false premise is drafted from the description and the questions; {missing} is missing.")


def missing_for_premise(item: Item) -> str:
    """The first text that a premise is drafted from and this item lacks, in words; empty where none is."""
    texts = items.texts_of(item)
    if not texts.target_description:
        return "the description"
    empty = [n for n in protocols.of(item).false_turns if n not in texts.questions or not texts.questions[n].content]
    return f"question {empty[0]}" if empty else ""
