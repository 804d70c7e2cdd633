"""The rewritten question, computed; and what differs between two texts, for highlighting."""

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import NamedTuple

LONG = 600  # pieces of two texts; beyond them matching every frequent piece with every other takes minutes
_TOKENS = re.compile(r"\w+(?:['’-]\w+)*|\s+|[^\w\s]")
_WORDS = re.compile(r"\w+(?:['’-]\w+)*")


class NotOnceError(ValueError):
    """The description isn't in the question exactly once; `count` says how often it is."""

    def __init__(self, count: int) -> None:
        self.count = count
        how = "is not in the question" if count == 0 else f"is in the question {count} times"
        super().__init__(f"The description {how}; it must be there word for word exactly once.")


class Segment(NamedTuple):
    """A piece of a text: whether the other text lacks it."""

    text: str
    changed: bool


class Change(NamedTuple):
    """Words of one text that stand in the place of words of another; either side may be empty.

    `start` and `end` are where `new` stands, as word numbers in the second text.
    """

    old: tuple[str, ...]
    new: tuple[str, ...]
    start: int
    end: int


def words(text: str) -> list[str]:
    """The words of a text, with inner apostrophes and hyphens, without punctuation.

    Examples
    --------
    >>> words("Is the man's grey-haired dog here?")
    ['Is', 'the', "man's", 'grey-haired', 'dog', 'here']
    """
    return _WORDS.findall(text)


def occurrences(text: str, description: str) -> list[tuple[int, int]]:
    """Where the description stands in the text, as (start, end), word for word.

    Only the case of its first letter may differ, as at the start of a sentence; "the red car" isn't
    found in "the red carpet".
    """
    if not description:
        return []
    first, rest = description[0].lower(), description[1:]
    found: list[tuple[int, int]] = []
    at = text.find(rest, 1)
    while at > 0:
        start, end = at - 1, at + len(rest)
        if text[start].lower() == first and not _goes_on(text, start, end):
            found.append((start, end))
            at = end
        at = text.find(rest, at + 1) if at < len(text) else -1
    return found


def _goes_on(text: str, start: int, end: int) -> bool:
    """Whether the word at an edge of a piece of text is longer than the piece."""
    before, after = text[max(start - 2, 0) : start], text[end : end + 2]
    return (
        _in_word(before[-1:])
        or (before[-1:] in {"-", "'", "’"} and _in_word(before[:-1]))
        or _in_word(after[:1])
        or (after[:1] == "-" and _in_word(after[1:]))
    )


def _in_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def replace_description(content: str, description: str, modified: str) -> str:
    """The question with the modified description in the place of the description.

    Where the description starts with another case than it is written in, as at the start of a
    sentence, so does the modified one.

    Raises
    ------
    NotOnceError
        If the description isn't in the question exactly once.

    Examples
    --------
    >>> replace_description("The red car is where?", "the red car", "the blue car")
    'The blue car is where?'
    """
    found = occurrences(content, description)
    if len(found) != 1:
        raise NotOnceError(len(found))
    start, end = found[0]
    if content[start] != description[0]:
        recase: Callable[[str], str] = str.upper if content[start].isupper() else str.lower
        modified = recase(modified[:1]) + modified[1:]
    return content[:start] + modified + content[end:]


def split_marks(a: str, b: str) -> tuple[list[Segment], list[Segment]]:
    """Both texts in pieces, those that the other lacks marked; joined, the pieces are the text.

    Whole words are compared, so that a highlight never starts inside one.

    Examples
    --------
    >>> split_marks("the red car", "the blue car")[1]
    [Segment(text='the ', changed=False), Segment(text='blue', changed=True), Segment(text=' car', changed=False)]
    """
    tokens_a, tokens_b = _TOKENS.findall(a), _TOKENS.findall(b)
    left: list[Segment] = []
    right: list[Segment] = []
    for tag, a1, a2, b1, b2 in matcher(tokens_a, tokens_b).get_opcodes():
        left += [Segment(token, tag != "equal") for token in tokens_a[a1:a2]]
        right += [Segment(token, tag != "equal") for token in tokens_b[b1:b2]]
    return _joined(left), _joined(right)


def changes(a: str, b: str) -> list[Change]:
    """The contiguous changes of words that make b of a, ignoring case and punctuation.

    Examples
    --------
    >>> changes("the man on the left", "the man on the right")
    [Change(old=('left',), new=('right',), start=4, end=5)]
    """
    words_a, words_b = ([word.casefold() for word in words(text)] for text in (a, b))
    opcodes = matcher(words_a, words_b).get_opcodes()
    return [
        Change(tuple(words_a[a1:a2]), tuple(words_b[b1:b2]), b1, b2)
        for tag, a1, a2, b1, b2 in opcodes
        if tag != "equal"
    ]


def matcher(a: Sequence[str], b: Sequence[str]) -> SequenceMatcher[str]:
    """What two lists of pieces share; in long ones, frequent pieces are no place to begin a match."""
    return SequenceMatcher(None, a, b, autojunk=len(a) + len(b) > LONG)


def _joined(segments: Iterable[Segment]) -> list[Segment]:
    runs = groupby(segments, key=lambda segment: segment.changed)
    return [Segment("".join(segment.text for segment in run), changed) for changed, run in runs]
