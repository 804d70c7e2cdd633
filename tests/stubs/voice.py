"""What a well-behaved stub says: as a model, as a detector, as a drafting model and as one that checks variants."""

import json
import re
from typing import Any

from fpco_site.llm import providers
from fpco_site.llm.connection.steps import OPENING, RECALL
from fpco_site.llm.types import Endpoint, Request
from tests.stubs import eye

OFFLINE = {
    "model": providers.make(Endpoint("scripted", "stub-model", options={"habit": "skeptic"})),
    "detector": providers.make(Endpoint("rules", "stub-detector", options={"strictness": "lenient"})),
    "drafter": providers.make(Endpoint("drafter", "stub-drafter")),
}


async def says(request: Request, *, plain: bool, do: str = "answer") -> str:
    """The text of an answer to any request of this project."""
    if request.messages[0].text.startswith(OPENING):
        return _tested(request, do)
    keys = _keys(request)
    if "items" in keys:
        return (await OFFLINE["detector"].ask(request)).text or ""
    if "metadata" in keys:
        name = "draft_premise" if "premise_class" in keys else "draft_questions"
        asked = Request(request.system, request.messages, schema=request.schema, schema_name=name)
        return (await OFFLINE["drafter"].ask(asked)).text or ""
    if "modified_target_description" in keys:
        asked = Request(request.system, request.messages, schema=request.schema, schema_name="check_variant")
        return (await OFFLINE["drafter"].ask(asked)).text or ""
    if plain:
        number = len(request.messages) // 2 + 1
        return f"It looks calm and is easy to see, as in answer {number}{', yes' * (number % 4)}."
    return (await OFFLINE["model"].ask(request)).text or ""


def _tested(request: Request, do: str) -> str:
    """The answer to a connection test, by really looking at the picture, or by guessing."""
    first, last = request.messages[0].text, request.messages[-1].text
    called = re.search("“(.+?)”", first)
    if last == RECALL and called:
        return "I don't know which name you mean." if do == "forgetful" else called.group(1).capitalize() + "."
    if do == "blind" or request.picture is None:
        return "417 red"
    return eye.read(request.picture.data)


def spoilt(text: str, how: str) -> str:
    """Labels as a careless detector gives them."""
    if how == "prose":
        return f"Here are the labels:\n{text}"
    body = json.loads(text)
    rows = body[next(key for key, value in body.items() if isinstance(value, list))]
    _spoil(rows, how)
    return json.dumps(body)


def _spoil(rows: list[dict[str, Any]], how: str) -> None:
    if how == "wrong_ids":
        rows[-1]["id"] = 99
    elif how == "missing_id":
        rows.pop()
    elif how == "repeated_id":
        rows.append(rows[0])
    elif how == "not_boolean":
        rows[0]["detect"] = "yes"


def _keys(request: Request) -> set[str]:
    try:
        body = json.loads(request.messages[-1].text)
    except ValueError:
        return set()
    return set(body) if isinstance(body, dict) else set()
