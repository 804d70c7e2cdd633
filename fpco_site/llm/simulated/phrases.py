"""Comparing questions as texts: which description do they share, and where does one say something else?"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from fpco_site.llm.simulated.words import ATTRIBUTES, AUXILIARIES, DETERMINERS, PLACES, PREPOSITIONS

WORD = re.compile(r"\w+(?:['’-]\w+)*")
ALIKE = 0.6
LONGER_BY = 6


@dataclass(frozen=True)
class Change:
    """A description that differs from the one used before. `kind` is a guess from the words alone."""

    kind: str
    before: str
    after: str
    removed: tuple[str, ...]
    added: tuple[str, ...]


def words(text: str) -> list[str]:
    return [match.group().lower() for match in WORD.finditer(text)]


def position(needle: Sequence[str], words_: Sequence[str]) -> int | None:
    """Where `needle` starts as a whole in `words_`."""
    size = len(needle)
    starts = (i for i in range(len(words_) - size + 1) if list(words_[i : i + size]) == list(needle))
    return next(starts, None) if size else None


def shared_phrase(texts: Sequence[str]) -> tuple[str, ...]:
    """The longest run of words that all texts hold: their description of the target. Empty if there is none."""
    if len(texts) < 2:
        return ()
    first, *others = [words(text) for text in texts]
    for size in range(len(first), 1, -1):
        for start in range(len(first) - size + 1):
            run = first[start : start + size]
            if all(position(run, other) is not None for other in others):
                return _trimmed(run)
    return ()


def find_change(description: Sequence[str], question: str) -> Change | None:
    """How `question` describes the target otherwise than `description`; None where it doesn't, or can't be told."""
    asked = words(question)
    if not description:
        return None
    start = position(description, asked)
    if start is not None:
        return _added_place(description, asked, start)
    window = _closest_run(description, asked)
    return _compared(description, window) if window else None


def difference(before: Sequence[str], after: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words that only `before` and only `after` holds, in order."""
    removed: list[str] = []
    added: list[str] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            removed += before[i1:i2]
            added += after[j1:j2]
    return tuple(removed), tuple(added)


def head_noun(description: Sequence[str]) -> str:
    """The word that says what the target is: the last one before a place, a participle or "with"."""
    head = ""
    for word in description:
        if head and (word in PREPOSITIONS or word in {"with", "next", "closest", "to", "wearing", "holding"}):
            break
        if word not in DETERMINERS:
            head = word
    return head


def _trimmed(run: list[str]) -> tuple[str, ...]:
    starts = [i for i, word in enumerate(run) if word in DETERMINERS]
    run = run[starts[0] :] if starts else run
    while run and (run[-1] in AUXILIARIES or run[-1] in DETERMINERS):
        run = run[:-1]
    return tuple(run) if len(run) > 1 else ()


def _added_place(description: Sequence[str], asked: list[str], start: int) -> Change | None:
    """A place put behind an otherwise unchanged description, as in "... the dog on the right wearing?"."""
    end = start + len(description)
    rest = asked[end:]
    asks_for_the_place = start > 0 and asked[start - 1] in {"is", "are", "was", "were"}
    if len(rest) < 3 or rest[0] not in PREPOSITIONS or rest[1] not in DETERMINERS or asks_for_the_place:
        return None
    place = tuple(rest[:3])
    before = tuple(description)
    return Change("location", " ".join(before), " ".join(before + place), (), place)


def _closest_run(description: Sequence[str], asked: list[str]) -> list[str]:
    """The run of words that is most like `description`; empty where none is alike enough."""
    best: list[str] = []
    best_ratio = ALIKE
    for start in range(len(asked)):
        for size in range(max(2, len(description) - 2), len(description) + LONGER_BY):
            run = asked[start : start + size]
            if len(run) < size or run[0] != description[0]:
                continue
            ratio = SequenceMatcher(None, description, run, autojunk=False).ratio()
            # A run that only lacks words is a cut, not a change.
            if ratio > best_ratio and difference(description, run)[1]:
                best, best_ratio = run, ratio
    return best


def _compared(description: Sequence[str], window: list[str]) -> Change | None:
    removed, added = difference(description, window)
    if not added:
        return None
    return Change(_kind(removed, added, description), " ".join(description), " ".join(window), removed, added)


def _kind(removed: Sequence[str], added: Sequence[str], description: Sequence[str]) -> str:
    changed = {*removed, *added}
    if head_noun(description) in removed:
        return "identity"
    if changed & ATTRIBUTES:
        return "attribute"
    after_the_head = head_noun(description) not in changed and bool(changed & PLACES)
    return "location" if after_the_head or not _before_head(removed, description) else "attribute"


def _before_head(removed: Sequence[str], description: Sequence[str]) -> bool:
    head = head_noun(description)
    before = list(description)[: list(description).index(head)] if head in description else []
    return any(word in before for word in removed)
