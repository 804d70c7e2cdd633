"""Connection tests as work for the engine: a few calls each, every one kept before the next is made."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID, uuid4

from django.db.models import Sum
from django.utils import timezone

from benchmark.models import ConnectionCall, ConnectionTest
from benchmark.models.connections import TestState, Verdict
from benchmark.models.responses import CallOutcome
from benchmark.models.runs import endpoint_of
from benchmark.services import calls as call_rows
from fpco_site.llm import endpoints, engine, money, prompts
from fpco_site.llm.connection import checks, refusals, steps
from fpco_site.llm.connection.sight import Shown
from fpco_site.llm.connection.steps import Kind, Past, Probe, Step
from fpco_site.llm.engine import Call, Claim
from fpco_site.llm.models import TOKEN_COLUMNS
from fpco_site.llm.types import Request, Usage

SYSTEMS = {Kind.MODEL: "inference", Kind.DETECTOR: "detector", Kind.DRAFTER: "inference"}

type Held = Claim[Probe]


class ConnectionWork(engine.LeasedWork[Probe]):
    """A group is a test."""

    kind = "connection tests"
    model = ConnectionTest

    def pending(self) -> bool:
        waiting = ConnectionTest.objects.filter(self.here("settings__provider"), state=TestState.WAITING)
        return waiting.exists() or ConnectionTest.objects.filter(state=TestState.RUNNING).exists()

    def claim(self, *, room: int, worker: UUID) -> list[Held]:
        token = uuid4()
        here = ConnectionTest.objects.filter(self.here("settings__provider"))
        ids = self.take(here.order_by("pk"), room=room, worker=worker, token=token)
        rows = ConnectionTest.objects.filter(pk__in=ids).order_by("pk").prefetch_related("calls") if ids else ()
        return [_claim(row, token) for row in rows]

    def open(self, claim: Held) -> Held:
        picture = None if claim.state.kind is Kind.DETECTOR else steps.picture_of(claim.state.shown)
        return replace(claim, state=replace(claim.state, picture=picture))

    def request(self, claim: Held) -> Request:
        return steps.request(claim.state)

    def record(self, calls: Sequence[Call[Probe]]) -> list[Held | None]:
        held = self.held([call.claim for call in calls])
        return [_record(call) if held.get(call.claim.id) == call.claim.token else None for call in calls]


def _claim(row: ConnectionTest, token: UUID) -> Held:
    kind = Kind(row.kind)
    probe = Probe(
        kind=kind,
        system=prompts.load(SYSTEMS[kind]).text,
        shown=Shown(**row.shown),
        endpoint=endpoint_of(row.settings),
        history=tuple(_past(call) for call in row.calls.all()),
    )
    return Claim(id=row.pk, token=token, group=row.pk, endpoint=probe.asked, state=probe)


def _record(call: Call[Probe]) -> Held | None:
    """Keep the call; the claim that goes on with the next one, or None and a verdict."""
    probe = call.claim.state
    step = steps.following(probe)
    kept = list(ConnectionCall.objects.filter(test=call.claim.id))
    # More than the lane knows of: committed before, by a try whose confirmation was lost with the connection.
    if step is not None and len(kept) == len(probe.history):
        kept.append(_row(call, step))
        kept[-1].save()
    probe = replace(probe, history=tuple(_past(row) for row in kept))
    if steps.following(probe) is None:
        _conclude(call.claim.id, probe)
        return None
    return replace(call.claim, endpoint=probe.asked, state=probe)


def _row(call: Call[Probe], step: Step) -> ConnectionCall:
    reply = call.reply
    refused = refusals.refused_setting(call.error, call.claim.endpoint) if call.error else ""
    return ConnectionCall(
        test_id=call.claim.id,
        step=step,
        reason=reply.reason if reply else "",
        text=(reply.text or "") if reply else "",
        model_answered=call_rows.clip(reply.model if reply else "", 200),
        refused=call_rows.clip(refused, 200),
        sent=call.sent(picture_sha256="drawn for this test"),
        **call_rows.columns(call),
    )


def _past(row: ConnectionCall) -> Past:
    kind, _, code = row.error_class.partition(" ")
    return Past(
        step=Step(row.step),
        outcome=str(row.outcome),
        text=row.text or None,
        status=row.status,
        code=code,
        kind=kind,
        words=row.error or row.reason,
        refused=row.refused,
        model=row.model_answered,
        usage=Usage(row.input_tokens, row.cached_tokens, row.output_tokens, row.reasoning_tokens),
        seconds=row.seconds,
    )


def _conclude(pk: int, probe: Probe) -> None:
    """Write what the calls prove and give the test back for good."""
    row = ConnectionTest.objects.select_related("model", "detector", "drafter").get(pk=pk)
    subject = row.subject
    known = checks.Subject(
        key_name=endpoints.key_of(subject)[0],
        priced=subject.prices.known,
        simulated=endpoints.is_simulated(subject.provider),
    )
    found = checks.checks(probe, known)
    row.verdict = _verdict(found, known)
    row.checks = [check.as_json() for check in found]
    row.refused = probe.refused
    row.model_answered = next((past.model for past in reversed(probe.history) if past.model), "")
    _add_up(row)
    row.state, row.finished_at = TestState.DONE, timezone.now()
    row.lease_worker, row.lease_token = None, None
    row.save()


def _verdict(found: Sequence[checks.Check], subject: checks.Subject) -> Verdict:
    if any(check.mark is checks.Mark.BAD for check in found):
        return Verdict.FAILED
    return Verdict.SIMULATED if subject.simulated else Verdict.PASSED


def _add_up(row: ConnectionTest) -> None:
    """Calls, tokens, seconds and cost of all calls. Sums of what is unknown are unknown."""
    made = row.calls.exclude(outcome=CallOutcome.FAILED)
    row.calls_made, row.answered = row.calls.count(), made.count()
    sums = made.aggregate(**{f"n_{name}": Sum(name) for name in (*TOKEN_COLUMNS, "seconds")})
    for name in (*TOKEN_COLUMNS, "seconds"):
        setattr(row, name, sums[f"n_{name}"])
    usage = Usage(*(getattr(row, name) for name in TOKEN_COLUMNS))
    told = None not in (usage.input, usage.output)
    row.cost = money.cost(money.Sums.of(usage), row.subject.prices) if told else None
