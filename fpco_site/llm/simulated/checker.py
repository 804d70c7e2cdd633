"""The scripted checker of variants: it compares words, sees no picture, and doubts now and then as models do."""

from typing import Any

from fpco_site.llm.simulated import chance
from fpco_site.llm.simulated.phrases import Change, find_change, position, words
from fpco_site.llm.simulated.words import INCOMPATIBLE

DOUBT = 0.08  # the share of questions about the picture that it answers with a doubt


def check(body: dict[str, Any], *, model_id: str) -> dict[str, Any]:
    """The verdict on a candidate, from its words and the model's id alone."""
    before, after = words(body["target_description"]), words(body["modified_target_description"])
    change = find_change(before, body["modified_target_description"])
    kind = _kind(change)
    text = body["modified"]
    asked = position(after, words(text)) is not None
    answers = {
        "target_visible": _sure("target_visible", body, model_id),
        "premise_false": bool(after) and before != after and _sure("premise_false", body, model_id),
        "of_class": kind == body["premise_class"],
        "natural": asked and text.rstrip().endswith("?"),
        "single_error": asked and _rest(body["content"], before) == _rest(text, after),
    }
    wrong = next((name for name, holds in answers.items() if not holds), "")
    return {**answers, "reason": _reason(wrong, kind, body["premise_class"])}


def _sure(question: str, body: dict[str, Any], model_id: str) -> bool:
    return chance(model_id, question, body["target_description"], body["modified_target_description"]) >= DOUBT


def _kind(change: Change | None) -> str:
    if change is None:
        return ""
    if any(word in INCOMPATIBLE for word in change.removed) and len(change.removed) == len(change.added) == 1:
        return "identity"
    return change.kind


def _rest(text: str, description: list[str]) -> list[str]:
    """The words of a question around its description."""
    said = words(text)
    at = position(description, said)
    return said if at is None else said[:at] + said[at + len(description) :]


def _reason(wrong: str, kind: str, meant: str) -> str:
    said = {
        "": "Simulated: the words hold together.",
        "target_visible": "Simulated: the target can't be told for sure.",
        "premise_false": "Simulated: the changed description may be true of something here.",
        "of_class": f"Simulated: the change reads like {kind or 'none'}, not like {meant}.",
        "natural": "Simulated: the changed question does not hold the changed description.",
        "single_error": "Simulated: more than the description was changed.",
    }
    return said[wrong]
