"""OpenAI's Responses API."""

import time
from typing import Any, ClassVar

from fpco_site.llm import settings_rules
from fpco_site.llm.providers import _verdict, _wire
from fpco_site.llm.providers._openai_line import Line
from fpco_site.llm.types import Endpoint, ErrorKind, Picture, ProviderError, Reply, Request, Usage

BASE_URL = "https://api.openai.com/v1"
PASSING = frozenset({"server_error", "vector_store_timeout"})


class OpenAIResponses:
    """Options: `body`, further fields to send, such as `{"reasoning": {"effort": "low"}}`."""

    simulated: ClassVar[bool] = False

    def __init__(self, endpoint: Endpoint, key: str) -> None:
        self._endpoint = endpoint
        settings_rules.extra(endpoint)
        self._line = Line(endpoint, key, _wire.address(endpoint, BASE_URL))

    async def ask(self, request: Request) -> Reply:
        started = time.monotonic()
        try:
            answer = await self._line.post("/responses", body(self._endpoint, request), request.picture)
            return judged(_wire.payload(self._endpoint.provider, answer), answer)
        except ProviderError as error:
            if blocked := _verdict.blocked_by_error(error, time.monotonic() - started):
                return blocked
            raise

    async def close(self) -> None:
        await self._line.close()


def body(endpoint: Endpoint, request: Request) -> dict[str, Any]:
    """What is posted for a request, with PICTURE_MARK where the picture goes."""
    extra = settings_rules.extra(endpoint)
    made: dict[str, Any] = {
        **extra,
        "model": endpoint.model_id,
        "instructions": request.system,
        "input": _input(request),
        "store": False,
        # "auto" would drop the start of a long conversation, which is the picture.
        "truncation": "disabled",
        **settings_rules.sampling(endpoint),
    }
    if (cap := settings_rules.cap(endpoint)) is not None:
        made["max_output_tokens"] = cap
    if request.schema is not None:
        wanted = {"type": "json_schema", "name": request.schema_name, "strict": True, "schema": request.schema}
        made["text"] = {**_wire.table(extra.get("text")), "format": wanted}
    return made


def wire(endpoint: Endpoint, request: Request) -> bytes:
    """The bytes that `ask` posts for a request."""
    return _wire.spliced(body(endpoint, request), request.picture)


def judged(body: dict[str, Any], answer: _wire.Answer) -> Reply:
    """Which reply a body of the interface is, whichever way it came. Raises ProviderError where it is none."""
    return _verdict.judged(_said(body, answer), answer)


def _input(request: Request) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = [{"role": message.role, "content": message.text} for message in request.messages]
    if request.picture is not None:
        turns[0]["content"] = [
            {"type": "input_text", "text": request.messages[0].text},
            {"type": "input_image", "image_url": _data_url(request.picture), "detail": "auto"},
        ]
    return turns


def _data_url(picture: Picture) -> str:
    return f"data:{picture.mime};base64,{_wire.PICTURE_MARK}"


def _said(body: dict[str, Any], answer: _wire.Answer) -> _verdict.Said:
    status = _wire.string(body.get("status"))
    why = _wire.string(_wire.table(body.get("incomplete_details")).get("reason"))
    if status not in {"completed", "incomplete"}:
        raise _failed(body, status, answer)
    parts = [part for item in _wire.rows(body.get("output")) for part in _wire.rows(item.get("content"))]
    return _verdict.Said(
        text="".join(_wire.string(part.get("text")) for part in parts if part.get("type") == "output_text"),
        refusal="".join(_wire.string(part.get("refusal")) for part in parts if part.get("type") == "refusal"),
        finish_reason=why or status,
        complete=status == "completed",
        capped=why == "max_output_tokens",
        blocked=why if why == "content_filter" else "",
        model=_wire.string(body.get("model")),
        request_id=_wire.string(body.get("id")),
        usage=_usage(_wire.table(body.get("usage"))),
    )


def _failed(body: dict[str, Any], status: str, answer: _wire.Answer) -> ProviderError:
    """A 200 whose `status` says that there is no answer."""
    error = _wire.table(body.get("error"))
    code = _wire.string(error.get("code"))
    if not status:
        return _wire.unreadable(provider="openai", answer=answer, why="an object without a status")
    if code == "rate_limit_exceeded":
        kind = ErrorKind.RATE_LIMITED
    elif not code or code in PASSING:
        kind = ErrorKind.TRANSIENT
    else:
        kind = ErrorKind.PERMANENT
    said = _wire.string(error.get("message")) or f"the response is {status}"
    usage = _usage(_wire.table(body.get("usage")))
    return ProviderError(
        kind,
        f"openai: {said}",
        status=200,
        code=code or status,
        request_id=answer.request_id,
        raw=answer.raw,
        usage=None if usage.input is usage.output is None else usage,
    )


def _usage(usage: dict[str, Any]) -> Usage:
    return Usage(
        input=_wire.count(usage.get("input_tokens")),
        cached=_wire.count(_wire.table(usage.get("input_tokens_details")).get("cached_tokens")),
        output=_wire.count(usage.get("output_tokens")),
        reasoning=_wire.count(_wire.table(usage.get("output_tokens_details")).get("reasoning_tokens")),
    )
