"""The request of a call, built again from what is stored by the code that sent it. Reads only, and never a key.

This is response-level: whoever calls it has asked `blindness.require_open_eyes` before.
"""

import json
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from typing import Any

from benchmark.models import Attempt
from fpco_site.errors import Invalid
from fpco_site.llm import dialogue, prompts, providers
from fpco_site.llm.types import Endpoint, NamedPicture, Request

_ENDPOINT = frozenset(field.name for field in fields(Endpoint))


@dataclass(frozen=True)
class Rebuilt:
    """A request as indented JSON, the picture by its hash.

    `matches` says whether its hash is that of the body that was sent; None where nothing went over a wire, or
    no hash was kept. `reason` says why there is no text.
    """

    text: str = ""
    on_wire: bool = False
    matches: bool | None = None
    reason: str = ""


def request_of(attempt: Attempt) -> Rebuilt:
    """What this call sent. Four queries at most."""
    try:
        endpoint, request = endpoint_of(attempt.settings), _request(attempt)
        body = providers.wire(endpoint, request)
    except Invalid as error:
        return Rebuilt(reason=error.message)
    if body is None:
        return Rebuilt(text=_indented(_as_given(endpoint, request)))
    kept = attempt.request_sha256
    matches = sha256(body).hexdigest() == kept if kept else None
    return Rebuilt(text=_indented(json.loads(body)), on_wire=True, matches=matches)


def endpoint_of(kept: dict[str, Any]) -> Endpoint:
    """The endpoint that an attempt's settings describe. Raises Invalid where they don't."""
    known = {name: value for name, value in kept.items() if name in _ENDPOINT}
    if not {"provider", "model_id"} <= known.keys():
        raise Invalid("The settings of this call are not known: it came with a release.")
    return Endpoint(**known)


def pretty(raw: bytes | None) -> str:
    """A raw body as a person reads it: JSON indented, anything else as it came; empty where none is kept."""
    text = (raw or b"").decode("utf-8", "replace")
    try:
        return _indented(json.loads(text))
    except (ValueError, RecursionError):
        return text


def _request(attempt: Attempt) -> Request:
    asked = [turn.asked for turn in attempt.dialogue.item.turns.order_by("number")[: attempt.turn]]
    earlier = attempt.dialogue.responses.filter(turn__lt=attempt.turn).order_by("turn")
    answers = list(earlier.values_list("text", flat=True))
    if len(answers) != attempt.turn - 1:
        raise Invalid("An earlier answer is missing, so this call could not have been made.")
    image = attempt.dialogue.item.image
    picture = None
    if attempt.image_sha256:
        picture = NamedPicture(attempt.image_sha256, image.mime if image else "image/jpeg")
    return dialogue.request(system=_prompt(attempt.settings), questions=asked, answers=answers, picture=picture)


def _prompt(kept: dict[str, Any]) -> str:
    """The prompt's text, if it is still the one that was sent."""
    name, _, version = str(kept.get("prompt", "")).partition(".v")
    if not version.isdigit():
        raise Invalid("The prompt of this call was not kept.")
    return prompts.load_exact(name, int(version), str(kept.get("sha256", ""))).text


def _as_given(endpoint: Endpoint, request: Request) -> dict[str, Any]:
    """What a provider without a wire is given."""
    picture = request.picture.name if request.picture else None
    told = {"model": endpoint.model_id, "system": request.system, "picture": picture}
    return {**told, "messages": [asdict(message) for message in request.messages]}


def _indented(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return text.encode("utf-8", "backslashreplace").decode()
