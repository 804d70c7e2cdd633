"""One call for a draft: what it brought, read strictly and held against the rules, and the row that keeps it."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from annotate import draft_rules
from annotate.linting import Finding, Severity, StudyPlan
from annotate.models import Draft, DraftCall
from annotate.models.drafts import BAD_REPLIES, CallVerdict, DraftKind
from annotate.services.items import Question, Texts
from fpco_site.fields import escape
from fpco_site.llm import drafts as wire
from fpco_site.llm.engine import Call, Claim
from fpco_site.llm.models import TOKEN_COLUMNS, usage_columns
from fpco_site.llm.strict_json import ParseError
from fpco_site.llm.types import Picture, Usage

LONGEST_FORMER = 12_000  # characters of an unusable reply that the next request repeats
UNUSABLE = 2  # after so many unusable replies the draft has failed


@dataclass(frozen=True)
class Ask:
    """All that a draft's request is made of; `picture` is read by `open`, `bad` counts unusable replies so far."""

    kind: str
    system: str
    metadata: wire.Metadata
    premise_class: str
    target_description: str
    contents: dict[int, str]
    plan: StudyPlan
    path: str
    mime: str
    sha256: str
    avoid: tuple[str, ...] = ()
    bad: int = 0
    redraft: wire.Redraft | None = None
    picture: Picture | None = None

    @property
    def ids(self) -> list[int]:
        """The questions that the reply must have."""
        if self.kind == DraftKind.QUESTIONS:
            return list(range(1, self.plan.turns + 1))
        return sorted(self.false)

    @property
    def false(self) -> dict[int, str]:
        """The questions that a premise is put into."""
        return {number: self.contents[number] for number in self.plan.false_turns if number in self.contents}

    @property
    def texts(self) -> Texts:
        """The texts that the draft starts from."""
        return Texts(
            target=self.metadata.target,
            target_description=self.target_description,
            questions={number: Question(self.contents.get(number, "")) for number in range(1, self.plan.turns + 1)},
        )


@dataclass(frozen=True)
class Judged:
    """What a call brought: a payload that can be used, or what is wrong with the reply."""

    verdict: str
    error: str = ""
    payload: dict[str, Any] | None = None
    findings: list[Finding] = field(default_factory=list)

    @property
    def usable(self) -> bool:
        return self.verdict == CallVerdict.USABLE

    @property
    def bad(self) -> bool:
        return self.verdict in BAD_REPLIES

    @property
    def problems(self) -> tuple[str, ...]:
        """What a redraft has to mend, one sentence each."""
        return problems(self.error, [draft_rules.in_words(finding) for finding in _errors(self.findings)])


def judge(call: Call[Ask]) -> Judged:
    """Read a call's reply and hold it against the rules."""
    if call.reply is None:
        return Judged(CallVerdict.FAILED, error=call.error.message if call.error else "No reply came.")
    reply, ask = call.reply, call.claim.state
    if not reply.text:
        why = reply.reason or reply.finish_reason or reply.outcome
        return Judged(CallVerdict.EMPTY, error=f"The model gave no text ({why}).")
    try:
        payload = parsed(reply.text, ask)
    except ParseError as error:
        return Judged(CallVerdict.UNREADABLE, error=str(error))
    texts = draft_rules.merged(ask.texts, kind=ask.kind, payload=payload)
    found = draft_rules.findings(texts, kind=ask.kind, premise_class=ask.premise_class, plan=ask.plan)
    found = [*draft_rules.repeated(payload, ask.avoid), *found]
    broken = _errors(found)
    if not broken:
        return Judged(CallVerdict.USABLE, payload=payload, findings=found)
    more = f" And {len(broken) - 1} more." if len(broken) > 1 else ""
    why = f"It breaks a rule. {draft_rules.in_words(broken[0])}{more}"
    return Judged(CallVerdict.BREAKS_RULES, error=why, payload=payload, findings=found)


def parsed(text: str, ask: Ask) -> dict[str, Any]:
    """The proposal as plain values. Raises ParseError."""
    if ask.kind == DraftKind.QUESTIONS:
        questions = wire.parse_questions(text, ask.ids)
        key, description, texts = "target_description", questions.target_description, questions.questions
    else:
        premise = wire.parse_premise(text, ask.ids)
        key, description = "modified_target_description", premise.modified_target_description
        texts = premise.questions
    if any(escape(part) != part for part in (description, *texts.values())):
        raise ParseError("The reply holds control characters that no question has.")
    return {key: description, "questions": texts}


def keep(call: Call[Ask], judged: Judged) -> DraftCall:
    """The row of a call, inside the transaction of its worker, who alone holds the draft."""
    number = DraftCall.objects.filter(draft=call.claim.id).count() + 1
    return DraftCall.objects.create(draft_id=call.claim.id, number=number, **_columns(call, judged))


def on_draft(call: Call[Ask], judged: Judged) -> dict[str, Any]:
    """The columns of `Draft` that its last call fills."""
    columns = _columns(call, judged)
    names = ("request", "reply", "request_id", "seconds", "error", *TOKEN_COLUMNS)
    changed = {name: columns[name] for name in names} | {"payload": judged.payload}
    if call.reply is not None:
        changed["model_answered"] = call.reply.model
    return changed


def again(claim: Claim[Ask], text: str, judged: Judged) -> Claim[Ask]:
    """The claim that asks once more and says what was wrong."""
    redraft = wire.Redraft(text[:LONGEST_FORMER], judged.problems)
    return replace(claim, state=replace(claim.state, bad=claim.state.bad + 1, redraft=redraft))


def problems(error: str, broken: Iterable[str]) -> tuple[str, ...]:
    return tuple(broken) or (error,)


def so_far(draft: Draft) -> tuple[int, wire.Redraft | None]:
    """Unusable replies of a draft that is taken up again, and what its next request says about the last one."""
    rows = [call for call in draft.calls.all() if call.verdict in BAD_REPLIES]
    if not rows:
        return 0, None
    last = rows[-1]
    broken = [row["words"] for row in last.findings if row["severity"] == Severity.ERROR]
    return len(rows), wire.Redraft(last.text[:LONGEST_FORMER], problems(last.error, broken))


def _columns(call: Call[Ask], judged: Judged) -> dict[str, Any]:
    reply, error, source = call.reply, call.error, call.reply or call.error
    said = (reply.text or "") if reply else ""
    return {
        "verdict": judged.verdict,
        "request": call.sent(picture_sha256=call.claim.state.sha256),
        "reply": (source.raw if source else b"") or said.encode("utf-8", "surrogatepass") or None,
        "text": said,
        "last": call.last,
        "model_answered": reply.model if reply else "",
        "status": error.status if error else None,
        "error_class": escape(f"{error.kind.value} {error.code}".strip() if error else "")[:100],
        "error": judged.error,
        "findings": [_plain(finding) for finding in judged.findings],
        "request_id": escape(source.request_id if source else "")[:200],
        "started_at": call.started_at,
        "seconds": call.seconds,
        **usage_columns(reply.usage if reply else Usage()),
    }


def _plain(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "message": finding.message,
        "turn": finding.turn,
        "words": draft_rules.in_words(finding),
    }


def _errors(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severity is Severity.ERROR]
