"""What a variant must keep of its parent, and what sets it apart from its siblings: pure, beside the linting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotate import drafting
from annotate.linting import Finding, Severity
from annotate.services.items import Question, Texts


@dataclass(frozen=True)
class Sibling:
    """Another variant of the same parent, as people name it, and its modified description."""

    name: str
    modified_target_description: str


@dataclass(frozen=True)
class Drift:
    """One text of a variant that is no longer its parent's. `turn` is None for the item as a whole."""

    name: str
    theirs: str
    field: str
    turn: int | None = None


def drifts(mine: Texts, parent: Texts) -> list[Drift]:
    """What differs from the parent among the texts that a variant takes from it: all but its own premise."""
    found = []
    if mine.target != parent.target:
        found.append(Drift("target", parent.target, "target"))
    if mine.target_description != parent.target_description:
        found.append(Drift("description", parent.target_description, "target_description"))
    for number, question in sorted(mine.questions.items()):
        theirs = parent.questions.get(number, Question()).content
        if question.content != theirs:
            found.append(Drift(f"question {number}", theirs, "content", number))
    return found


def findings(mine: Texts, *, parent: Texts, siblings: Sequence[Sibling]) -> list[Finding]:
    """Errors for what is out of step with the parent, and for a premise that a sibling has already."""
    found = [_out_of_step(drift) for drift in drifts(mine, parent)]
    said = _said(mine.modified_target_description)
    twin = next((row for row in siblings if said and _said(row.modified_target_description) == said), None)
    if twin is not None:
        message = f"This is the premise of {twin.name} too; no two variants of an image may share one."
        found.append(Finding("variant_same_premise", Severity.ERROR, message, field="modified_target_description"))
    return found


def other_cell(parent: Sequence[str]) -> Finding:
    """The parent was moved to another complexity or category."""
    message = f"Out of step: the parent is now in {', '.join(parent).replace('_', ' ')}. Take it over from the parent."
    return Finding("variant_out_of_step", Severity.ERROR, message)


def from_parent(mine: Texts, parent: Texts) -> Texts:
    """The variant's texts with everything taken from its parent that is the parent's."""
    questions: Mapping[int, Question] = {
        number: Question(parent.questions.get(number, Question()).content, question.modified)
        for number, question in mine.questions.items()
    }
    return Texts(
        target=parent.target,
        target_description=parent.target_description,
        modified_target_description=mine.modified_target_description,
        questions=questions,
    )


def _out_of_step(drift: Drift) -> Finding:
    message = f"Out of step: the parent's {drift.name} is now “{drift.theirs}”. Take it over from the parent."
    return Finding("variant_out_of_step", Severity.ERROR, message, drift.turn, field=drift.field)


def _said(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in drafting.words(text))
