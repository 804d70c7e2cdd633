"""What the network providers share: bodies, headers, errors. No SDK here."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fpco_site.errors import Invalid
from fpco_site.keys import scrub as scrub
from fpco_site.keys import scrub_bytes as scrub_bytes
from fpco_site.llm.providers import _pool, _waits
from fpco_site.llm.types import Endpoint, ErrorKind, Picture, ProviderError

MESSAGE_LENGTH = 500
# Nobody who writes a question can know it, so it can't stand in one.
PICTURE_MARK = f"picture-{secrets.token_hex(16)}"

DAILY_QUOTA = "daily_quota"
QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", DAILY_QUOTA})
TRANSIENT_STATUSES = frozenset({408, 409, 425, 499})
KEPT_HEADERS = ("x-ratelimit-", "retry-after", "x-request-id", "request-id", "openai-processing-ms", "date")


@dataclass(frozen=True)
class Answer:
    """A reply's body as it came and the headers worth keeping, both without the key."""

    raw: bytes
    headers: dict[str, str]
    seconds: float
    request_id: str = ""


def address(endpoint: Endpoint, usual: str = "") -> str:
    """The endpoint's base URL, or the usual one. Raises Invalid."""
    url = endpoint.base_url or usual
    if not url.startswith(("http://", "https://")):
        raise Invalid(f"The provider {endpoint.provider!r} needs a base_url that starts with http:// or https://.")
    return url


def spliced(body: Mapping[str, Any], picture: Picture | None) -> bytes:
    """`body` as JSON with the picture's base64 in the place of PICTURE_MARK: no copy is escaped again."""
    # ASCII escapes carry any text, even the lone surrogates that a model may have written.
    text = json.dumps(body, separators=(",", ":")).encode("ascii")
    if picture is None:
        return text
    before, _, after = text.partition(PICTURE_MARK.encode())
    return b"".join((before, picture.base64.encode("ascii"), after))


def kept_headers(headers: Mapping[str, str], key: str) -> dict[str, str]:
    """Rate limits and request ids; cookies and the rest are dropped."""
    return {
        scrub(name.lower(), key): scrub(value, key)
        for name, value in headers.items()
        if name.lower().startswith(KEPT_HEADERS)
    }


def error_kind(status: int, code: str) -> ErrorKind:
    """What to do about an error status: an exhausted quota is a 429 that waiting doesn't mend."""
    if status == 429:
        return ErrorKind.PERMANENT if code.lower() in QUOTA_CODES else ErrorKind.RATE_LIMITED
    if status in TRANSIENT_STATUSES or status >= 500:
        return ErrorKind.TRANSIENT
    return ErrorKind.PERMANENT


def refused_by_status(*, provider: str, status: int, raw: bytes, headers: Mapping[str, str], key: str) -> ProviderError:
    """The error for an answer with an error status: its code and message as the body gives them."""
    raw = scrub_bytes(raw, key)  # before anything is cut short, which could leave half a key
    code, message, wait = _error_in(raw)
    if moved := 300 <= status < 400 and next((to for name, to in headers.items() if name.lower() == "location"), ""):
        message = f"it is now at {moved}"
    said = message or raw[:MESSAGE_LENGTH].decode("utf-8", "replace").strip() or "no message"
    return ProviderError(
        error_kind(status, code),
        scrub(f"{provider} answered {status}: {said}", key)[:MESSAGE_LENGTH],
        status=status,
        code=scrub(code, key),
        retry_after=wait if wait is not None else _waits.asked_by_headers(headers),
        request_id=kept_headers(headers, key).get("x-request-id", ""),
        raw=raw,
    )


def no_answer(*, provider: str, error: BaseException, timeout: float) -> ProviderError:
    """The error for a call that timed out or lost its connection: worth another try."""
    if _timed_out(error):
        return ProviderError(ErrorKind.TRANSIENT, f"{provider} did not answer within {timeout:g} s.", code="timeout")
    cause = _chain(error)[-1]
    if isinstance(cause, _pool.TooLarge):
        message = f"{provider} sent an answer of more than {_pool.LARGEST_BODY >> 20} MB."
        return ProviderError(ErrorKind.TRANSIENT, message, code="unreadable")
    return ProviderError(
        ErrorKind.TRANSIENT, f"The connection to {provider} failed ({type(cause).__name__}).", code="connection"
    )


def unreadable(*, provider: str, answer: Answer, why: str) -> ProviderError:
    """The error for an answer that says 200 and is not what the interface promises."""
    return ProviderError(
        ErrorKind.TRANSIENT,
        f"{provider} answered with {why}.",
        status=200,
        code="unreadable",
        request_id=answer.request_id,
        raw=answer.raw,
    )


def payload(provider: str, answer: Answer) -> dict[str, Any]:
    """The answer's JSON object. Raises ProviderError."""
    try:
        value = json.loads(answer.raw)
    except (ValueError, RecursionError):
        raise unreadable(provider=provider, answer=answer, why="something that is not JSON") from None
    if not isinstance(value, dict):
        raise unreadable(provider=provider, answer=answer, why="JSON that is not an object")
    return value


def count(value: Any) -> int | None:
    """A number of tokens; None where the provider doesn't say."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def table(value: Any) -> dict[str, Any]:
    """`value` where it is an object, else an empty one: for optional parts of a reply."""
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[dict[str, Any]]:
    """The objects in `value` where it is a list."""
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def string(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _error_in(raw: bytes) -> tuple[str, str, float | None]:
    """Code, message and asked wait of an error body, in any of the shapes that the interfaces use."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return "", "", None
    body = body[0] if isinstance(body, list) and body else body
    outer = table(body)
    inner = table(outer.get("error")) or outer
    details = rows(inner.get("details"))
    # A detail's reason says more than the status beside it: Google's answer to a wrong key is a plain 400.
    words = [*(row.get("reason") for row in details), inner.get("code"), inner.get("type"), inner.get("status")]
    named = [word for word in words if isinstance(word, str) and word]
    quota = DAILY_QUOTA if _waits.is_daily(details) else next((w for w in named if w.lower() in QUOTA_CODES), "")
    message = string(inner.get("message")) or string(outer.get("error"))
    return quota or next(iter(named), ""), message, _waits.asked_by_details(details)


def _chain(error: BaseException) -> list[BaseException]:
    found = [error]
    while (cause := found[-1].__cause__ or found[-1].__context__) is not None and cause not in found:
        found.append(cause)
    return found


def _timed_out(error: BaseException) -> bool:
    """The SDK's transport calls every lost connection a timeout; what lies beneath tells them apart."""
    return any(isinstance(cause, TimeoutError) for cause in _chain(error))
