"""The three protocols as a server sees them: strict about what comes in, plausible in what goes out."""

import base64
import binascii
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from fpco_site.llm.types import Message, Outcome, Picture, Request

CAP_SPENT_ON_REASONING = 256


class BadRequest(Exception):
    """The body is not what this protocol allows."""


@dataclass(frozen=True)
class Asked:
    """A request as any protocol says it: `pictures` by user turn, counted from 1."""

    model: str
    request: Request
    pictures: tuple[int, ...]

    @property
    def turn(self) -> int:
        return sum(message.role == "user" for message in self.request.messages)


@dataclass(frozen=True)
class Spoken:
    """What is to be answered; `outcome` chooses the form."""

    text: str
    outcome: Outcome = Outcome.ANSWERED
    reasoning: int = 0
    prompt_filtered: bool = False


@dataclass(frozen=True)
class Tokens:
    """What an answer says that it used; `output` includes `reasoning`."""

    input: int
    cached: int
    output: int
    reasoning: int


def handed_out(answer: dict[str, Any]) -> Tokens | None:
    """The tokens that an answer reports, in whichever protocol it is written."""
    if found := answer.get("usage"):
        into, out = ("input", "output") if "input_tokens" in found else ("prompt", "completion")
        cached = found[f"{into}_tokens_details"]["cached_tokens"]
        reasoning = found[f"{out}_tokens_details"]["reasoning_tokens"]
        return Tokens(found[f"{into}_tokens"], cached, found[f"{out}_tokens"], reasoning)
    if found := answer.get("usageMetadata"):
        thoughts = found["thoughtsTokenCount"]
        shown = found["candidatesTokenCount"]
        return Tokens(found["promptTokenCount"], found["cachedContentTokenCount"], shown + thoughts, thoughts)
    return None


class Dialect(Protocol):
    name: ClassVar[str]

    def read(self, body: dict[str, Any], model: str) -> Asked: ...
    def write(self, asked: Asked, spoken: Spoken, number: int) -> tuple[int, dict[str, Any]]: ...
    def error(self, status: int, code: str, message: str) -> dict[str, Any]: ...


class Responses:
    name = "openai"

    def read(self, body: dict[str, Any], model: str) -> Asked:
        known = {"model", "instructions", "input", "max_output_tokens", "temperature", "top_p", "reasoning", "text"}
        _only(body, known | {"store", "truncation", "prompt_cache_key"})
        _demand(not (body["model"].startswith("gpt-5") and "temperature" in body), "unsupported_value: temperature")
        turns = [_turn(turn, "input_text", "input_image", "image_url") for turn in body["input"]]
        form = body.get("text", {}).get("format", {})
        return _asked(body["model"], body["instructions"], turns, form.get("schema"), form.get("name", ""))

    def write(self, asked: Asked, spoken: Spoken, number: int) -> tuple[int, dict[str, Any]]:
        if spoken.prompt_filtered:
            return 400, self.error(400, "invalid_prompt", "Your prompt was flagged.")
        incomplete = {Outcome.CUT: "max_output_tokens", Outcome.BLOCKED: "content_filter"}.get(spoken.outcome)
        incomplete = "max_output_tokens" if spoken.reasoning else incomplete
        kind = "refusal" if spoken.outcome is Outcome.REFUSED else "output_text"
        part = {"type": kind, ("refusal" if kind == "refusal" else "text"): spoken.text}
        message = {"type": "message", "role": "assistant", "status": "completed", "content": [part]}
        reasoning = {"type": "reasoning", "id": f"rs_{number}", "summary": []}
        status = {Outcome.FAILED: "failed"}.get(spoken.outcome, "incomplete" if incomplete else "completed")
        return 200, {
            "id": f"resp_{number}",
            "object": "response",
            "model": f"{asked.model}-2026-01-01",
            "status": status,
            "error": {"code": "server_error", "message": "It broke."} if status == "failed" else None,
            "incomplete_details": {"reason": incomplete} if incomplete else None,
            "output": [reasoning, message] if spoken.text and status != "failed" else [reasoning],
            "usage": {
                "input_tokens": 900,
                "input_tokens_details": {"cached_tokens": 512},
                "output_tokens": _tokens(spoken.text) + spoken.reasoning,
                "output_tokens_details": {"reasoning_tokens": spoken.reasoning},
                "total_tokens": 900 + _tokens(spoken.text) + spoken.reasoning,
            },
        }

    def error(self, status: int, code: str, message: str) -> dict[str, Any]:
        return {"error": {"message": message, "type": code, "param": None, "code": code}}


class Chat:
    name = "openai_compatible"

    def read(self, body: dict[str, Any], model: str) -> Asked:
        known = {"model", "messages", "max_tokens", "max_completion_tokens", "temperature", "top_p", "response_format"}
        _only(body, known | {"enable_thinking"})
        first, *rest = body["messages"]
        _demand(first["role"] == "system" and isinstance(first["content"], str), "the first message is the system's")
        turns = [_turn(turn, "text", "image_url", "image_url") for turn in rest]
        form = body.get("response_format", {}).get("json_schema", {})
        return _asked(body["model"], first["content"], turns, form.get("schema"), form.get("name", ""))

    def write(self, asked: Asked, spoken: Spoken, number: int) -> tuple[int, dict[str, Any]]:
        if spoken.prompt_filtered:
            return 400, self.error(400, "data_inspection_failed", "Input data may contain inappropriate content.")
        if spoken.outcome is Outcome.FAILED:
            return 200, self.error(200, "server_error", "It broke.")
        ends = {Outcome.CUT: "length", Outcome.BLOCKED: "content_filter"}
        refused = spoken.outcome is Outcome.REFUSED
        message = {"role": "assistant", "content": None if refused or not spoken.text else spoken.text}
        return 200, {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion",
            "model": f"{asked.model}-served",
            "choices": [
                {
                    "index": 0,
                    "message": message | ({"refusal": spoken.text} if refused else {}),
                    "finish_reason": "length" if spoken.reasoning else ends.get(spoken.outcome, "stop"),
                }
            ],
            "usage": {
                "prompt_tokens": 900,
                "prompt_tokens_details": {"cached_tokens": 512},
                "completion_tokens": _tokens(spoken.text) + spoken.reasoning,
                "completion_tokens_details": {"reasoning_tokens": spoken.reasoning},
                "total_tokens": 900 + _tokens(spoken.text) + spoken.reasoning,
            },
        }

    def error(self, status: int, code: str, message: str) -> dict[str, Any]:
        return {"error": {"message": message, "type": "error", "param": None, "code": code}}


class GenerateContent:
    name = "gemini"

    def read(self, body: dict[str, Any], model: str) -> Asked:
        _only(body, {"contents", "systemInstruction", "generationConfig", "safetySettings"})
        turns = [_gemini_turn(content) for content in body["contents"]]
        system = "".join(part["text"] for part in body["systemInstruction"]["parts"])
        config = body.get("generationConfig", {})
        known = {"temperature", "topP", "maxOutputTokens", "responseMimeType", "responseJsonSchema", "thinkingConfig"}
        _only(config, known)
        return _asked(model, system, turns, config.get("responseJsonSchema"), "")

    def write(self, asked: Asked, spoken: Spoken, number: int) -> tuple[int, dict[str, Any]]:
        usage = {"promptTokenCount": 900, "cachedContentTokenCount": 512, "thoughtsTokenCount": spoken.reasoning}
        usage["candidatesTokenCount"] = _tokens(spoken.text)
        shared = {"usageMetadata": usage, "modelVersion": f"{asked.model}-001", "responseId": f"gem-{number}"}
        if spoken.prompt_filtered:
            return 200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, **shared}
        if spoken.outcome is Outcome.FAILED:
            return 200, {"modelVersion": asked.model}
        ends = {Outcome.CUT: "MAX_TOKENS", Outcome.BLOCKED: "SAFETY"}
        thought = [{"text": "Let me look at it.", "thought": True}] if spoken.reasoning else []
        parts = [*thought, *([{"text": spoken.text}] if spoken.text else [])]
        candidate = {
            "index": 0,
            "content": {"role": "model", "parts": parts},
            "finishReason": "MAX_TOKENS" if spoken.reasoning else ends.get(spoken.outcome, "STOP"),
        }
        return 200, {"candidates": [candidate], **shared}

    def error(self, status: int, code: str, message: str) -> dict[str, Any]:
        if code == "invalid_api_key":
            reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
            return {"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT", "details": [reason]}}
        return {"error": {"code": status, "message": message, "status": code.upper()}}


def _asked(
    model: str,
    system: str,
    turns: list[tuple[Message, Picture | None]],
    schema: dict[str, Any] | None,
    schema_name: str,
) -> Asked:
    messages = tuple(message for message, _ in turns)
    _demand([m.role for m in messages][::2] == ["user"] * ((len(messages) + 1) // 2), "user turns come first, by turns")
    _demand(all(m.role == "assistant" for m in messages[1::2]), "assistant turns lie between")
    _demand(len(messages) % 2 == 1, "the last turn is the user's")
    pictures = tuple(index // 2 + 1 for index, (_, picture) in enumerate(turns) if picture is not None)
    picture = next((picture for _, picture in turns if picture is not None), None)
    return Asked(model, Request(system, messages, picture, schema, schema_name or "reply"), pictures)


def _turn(turn: dict[str, Any], text: str, image: str, url: str) -> tuple[Message, Picture | None]:
    _only(turn, {"role", "content"})
    content = turn["content"]
    if isinstance(content, str):
        return Message(turn["role"], content), None
    _demand(turn["role"] == "user", f"an assistant's content is a plain string here, not {text}")
    _demand({part["type"] for part in content} <= {text, image}, "unknown content part")
    texts = [part["text"] for part in content if part["type"] == text]
    images = [part[url] for part in content if part["type"] == image]
    _demand(len(images) <= 1, "one picture at most")
    where = images[0]["url"] if images and isinstance(images[0], dict) else (images[0] if images else None)
    return Message("user", "".join(texts)), _data_url(where) if where else None


def _gemini_turn(content: dict[str, Any]) -> tuple[Message, Picture | None]:
    _demand(content["role"] in {"user", "model"}, "a role is user or model")
    texts = [part["text"] for part in content["parts"] if "text" in part]
    images = [part["inlineData"] for part in content["parts"] if "inlineData" in part]
    role = "assistant" if content["role"] == "model" else "user"
    picture = Picture(_decoded(images[0]["data"]), images[0]["mimeType"]) if images else None
    return Message(role, "".join(texts)), picture


def _data_url(url: str) -> Picture:
    head, _, data = url.partition(";base64,")
    _demand(head.startswith("data:image/"), "a picture comes as a data URL")
    return Picture(_decoded(data), head.removeprefix("data:"))


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, altchars=b"-_" if "-" in data or "_" in data else None, validate=True)
    except binascii.Error as error:
        raise BadRequest("The picture is not base64.") from error


def _only(body: dict[str, Any], known: set[str]) -> None:
    _demand(not body.keys() - known, f"unknown field {sorted(body.keys() - known)}")


def _demand(holds: bool, what: str) -> None:
    if not holds:
        raise BadRequest(what)


def _tokens(text: str) -> int:
    return len(text.split())


PROTOCOLS: dict[str, Dialect] = {"openai": Responses(), "openai_compatible": Chat(), "gemini": GenerateContent()}
