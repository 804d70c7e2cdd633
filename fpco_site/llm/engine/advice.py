"""What a person is told when work pauses: what the provider said, and what to do about it."""

from math import ceil

from fpco_site.llm.engine.gates import LONGEST_WAIT
from fpco_site.llm.providers import LOCAL, place_of, usual_key
from fpco_site.llm.providers.transformers import CODE as NO_MODEL
from fpco_site.llm.types import Endpoint, ErrorKind, ProviderError

NOT_CONFIGURED = "not_configured"
REFUSED = frozenset({401, 402, 403, 404})
# What some providers say with a plain 400.
WRONG_KEY = frozenset({"api_key_invalid", "invalid_api_key", "api_key_expired"})
WRONG_MODEL = frozenset({"model_not_found", "invalid_model", "unknown_model"})


def pause_reason(error: ProviderError, endpoint: Endpoint, *, go_on: str = "resume") -> str:
    """Two sentences for an error that pauses work; never a key. `go_on` is the word on the button that goes on."""
    said = error.message.strip().rstrip(".") or "The provider refused for good"
    return f"{said}. {_what_to_do(error, endpoint, go_on)}"


def is_everybodys(error: ProviderError) -> bool:
    """Whether one call is enough to know that none would fare better: the key, the model, the account, the wait."""
    if error.kind is not ErrorKind.PERMANENT:
        return (error.retry_after or 0.0) > LONGEST_WAIT
    code = error.code.lower()
    named = code in WRONG_KEY | WRONG_MODEL | {NOT_CONFIGURED, NO_MODEL}
    return named or _is_account(error) or _is_elsewhere(error) or error.status in REFUSED


def is_refusal(error: ProviderError) -> bool:
    """Whether the provider judged this very request: it would be refused again, others might not be."""
    return error.kind is ErrorKind.PERMANENT and not is_everybodys(error)


def _is_elsewhere(error: ProviderError) -> bool:
    """A redirect, which is never followed."""
    return error.status is not None and 300 <= error.status < 400


def _is_account(error: ProviderError) -> bool:
    code = error.code.lower()
    return "quota" in code or "billing" in code or error.status == 402


def _what_to_do(error: ProviderError, endpoint: Endpoint, go_on: str) -> str:
    key = endpoint.api_key_env or usual_key(endpoint.provider)
    code = error.code.lower()
    if error.kind is not ErrorKind.PERMANENT:
        return _when_it_answers(error, go_on)
    if code == NOT_CONFIGURED and place_of(endpoint.provider) == LOCAL:
        return f"Restart the worker after that, then {go_on}."
    if code == NOT_CONFIGURED:
        return f"Set it, restart the worker, then {go_on}."
    if _is_account(error):
        return f"Add credit or raise the quota at the provider, then {go_on}."
    if error.status in (401, 403) or code in WRONG_KEY:
        return f"Check the key in {key or 'the environment'}, restart the worker, then {go_on}."
    if error.status == 404 or code in WRONG_MODEL:
        return f"Check that {endpoint.model_id} exists at this address; with other settings, start anew."
    if _is_elsewhere(error):
        return "Check the address of the model; with another address, start anew."
    if error.status in (400, 413, 422):
        return f"{go_on.capitalize()} to go on; what is refused again is marked as failed."
    return f"Mend the cause, then {go_on}."


def _when_it_answers(error: ProviderError, go_on: str) -> str:
    if is_everybodys(error):
        return f"It asks to be left alone for {_span(error.retry_after or 0.0)}: {go_on} after that."
    if error.status is None:
        return f"No call is answered: check the connection, the address and the provider, then {go_on}."
    return f"No call is answered: when the provider works again, {go_on}."


def _span(seconds: float) -> str:
    """A wait in words, rounded up."""
    if seconds <= 2 * 3600:
        return f"{ceil(seconds / 60)} minutes"
    return f"{ceil(seconds / 3600)} hours" if seconds <= 48 * 3600 else f"{ceil(seconds / 86400):,} days"
