"""Which outcome an answer is, once an interface's words are put into those that all share."""

from dataclasses import dataclass, field

from fpco_site.llm.providers import _waits
from fpco_site.llm.providers._wire import Answer
from fpco_site.llm.types import Outcome, ProviderError, Reply, Usage

FILTER_CODES = frozenset(
    {
        "data_inspection_failed",
        "datainspectionfailed",
        "content_filter",
        "content_policy_violation",
        "image_content_policy_violation",
        "invalid_prompt",
    }
)


@dataclass(frozen=True)
class Said:
    """What a body says, in the words that all interfaces share. `blocked` names the filter."""

    text: str
    refusal: str = ""
    finish_reason: str = ""
    complete: bool = True
    capped: bool = False
    blocked: str = ""
    model: str = ""
    request_id: str = ""
    usage: Usage = field(default_factory=Usage)


def judged(said: Said, answer: Answer) -> Reply:
    """Which outcome this is (design section 4): a filter outranks text, text outranks an early end."""
    text = said.text if said.text.strip() else ""
    refusal = said.refusal if said.refusal.strip() else ""
    if said.blocked:
        return _reply(said, answer, Outcome.BLOCKED, None, f"Blocked by the provider's filter: {said.blocked}.")
    if refusal:
        return _reply(said, answer, Outcome.REFUSED, "\n".join(filter(None, (text, refusal))), "The model refused.")
    if not text:
        return _reply(said, answer, Outcome.EMPTY, None, _why_empty(said))
    if said.complete:
        return _reply(said, answer, Outcome.ANSWERED, text, "")
    why = "The answer was cut off at the token cap." if said.capped else f"It ended early: {said.finish_reason}."
    return _reply(said, answer, Outcome.CUT, text, why)


def blocked_by_error(error: ProviderError, seconds: float) -> Reply | None:
    """The BLOCKED reply that an error stands for, where a filter speaks through an error status."""
    if error.code.lower() not in FILTER_CODES:
        return None
    return Reply(
        outcome=Outcome.BLOCKED,
        text=None,
        finish_reason=error.code,
        reason=f"Blocked by the provider's filter: {error.message}",
        request_id=error.request_id,
        usage=error.usage or Usage(),
        seconds=seconds,
        raw=error.raw,
    )


def _reply(said: Said, answer: Answer, outcome: Outcome, text: str | None, reason: str) -> Reply:
    return Reply(
        outcome=outcome,
        text=text,
        finish_reason=said.finish_reason,
        reason=reason,
        capped=said.capped,
        model=said.model,
        request_id=answer.request_id or said.request_id,
        usage=said.usage,
        seconds=answer.seconds,
        raw=answer.raw,
        headers=answer.headers,
        hold=_waits.used_up(answer.headers),
    )


def _why_empty(said: Said) -> str:
    if said.capped and said.usage.reasoning:
        return f"No text before the token cap: {said.usage.reasoning} tokens went into reasoning."
    if said.capped:
        return "No text before the token cap."
    spent = f" ({said.usage.reasoning} tokens went into reasoning)" if said.usage.reasoning else ""
    return f"The answer has no text; it ended with {said.finish_reason or 'no reason given'}{spent}."
