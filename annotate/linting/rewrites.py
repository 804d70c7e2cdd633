"""Rules on the rewritten questions: the computed one, pronouns apart."""

import re
from collections.abc import Iterator
from functools import lru_cache

from annotate.drafting import NotOnceError, matcher, occurrences, replace_description
from annotate.linting.pronouns import left_pronouns, may_swap
from annotate.linting.questions import form, nearest
from annotate.linting.types import Finding, PlainItem, PlainTurn, Plan, Span, error, warning
from annotate.linting.words import PRONOUNS

_TOKEN = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")


def rewrite_findings(item: PlainItem, plan: Plan) -> Iterator[Finding]:
    """Whether false turns have a rewritten question, true ones none, and nothing else has changed."""
    for turn in item.turns:
        number, rewritten = turn.number, bool(turn.modified.strip())
        if number not in plan.false_turns:
            if rewritten:
                message = "This turn is asked with the true description; it must have no rewritten question."
                yield error("rewrite_unexpected", message, turn=number, span=(0, len(turn.modified)), field="modified")
        elif not rewritten:
            message = "This turn asks with the false premise; its rewritten question is missing."
            yield error("rewrite_missing", message, turn=number, field="modified")
        elif item.modified_target_description.strip() and item.target_description.strip():
            yield from _rewritten(item, turn)
        else:
            yield from form(turn.modified, number, "modified")


def computed(item: PlainItem, turn: PlainTurn) -> str | None:
    """The rewritten question that follows from the descriptions; None where none does."""
    return _computed(turn.content, item.target_description, item.modified_target_description)


@lru_cache(maxsize=8192)
def _computed(content: str, description: str, modified: str) -> str | None:
    try:
        return replace_description(content, description, modified)
    except NotOnceError:
        return None


def _rewritten(item: PlainItem, turn: PlainTurn) -> Iterator[Finding]:
    expected = computed(item, turn)
    found = occurrences(turn.modified, item.modified_target_description)
    if turn.modified == expected:  # what there is to say of it, is said of the question
        if found:
            yield from left_pronouns(item, turn, found[0])
        return
    yield from form(turn.modified, turn.number, "modified")
    if len(found) != 1:
        yield _not_once(item, turn, found)
        return
    if expected is not None:
        yield from _beyond(item, turn, expected)
    yield from left_pronouns(item, turn, found[0])


def _beyond(item: PlainItem, turn: PlainTurn, expected: str) -> Iterator[Finding]:
    """What differs beyond the description."""
    others, swapped = _differences(item, expected, turn.modified)
    if others:
        message = f"Beyond the description, this differs from “{expected}”."
        yield error("rewrite_differs", message, turn=turn.number, span=others[0], field="modified")
    elif swapped:
        message = "A pronoun is changed that the change of the description does not make wrong."
        yield warning("rewrite_pronouns", message, turn=turn.number, span=swapped[0], field="modified")


def _not_once(item: PlainItem, turn: PlainTurn, found: list[Span]) -> Finding:
    if found:
        message = f"The modified description is there {len(found)} times; it must be there exactly once."
        return error("rewrite_twice", message, turn=turn.number, span=found[1], field="modified")
    kept = occurrences(turn.modified, item.target_description)
    if kept:
        message = "The rewritten question still has the true description."
        return error("rewrite_keeps_description", message, turn=turn.number, span=kept[0], field="modified")
    message = f"The modified description “{item.modified_target_description}” is not in it word for word."
    span = nearest(turn.modified, item.modified_target_description)
    return error("rewrite_altered", message, turn=turn.number, span=span, field="modified")


def _differences(item: PlainItem, expected: str, given: str) -> tuple[list[Span], list[Span]]:
    """Where the given question differs from the computed one: otherwise, and by a pronoun that fitted."""
    ours, theirs = list(_TOKEN.finditer(expected)), list(_TOKEN.finditer(given))
    found = matcher([token[0] for token in ours], [token[0] for token in theirs])
    others: list[Span] = []
    swapped: list[Span] = []
    for tag, a1, a2, b1, b2 in found.get_opcodes():
        if tag == "equal":
            continue
        start = theirs[b1].start() if b1 < len(theirs) else len(given)
        span = (start, theirs[b2 - 1].end() if b2 > b1 else start)
        pairs = list(zip(_said(ours[a1:a2]), _said(theirs[b1:b2]), strict=False))
        if a2 - a1 != b2 - b1 or not all({old, new} <= PRONOUNS for old, new in pairs):
            others.append(span)
        elif not all(may_swap(item, old, new) for old, new in pairs):
            swapped.append(span)
    return others, swapped


def _said(tokens: list[re.Match[str]]) -> list[str]:
    return [token[0].casefold() for token in tokens]
