"""A reply of an offline model: nothing is billed, and the raw body says that it is simulated."""

import json

from fpco_site.llm.types import Outcome, Reply, Usage


def reply(
    *,
    model: str,
    text: str | None,
    seconds: float,
    outcome: Outcome = Outcome.ANSWERED,
    finish_reason: str = "stop",
    reason: str = "",
) -> Reply:
    raw = {"simulated": True, "model": model, "text": text, "finish_reason": finish_reason}
    return Reply(
        outcome=outcome,
        text=text,
        finish_reason=finish_reason,
        reason=reason,
        model=model,
        usage=Usage(input=0, cached=0, output=0, reasoning=0),
        seconds=seconds,
        raw=json.dumps(raw, ensure_ascii=False).encode(),
    )
