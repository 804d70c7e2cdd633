"""Whether a change is of the item's class, and an error at all, as far as words tell."""

from collections.abc import Iterator

from annotate.drafting import Change
from annotate.linting import nouns
from annotate.linting.labels import Fit, fit, is_person
from annotate.linting.phrases import Phrase
from annotate.linting.types import Finding, Severity, Span, error, warning
from annotate.linting.words import (
    DETERMINERS,
    NEAR_LOOKS,
    NEAR_PLACES,
    PLACES,
    SAME_LOOKS,
    SAME_PLACES,
    alike,
    axes,
    is_look,
    is_part,
    is_thing,
    kinds,
    properties,
    telling,
)

FALSE = "modified_target_description"
# After these the target wears, holds or has something; what is said of it is still said of the target.
HAVING = frozenset({"with", "wearing", "holding", "carrying", "in", "of"})
OWNERS = frozenset({"his", "her", "its", "their"})
SIDES = frozenset({"left", "right", "front", "back", "top", "bottom", "middle", "foreground", "background"})
# Words that tie what follows to the target by place alone.
TIES = PLACES - {"in", "left", "right", "top", "bottom", "front", "back", "side", "center", "centre", "middle"}


def class_findings(premise_class: str, true: Phrase, false: Phrase, change: Change, span: Span) -> Iterator[Finding]:
    """What the words of one change say about its class."""
    other = _other_class(premise_class, false, change)
    if other:
        message = f"“{_shown(change)}” looks like a change of {other[0]}, not of {premise_class}."
        make = error if other[1] is Severity.ERROR else warning
        yield make("class_mismatch", message, span=span, field=FALSE)
    rules = {"identity": _identity, "attribute": _attribute, "location": _location}
    if premise_class in rules:
        yield from rules[premise_class](true, false, change, span, mismatch=bool(other))


def _other_class(premise_class: str, false: Phrase, change: Change) -> tuple[str, Severity] | None:
    """The class that the change looks like, if it is another one."""
    both = kinds(change.new) & (kinds(change.old) if change.old else kinds(change.new))
    in_head = change.start < false.naming
    if not in_head:
        both.discard("identity")
    if change.start and false.said[change.start - 1] in OWNERS:
        both.discard("location")  # "lying on its back", "lying on its side": a pose
    if len(both) == 1 and premise_class not in both:
        return both.pop(), Severity.ERROR
    if premise_class == "attribute" and not in_head and _other_place(false, change) and _tied(false, change):
        return "location", Severity.WARNING
    return None


def _other_place(false: Phrase, change: Change) -> bool:
    """Whether the last word of a phrase is another: "by the tree", "by the lake", not "by the oak door"."""
    if not change.old or is_look(change.old[-1]) or is_look(change.new[-1]) or is_part(change.old[-1]):
        return False
    after = false.said[change.end : change.end + 1]
    return not after or after[0] in PLACES or after[0] in HAVING


def _identity(true: Phrase, false: Phrase, change: Change, span: Span, *, mismatch: bool) -> Iterator[Finding]:
    if change.start >= false.naming:
        if not mismatch:
            message = f"“{_shown(change)}” is not the word that says who or what the target is."
            yield warning("identity_not_the_target", message, span=span, field=FALSE)
        return
    if not change.old:
        return
    old_end = change.start + len(change.old)
    old, new = true.label_at(old_end - 1), false.label_at(change.end - 1)
    # "hot dog" and "hot cat" share what makes the compound.
    if len(old.split()) != len(new.split()) and not (len(change.old) > 1 or len(change.new) > 1):
        old, new = change.old[-1], change.new[-1]
    verdict = fit(old, new)
    if verdict.fit is Fit.SOFT:
        message = f"“{old}” and “{new}” are not clearly incompatible: {verdict.reason}."
        yield error("identity_soft", message, span=span, field=FALSE)
    elif verdict.fit is Fit.NEAR:
        message = f"“{old}” and “{new}” may be taken for each other: {verdict.reason}."
        yield warning("identity_near", message, span=span, field=FALSE)
    elif verdict.fit is Fit.COMPATIBLE:
        message = f"“{old}” and “{new}” may both be true: {verdict.reason}."
        yield warning("identity_compatible", message, span=span, field=FALSE)
    elif _same_head(true, false, change) and not mismatch:
        message = f"The target is still called “{false.label()}”; the label itself must be another."
        yield warning("identity_same_head", message, span=span, field=FALSE)


def _same_head(true: Phrase, false: Phrase, change: Change) -> bool:
    """Whether a word before the label was changed and the label kept: "the road bicycle", "the toy bicycle"."""
    kept = change.end <= false.head < false.naming and true.said[true.head] == false.said[false.head]
    compound = len(true.label().split()) > 1 and len(false.label().split()) > 1
    return kept and not compound and nouns.kind(false.said[false.head]) != "person"


def _attribute(true: Phrase, false: Phrase, change: Change, span: Span, *, mismatch: bool) -> Iterator[Finding]:
    if mismatch or not change.old:
        return
    old, new = change.old, change.new
    if alike(old, new, SAME_LOOKS):
        message = f"“{' '.join(old)}” and “{' '.join(new)}” are the same look in other words."
        yield error("attribute_soft", message, span=span, field=FALSE)
    elif alike(old, new, NEAR_LOOKS):
        message = f"“{' '.join(old)}” and “{' '.join(new)}” may be taken for each other."
        yield warning("attribute_near", message, span=span, field=FALSE)
    elif properties(old) and properties(new) and not properties(old) & properties(new):
        message = f"“{' '.join(old)}” and “{' '.join(new)}” are looks of two kinds; both may be true."
        yield warning("attribute_compatible", message, span=span, field=FALSE)
    owner = _owner(false, change)
    if owner:
        message = f"This is a look of “{owner}”, not of the target."
        yield warning("attribute_of_another", message, span=span, field=FALSE)


def _owner(false: Phrase, change: Change) -> str:
    """The other thing whose look is changed: "on the green blanket"; empty where it is the target's own."""
    if change.start < false.naming or not is_look(change.new[-1]) or not _tied(false, change):
        return ""
    after = [word for word in false.said[change.end :] if word not in DETERMINERS]
    thing = next((word for word in after if is_thing(word)), "")
    return "" if not thing or is_part(thing) else thing


def _tied(false: Phrase, change: Change) -> bool:
    """Whether the nearest word before the change that ties it to the target is one of place."""
    ties = [word for word in false.said[: change.start] if word in TIES or word in HAVING]
    return bool(ties) and ties[-1] in TIES


def _location(true: Phrase, false: Phrase, change: Change, span: Span, *, mismatch: bool) -> Iterator[Finding]:
    if not mismatch and not PLACES & {*change.new, *false.said[: change.start]}:
        message = f"No word of place is in or before “{_shown(change)}”."
        yield warning("location_without_place", message, span=span, field=FALSE)
    yield from _same_place(change, span)
    yield from _attached(true, false, change, span)


def _same_place(change: Change, span: Span) -> Iterator[Finding]:
    old, new = telling(PLACES & {*change.old}), telling(PLACES & {*change.new})
    others = {*change.old, *change.new} - PLACES - DETERMINERS - {"of", "to", "from"}
    if not old or not new or others:
        return
    said = f"“{' '.join(change.old)}” and “{' '.join(change.new)}”"
    if old == new or alike(old, new, SAME_PLACES):
        yield error("location_soft", f"{said} are the same place in other words.", span=span, field=FALSE)
    elif alike(old, new, NEAR_PLACES):
        yield warning("location_near", f"{said} may be taken for each other.", span=span, field=FALSE)
    elif axes(old) and axes(new) and not axes(old) & axes(new):
        message = f"{said} are places of two kinds; both may be true."
        yield warning("location_compatible", message, span=span, field=FALSE)


def _attached(true: Phrase, false: Phrase, change: Change, span: Span) -> Iterator[Finding]:
    """A place must be the whole target's, not its clothes' or a body part's."""
    said, before = false.said, false.said[: change.start]
    part = _part(false, change)
    if part and not _of_another(false, change):
        message = f"The place is that of “{part}”, not of the whole target."
        yield error("location_of_a_part", message, span=span, field=FALSE)
        return
    between = set(said[true.naming : change.start])
    had = between & {"with", "wearing", "holding", "carrying"} and change.new[-1] in SIDES and change.end == len(said)
    if had or (not change.old and (between & {"with", "wearing"} or any(is_part(word) for word in between))):
        last = [word for word in before if is_thing(word)][-1:]
        whose = f"“{last[0]}”" if last else "a part"
        message = f"“{' '.join(change.new)}” may be read as the place of {whose}."
        yield warning("location_may_attach", message, span=span, field=FALSE)


def _of_another(false: Phrase, change: Change) -> bool:
    """Whether the part is of somebody whom the target is beside: "the parrot on the woman's left shoulder"."""
    said = false.said[false.naming : change.end + 2]
    if {"with", "wearing", "holding", "carrying"} & {*said}:
        return False
    owners = {word for word in said if word in OWNERS}
    return any(word.endswith(("'s", "’s")) for word in said) or (
        bool(owners) and owners <= {"his", "her"} and not is_person(false.label())
    )


def _part(false: Phrase, change: Change) -> str:
    """The clothing or part of a body whose place is changed; empty where it is the whole target's."""
    said, start, end = false.said, change.start, change.end
    if change.old and start > 1 and said[start - 2] in OWNERS and is_part(said[start - 1]):
        return said[start - 1]  # "its paw | under | the ledge"
    after = next((place for place in range(end, len(said)) if said[place] not in DETERMINERS), len(said))
    held = bool((HAVING - {"of"}) & set(said[:start])) or bool({"left", "right"} & set(change.new))
    for place in range(start, min(after + 1, len(said))):
        owned = place > 0 and said[place - 1] in OWNERS
        if is_part(said[place]) and (owned or (held and said[place] not in PLACES)):
            return said[place]
    return ""


def _shown(change: Change) -> str:
    if not change.old:
        return f"+ {' '.join(change.new)}"
    return f"{' '.join(change.old)} → {' '.join(change.new) or 'nothing'}"
