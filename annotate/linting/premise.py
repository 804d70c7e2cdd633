"""Rules on the two descriptions: each by itself, and the size of the change from one to the other."""

import re
from collections.abc import Iterator, Sequence

from annotate.drafting import Change, changes, words
from annotate.linting.classes import class_findings
from annotate.linting.phrases import Phrase, is_compound, phrase
from annotate.linting.pronouns import description_pronouns
from annotate.linting.targets import target_findings
from annotate.linting.types import Finding, PlainItem, Plan, Span, error, warning
from annotate.linting.words import ARTICLES, DETERMINERS, PLACES, PRONOUNS, STAND_INS

# Words that a change may touch: "one word if possible, else one short local phrase".
MOST_WORDS = {"identity": 3, "attribute": 3, "location": 6}
LONG_DESCRIPTION = 14
SET_PHRASES = frozenset(
    tuple(text.split())
    for text in ("in front of", "on top of", "next to", "close to", "far from", "outside of", "inside of")
)
EDGES = ".?!,;:"
OPENING = '-–—*•·"“„‘«'
# Spelled like a vowel and spoken like none ("a unicycle", "a one-eyed cat"), and the other way round.
_VOWEL = re.compile(r"^(?!uni[cfotv]|us[eu]|one\b|once\b|euro|ute)(?:[aeiou]|hour|honest)", re.IGNORECASE)
TRUE, FALSE = "target_description", "modified_target_description"


def premise_findings(item: PlainItem, plan: Plan) -> Iterator[Finding]:
    """The descriptions by themselves, then the change from one to the other."""
    if not item.target_description.strip():
        yield error("description_empty", "The target description is empty.", field=TRUE)
    else:
        yield from _description(item.target_description)
        yield from target_findings(item.target_description)
    if not plan.false_turns:
        return
    if not item.modified_target_description.strip():
        yield error("modified_description_empty", "The modified description is empty.", field=FALSE)
    elif item.target_description.strip():
        yield from _change(item)


def _description(text: str) -> Iterator[Finding]:
    said = phrase(text).said
    if set(said) <= STAND_INS | DETERMINERS:
        message = "The description must name the target, not stand for it."
        yield error("description_is_pronoun", message, span=_all(text), field=TRUE)
    elif len(said) > LONG_DESCRIPTION:
        message = f"The description has {len(said)} words; it should fit into a question."
        yield warning("description_long", message, span=_all(text), field=TRUE)
    elif not set(said[:-1]) - DETERMINERS:
        message = "The description has no detail; two to four make the target plain."
        yield warning("description_bare", message, span=_all(text), field=TRUE)
    edge = _edge(text)
    if edge:
        message = "The description must not begin or end with a space or a punctuation mark."
        yield error("description_edges", message, span=edge, field=TRUE)


def _change(item: PlainItem) -> Iterator[Finding]:
    description, modified = item.target_description, item.modified_target_description
    true, false = phrase(description), phrase(modified)
    if true.said == false.said:
        message = "The modified description says the same as the true one."
        yield error("modified_same", message, span=_all(modified), field=FALSE)
        return
    edge = _edge(modified)
    if edge:
        message = "The modified description must not begin or end with a space or a punctuation mark."
        yield error("modified_edges", message, span=edge, field=FALSE)
    found = local_changes(item.premise_class, description, modified)
    if len(found) > 1:
        there = " and ".join(f"“{shown(change)}”" for change in found)
        message = f"There is more than one change ({there}); there must be exactly one error."
        yield error("several_changes", message, span=_place(false, found[1], modified), field=FALSE)
    elif found:
        yield from _one_change(item.premise_class, true, false, found[0], modified)
    yield from _articles(false, found)
    yield from description_pronouns(item)


def _one_change(premise_class: str, true: Phrase, false: Phrase, change: Change, modified: str) -> Iterator[Finding]:
    span = _place(false, change, modified)
    if not change.new:
        message = f"“{' '.join(change.old)}” is only left out; what remains is not false."
        yield error("only_removed", message, span=span, field=FALSE)
        return
    yield from _size(premise_class, change, span)
    yield from _said_twice(true, false, change, span)
    yield from class_findings(premise_class, true, false, change, span)


def _size(premise_class: str, change: Change, span: Span) -> Iterator[Finding]:
    if not change.old:
        added = " ".join(change.new)
        if premise_class == "location":
            message = f"“{added}” is added; a replaced place would change less."
            yield warning("expansion", message, span=span, field=FALSE)
        else:
            message = f"“{added}” is added; a word must be replaced, not added."
            yield error("expansion", message, span=span, field=FALSE)
    size = max(_length(change.old), _length(change.new))
    most = MOST_WORDS.get(premise_class, 3)
    if size > most:
        message = f"The change spans {size} words; it may span {most} at the most."
        yield error("change_long", message, span=span, field=FALSE)
    elif size > 1 and change.old:
        message = f"The change spans {size} words; one would be better."
        yield warning("change_more_than_one_word", message, span=span, field=FALSE)


def _length(said: Sequence[str]) -> int:
    """Number of words, a compound and a set phrase as one: "fire truck", "in front of"; articles only follow."""
    length, at = 0, 0
    while at < len(said):
        phrases = (size for size in (3, 2) if said[at : at + size] in SET_PHRASES and at + size <= len(said))
        size = next(phrases, 2 if is_compound(said, at + 1) else 1)
        length += size > 1 or said[at] not in ARTICLES
        at += size
    return length


def _said_twice(true: Phrase, false: Phrase, change: Change, span: Span) -> Iterator[Finding]:
    """ "the cat by the dog" must not become "the dog by the dog" unseen."""
    kept = (*false.said[: change.start], *false.said[change.end :])
    again = [word for word in change.new if word in kept and len(word) > 2 and word not in true.said[: change.start]]
    if again and again[0] not in DETERMINERS | PLACES | {"with", "and"}:
        message = f"“{again[0]}” now stands twice in the description."
        yield warning("change_repeats", message, span=span, field=FALSE)


def _articles(false: Phrase, found: Sequence[Change]) -> Iterator[Finding]:
    places = {place for change in found for place in (*range(change.start, change.end + 1), change.start + 1)}
    for place in sorted(places):
        if not 1 <= place < len(false.said):
            continue
        article, word = false.said[place - 1], false.said[place]
        right = "an" if _VOWEL.match(word) else "a"
        if article in {"a", "an"} and article != right:
            message = f"“{article} {word}” should read “{right} {word}”."
            yield warning("article", message, span=false.span(place - 1, place + 1), field=FALSE)


def local_changes(premise_class: str, description: str, modified: str) -> list[Change]:
    """The changes, those joined that only articles part: "on the sofa", "under the table" is one phrase, and so is
    "in the man's arms", "at the man's feet".

    An identity change may take the pronouns with it: "the woman in her coat", "the man in his coat".
    """
    said = [word.casefold() for word in words(modified)]
    joined: list[Change] = []
    for change in changes(description, modified):
        between = said[joined[-1].end : change.start] if joined else []
        if premise_class == "identity" and change.new and {*change.old, *change.new} <= PRONOUNS:
            continue
        if joined and {word for word in between if not word.endswith(("'s", "’s"))} <= DETERMINERS | {"of"}:
            last = joined.pop()
            old, new = (*last.old, *between, *change.old), (*last.new, *between, *change.new)
            change = Change(old, new, last.start, change.end)
        joined.append(change)
    return joined


def shown(change: Change) -> str:
    """The change as a person reads it."""
    if not change.old:
        return f"+ {' '.join(change.new)}"
    return f"{' '.join(change.old)} → {' '.join(change.new) or 'nothing'}"


def _place(false: Phrase, change: Change, modified: str) -> Span:
    """Where the new words stand, or the gap where words were left out."""
    span = false.span(change.start, change.end)
    if span:
        return span
    at = false.spans[change.start][0] if change.start < len(false.spans) else len(modified.rstrip())
    return (at, at)


def _all(text: str) -> Span:
    return (0, len(text))


def _edge(text: str) -> Span | None:
    """The stray space, mark or invisible letter at an edge of a text."""
    inner = text.strip()
    quoted = inner[:1] in OPENING and (inner[0] in "-–—*•·" or inner[-1] in '"”’»“')
    if inner and (quoted or not inner[0].isprintable()):
        return (0, text.index(inner[0]) + 1)
    if inner and not inner[-1].isprintable():
        return (text.rindex(inner[-1]), len(text))
    if text[:1].isspace():
        return (0, text.index(inner[0]) if inner else len(text))
    if inner and inner[-1] in EDGES:
        return (len(inner) - 1, len(text))
    return (len(inner), len(text)) if len(inner) < len(text) else None
