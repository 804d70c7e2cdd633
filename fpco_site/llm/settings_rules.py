"""The study's inference settings by interface: what an entry gets by default, and what is really sent."""

from dataclasses import dataclass

from fpco_site.llm.types import Endpoint

CAP = 256
GPT5_CAP = 512
GEMINI_PRO_CAP = 1024
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


def sampling(endpoint: Endpoint) -> dict[str, float]:
    """The sampling settings that go over the wire, by the endpoint's own names for them.

    Gemini gets what is set. The OpenAI interfaces get temperature and top-p only when a positive
    temperature is asked for: their reasoning models refuse the fields.
    """
    asked = endpoint.provider == "gemini" or (endpoint.temperature is not None and endpoint.temperature > 0)
    wanted = {"temperature": endpoint.temperature, "top_p": endpoint.top_p} if asked else {}
    return {name: value for name, value in wanted.items() if value is not None}
