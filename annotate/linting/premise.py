"""Rules on the two descriptions: one short, local change of the fixed class."""

import re
from collections.abc import Iterator, Sequence

from annotate.drafting import Change, changes, words
from annotate.linting.types import Finding, PlainItem, Plan, Span, error, warning
from annotate.linting.words import (
    DETERMINERS,
    PARTS,
    PHRASE_STARTS,
    PLACES,
    PRONOUNS,
    STAND_INS,
    kinds,
    too_near,
)

# Words that a change may touch: "one word if possible, else one short local phrase".
MOST_WORDS = {"identity": 3, "attribute": 3, "location": 6}
LONG_DESCRIPTION = 14
# Spelled like a vowel and spoken like none ("a unicycle", "a one-eyed cat"), and the other way round.
_VOWEL = re.compile(r"^(?!uni[cfotv]|us[eu]|one\b|once\b|euro|ute)(?:[aeiou]|hour|honest)", re.IGNORECASE)
TRUE, FALSE = "target_description", "modified_target_description"


def premise_findings(item: PlainItem, plan: Plan) -> Iterator[Finding]:
    """The descriptions by themselves, then the change from one to the other."""
    description, modified = item.target_description.strip(), item.modified_target_description.strip()
    if not description:
        yield error("description_empty", "The target description is empty.", field=TRUE)
    else:
        yield from _description(item.target_description)
    if not plan.false_turns:
        return
    if not modified:
        yield error("modified_description_empty", "The modified description is empty.", field=FALSE)
    elif description:
        yield from _change(item, description, modified)


def _description(text: str) -> Iterator[Finding]:
    said = words(text)
    if {word.casefold() for word in said} <= STAND_INS | DETERMINERS:
        yield error("description_is_pronoun", "The description must name the target, not stand for it.", field=TRUE)
    elif len(said) > LONG_DESCRIPTION:
        message = f"The description has {len(said)} words; it should fit into a question."
        yield warning("description_long", message, field=TRUE)
    if text != text.strip() or text.strip()[-1] in ".?!,;:":
        message = "The description must not begin or end with a space or a punctuation mark."
        yield error("description_edges", message, field=TRUE)


def _change(item: PlainItem, description: str, modified: str) -> Iterator[Finding]:
    if [word.casefold() for word in words(description)] == [word.casefold() for word in words(modified)]:
        yield error("modified_same", "The modified description says the same as the true one.", field=FALSE)
        return
    if item.modified_target_description != modified or modified[-1] in ".?!,;:":
        message = "The modified description must not begin or end with a space or a punctuation mark."
        yield error("modified_edges", message, field=FALSE)
    found = _local_changes(item.premise_class, description, modified)
    if len(found) > 1:
        there = " and ".join(f"“{_shown(change)}”" for change in found)
        message = f"There is more than one change ({there}); there must be exactly one error."
        yield error("several_changes", message, span=_span(modified, found[1]), field=FALSE)
    elif found:
        yield from _one_change(item.premise_class, description, modified, found[0])
    yield from _articles(modified, found)


def _one_change(premise_class: str, description: str, modified: str, change: Change) -> Iterator[Finding]:
    span = _span(modified, change)
    if not change.new:
        message = f"“{' '.join(change.old)}” is only left out; what remains is not false."
        yield error("only_removed", message, field=FALSE)
        return
    yield from _size(premise_class, change, span)
    yield from _class_of(premise_class, modified, change, span)
    if premise_class == "identity":
        yield from _soft(change, span)
    if premise_class == "location":
        yield from _attached(description, modified, change, span)


def _size(premise_class: str, change: Change, span: Span) -> Iterator[Finding]:
    if not change.old:
        added = " ".join(change.new)
        if premise_class == "location":
            message = f"“{added}” is added; a replaced place would change less."
            yield warning("expansion", message, span=span, field=FALSE)
        else:
            message = f"“{added}” is added; a word must be replaced, not added."
            yield error("expansion", message, span=span, field=FALSE)
    size, most = max(len(change.old), len(change.new)), MOST_WORDS.get(premise_class, 3)
    if size > most:
        message = f"The change spans {size} words; it may span {most} at the most."
        yield error("change_long", message, span=span, field=FALSE)
    elif size > 1 and change.old:
        message = f"The change spans {size} words; one would be better."
        yield warning("change_more_than_one_word", message, span=span, field=FALSE)


def _class_of(premise_class: str, modified: str, change: Change, span: Span) -> Iterator[Finding]:
    """Whether the words of the change speak of another class than the item's."""
    in_head = change.start < _head_length(modified)
    both = kinds(change.new) & (kinds(change.old) if change.old else kinds(change.new))
    if not in_head:
        both.discard("identity")
    if both and premise_class not in both and len(both) == 1:
        (other,) = both
        message = f"“{_shown(change)}” looks like a change of {other}, not of {premise_class}."
        yield error("class_mismatch", message, span=span, field=FALSE)
    elif premise_class == "identity" and not in_head:
        message = f"“{_shown(change)}” is not the word that says who or what the target is."
        yield warning("identity_not_the_target", message, span=span, field=FALSE)
    elif premise_class == "location" and not _speaks_of_place(modified, change):
        message = f"No word of place is in or before “{_shown(change)}”."
        yield warning("location_without_place", message, span=span, field=FALSE)


def _soft(change: Change, span: Span) -> Iterator[Finding]:
    if not change.old:
        return
    old, new = change.old[-1], change.new[-1]
    reason = too_near(old, new)
    if reason:
        message = f"“{old}” and “{new}” are not clearly incompatible: {reason}."
        yield error("identity_soft", message, span=span, field=FALSE)


def _attached(description: str, modified: str, change: Change, span: Span) -> Iterator[Finding]:
    """A place must be the whole target's, not its clothes' or a body part's."""
    said = [word.casefold() for word in words(modified)]
    after = said[change.end : change.end + 1]
    held = "with" in said[: change.start] or "wearing" in said[: change.start] or "in" in said[: change.start]
    if after and after[0] in PARTS and (held or set(change.new) & {"left", "right"}):
        message = f"The place is that of “{after[0]}”, not of the whole target."
        yield error("location_of_a_part", message, span=span, field=FALSE)
    elif not change.old and set(said[_head_length(description) : change.start]) & ({"with", "wearing"} | PARTS):
        message = f"“{' '.join(change.new)}” may be read as the place of “{said[change.start - 1]}”."
        yield warning("location_may_attach", message, span=span, field=FALSE)


def _articles(modified: str, found: Sequence[Change]) -> Iterator[Finding]:
    said = words(modified)
    for place in {change.start for change in found} | {change.start + 1 for change in found}:
        if not 1 <= place < len(said):
            continue
        article, word = said[place - 1].casefold(), said[place]
        right = "an" if _VOWEL.match(word) else "a"
        if article in {"a", "an"} and article != right:
            message = f"“{article} {word}” should read “{right} {word}”."
            yield warning("article", message, span=_words_span(modified, place - 1, place + 1), field=FALSE)


def _local_changes(premise_class: str, description: str, modified: str) -> list[Change]:
    """The changes, those joined that only articles part: "on the sofa", "under the table" is one phrase."""
    said = [word.casefold() for word in words(modified)]
    joined: list[Change] = []
    for change in changes(description, modified):
        between = said[joined[-1].end : change.start] if joined else []
        if _pronouns_only(change, premise_class):
            continue
        if joined and set(between) <= DETERMINERS | {"of"}:
            last = joined.pop()
            old, new = (*last.old, *between, *change.old), (*last.new, *between, *change.new)
            change = Change(old, new, last.start, change.end)
        joined.append(change)
    return joined


def _pronouns_only(change: Change, premise_class: str) -> bool:
    """An identity change may take the pronouns with it: "the woman in her coat", "the man in his coat"."""
    return premise_class == "identity" and bool(change.new) and {*change.old, *change.new} <= PRONOUNS


def _speaks_of_place(modified: str, change: Change) -> bool:
    said = [word.casefold() for word in words(modified)]
    return bool(PLACES & {*change.new, *said[: change.start]})


def _head_length(description: str) -> int:
    """Number of words before the first place, companion or action: "the dog | with its paw ..."."""
    said = [word.casefold() for word in words(description)]
    for place, word in enumerate(said):
        if word in PHRASE_STARTS and any(earlier not in DETERMINERS for earlier in said[:place]):
            return place
    return len(said)


def _shown(change: Change) -> str:
    if not change.old:
        return f"+ {' '.join(change.new)}"
    return f"{' '.join(change.old)} → {' '.join(change.new) or 'nothing'}"


def _span(modified: str, change: Change) -> Span:
    return _words_span(modified, change.start, change.end)


def _words_span(text: str, start: int, end: int) -> Span:
    """Where the words from start up to end stand in the text."""
    spans = [found.span() for found in re.finditer(r"\w+(?:['’-]\w+)*", text)]
    if start >= end:
        at = spans[start][0] if start < len(spans) else len(text)
        return (at, at)
    return (spans[start][0], spans[end - 1][1])
