"""Which setting a model refused, and the endpoint that asks without it."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fpco_site.llm import settings_rules
from fpco_site.llm.settings_rules import CAP_FIELDS
from fpco_site.llm.types import Endpoint, ProviderError

REFUSING = frozenset({400, 415, 422})
CODES = frozenset({"unsupported_value", "unsupported_parameter", "unknown_parameter", "invalid_value"})
CAP = "max_output_tokens"
# Not left out but sent by its other name: without a cap, an answer may cost any amount.
CAP_FIELD = "cap_field"
_ALIASES = {
    CAP: (*CAP_FIELDS, CAP, "maxOutputTokens"),
    "top_p": ("top_p", "topP"),
    "thinking_budget": ("thinking_budget", "thinkingBudget", "thinking_config", "thinkingConfig"),
}
_REFUSAL = re.compile(
    r"unsupported|not supported|n.t support|not support|unknown|unrecogni[sz]ed|unexpected|extra|"
    r"not permitted|not allowed|only the default|deprecated|invalid|instead",
    re.IGNORECASE,
)


def refused_setting(error: ProviderError, endpoint: Endpoint) -> str:
    """The name of the setting that this error refuses (`settings_rules.sent`), `cap_field`, or empty.

    An error that doesn't name a setting which was sent refuses something else.
    """
    if error.status not in REFUSING:
        return ""
    param = _param(error.raw)
    found = next((name for name in settings_rules.sent(endpoint) if _names(name, param, error)), "")
    if found == CAP and _wants_other_field(error, endpoint):
        return CAP_FIELD
    return found


def without(endpoint: Endpoint, refused: Mapping[str, str]) -> Endpoint:
    """The endpoint as it would be asked once an author has confirmed all of `refused` (name -> reason)."""
    if CAP_FIELD in refused:
        endpoint = replace(endpoint, options={**endpoint.options, CAP_FIELD: other_field(endpoint.options)})
    left_out = {name: reason for name, reason in refused.items() if name != CAP_FIELD}
    return replace(endpoint, not_sent={**endpoint.not_sent, **left_out})


def other_field(options: Mapping[str, Any]) -> str:
    """The server's other name for the token cap."""
    return CAP_FIELDS[0] if options.get(CAP_FIELD, CAP_FIELDS[0]) == CAP_FIELDS[1] else CAP_FIELDS[1]


def _names(name: str, param: str, error: ProviderError) -> bool:
    aliases = _ALIASES.get(name, (name.removeprefix("body."),))
    if param:
        return param in aliases
    if not _REFUSAL.search(error.message) and error.code.lower() not in CODES:
        return False
    return any(re.search(rf"(?<!\w){re.escape(alias)}(?!\w)", error.message) for alias in aliases)


def _wants_other_field(error: ProviderError, endpoint: Endpoint) -> bool:
    return endpoint.provider == "openai_compatible" and other_field(endpoint.options) in error.message


def _param(raw: bytes) -> str:
    """What the body names as the cause, such as `reasoning.effort`: its first part; empty where it names nothing."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return ""
    error = body.get("error") if isinstance(body, dict) else None
    param = error.get("param") if isinstance(error, dict) else None
    return param.split(".")[0] if isinstance(param, str) else ""
