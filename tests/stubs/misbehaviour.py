"""What a stub can be told to do with one request."""

import dataclasses
from dataclasses import dataclass

NAMES = frozenset(
    {
        "answer",
        "rate_limit",  # 429, with Retry-After where `retry_after` is given
        "quota",  # 429 that waiting doesn't mend
        "unauthorized",  # 401 that repeats the key it was sent, everywhere
        "status",  # any status, in `status`
        "hang",  # never answers
        "cut_connection",  # closes without a byte
        "cut_midway",  # closes in the middle of the body
        "drip",  # sends headers, then a byte now and then, for ever
        "bomb",  # a few packed bytes that become many
        "empty",  # 200 without text
        "thinking",  # 200 without text: the cap went into reasoning
        "truncated",  # cut at the cap, with text
        "filtered",  # the answer was filtered
        "filtered_prompt",  # the prompt was filtered, each protocol in its own way
        "refusal",
        "failed",  # 200 that says it failed
        "echo",  # 200 with the key it was sent in the text, in ids and headers, also with its slashes escaped
        "echo_error",  # a status with the whole request's headers in the body and the key in headers
        "echo_garbage",  # 200 that is not JSON and holds the request's headers
        "redirect",  # 307 to `text`, with the key in the address
        "not_json",
        "no_choices",  # JSON of another shape
        "prose",  # text around the labels
        "wrong_ids",  # a label for a turn that was not asked
        "missing_id",
        "repeated_id",
        "not_boolean",
        "blind",  # answers a connection test without looking at the picture
        "forgetful",  # knows the last message alone
        "text_only",  # 400 where there is a picture
        "no_model",  # 404
        "refuse",  # 400 where the body has the field `field`, as a model that doesn't take it
    }
)


@dataclass(frozen=True)
class Do:
    """One command; `text` replaces what would be said, `headers` are sent beside the usual ones."""

    what: str = "answer"
    status: int = 500
    retry_after: str | None = None
    message: str = "The stub was told to misbehave."
    text: str | None = None
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    field: str = "temperature"

    def __post_init__(self) -> None:
        if self.what not in NAMES:
            raise ValueError(f"The stub can't do {self.what!r}; it can do {', '.join(sorted(NAMES))}.")


def command(given: "str | int | Do | dict[str, object]") -> Do:
    """ "429", 500, "hang", {"what": "rate_limit", "retry_after": "2"} or a Do."""
    if isinstance(given, Do):
        return given
    if isinstance(given, dict):
        return Do(**given)  # type: ignore[arg-type]
    name = str(given)
    if name == "429":
        return Do("rate_limit")
    return Do("status", status=int(name)) if name.isdigit() else Do(name)
