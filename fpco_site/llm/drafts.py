"""What a drafting model is sent, and the strict reading of what it proposes."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fpco_site.llm.strict_json import loads_object, rows_by_id, sentence
from fpco_site.llm.types import Message, Picture, Request

QUESTIONS = "draft_questions"
PREMISE = "draft_premise"
# Characters, as people may type them.
LONGEST_DESCRIPTION, LONGEST_QUESTION = 500, 2000


def _schema(description: str, question: str) -> dict[str, Any]:
    row = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, question: {"type": "string"}},
        "required": ["id", question],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {description: {"type": "string"}, "questions": {"type": "array", "items": row}},
        "required": [description, "questions"],
        "additionalProperties": False,
    }


QUESTIONS_SCHEMA = _schema("target_description", "content")
PREMISE_SCHEMA = _schema("modified_target_description", "modified")


@dataclass(frozen=True)
class Metadata:
    """What a drafting model is told about the image: `category` is the study's number, 1 to 4."""

    target: str
    category: int
    complexity: str

    def as_json(self) -> dict[str, Any]:
        return {"target": self.target, "category": self.category, "complexity": self.complexity}


@dataclass(frozen=True)
class Questions:
    target_description: str
    questions: dict[int, str]


@dataclass(frozen=True)
class Premise:
    modified_target_description: str
    questions: dict[int, str]


@dataclass(frozen=True)
class Redraft:
    """What was wrong with the former reply: `problems` are sentences, each naming a rule."""

    former: str
    problems: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "instruction": "Your former reply can not be used. Return a whole new one that mends what is named here.",
            "former_reply": self.former,
            "mend": list(self.problems),
        }


def questions_request(*, system: str, metadata: Metadata, picture: Picture, redraft: Redraft | None = None) -> Request:
    """Ask for a description and ten premise-correct questions."""
    return Request(
        system=system,
        messages=(_message({"metadata": metadata.as_json()}, redraft),),
        picture=picture,
        schema=QUESTIONS_SCHEMA,
        schema_name=QUESTIONS,
    )


def premise_request(
    *,
    system: str,
    metadata: Metadata,
    target_description: str,
    questions: Mapping[int, str],
    premise_class: str,
    picture: Picture | None = None,
    avoid: Sequence[str] = (),
    redraft: Redraft | None = None,
) -> Request:
    """Ask for one error of `premise_class`, put into `questions` (id -> premise-correct question).

    `avoid` are modified descriptions that are taken: the other variant's, where two are wanted.
    """
    body: dict[str, Any] = {
        "metadata": metadata.as_json(),
        "target_description": target_description,
        "premise_class": premise_class,
        "questions": [{"id": number, "content": content} for number, content in sorted(questions.items())],
    }
    if avoid:
        body["taken"] = {"instruction": "Propose another modified description than these.", "descriptions": [*avoid]}
    return Request(
        system=system,
        messages=(_message(body, redraft),),
        picture=picture,
        schema=PREMISE_SCHEMA,
        schema_name=PREMISE,
    )


def _message(body: dict[str, Any], redraft: Redraft | None) -> Message:
    if redraft is not None:
        body = {**body, "redraft": redraft.as_json()}
    return Message("user", json.dumps(body, ensure_ascii=False, indent=1))


def parse_questions(text: str, ids: Iterable[int] = range(1, 11)) -> Questions:
    """The proposed description and questions. Raises ParseError."""
    description, questions = _parse(text, "target_description", "content", ids)
    return Questions(target_description=description, questions=questions)


def parse_premise(text: str, ids: Iterable[int] = range(4, 11)) -> Premise:
    """The proposed modified description and questions. Raises ParseError."""
    description, questions = _parse(text, "modified_target_description", "modified", ids)
    return Premise(modified_target_description=description, questions=questions)


def _parse(text: str, description: str, field: str, ids: Iterable[int]) -> tuple[str, dict[int, str]]:
    reply = loads_object(text, keys={description, "questions"})
    rows = rows_by_id(reply["questions"], field=field, ids=set(ids), name="questions")
    questions = {
        number: sentence(rows[number], where=f"Question {number}", most=LONGEST_QUESTION) for number in sorted(rows)
    }
    return sentence(reply[description], where=f"{description!r}", most=LONGEST_DESCRIPTION), questions
