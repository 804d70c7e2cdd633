"""Pronouns that an identity change makes wrong, in the description and in rewritten questions."""

import re
from collections.abc import Iterator
from functools import lru_cache

from annotate.linting import nouns
from annotate.linting.labels import is_person
from annotate.linting.phrases import WORD, phrase
from annotate.linting.types import Finding, PlainItem, PlainTurn, Span, warning
from annotate.linting.words import (
    FEMALE,
    FEMALE_PRONOUNS,
    MALE,
    MALE_PRONOUNS,
    PERSONAL_PRONOUNS,
    PRONOUNS,
    THING_PRONOUNS,
)

# "it" that stands for nothing: "does it seem", "is it raining".
_EXPLETIVE = re.compile(
    r"\bit\s+(?:is|be|seems?|looks?|appears?|was|rain|snow|possible|likely|safe|true|[a-z]+ing)\b", re.I
)
THINGS = frozenset({"vehicle", "food", "artefact", "plant", "clothing"})


def description_pronouns(item: PlainItem) -> Iterator[Finding]:
    """A pronoun in the modified description that fits the true label alone."""
    if item.premise_class == "identity":
        wrong = wrong_pronouns(item.target_description, item.modified_target_description)
        for span, word in _found(item.modified_target_description, wrong):
            message = f"“{word}” no longer fits the modified description."
            yield warning("modified_pronoun", message, span=span, field="modified_target_description")


def left_pronouns(item: PlainItem, turn: PlainTurn, description: Span) -> Iterator[Finding]:
    """A pronoun in a rewritten question, outside the description, that fits the true label alone."""
    if item.premise_class != "identity":
        return
    wrong = wrong_pronouns(item.target_description, item.modified_target_description)
    for span, word in _found(turn.modified, wrong):
        if not description[0] <= span[0] < description[1]:
            message = f"“{word}” no longer fits “{item.modified_target_description}”."
            yield warning("rewrite_pronoun_left", message, turn=turn.number, span=span, field="modified")


def _found(text: str, wrong: frozenset[str]) -> Iterator[tuple[Span, str]]:
    if not wrong:
        return
    idle = {found.start() for found in _EXPLETIVE.finditer(text)}
    for token in WORD.finditer(text):
        if token[0].casefold() in wrong and token.start() not in idle:
            yield token.span(), token[0]


@lru_cache(maxsize=4096)
def wrong_pronouns(description: str, modified: str) -> frozenset[str]:
    """The pronouns that fit the first label and not the second.

    Examples
    --------
    >>> sorted(wrong_pronouns("the tall woman", "the tall man"))
    ['her', 'hers', 'herself', 'she']
    >>> sorted(wrong_pronouns("the tall man", "the tall tree"))
    ['he', 'him', 'himself', 'his']
    """
    old, new = _pronouns(description), _pronouns(modified)
    if not old or not new:
        return frozenset()
    return old - new


def _pronouns(description: str) -> frozenset[str]:
    """The singular pronouns that may stand for what a description names; none where that is unknown."""
    target = phrase(description)
    label = target.said[target.head] if target.said else ""
    if label in FEMALE:
        return FEMALE_PRONOUNS
    if label in MALE:
        return MALE_PRONOUNS
    if is_person(label):
        return PERSONAL_PRONOUNS
    if nouns.is_plural(label):
        return frozenset()
    kind = nouns.kind(target.label())
    if kind == "animal":
        return PERSONAL_PRONOUNS | THING_PRONOUNS
    return THING_PRONOUNS if kind in THINGS else frozenset()


def may_swap(item: PlainItem, old: str, new: str) -> bool:
    """Whether a rewritten question may have `new` where the computed one has `old`."""
    wrong = wrong_pronouns(item.target_description, item.modified_target_description)
    return item.premise_class == "identity" and old in wrong and new in PRONOUNS - wrong
