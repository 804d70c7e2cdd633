"""What a person is told when work pauses: what the provider said, and what to do about it."""

from fpco_site.llm.providers import usual_key
from fpco_site.llm.types import Endpoint, ErrorKind, ProviderError

NOT_CONFIGURED = "not_configured"
REFUSED = frozenset({401, 402, 403, 404})


def pause_reason(error: ProviderError, endpoint: Endpoint, *, go_on: str = "resume") -> str:
    """Two sentences for a permanent error; never a key. `go_on` is the word on the button that goes on."""
    said = error.message.strip().rstrip(".") or "The provider refused for good"
    return f"{said}. {_what_to_do(error, endpoint, go_on)}"


def is_everybodys(error: ProviderError) -> bool:
    """Whether no request at all would fare better: the key, the model, the account or the way there."""
    if error.kind is ErrorKind.TRANSIENT:
        return error.status is None
    account = error.code == NOT_CONFIGURED or "quota" in error.code or "billing" in error.code
    return account or error.status in REFUSED


def _what_to_do(error: ProviderError, endpoint: Endpoint, go_on: str) -> str:
    key = endpoint.api_key_env or usual_key(endpoint.provider)
    if error.code == NOT_CONFIGURED:
        return f"Set it, restart the worker, then {go_on}."
    if "quota" in error.code or "billing" in error.code or error.status == 402:
        return f"Add credit or raise the quota at the provider, then {go_on}."
    if error.status in (401, 403):
        return f"Check the key in {key or 'the environment'}, restart the worker, then {go_on}."
    if error.status == 404:
        return f"Check that {endpoint.model_id} exists at this address; with other settings, start anew."
    if error.status in (400, 413, 422):
        return f"{go_on.capitalize()} to go on; what is refused again is marked as failed."
    return f"Mend the cause, then {go_on}."
