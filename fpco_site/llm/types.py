"""What goes to a provider and what comes back: plain values without Django or an SDK."""

from base64 import b64encode
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from typing import Any, Protocol


class Outcome(StrEnum):
    """How a call ended (design section 4). The first three have text, which counts as an answer."""

    ANSWERED = "answered"
    CUT = "cut"
    REFUSED = "refused"
    BLOCKED = "blocked"
    EMPTY = "empty"
    FAILED = "failed"

    @property
    def has_text(self) -> bool:
        return self in TEXT_OUTCOMES


TIMEOUT = 120.0  # seconds that a call may take
TEXT_OUTCOMES = frozenset({Outcome.ANSWERED, Outcome.CUT, Outcome.REFUSED})


class ErrorKind(StrEnum):
    """What a caller should do: pause and say why; try again with jitter; wait at the gate."""

    PERMANENT = "permanent"
    TRANSIENT = "transient"
    RATE_LIMITED = "rate_limited"


@dataclass(frozen=True)
class Usage:
    """Tokens as billed. `input` includes `cached`; `output` includes `reasoning`; None is unknown."""

    input: int | None = None
    cached: int | None = None
    output: int | None = None
    reasoning: int | None = None


class ProviderError(Exception):
    """A call that brought no reply.

    `retry_after` is in seconds, as the provider asked for it. `message` never holds a key. `usage` is there
    where the provider told that it counted tokens all the same.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        status: int | None = None,
        code: str = "",
        retry_after: float | None = None,
        request_id: str = "",
        raw: bytes = b"",
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.code = code
        self.retry_after = retry_after
        self.request_id = request_id
        self.raw = raw
        self.usage = usage


@dataclass(frozen=True)
class Endpoint:
    """Where and how a model is asked. `temperature` and `top_p` are sent only when not None.

    `api_key_env` names the environment variable that holds the key; the key itself is never kept here.
    `timeout` is in seconds. `not_sent` names the settings that the model refuses, each with the reason: an
    author has confirmed that they are left out (`settings_rules.sent` has the names).
    """

    provider: str
    model_id: str
    base_url: str = ""
    api_key_env: str = ""
    max_output_tokens: int = 256
    temperature: float | None = None
    top_p: float | None = None
    options: dict[str, Any] = field(default_factory=dict)
    timeout: float = TIMEOUT
    not_sent: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Picture:
    """Stored image bytes, encoded once however often they are sent."""

    data: bytes
    mime: str = "image/jpeg"

    @cached_property
    def base64(self) -> str:
        return b64encode(self.data).decode("ascii")

    @cached_property
    def sha256(self) -> str:
        """Of the bytes that are sent."""
        return sha256(self.data).hexdigest()

    @property
    def name(self) -> str:
        """How a picture stands in a request that is shown."""
        return f"sha256:{self.sha256}"


class NamedPicture(Picture):
    """A picture known by its hash alone: a request with it is built as the one that was sent, but for the bytes."""

    def __init__(self, digest: str, mime: str) -> None:
        super().__init__(b"", mime)
        self.__dict__.update(sha256=digest, base64=f"sha256:{digest}")


@dataclass(frozen=True)
class Message:
    """One turn of the conversation: `role` is `user` or `assistant`."""

    role: str
    text: str


@dataclass(frozen=True)
class Request:
    """One call: the picture goes with the first user message and nowhere else.

    `schema` asks for JSON of that shape, by name `schema_name`.
    """

    system: str
    messages: tuple[Message, ...]
    picture: Picture | None = None
    schema: dict[str, Any] | None = None
    schema_name: str = "reply"


@dataclass(frozen=True)
class Reply:
    """What a provider answered. `text` is None exactly where the outcome has none.

    `reason` says why in words (filter category, token cap, ...). `capped` is true where the token cap
    ended it, with text or without. `raw` is the reply's body as it came. `hold` is the seconds that
    the provider wants no further call, None where it wants more.
    """

    outcome: Outcome
    text: str | None
    finish_reason: str = ""
    reason: str = ""
    capped: bool = False
    model: str = ""
    request_id: str = ""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    raw: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    hold: float | None = None


class Provider(Protocol):
    """One small class per interface, made for one endpoint and used by many lanes of one event loop."""

    simulated: bool

    async def ask(self, request: Request) -> Reply:
        """Send one request, once. Raises ProviderError; never retries by itself."""
        ...

    async def close(self) -> None: ...
