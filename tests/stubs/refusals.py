"""What a stub refuses of a request, in the words of the providers."""

from typing import Any

from tests.stubs.misbehaviour import Do
from tests.stubs.protocols import Asked

OTHER_CAP = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."


def of(do: Do, asked: Asked, body: dict[str, Any]) -> tuple[str, str, str | None, int] | None:
    """Code, message, the parameter that is named, and status; None where nothing is refused."""
    if do.what == "no_model":
        return "model_not_found", f"The model `{asked.model}` does not exist.", None, 404
    if do.what == "text_only" and asked.pictures:
        return "invalid_request_error", "This model does not support image inputs.", None, 400
    if do.what != "refuse" or do.field not in {*body, *body.get("generationConfig", {})}:
        return None
    if do.field == "max_tokens":
        return "unsupported_parameter", OTHER_CAP, "max_tokens", 400
    value = {**body, **body.get("generationConfig", {})}[do.field]
    message = f"Unsupported value: '{do.field}' does not support {value} with this model."
    return "unsupported_value", message, do.field, 400
