"""What a person is told when work pauses: what the provider said, and what to do about it."""

from fpco_site.llm.providers import usual_key
from fpco_site.llm.types import Endpoint, ProviderError

NOT_CONFIGURED = "not_configured"


def pause_reason(error: ProviderError, endpoint: Endpoint) -> str:
    """Two sentences for a permanent error; never a key."""
    said = error.message.strip().rstrip(".") or "The provider refused for good"
    return f"{said}. {_what_to_do(error, endpoint)}"


def _what_to_do(error: ProviderError, endpoint: Endpoint) -> str:
    key = endpoint.api_key_env or usual_key(endpoint.provider)
    if error.code == NOT_CONFIGURED:
        return "Set it, restart the worker, then resume."
    if "quota" in error.code or "billing" in error.code or error.status == 402:
        return "Add credit or raise the quota at the provider, then resume."
    if error.status in (401, 403):
        return f"Check the key in {key or 'the environment'}, restart the worker, then resume."
    if error.status == 404:
        return f"Check that {endpoint.model_id} exists at this address; with other settings, start anew."
    if error.status in (400, 413, 422):
        return "Resume to go on; what is refused again is marked as failed."
    return "Mend the cause, then resume."
