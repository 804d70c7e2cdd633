"""Rules on the questions with the true description."""

import re
from collections.abc import Iterator

from annotate.drafting import occurrences, words
from annotate.linting.types import Finding, PlainItem, PlainTurn, Plan, error, warning
from annotate.linting.words import DETERMINERS, PLACES, STAND_INS

_QUESTION_END = re.compile(r"\?[\"'”’)\]]*\s*$")
_UNTIDY = re.compile(r"^\s+|\s+$|[\t\r\n]|  +")


def question_findings(item: PlainItem, plan: Plan) -> Iterator[Finding]:
    """Number, form and description of the questions."""
    yield from _numbering(item, plan)
    yield from _duplicates(item)
    for turn in item.turns:
        if not turn.content.strip():
            yield error("content_empty", f"Question {turn.number} is empty.", turn=turn.number, field="content")
            continue
        yield from form(turn.content, turn.number, "content")
        if item.target_description.strip():
            yield from _description(turn, item.target_description)


def form(text: str, turn: int, field: str) -> Iterator[Finding]:
    """A question ends as one and has no stray space."""
    if not _QUESTION_END.search(text):
        yield warning("not_a_question", "This does not end with a question mark.", turn=turn, field=field)
    stray = _UNTIDY.search(text)
    if stray:
        message = "There is a stray space or line break."
        yield warning("untidy_space", message, turn=turn, span=stray.span(), field=field)


def _numbering(item: PlainItem, plan: Plan) -> Iterator[Finding]:
    numbers = [turn.number for turn in item.turns]
    wanted = range(1, plan.turns + 1)
    missing = [str(number) for number in wanted if number not in numbers]
    if missing:
        message = f"There must be {plan.turns} questions; missing: {', '.join(missing)}."
        yield error("questions_missing", message)
    for number in sorted(set(numbers)):
        if number not in wanted:
            yield error("questions_extra", f"The plan has {plan.turns} turns; this one is beyond.", turn=number)
        elif numbers.count(number) > 1:
            yield error("turn_twice", f"Turn {number} is there {numbers.count(number)} times.", turn=number)


def _duplicates(item: PlainItem) -> Iterator[Finding]:
    first: dict[tuple[str, ...], int] = {}
    for turn in sorted(item.turns, key=lambda turn: turn.number):
        said = tuple(word.casefold() for word in words(turn.content))
        if not said:
            continue
        if said in first and first[said] != turn.number:
            message = f"This asks the same as question {first[said]}."
            yield error("question_duplicate", message, turn=turn.number, field="content")
        first.setdefault(said, turn.number)


def _description(turn: PlainTurn, description: str) -> Iterator[Finding]:
    found = occurrences(turn.content, description)
    if len(found) > 1:
        message = f"The description is there {len(found)} times; it must be there exactly once."
        yield error("description_twice", message, turn=turn.number, span=found[1], field="content")
    if not found:
        yield _why_not_there(turn, description)


def _why_not_there(turn: PlainTurn, description: str) -> Finding:
    """Altered, replaced by a pronoun, or simply not there."""
    number, asked = turn.number, [word.casefold() for word in words(turn.content)]
    telling = {word.casefold() for word in words(description)} - DETERMINERS - PLACES - {"with", "of"}
    kept = telling & set(asked)
    if telling and 2 * len(kept) >= len(telling):
        message = f"The description is altered or shortened; it must read “{description}” word for word."
        return error("description_altered", message, turn=number, field="content")
    stand_in = next((found for found in re.finditer(r"\w+", turn.content) if found[0].casefold() in STAND_INS), None)
    if stand_in and not kept:
        message = f"“{stand_in[0]}” stands for the target; the description must be there word for word."
        return error("description_pronoun", message, turn=number, span=stand_in.span(), field="content")
    message = f"The description “{description}” is missing."
    return error("description_missing", message, turn=number, field="content")
