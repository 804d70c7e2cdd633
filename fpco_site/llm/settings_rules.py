"""The study's inference settings by interface: what an entry gets by default, and what is really sent."""

from dataclasses import dataclass
from typing import Any

from fpco_site.errors import Invalid
from fpco_site.llm.types import Endpoint

CAP = 256
CAP_FIELDS = ("max_tokens", "max_completion_tokens")  # what OpenAI-like servers call the token cap
GPT5_CAP = 512
GEMINI_PRO_CAP = 1024
LOCAL_TIMEOUT = 3600.0
DRAFT_CAP = 8192  # ten questions, and thoughts of a model that thinks


@dataclass(frozen=True)
class Settings:
    """Inference settings; None is "not sent"."""

    max_output_tokens: int
    temperature: float | None
    top_p: float | None


def defaults(provider: str, model_id: str) -> Settings:
    """The study's settings for a model of this interface ("Running models")."""
    name = model_id.lower()
    if provider == "gemini":
        return Settings(GEMINI_PRO_CAP if "pro" in name.split("-") else CAP, 0.0, 1.0)
    if provider == "openai":
        return Settings(GPT5_CAP if name.startswith("gpt-5") else CAP, None, None)
    if provider == "transformers":
        return Settings(CAP, 0.0, None)
    return Settings(CAP, None, None)


def timeout(provider: str, asked: float) -> float:
    """Seconds that a call may take. With a local model that is loading it and waiting for a place in a batch too."""
    return LOCAL_TIMEOUT if provider == "transformers" else asked


def sampling(endpoint: Endpoint) -> dict[str, float]:
    """The sampling settings that go over the wire, by the endpoint's own names for them.

    Gemini gets what is set. The OpenAI interfaces get temperature and top-p only when a positive
    temperature is asked for: their reasoning models refuse the fields.
    """
    asked = endpoint.provider == "gemini" or (endpoint.temperature is not None and endpoint.temperature > 0)
    wanted = {"temperature": endpoint.temperature, "top_p": endpoint.top_p} if asked else {}
    return {name: value for name, value in wanted.items() if value is not None and name not in endpoint.not_sent}


def cap(endpoint: Endpoint) -> int | None:
    """The token cap that goes over the wire; None where the model refuses to be given one."""
    return None if "max_output_tokens" in endpoint.not_sent else endpoint.max_output_tokens


def extra(endpoint: Endpoint) -> dict[str, Any]:
    """Further fields of the body that the endpoint's options ask for, as in {"body": {"enable_thinking": false}}.

    Raises Invalid where they are no table.
    """
    given = endpoint.options.get("body", {})
    if not isinstance(given, dict):
        raise Invalid("The option 'body' of a model is a table of further fields to send.")
    return {name: value for name, value in given.items() if f"body.{name}" not in endpoint.not_sent}


def thinking_budget(endpoint: Endpoint) -> int | None:
    """Tokens that Gemini may think for; None is not sent."""
    budget: int | None = endpoint.options.get("thinking_budget")
    return None if "thinking_budget" in endpoint.not_sent else budget


def sent(endpoint: Endpoint) -> dict[str, Any]:
    """Every setting that goes over the wire, by the names that `Endpoint.not_sent` knows it by."""
    values: dict[str, Any] = {"max_output_tokens": cap(endpoint), **sampling(endpoint)}
    values["thinking_budget"] = thinking_budget(endpoint) if endpoint.provider == "gemini" else None
    named = {name: value for name, value in values.items() if value is not None}
    return named | {f"body.{name}": value for name, value in extra(endpoint).items()}
