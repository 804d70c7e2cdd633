"""What the rules say about a draft: only what it proposes is held against it, not what was there before."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from annotate import drafting, sheets
from annotate.linting import Finding, Plan, Severity, StudyPlan
from annotate.models.drafts import DraftKind
from annotate.services.items import Question, Texts

_OF_PREMISE = frozenset({"modified_target_description", "modified"})


def merged(texts: Texts, *, kind: str, payload: dict[str, Any]) -> Texts:
    """The texts with what a draft proposes in their place; the premise waits for its own draft."""
    questions = dict(texts.questions)
    proposed = {int(number): text for number, text in payload.get("questions", {}).items()}
    for number in proposed.keys() & questions.keys():
        question, text = questions[number], proposed[number]
        field = "content" if kind == DraftKind.QUESTIONS else "modified"
        questions[number] = replace(question, **{field: text})
    name = "target_description" if kind == DraftKind.QUESTIONS else "modified_target_description"
    return replace(texts, **{name: payload[name]}, questions=questions)


def findings(texts: Texts, *, kind: str, premise_class: str, plan: Plan) -> list[Finding]:
    """What the rules find in the part of `texts` that a draft of this kind proposes."""
    if kind == DraftKind.PREMISE:
        found = sheets.findings_of(texts, premise_class=premise_class, plan=plan)
        return [finding for finding in found if finding.field in _OF_PREMISE]
    plain = replace(
        texts,
        modified_target_description="",
        questions={number: Question(question.content) for number, question in texts.questions.items()},
    )
    found = sheets.findings_of(plain, premise_class=premise_class, plan=StudyPlan(plan.turns, ()))
    return [finding for finding in found if finding.field not in _OF_PREMISE]


def repeated(payload: dict[str, Any], avoid: Collection[str]) -> list[Finding]:
    """An error where a premise is one of those that must be avoided: that of the other variant."""
    proposal = payload.get("modified_target_description", "")
    said = [word.casefold() for word in drafting.words(proposal)]
    if not any(said == [word.casefold() for word in drafting.words(text)] for text in avoid):
        return []
    message = f"“{proposal}” is taken by the other variant; propose another modified description."
    return [Finding("variant_same_premise", Severity.ERROR, message, field="modified_target_description")]


def in_words(finding: Finding) -> str:
    """A finding as a model is told of it."""
    return f"Question {finding.turn}: {finding.message}" if finding.turn else finding.message
