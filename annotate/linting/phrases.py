"""The parts of a description: where it names the target, which word does, and where words stand in a text."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from annotate.linting import nouns
from annotate.linting.types import Span
from annotate.linting.words import DETERMINERS, PHRASE_STARTS, is_look, is_thing

WORD = re.compile(r"\w+(?:['’-]\w+)*")


class Phrase(NamedTuple):
    """A description's words in lower case, where each stands, and how many name the target.

    `head` is the number of the word that says who or what the target is; -1 where there is no word.
    """

    said: tuple[str, ...]
    spans: tuple[Span, ...]
    naming: int
    head: int

    def span(self, start: int, end: int) -> Span | None:
        """Where the words from start up to end stand; None for no words."""
        if not 0 <= start < end <= len(self.spans):
            return None
        return (self.spans[start][0], self.spans[end - 1][1])

    def label(self) -> str:
        """The word, or the compound that the table of nouns knows, that says what the target is."""
        return self.label_at(self.head)

    def label_at(self, place: int) -> str:
        """The word at a place, with the one before it where both make a compound ("hot dog", not "old boy")."""
        if not 0 <= place < len(self.said):
            return ""
        return " ".join(self.said[place - 1 : place + 1]) if is_compound(self.said, place) else self.said[place]


def is_compound(said: Sequence[str], place: int) -> bool:
    """Whether the word at a place and the one before it make a noun of the table: "hot dog", not "old boy"."""
    if not 1 <= place < len(said) or is_look(said[place - 1]) or said[place - 1] in DETERMINERS:
        return False
    return nouns.is_noun(f"{said[place - 1]} {said[place]}")


@lru_cache(maxsize=4096)
def phrase(text: str) -> Phrase:
    """The parts of a description."""
    found = list(WORD.finditer(text))
    said = tuple(match[0].casefold() for match in found)
    naming = _naming(said)
    return Phrase(said, tuple(match.span() for match in found), naming, _head(said[:naming]))


def _naming(said: Sequence[str]) -> int:
    """Number of words before the first place, companion or action: "the dog | with its paw ..."."""
    for place, word in enumerate(said):
        if (word in PHRASE_STARTS or _is_action(said, place)) and any(
            earlier not in DETERMINERS for earlier in said[:place]
        ):
            return place
    return len(said)


def _is_action(said: Sequence[str], place: int) -> bool:
    """ "resting" in "the foal resting on straw", not in "the resting foal"."""
    word, after = said[place], said[place + 1 : place + 2]
    if not word.endswith("ing") or place == 0 or not is_thing(said[place - 1]):
        return False
    return not (after and is_thing(after[0]))


def _head(naming: Sequence[str]) -> int:
    """The last noun; of "a cup of coffee" the first part's."""
    until = naming.index("of") if "of" in naming[1:] else len(naming)
    until = until or len(naming)
    for place in range(until - 1, -1, -1):
        if is_thing(naming[place]) or is_compound(naming, place):
            return place
    telling = [place for place in range(until) if naming[place] not in DETERMINERS and not is_look(naming[place])]
    return telling[-1] if telling else until - 1
