"""Chat Completions, as DashScope (Qwen), vLLM, SGLang, Ollama, llama.cpp and others speak it."""

import time
from typing import Any, ClassVar

from fpco_site.errors import Invalid
from fpco_site.llm import settings_rules
from fpco_site.llm.providers import _verdict, _wire
from fpco_site.llm.providers._openai_line import Line
from fpco_site.llm.settings_rules import CAP_FIELDS
from fpco_site.llm.types import Endpoint, ProviderError, Reply, Request, Usage

ENDED = frozenset({"", "stop", "eos", "end_turn"})


class OpenAICompatible:
    """Options: `body`, further fields to send, such as `{"enable_thinking": false}`; `cap_field`, the
    server's name for the token cap, `max_tokens` (the default) or `max_completion_tokens`."""

    simulated: ClassVar[bool] = False

    def __init__(self, endpoint: Endpoint, key: str) -> None:
        self._endpoint = endpoint
        settings_rules.extra(endpoint)
        _cap_field(endpoint)
        self._line = Line(endpoint, key, _wire.address(endpoint))

    async def ask(self, request: Request) -> Reply:
        started = time.monotonic()
        try:
            answer = await self._line.post("/chat/completions", body(self._endpoint, request), request.picture)
            return _verdict.judged(_said(_wire.payload(self._endpoint.provider, answer), answer), answer)
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
        "messages": _messages(request),
        **settings_rules.sampling(endpoint),
    }
    if (cap := settings_rules.cap(endpoint)) is not None:
        made[_cap_field(endpoint)] = cap
    if request.schema is not None:
        wanted = {"name": request.schema_name, "strict": True, "schema": request.schema}
        made["response_format"] = {"type": "json_schema", "json_schema": wanted}
    return made


def wire(endpoint: Endpoint, request: Request) -> bytes:
    """The bytes that `ask` posts for a request."""
    return _wire.spliced(body(endpoint, request), request.picture)


def _cap_field(endpoint: Endpoint) -> str:
    name = str(endpoint.options.get("cap_field", CAP_FIELDS[0]))
    if name not in CAP_FIELDS:
        raise Invalid(f"The option 'cap_field' of a model is {' or '.join(CAP_FIELDS)}.")
    return name


def _messages(request: Request) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = [{"role": message.role, "content": message.text} for message in request.messages]
    if request.picture is not None:
        url = f"data:{request.picture.mime};base64,{_wire.PICTURE_MARK}"
        turns[0]["content"] = [
            {"type": "text", "text": request.messages[0].text},
            {"type": "image_url", "image_url": {"url": url}},
        ]
    return [{"role": "system", "content": request.system}, *turns]


def _said(body: dict[str, Any], answer: _wire.Answer) -> _verdict.Said:
    if "choices" not in body:
        raise _wire.unreadable(provider="openai_compatible", answer=answer, why="an object without choices")
    choice = next(iter(_wire.rows(body["choices"])), {})
    message = _wire.table(choice.get("message"))
    finish = _wire.string(choice.get("finish_reason"))
    return _verdict.Said(
        text=_text(message.get("content")),
        refusal=_wire.string(message.get("refusal")),
        finish_reason=finish,
        complete=finish in ENDED,
        capped=finish == "length",
        blocked=finish if finish == "content_filter" else "",
        model=_wire.string(body.get("model")),
        request_id=_wire.string(body.get("id")),
        usage=_usage(_wire.table(body.get("usage"))),
    )


def _text(content: Any) -> str:
    """A plain text, or the text parts where a server answers in parts."""
    if isinstance(content, list):
        return "".join(_wire.string(part.get("text")) for part in _wire.rows(content))
    return _wire.string(content)


def _usage(usage: dict[str, Any]) -> Usage:
    return Usage(
        input=_wire.count(usage.get("prompt_tokens")),
        cached=_wire.count(_wire.table(usage.get("prompt_tokens_details")).get("cached_tokens")),
        output=_wire.count(usage.get("completion_tokens")),
        reasoning=_wire.count(_wire.table(usage.get("completion_tokens_details")).get("reasoning_tokens")),
    )
