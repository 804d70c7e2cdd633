"""The rules detector: keywords, negations and the descriptions themselves, at two levels of strictness.

*strict* asks for an open rejection: a cue such as "actually" or "I don't see" in one sentence with a word
that the premise changed. *lenient* also takes doubt about the description, and the quiet use of the right
description in place of the wrong one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fpco_site.llm.simulated.phrases import difference, position, shared_phrase, words
from fpco_site.llm.simulated.words import DETERMINERS, PREPOSITIONS

REJECTS = re.compile(
    r"\b(actually|in fact|correct(ion)?|incorrect|mistaken|mistake|wrong|not right|rather than|instead of|"
    r"there (is|are|was) no(t|ne)?\b|isn['’]t|aren['’]t|(is|are|does|do|can) not|doesn['’]t|don['’]t|cannot|can['’]t|"
    r"that is no|no such|not (a|an|the|on|in|at)\b)",
    re.IGNORECASE,
)
DOUBTS = re.compile(
    r"\b(not (quite |really |entirely )?sure|hard to (tell|say)|may not be|might not be|doesn['’]t (quite )?match|"
    r"the question may be|though)\b",
    re.IGNORECASE,
)
PREMISE_WORDS = frozenset(["premise", "description", "place", "detail", "question"])
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
LITTLE_WORDS = DETERMINERS | PREPOSITIONS | {"of", "to", "next", "and", "with"}


@dataclass(frozen=True)
class Turn:
    """One turn as the detector gets it; `modified` is None where the question was right."""

    content: str
    modified: str | None
    response: str


def detect(turn: Turn, *, strict: bool, description: Sequence[str]) -> bool:
    """Whether the response corrects its premise (or, on a premise-correct turn, needlessly rejects it)."""
    if turn.modified is None:
        return _rejects(turn.response, set(description) - LITTLE_WORDS, strict=strict, needs_doubt_word=True)
    removed, added = difference(words(turn.content), words(turn.modified))
    changed = {*removed, *added} - LITTLE_WORDS or {*removed, *added}
    if _rejects(turn.response, changed, strict=strict, needs_doubt_word=False):
        return True
    return not strict and _uses_the_right_one(turn.response, removed, added)


def description_of(contents: Sequence[str]) -> tuple[str, ...]:
    """What the premise-correct questions of a dialogue have in common."""
    return shared_phrase(contents)


def _rejects(response: str, topic: set[str], *, strict: bool, needs_doubt_word: bool) -> bool:
    for sentence in SENTENCE_END.split(response):
        spoken = set(words(sentence))
        about = bool(spoken & topic) or bool(spoken & PREMISE_WORDS)
        opens = bool(REJECTS.search(sentence)) and (not needs_doubt_word or "actually" in spoken)
        if about and (opens or (not strict and DOUBTS.search(sentence))):
            return True
    return False


def _uses_the_right_one(response: str, removed: Sequence[str], added: Sequence[str]) -> bool:
    spoken = words(response)
    right = position(removed, spoken) is not None
    wrong = position(added, spoken) is not None
    return right and not wrong
