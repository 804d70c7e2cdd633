"""What WordNet knows of nouns: singulars, kinds of things, and which label is broader than which.

The table `nouns.txt.gz` (made by `fpco_site.devtools.build_nouns`) has four blocks: a comment;
meanings, each with its broader meanings; words, each with its meanings, the commonest first; irregular
plurals. Each is sorted. It is read once, at the first question.
"""

import gzip
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path

TABLE = Path(__file__).with_name("nouns.txt.gz")
# A kind of thing and the word whose commonest meaning heads it; the first that fits is taken.
KINDS = {
    "clothing": ("clothing", "footwear", "headdress", "eyeglasses", "jewelry", "fastener"),
    "body": ("body part",),
    "vehicle": ("vehicle",),
    "person": ("person",),
    "animal": ("animal",),
    "food": ("food", "beverage", "produce"),
    "plant": ("plant life",),
    "artefact": ("artifact",),
}
# Endings of plurals with what stands in their place, the longest first.
ENDINGS = (("ies", "y"), ("ves", "f"), ("ves", "fe"), ("men", "man"), ("es", ""), ("s", ""))


class Relation(StrEnum):
    """How the second of two nouns stands to the first."""

    SAME = "same"
    BROADER = "broader"
    NARROWER = "narrower"
    NONE = "none"


@dataclass(frozen=True)
class Related:
    """A relation; `sure` where it holds between the commonest meanings of both words."""

    relation: Relation
    sure: bool


class Block:
    """Sorted lines "key, tab, values" of the file, searched by halving: reading it costs nothing."""

    def __init__(self, text: str) -> None:
        self._text = f"\n{text}\n"

    def get(self, key: str) -> str | None:
        """The values of a key as they stand there, parted by spaces; None where there is no such key."""
        text, low, high = self._text, 0, len(self._text) - 1
        while low < high:
            start = text.rfind("\n", 0, (low + high) // 2 + 1)
            end = text.index("\n", start + 1)
            found, _, values = text[start + 1 : end].partition("\t")
            if found == key:
                return values
            if found < key:
                low = end
            else:
                high = start
        return None

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None


@dataclass(frozen=True)
class Table:
    """Meanings with broader ones, words with their meanings, irregular plurals with their singulars."""

    broader: Block
    senses: Block
    singulars: Block


@cache
def table() -> Table:
    """The table, read once."""
    text = gzip.decompress(TABLE.read_bytes()).decode()
    _, broader, senses, singulars = text.rstrip("\n").split("\n\n")
    return Table(Block(broader), Block(senses), Block(singulars))


@lru_cache(maxsize=20_000)
def singular(word: str) -> str:
    """The singular that the table has for a word or a compound, or the word itself if it has none.

    Examples
    --------
    >>> singular("geese"), singular("buses"), singular("glasses"), singular("fire trucks")
    ('goose', 'bus', 'glasses', 'fire truck')
    """
    known = table()
    if irregular := known.singulars.get(word):
        return irregular
    if word in known.senses:
        return word
    for ending, instead in ENDINGS:
        if word.endswith(ending) and (base := word[: -len(ending)] + instead) in known.senses and len(base) > 2:
            return base
    first, _, last = word.rpartition(" ")
    return f"{first} {singular(last)}" if first and last else word


def is_plural(word: str) -> bool:
    """Whether the table has the word only as the plural of another.

    Examples
    --------
    >>> is_plural("dogs"), is_plural("bus"), is_plural("scissors")
    (True, False, False)
    """
    known = table()
    return word not in known.senses and singular(word) in known.senses


def is_noun(word: str) -> bool:
    """Whether the word, or its singular, is mostly the name of a thing that can be seen."""
    return singular(word) in table().senses


@lru_cache(maxsize=20_000)
def kind(word: str) -> str:
    """The kind of thing that a word mostly names (a key of KINDS), or empty.

    Examples
    --------
    >>> kind("poodle"), kind("bus"), kind("coat"), kind("blue")
    ('animal', 'vehicle', 'clothing', '')
    """
    main = _senses(word)[:1]
    above = _above(main[0]) if main else frozenset()
    return next((name for name, heads in _heads().items() if heads & above), "")


@lru_cache(maxsize=20_000)
def is_a(word: str, broader: str) -> bool:
    """Whether the commonest meaning of a word falls under any meaning of a broader one."""
    main = _senses(word)[:1]
    return bool(main) and not _above(main[0]).isdisjoint(_senses(broader))


@lru_cache(maxsize=20_000)
def related(old: str, new: str) -> Related:
    """Whether two nouns are the same, or one broader than the other, in some of their meanings.

    Examples
    --------
    >>> related("dog", "poodle").relation, related("dog", "cat").relation
    (<Relation.NARROWER: 'narrower'>, <Relation.NONE: 'none'>)
    """
    found = Related(Relation.NONE, sure=False)
    for at_old, one in enumerate(_senses(old)):
        for at_new, other in enumerate(_senses(new)):
            relation = _relation(one, other)
            if relation is not Relation.NONE:
                sure = at_old == at_new == 0
                if sure:
                    return Related(relation, sure=True)
                found = Related(relation, sure=False)
    return found


def _relation(one: str, other: str) -> Relation:
    if one == other:
        return Relation.SAME
    if other in _above(one):
        return Relation.BROADER
    return Relation.NARROWER if one in _above(other) else Relation.NONE


@lru_cache(maxsize=20_000)
def _senses(word: str) -> tuple[str, ...]:
    return tuple((table().senses.get(singular(word)) or "").split())


@lru_cache(maxsize=20_000)
def _above(sense: str) -> frozenset[str]:
    """The meaning and everything broader."""
    found: set[str] = set()
    waiting = [sense]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend((table().broader.get(one) or "").split())
    return frozenset(found)


@cache
def _heads() -> dict[str, frozenset[str]]:
    return {name: frozenset(_senses(word)[0] for word in words) for name, words in KINDS.items()}
