"""Files of JSON lines as they go to a provider and come back."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fpco_site.llm.providers import _wire
from fpco_site.llm.types import ProviderError


def packed(value: dict[str, Any]) -> bytes:
    """One line. ASCII escapes carry any text, even the lone surrogates that a model may have written."""
    return json.dumps(value, separators=(",", ":")).encode("ascii") + b"\n"


def read(path: Path, key: str) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """(line as it came without the API key, its object); lines that are none are left out.

    Only a line feed ends a line: the separators that Unicode knows may stand unescaped in a text.
    """
    with path.open("rb") as file:
        for line in file:
            raw = _wire.scrub_bytes(line.rstrip(b"\r\n"), key)
            try:
                value = json.loads(raw)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                yield raw, value


def refused(*, provider: str, status: int, said: dict[str, Any], answer: _wire.Answer, key: str) -> ProviderError:
    """The error of a line with an error status: what a live call would have raised, with the line as its raw reply."""
    text = json.dumps(said).encode()
    error = _wire.refused_by_status(provider=provider, status=status, raw=text, headers={}, key=key)
    error.raw, error.request_id = answer.raw, answer.request_id
    return error
