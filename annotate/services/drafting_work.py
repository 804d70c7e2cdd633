"""Drafts as the engine makes them: one call a draft, one more where the reply can't be used, all of them kept."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from django.db.models import Count, F
from django.utils import timezone

from annotate import draft_rules
from annotate.axes import Category
from annotate.linting import StudyPlan
from annotate.models import Draft, DraftCall, Drafter, DraftJob
from annotate.models.drafts import CallVerdict, DraftJobState, DraftKind, DraftState
from annotate.services import draft_calls, draft_jobs, items, protocols, variants
from annotate.services.draft_calls import UNUSABLE, Ask
from fpco_site.errors import Invalid
from fpco_site.llm import drafts as wire
from fpco_site.llm import engine, prompts
from fpco_site.llm.engine import Call, Claim
from fpco_site.llm.types import ProviderError, Request

# The offline drafter's way to say that one description has nothing to change: nothing is wrong with the provider.
OWN = frozenset({"nothing_to_change"})


class DraftWork(engine.LeasedWork[Ask]):
    """A group is a job; a drafter's concurrency holds over all its jobs."""

    kind = "drafts"
    model = Draft

    def pending(self) -> bool:
        waiting = Draft.objects.filter(
            self.here("drafter__provider"), state=DraftState.WAITING, job__state=DraftJobState.RUNNING
        )
        return waiting.exists() or Draft.objects.filter(state=DraftState.RUNNING).exists()

    def claim(self, *, room: int, worker: UUID) -> list[Claim[Ask]]:
        claims: list[Claim[Ask]] = []
        waiting = Draft.objects.filter(state=DraftState.WAITING, job__state=DraftJobState.RUNNING).values("drafter")
        drafters = Drafter.objects.filter(self.here("provider"), pk__in=waiting).order_by("pk")
        for drafter in drafters.select_for_update(skip_locked=True):
            held = drafter.drafts.filter(state=DraftState.RUNNING).count()
            free = min(room - len(claims), drafter.concurrency - held)
            if free > 0:
                claims += self._claims_of(drafter, room=free, worker=worker)
        return claims

    def open(self, claim: Claim[Ask]) -> Claim[Ask]:
        picture = engine.stored_picture(claim.state.path, claim.state.mime)
        return replace(claim, state=replace(claim.state, picture=picture))

    def request(self, claim: Claim[Ask]) -> Request:
        ask = claim.state
        if ask.kind == DraftKind.PREMISE:
            return wire.premise_request(
                system=ask.system,
                metadata=ask.metadata,
                target_description=ask.target_description,
                questions=ask.false,
                premise_class=ask.premise_class,
                picture=ask.picture,
                avoid=ask.avoid,
                redraft=ask.redraft,
            )
        if ask.picture is None:
            raise ValueError("A claim is opened before its request is made.")
        return wire.questions_request(
            system=ask.system, metadata=ask.metadata, picture=ask.picture, redraft=ask.redraft
        )

    def record(self, calls: Sequence[Call[Ask]]) -> list[Claim[Ask] | None]:
        held = self.held([call.claim for call in calls])
        ends = [_record(call) if held.get(call.claim.id) == call.claim.token else None for call in calls]
        for job in sorted({call.claim.group for call, claim in zip(calls, ends, strict=True) if claim is None}):
            draft_jobs.finish(job=job)
        return ends

    def open_groups(self, groups: Collection[int]) -> set[int]:
        running = DraftJob.objects.filter(pk__in=groups, state=DraftJobState.RUNNING)
        return set(running.values_list("pk", flat=True))

    def _claims_of(self, drafter: Drafter, *, room: int, worker: UUID) -> list[Claim[Ask]]:
        """Claims of one drafter, dealt out among its jobs so that a small one need not wait for a big one."""
        draft_jobs.drop_rejected(drafter=drafter)
        waiting = drafter.drafts.filter(state=DraftState.WAITING, job__state=DraftJobState.RUNNING)
        wanted = dict(waiting.order_by("job").values_list("job").annotate(n=Count("pk")))
        endpoint, claims = drafter.endpoint(), []
        for job, given in engine.share(room, wanted).items():
            token = uuid4()
            # Premises first: a whole proposal sooner rather than all questions before the first premise.
            rows = drafter.drafts.filter(job=job).order_by("kind", "pk")
            ids = self.take(rows, room=given, worker=worker, token=token)
            try:
                asks = asks_of(ids)
            except Invalid as error:
                draft_jobs.stop_by_engine(job=job, reason=f"{error.message} Put it back, then continue.")
                self.give_back(Draft.objects.filter(pk__in=ids, lease_token=token))
                continue
            claims += [Claim(pk, token, job, endpoint, ask) for pk, ask in asks.items()]
        return claims


def asks_of(ids: Collection[int]) -> dict[int, Ask]:
    """What is asked for these drafts, by id. Raises Invalid where a prompt is no longer what it was."""
    rows = Draft.objects.filter(pk__in=ids).select_related("item__image", "based_on")
    rows = rows.prefetch_related("item__turns", "calls").order_by("pk")
    systems: dict[tuple[str, str, str], str] = {}
    asks = {}
    for row in rows:
        key = (row.prompt_name, row.prompt_version, row.prompt_sha256)
        if key not in systems:
            systems[key] = prompts.load_exact(key[0], int(key[1]), key[2]).text
        asks[row.pk] = _ask(row, systems[key])
    return asks


def _ask(draft: Draft, system: str) -> Ask:
    """From the item as it is now, or from the questions draft that a premise is based on."""
    item, plan = draft.item, protocols.of(draft.item)
    texts = items.texts_of(item)
    if draft.based_on is not None and draft.based_on.payload:
        texts = draft_rules.merged(texts, kind=DraftKind.QUESTIONS, payload=draft.based_on.payload)
    bad, redraft = draft_calls.so_far(draft)
    return Ask(
        kind=draft.kind,
        system=system,
        metadata=wire.Metadata(item.target, Category(item.category).number, item.complexity),
        premise_class=item.premise_class,
        target_description=texts.target_description,
        contents={number: question.content for number, question in texts.questions.items()},
        plan=StudyPlan(plan.turns, tuple(plan.false_turns)),
        path=str(item.image.file.name),
        mime=item.image.mime,
        sha256=item.image.sha256,
        avoid=variants.to_avoid(item) if draft.kind == DraftKind.PREMISE else (),
        bad=bad,
        redraft=redraft,
    )


def _record(call: Call[Ask]) -> Claim[Ask] | None:
    """Keep a call and do what its end asks for; the draft is held under the call's token."""
    judged = draft_calls.judge(call)
    draft_calls.keep(call, judged)
    row = Draft.objects.filter(pk=call.claim.id)
    row.update(tries=F("tries") + 1, **draft_calls.on_draft(call, judged))
    if judged.usable:
        _end(call.claim, DraftState.READY)
        draft_jobs.follow_up(draft=call.claim.id)
        return None
    if call.error is not None:
        return _after_error(call, call.error)
    if judged.bad and call.claim.state.bad + 1 >= UNUSABLE:
        return _end(call.claim, DraftState.FAILED)
    said = (call.reply.text or "") if call.reply else ""
    return _go_on(draft_calls.again(call.claim, said, judged))


def _after_error(call: Call[Ask], error: ProviderError) -> Claim[Ask] | None:
    """The draft fails where the trouble is its own; what is everybody's stops the job."""
    claim = call.claim
    if not call.last:
        return _go_on(claim)
    if error.code in OWN or call.fault is engine.Fault.OWN or _again(claim, error):
        return _end(claim, DraftState.FAILED)
    if call.fault is engine.Fault.EVERYBODYS:
        reason = engine.pause_reason(error, claim.endpoint, go_on="continue")
        draft_jobs.stop_by_engine(job=claim.group, reason=reason)
    return _end(claim, DraftState.WAITING)


def _again(claim: Claim[Ask], error: ProviderError) -> bool:
    """Whether this very request was refused before: then it fails, or the job would stop for it for ever."""
    if not engine.is_refusal(error):
        return False
    return DraftCall.objects.filter(draft=claim.id, verdict=CallVerdict.FAILED, last=True).count() > 1


def _go_on(claim: Claim[Ask]) -> Claim[Ask] | None:
    """The claim, where its job still runs."""
    if DraftJob.objects.filter(pk=claim.group, state=DraftJobState.RUNNING).exists():
        return claim
    return _end(claim, DraftState.WAITING)


def _end(claim: Claim[Ask], state: str) -> Claim[Ask] | None:
    changed: dict[str, Any] = {"state": state, **Draft.FREE}
    if state != DraftState.WAITING:
        changed["finished_at"] = timezone.now()
    Draft.objects.filter(pk=claim.id).update(**changed)
    return None
