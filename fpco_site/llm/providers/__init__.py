"""The one place that knows every provider. An SDK is imported when its first provider is made."""

import os
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from fpco_site import keys
from fpco_site.errors import Invalid, NotConfigured
from fpco_site.llm.types import Endpoint, Provider, Request

ANYWHERE = ""
LOCAL = "local"  # on a machine that holds the model, in a worker for such models


@dataclass(frozen=True)
class _Kind:
    """Where a provider's class is, and which environment variable holds its key if the endpoint names none.

    `place` is where it can be asked: by any worker, or by one that serves that queue alone.
    """

    module: str
    class_name: str
    simulated: bool = False
    usual_key: str = ""
    place: str = ANYWHERE


_KINDS = {
    "openai": _Kind("openai", "OpenAIResponses", usual_key="OPENAI_API_KEY"),
    "gemini": _Kind("gemini", "Gemini", usual_key="GEMINI_API_KEY"),
    "openai_compatible": _Kind("openai_compatible", "OpenAICompatible"),
    "transformers": _Kind("transformers", "Transformers", place=LOCAL),
    "scripted": _Kind("scripted", "Scripted", simulated=True),
    "rules": _Kind("rules", "Rules", simulated=True),
    "drafter": _Kind("drafter", "Drafter", simulated=True),
}


def names() -> tuple[str, ...]:
    return tuple(_KINDS)


def is_simulated(name: str) -> bool:
    """Whether what this provider says is made up offline, and must be marked so wherever it shows."""
    return _kind(name).simulated


def place_of(name: str) -> str:
    """The place whose workers ask this provider."""
    return _KINDS[name].place if name in _KINDS else ANYWHERE


def of_place(place: str) -> tuple[str, ...]:
    """The providers that the workers of a place ask."""
    return tuple(name for name, kind in _KINDS.items() if kind.place == place)


def usual_key(name: str) -> str:
    """The environment variable that holds this provider's key where an endpoint names none; else empty."""
    return _KINDS[name].usual_key if name in _KINDS else ""


def make(endpoint: Endpoint) -> Provider:
    """A provider for this endpoint, to be used in one event loop and closed there.

    Raises Invalid for an unknown provider or setting, NotConfigured where the key is missing.
    """
    kind = _kind(endpoint.provider)
    key = _key(endpoint, kind)
    module = import_module(f"{__name__}.{kind.module}")
    return cast(Provider, getattr(module, kind.class_name)(endpoint, key))


def wire(endpoint: Endpoint, request: Request) -> bytes | None:
    """The body that this endpoint is sent for a request, by the code that sends it and without a key.

    None where nothing goes over a wire: the offline and the local ones. Give it a `NamedPicture`, and the
    picture stands in it by its hash. Not for an event loop: it may run one of its own.
    """
    module = import_module(f"{__name__}.{_kind(endpoint.provider).module}")
    made = getattr(module, "wire", None)
    return None if made is None else cast(bytes, made(endpoint, request))


def warm(name: str) -> None:
    """Import a provider's SDK, which takes seconds; for a thread beside the event loop that will use it."""
    if name in _KINDS:
        import_module(f"{__name__}.{_KINDS[name].module}")


def check(endpoint: Endpoint) -> None:
    """Refuse what `make` would refuse about the provider's name and its key, without importing an SDK.

    Whether a local model can be asked is known to its workers alone; its options are checked here.
    """
    kind = _kind(endpoint.provider)
    _key(endpoint, kind)
    if kind.place == LOCAL:
        import_module(f"{__name__}.{kind.module}").check(endpoint)


def key_of(endpoint: Endpoint) -> str:
    """The API key itself, for a client that is made elsewhere. Raises as `check` does."""
    return _key(endpoint, _kind(endpoint.provider))


def _kind(name: str) -> _Kind:
    if name not in _KINDS:
        raise Invalid(f"There is no provider named {name!r}; known are {', '.join(_KINDS)}.")
    return _KINDS[name]


def _key(endpoint: Endpoint, kind: _Kind) -> str:
    variable = endpoint.api_key_env or kind.usual_key
    if kind.simulated or not variable:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise NotConfigured(f"The environment variable {variable} is not set; it must hold the API key.")
    # An HTTP library that chokes on a header would print it.
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise NotConfigured(f"What the environment variable {variable} holds can't be an API key.")
    keys.remember(key)
    return key
