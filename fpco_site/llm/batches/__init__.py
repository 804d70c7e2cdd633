"""Batch jobs at a provider: a file of requests, answered within a day at a part of the price.

Pure protocol; what is asked and what becomes of the results is the caller's. The classes are used from
one thread, send everything once and never retry: the caller's steps can each be done again.
"""

from decimal import Decimal
from importlib import import_module
from typing import cast

from fpco_site.errors import Invalid
from fpco_site.llm import providers
from fpco_site.llm.batches.types import Batches, Limits, Remote, Result
from fpco_site.llm.types import Endpoint

__all__ = ["Batches", "Limits", "Remote", "Result", "check", "discount", "make", "offered"]

_CLASSES = {"openai": "OpenAIBatches", "gemini": "GeminiBatches"}
_DISCOUNTS = {"openai": Decimal("0.5"), "gemini": Decimal("0.5")}


def offered(provider: str) -> bool:
    """Whether a provider takes batches."""
    return provider in _CLASSES


def discount(provider: str) -> Decimal:
    """The part of a live call's price that a call in a batch is spared."""
    return _DISCOUNTS[provider]


def check(endpoint: Endpoint) -> None:
    """Refuse what `make` would refuse, without importing an SDK. Raises Invalid, NotConfigured."""
    if not offered(endpoint.provider):
        raise Invalid(_why_not(endpoint.provider))
    providers.check(endpoint)


def make(endpoint: Endpoint) -> Batches:
    """The batches of an endpoint's provider, to be closed after use. Raises Invalid, NotConfigured."""
    check(endpoint)
    module = import_module(f"{__name__}.{endpoint.provider}")
    return cast(Batches, getattr(module, _CLASSES[endpoint.provider])(endpoint, providers.key_of(endpoint)))


def _why_not(provider: str) -> str:
    if provider in providers.names() and providers.is_simulated(provider):
        return "A simulated detector answers here, offline and at once, so it has no batches: ask it live."
    if provider == "openai_compatible":
        return "Servers that only speak OpenAI's language offer no batches that could be relied on: ask this one live."
    return f"{provider} offers no batches: ask it live."
