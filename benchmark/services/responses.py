"""Answers come in here, and only here: each once, and only from the worker that holds the dialogue."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from benchmark.models import Attempt, Dialogue, Response, Run
from benchmark.models.responses import CallOutcome
from benchmark.models.runs import DialogueState, RunState
from benchmark.services import budgets, bulk, runs, spending
from benchmark.services import calls as call_rows
from fpco_site.llm.engine import Call, Claim, Fault, is_refusal, pause_reason
from fpco_site.llm.models import Leased, usage_columns
from fpco_site.llm.types import Picture, ProviderError


@dataclass(frozen=True)
class Conversation:
    """A dialogue as its lane holds it: what was asked and answered so far, and what comes next.

    `settings` is what each attempt keeps of how it was asked, the prompt's version and hash included; `software`
    names the versions of what asks.
    """

    system: str
    questions: tuple[str, ...]
    answers: tuple[str, ...]
    picture_name: str
    mime: str
    settings: dict[str, Any]
    picture: Picture | None = field(default=None, repr=False)
    software: int | None = None

    @property
    def turn(self) -> int:
        """The turn that is asked next, counted from 1."""
        return len(self.answers) + 1


Talk = Claim[Conversation]

_HELD = """
    SELECT d.id, d.lease_token, (SELECT MAX(turn) FROM benchmark_response a WHERE a.dialogue_id = d.id),
        r.id, r.state, r.budget
    FROM benchmark_dialogue d JOIN benchmark_run r ON r.id = d.run_id
    WHERE d.id IN ({marks}) AND d.lease_token IS NOT NULL ORDER BY d.id {lock}
"""


def record(*, calls: Sequence[Call[Conversation]]) -> list[Talk | None]:
    """Write how calls ended, inside the caller's transaction; returns the claims to go on with, or None.

    A call whose token no longer holds its dialogue leaves nothing. A turn with text gets its Response
    and the dialogue goes on; one without stops it; an error that is not the last leaves it as it is.
    The last error of a turn fails its dialogue where the trouble is its own, gives it back where that is
    not clear, and gives it back and pauses the run where it is everybody's.
    """
    page = _Page(calls)
    claims = [page.write(call) for call in calls]
    page.save()
    return claims


class _Page:
    """The rows of one group of calls, gathered before they are written."""

    def __init__(self, calls: Sequence[Call[Conversation]]) -> None:
        rows = _held([call.claim.id for call in calls])
        self._held: dict[int, UUID] = {pk: UUID(str(token)) for pk, token, *_ in rows}
        self._answered: dict[int, int] = {pk: turn or 0 for pk, _, turn, *_ in rows}
        self._kept = _kept(calls)
        self._states: dict[int, str] = {run: state for *_, run, state, _ in rows}
        self._room = self._room_of({run for *_, run, _, budget in rows if budget is not None}, calls)
        self._responses: list[Response] = []
        self._attempts: list[Attempt] = []
        self._written: list[Call[Conversation]] = []
        self._moves: dict[str, list[int]] = defaultdict(list)
        self._ended: set[int] = set()
        self._pauses: dict[int, str] = {}

    def write(self, call: Call[Conversation]) -> Talk | None:
        claim, talk = call.claim, call.claim.state
        if self._held.get(claim.id) != claim.token:
            return None
        if self._answered.get(claim.id, 0) >= talk.turn:
            # Committed before, by a try whose confirmation was lost with the connection.
            return self._after_text(call)
        if (claim.id, talk.turn, call.started_at) in self._kept:
            return self._go_on(claim)
        self._attempts.append(_attempt(call))
        self._written.append(call)
        outcome = self._attempts[-1].outcome
        if call.error is not None:
            return self._after_error(call, call.error)
        if outcome in (CallOutcome.BLOCKED, CallOutcome.EMPTY, CallOutcome.FAILED):
            return self._end(claim, DialogueState.STOPPED)
        self._responses.append(_response(call, outcome))
        return self._after_text(call)

    def _after_text(self, call: Call[Conversation]) -> Talk | None:
        claim, talk = call.claim, call.claim.state
        text = call.reply.text if call.reply else None
        if talk.turn >= len(talk.questions):
            return self._end(claim, DialogueState.COMPLETE)
        return self._go_on(replace(claim, state=replace(talk, answers=(*talk.answers, text or ""))))

    def _after_error(self, call: Call[Conversation], error: ProviderError) -> Talk | None:
        claim = call.claim
        if not call.last:
            return self._go_on(claim)
        if call.fault not in (Fault.UNCLEAR, Fault.EVERYBODYS) or self._again(call, error):
            return self._end(claim, DialogueState.FAILED)
        if call.fault is Fault.EVERYBODYS:
            self._pauses.setdefault(claim.group, pause_reason(error, claim.endpoint))
        return self._give_back(claim)

    def _again(self, call: Call[Conversation], error: ProviderError) -> bool:
        """Whether this very request was refused before: then it fails, or the run would pause for it for ever."""
        if not is_refusal(error):
            return False
        turn = Attempt.objects.filter(dialogue=call.claim.id, turn=call.claim.state.turn)
        return turn.filter(error_class__startswith=error.kind.value).exists()

    def _room_of(self, limited: Collection[int], calls: Sequence[Call[Conversation]]) -> dict[int, int]:
        """How many calls may start for each run with a budget, now that these have come back."""
        if not limited:
            return {}
        kept = Run.objects.filter(pk__in=limited).values_list("pk", "budget")
        given = {run: budget for run, budget in kept if budget is not None}
        back = [call for call in calls if self._held.get(call.claim.id) == call.claim.token]
        added = spending.added((call.claim.group, call) for call in back)
        return budgets.room_after(budgets=given, added=added, back=self._held)

    def _go_on(self, claim: Talk) -> Talk | None:
        """The claim, where the run still wants answers and its budget has room for one more call."""
        if self._states.get(claim.group) != RunState.RUNNING:
            return self._give_back(claim)
        if claim.group in self._room:
            if self._room[claim.group] < 1:
                return self._give_back(claim)
            self._room[claim.group] -= 1
        return claim

    def _give_back(self, claim: Talk) -> Talk | None:
        """The dialogue waits to be claimed again, or ends where its run was stopped."""
        if self._states.get(claim.group) == RunState.STOPPED:
            return self._end(claim, DialogueState.STOPPED)
        self._moves[DialogueState.WAITING].append(claim.id)
        return None

    def _end(self, claim: Talk, state: str) -> Talk | None:
        self._moves[state].append(claim.id)
        self._ended.add(claim.group)
        return None

    def save(self) -> None:
        bulk.create(self._responses)
        bulk.create(self._attempts)
        for state, ids in self._moves.items():
            Dialogue.objects.filter(pk__in=ids).update(state=state, **Leased.FREE)
        for run, reason in sorted(self._pauses.items()):
            runs.pause_by_engine(run=run, reason=reason)
        for run in sorted(self._ended):
            runs.finish(run=run)
        spending.add_to_runs(sums=spending.added((call.claim.group, call) for call in self._written))


def _held(dialogues: Sequence[int]) -> list[tuple[Any, ...]]:
    """Those that some worker holds, locked: id, token, last turn with an answer, and their run's id, state and budget.

    Asked at every commit; as three queries of the ORM this took a third of it.
    """
    lock = "FOR UPDATE OF d" if connection.features.has_select_for_update else ""
    marks = ", ".join(["%s"] * len(dialogues))
    with connection.cursor() as cursor:
        cursor.execute(_HELD.format(marks=marks, lock=lock), dialogues)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _kept(calls: Sequence[Call[Conversation]]) -> set[tuple[int, int, datetime]]:
    """Which failed calls were committed before, by a try whose confirmation was lost; their dialogues go on."""
    failed = [call for call in calls if call.error is not None]
    if not failed:
        return set()
    rows = Attempt.objects.filter(
        dialogue__in={call.claim.id for call in failed}, started_at__in={call.started_at for call in failed}
    )
    return set(rows.values_list("dialogue", "turn", "started_at"))


def _attempt(call: Call[Conversation]) -> Attempt:
    talk, reply = call.claim.state, call.reply
    return Attempt(
        dialogue_id=call.claim.id,
        turn=talk.turn,
        reason=reply.reason if reply else "",
        settings=talk.settings,
        image_sha256=talk.picture.sha256 if talk.picture else "",
        request_sha256=call.sent_sha256,
        software_id=talk.software,
        **call_rows.columns(call),
    )


def _response(call: Call[Conversation], outcome: str) -> Response:
    reply = call.reply
    assert reply is not None
    return Response(
        dialogue_id=call.claim.id,
        turn=call.claim.state.turn,
        text=reply.text or "",
        cut=outcome == CallOutcome.CUT,
        refusal=outcome == CallOutcome.REFUSED,
        finish_reason=call_rows.clip(reply.finish_reason, 60),
        model_answered=call_rows.clip(reply.model, 200),
        seconds=reply.seconds or call.seconds,
        raw=reply.raw or None,
        **usage_columns(reply.usage),
    )
