"""What a call leaves behind, in the columns that attempts and detection calls share."""

from typing import Any

from benchmark.models.responses import CallOutcome
from fpco_site.fields import escape
from fpco_site.llm.engine import Call
from fpco_site.llm.models import usage_columns
from fpco_site.llm.types import Usage


def columns(call: Call[Any]) -> dict[str, Any]:
    """The `CallFields` of a call, its outcome included."""
    reply, error = call.reply, call.error
    source = reply or error
    return {
        "started_at": call.started_at,
        "seconds": call.seconds,
        "request_id": clip(source.request_id if source else "", 200),
        "status": error.status if error else None,
        "error_class": clip(f"{error.kind.value} {error.code}".strip() if error else "", 100),
        "error": error.message if error else "",
        "raw": (source.raw if source else b"") or None,
        "outcome": outcome(call),
        **usage_columns(call.usage or Usage()),
    }


def outcome(call: Call[Any]) -> str:
    """How a call ended. A reply that says it has text and has none is empty."""
    if call.reply is None:
        return CallOutcome.FAILED
    if call.reply.outcome.has_text and not call.reply.text:
        return CallOutcome.EMPTY
    return CallOutcome(call.reply.outcome.value)


def clip(text: str, length: int) -> str:
    """Text that fits a short column and that every database takes."""
    return escape(text)[:length]
