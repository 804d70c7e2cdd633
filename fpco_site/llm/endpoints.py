"""An endpoint's row as its page shows it: which key it needs, what it costs, whether it is made up. Reads only."""

from fpco_site import env
from fpco_site.llm import providers
from fpco_site.llm.models import EndpointFields


def is_simulated(provider: str) -> bool:
    """Whether a provider makes its answers up offline; one that isn't installed here doesn't."""
    return provider in providers.names() and providers.is_simulated(provider)


def is_local(provider: str) -> bool:
    """Whether a provider is asked only by workers for local models."""
    return providers.place_of(provider) == providers.LOCAL


def key_of(row: EndpointFields) -> tuple[str, bool]:
    """The variable that holds an endpoint's key, and whether it is set; ("", True) where none is needed."""
    known = row.provider in providers.names()
    variable = row.api_key_env or (providers.usual_key(row.provider) if known else "")
    if not variable or is_simulated(row.provider):
        return "", True
    return variable, bool(env.text(variable))


def prices_of(row: EndpointFields) -> list[str]:
    """Prices of input, cached input and output as people write them; empty where none is known."""
    known = (row.price_input, row.price_cached_input, row.price_output)
    if all(price is None for price in known):
        return []
    return ["–" if price is None else f"{price:.6f}".rstrip("0").rstrip(".") for price in known]
