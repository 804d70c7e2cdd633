"""What a model is sent to check one candidate variant, and the strict reading of what it answers."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from fpco_site.llm.strict_json import ParseError, loads_object, sentence
from fpco_site.llm.types import Message, Picture, Request

PROMPT = "check_variant"
LONGEST_REASON = 5000  # characters
# Each question that a check answers with yes or no; yes is good for all of them.
QUESTIONS = ("target_visible", "premise_false", "of_class", "natural", "single_error")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {**{name: {"type": "boolean"} for name in QUESTIONS}, "reason": {"type": "string"}},
    "required": [*QUESTIONS, "reason"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Candidate:
    """One wording of a variant as a checker may see it: no response, no label, no expected result.

    `content` is the question with the true description, `modified` the one with the false.
    """

    premise_class: str
    target_description: str
    modified_target_description: str
    content: str
    modified: str

    def as_json(self) -> dict[str, str]:
        return asdict(self)


@dataclass(frozen=True)
class Verdict:
    """A boolean for each of `QUESTIONS`, and the reason in the model's words."""

    answers: dict[str, bool]
    reason: str


def request(*, system: str, candidate: Mapping[str, str], picture: Picture) -> Request:
    """Ask about one candidate and its picture; every candidate is asked about by itself."""
    body = json.dumps(dict(candidate), ensure_ascii=False, indent=1)
    return Request(
        system=system,
        messages=(Message("user", body),),
        picture=picture,
        schema=SCHEMA,
        schema_name=PROMPT,
    )


def parse(text: str) -> Verdict:
    """The verdict in a reply. Raises ParseError for prose, for a missing or further key, and for a non-boolean."""
    found = loads_object(text, keys={*QUESTIONS, "reason"})
    for name in QUESTIONS:
        if not isinstance(found[name], bool):
            raise ParseError(f"{name!r} is neither true nor false.")
    return Verdict(
        {name: found[name] for name in QUESTIONS}, sentence(found["reason"], where="'reason'", most=LONGEST_REASON)
    )
