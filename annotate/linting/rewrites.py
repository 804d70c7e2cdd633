"""Rules on the rewritten questions: the computed one, pronouns apart."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from annotate.drafting import NotOnceError, changes, occurrences, replace_description
from annotate.linting.questions import form
from annotate.linting.types import Finding, PlainItem, PlainTurn, Plan, Span, error, warning
from annotate.linting.words import FEMALE, FEMALE_PRONOUNS, MALE, MALE_PRONOUNS, PRONOUNS

_TOKEN = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")


def rewrite_findings(item: PlainItem, plan: Plan) -> Iterator[Finding]:
    """Whether false turns have a rewritten question, true ones none, and nothing else has changed."""
    for turn in item.turns:
        number, rewritten = turn.number, bool(turn.modified.strip())
        if number not in plan.false_turns:
            if rewritten:
                message = "This turn is asked with the true description; it must have no rewritten question."
                yield error("rewrite_unexpected", message, turn=number, field="modified")
        elif not rewritten:
            message = "This turn asks with the false premise; its rewritten question is missing."
            yield error("rewrite_missing", message, turn=number, field="modified")
        else:
            yield from form(turn.modified, number, "modified")
            if item.modified_target_description.strip() and item.target_description.strip():
                yield from _rewritten(item, turn)


def _rewritten(item: PlainItem, turn: PlainTurn) -> Iterator[Finding]:
    found = occurrences(turn.modified, item.modified_target_description)
    if len(found) != 1:
        yield _not_once(item, turn, len(found))
        return
    try:
        computed = replace_description(turn.content, item.target_description, item.modified_target_description)
    except NotOnceError:
        return  # the finding is about the content
    others, swapped = _differences(computed, turn.modified)
    if others:
        message = f"Beyond the description, this differs from “{computed}”."
        yield error("rewrite_differs", message, turn=turn.number, span=others[0], field="modified")
    elif swapped and item.premise_class != "identity":
        message = "Pronouns are changed, though only an identity change can make them wrong."
        yield warning("rewrite_pronouns", message, turn=turn.number, span=swapped[0], field="modified")
    yield from _pronoun_left(item, turn, found[0])


def _not_once(item: PlainItem, turn: PlainTurn, count: int) -> Finding:
    if count > 1:
        message = f"The modified description is there {count} times; it must be there exactly once."
        return error("rewrite_twice", message, turn=turn.number, field="modified")
    kept = occurrences(turn.modified, item.target_description)
    if kept:
        message = "The rewritten question still has the true description."
        return error("rewrite_keeps_description", message, turn=turn.number, span=kept[0], field="modified")
    message = f"The modified description “{item.modified_target_description}” is not in it word for word."
    return error("rewrite_altered", message, turn=turn.number, field="modified")


def _differences(computed: str, given: str) -> tuple[list[Span], list[Span]]:
    """Where the given question differs from the computed one: otherwise, and by a pronoun alone."""
    ours, theirs = list(_TOKEN.finditer(computed)), list(_TOKEN.finditer(given))
    matcher = SequenceMatcher(None, [token[0] for token in ours], [token[0] for token in theirs], autojunk=False)
    others: list[Span] = []
    swapped: list[Span] = []
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        start = theirs[b1].start() if b1 < len(theirs) else len(given)
        span = (start, theirs[b2 - 1].end() if b2 > b1 else start)
        pairs = [token[0].casefold() for token in (*ours[a1:a2], *theirs[b1:b2])]
        is_swap = a2 - a1 == b2 - b1 and set(pairs) <= PRONOUNS
        (swapped if is_swap else others).append(span)
    return others, swapped


def _pronoun_left(item: PlainItem, turn: PlainTurn, description: Span) -> Iterator[Finding]:
    """A pronoun that the identity change has made wrong."""
    wrong = _wrong_pronouns(item)
    for token in _TOKEN.finditer(turn.modified):
        inside = description[0] <= token.start() < description[1]
        if token[0].casefold() in wrong and not inside:
            message = f"“{token[0]}” no longer fits “{item.modified_target_description}”."
            yield warning("rewrite_pronoun_left", message, turn=turn.number, span=token.span(), field="modified")


def _wrong_pronouns(item: PlainItem) -> frozenset[str]:
    for change in changes(item.target_description, item.modified_target_description):
        old, new = set(change.old), set(change.new)
        if old & FEMALE and new & MALE:
            return FEMALE_PRONOUNS
        if old & MALE and new & FEMALE:
            return MALE_PRONOUNS
    return frozenset()
