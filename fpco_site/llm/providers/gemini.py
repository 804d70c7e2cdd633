"""Google's Gemini API.

The SDK would encode the picture again at each call and hold it in typed parts. Its `extra_body` takes
`contents` as plain JSON instead, with the text encoded once: 5 ms of CPU a call with a 200 KB picture
in place of 14. `should_return_http_response` gives the body as it came.
"""

import asyncio
import time
from typing import Any, ClassVar

import httpx2
from google import genai
from google.genai import errors, types

from fpco_site.llm import sent, settings_rules
from fpco_site.llm.providers import _pool, _verdict, _wire
from fpco_site.llm.types import Endpoint, ProviderError, Reply, Request, Usage

BASE_URL = "https://generativelanguage.googleapis.com/"
ROLES = {"user": "user", "assistant": "model"}
ENDED = frozenset({"", "STOP", "FINISH_REASON_UNSPECIFIED"})
FILTERED = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"})
# What the SDK insists on as `contents`; the real ones replace it in the body.
REPLACED = "-"


class Gemini:
    """Options: `body`, further fields to send, such as `{"safetySettings": [...]}`; `thinking_budget`, in tokens;
    `send_schema`, true to send the schema too where JSON is asked for. The study asks for the JSON type alone."""

    simulated: ClassVar[bool] = False

    def __init__(self, endpoint: Endpoint, key: str, *, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._endpoint = endpoint
        self._key = key
        self._extra = settings_rules.extra(endpoint)
        # With a client of ours the SDK doesn't send again by itself when a connection breaks.
        self._http = httpx2.AsyncClient(
            limits=_pool.LIMITS,
            timeout=endpoint.timeout,
            verify=_pool.tls(),
            transport=transport,
            event_hooks={"request": [_note], "response": [_pool.bound]},
        )
        self._client = genai.Client(
            vertexai=False,
            api_key=key,
            http_options=types.HttpOptions(
                base_url=_wire.address(endpoint, BASE_URL),
                timeout=int(endpoint.timeout * 1000),
                httpx_async_client=self._http,
                httpx_client=httpx2.Client(verify=_pool.tls()),
            ),
        )

    async def ask(self, request: Request) -> Reply:
        answer = await self._send(request)
        return judged(_wire.payload("gemini", answer), answer)

    async def close(self) -> None:
        await self._http.aclose()
        self._client.close()

    async def _send(self, request: Request) -> _wire.Answer:
        config = self._config(request)
        started = time.monotonic()
        try:
            async with asyncio.timeout(self._endpoint.timeout):
                response = await self._client.aio.models.generate_content(
                    model=self._endpoint.model_id, contents=REPLACED, config=config
                )
        except errors.APIError as error:
            raise self._refused(error) from None
        except (httpx2.HTTPError, TimeoutError, OSError) as error:
            raise _wire.no_answer(provider="gemini", error=error, timeout=self._endpoint.timeout) from None
        came = response.sdk_http_response
        headers = dict((came and came.headers) or {})
        return _wire.Answer(
            raw=_wire.scrub_bytes(((came and came.body) or "").encode(), self._key),
            headers=_wire.kept_headers(headers, self._key),
            seconds=time.monotonic() - started,
        )

    def _config(self, request: Request) -> types.GenerateContentConfig:
        budget = settings_rules.thinking_budget(self._endpoint)
        sampling = settings_rules.sampling(self._endpoint)
        extra = {**self._extra, "contents": contents(request)}
        return types.GenerateContentConfig(
            system_instruction=request.system,
            max_output_tokens=settings_rules.cap(self._endpoint),
            response_mime_type="application/json" if request.schema is not None else None,
            response_json_schema=request.schema if self._endpoint.options.get("send_schema") else None,
            thinking_config=None if budget is None else types.ThinkingConfig(thinking_budget=budget),
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
            automatic_continuation=False,
            should_return_http_response=True,
            http_options=types.HttpOptions(extra_body=extra),
            temperature=sampling.get("temperature"),
            top_p=sampling.get("top_p"),
        )

    def _refused(self, error: errors.APIError) -> ProviderError:
        raw, headers = b"", {}
        if isinstance(error.response, httpx2.Response):
            raw, headers = error.response.content, dict(error.response.headers)
        return _wire.refused_by_status(provider="gemini", status=error.code, raw=raw, headers=headers, key=self._key)


def wire(endpoint: Endpoint, request: Request) -> bytes:
    """The bytes that `ask` posts for a request, as the SDK makes them; nothing is sent."""
    kept: list[bytes] = []

    def keep(asked: httpx2.Request) -> httpx2.Response:
        kept.append(asked.content)
        return httpx2.Response(200, json={"candidates": []})

    async def ask() -> None:
        provider = Gemini(endpoint, "none", transport=httpx2.MockTransport(keep))
        await provider.ask(request)
        await provider.close()

    asyncio.run(ask())
    return kept[-1]


async def _note(asked: httpx2.Request) -> None:
    sent.note(asked.content)


def judged(body: dict[str, Any], answer: _wire.Answer) -> Reply:
    """Which reply a body of the interface is, whichever way it came. Raises ProviderError where it is none."""
    return _verdict.judged(_said(body, answer), answer)


def contents(request: Request) -> list[dict[str, Any]]:
    """The turns as the interface wants them, the picture with the first."""
    turns: list[dict[str, Any]] = [
        {"role": ROLES[message.role], "parts": [{"text": message.text}]} for message in request.messages
    ]
    if request.picture is not None:
        data = {"mimeType": request.picture.mime, "data": request.picture.base64}
        turns[0]["parts"].append({"inlineData": data})
    return turns


def _said(body: dict[str, Any], answer: _wire.Answer) -> _verdict.Said:
    feedback = _wire.table(body.get("promptFeedback"))
    prompt_blocked = _wire.string(feedback.get("blockReason"))
    if "candidates" not in body and not prompt_blocked and "usageMetadata" not in body:
        raise _wire.unreadable(provider="gemini", answer=answer, why="an object without candidates")
    candidate = next(iter(_wire.rows(body.get("candidates"))), {})
    finish = _wire.string(candidate.get("finishReason"))
    parts = _wire.rows(_wire.table(candidate.get("content")).get("parts"))
    return _verdict.Said(
        text="".join(_wire.string(part.get("text")) for part in parts if not part.get("thought")),
        finish_reason=finish or prompt_blocked,
        complete=finish in ENDED,
        capped=finish == "MAX_TOKENS",
        blocked=prompt_blocked or (finish if finish in FILTERED else ""),
        model=_wire.string(body.get("modelVersion")),
        request_id=_wire.string(body.get("responseId")),
        usage=_usage(_wire.table(body.get("usageMetadata"))),
    )


def _usage(usage: dict[str, Any]) -> Usage:
    """Gemini counts thoughts beside the candidates' tokens; `Usage.output` includes them.

    A count of nought is left out of the JSON, so where neither is there, the total tells what was put out.
    """
    prompt = _wire.count(usage.get("promptTokenCount"))
    thoughts = _wire.count(usage.get("thoughtsTokenCount"))
    shown = _wire.count(usage.get("candidatesTokenCount"))
    spoken = [tokens for tokens in (shown, thoughts) if tokens is not None]
    if not spoken and prompt is not None and (total := _wire.count(usage.get("totalTokenCount"))) is not None:
        spoken = [max(0, total - prompt)]
    return Usage(
        input=prompt,
        cached=_wire.count(usage.get("cachedContentTokenCount")),
        output=sum(spoken) if spoken else None,
        reasoning=thoughts,
    )
