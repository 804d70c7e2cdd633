"""Whether a description names one target."""

from collections.abc import Iterator

from annotate.linting import nouns
from annotate.linting.labels import is_person
from annotate.linting.phrases import Phrase, phrase
from annotate.linting.types import Finding, error, warning
from annotate.linting.words import DETERMINERS, is_thing, split

FIELD = "target_description"
SEVERAL = split("group crowd couple pair herd flock pack team family line row")
MANY = split("two three four five six seven eight nine ten several many both few couple pair group crowd")
COUNTED = frozenset({"animal", "vehicle"})


def target_findings(text: str) -> Iterator[Finding]:
    """Two things joined by "and", or several of one kind."""
    said = phrase(text)
    yield from _joined(said)
    yield from _several(said)


def _joined(target: Phrase) -> Iterator[Finding]:
    """ "the dog and the cat", not "the black and white dog" nor "fish and chips"."""
    said = target.said
    for place in range(1, min(target.naming, len(said) - 1)):
        if said[place] != "and" or not is_thing(said[place - 1]):
            continue
        named = [word for word in said[place + 1 : target.naming] if word not in DETERMINERS]
        if not named or not is_thing(named[-1]) or _is_dish(f"{said[place - 1]} and {named[-1]}"):
            continue
        message = f"“{said[place - 1]}” and “{named[-1]}” are two targets; there must be one."
        certain = said[place + 1] in DETERMINERS or is_person(named[-1]) or nouns.kind(named[-1]) in COUNTED
        make = error if certain else warning
        yield make("two_targets", message, span=target.span(place - 1, target.naming), field=FIELD)


def _is_dish(pair: str) -> bool:
    return nouns.is_noun(pair) or pair in {"peanut butter and jelly", "rice and beans", "bread and butter"}


def _several(target: Phrase) -> Iterator[Finding]:
    if target.head < 0:
        return
    label = target.said[target.head]
    counted = is_person(label) or nouns.kind(label) in COUNTED
    many = next((place for place in range(target.head) if _is_many(target.said[place])), None)
    if many is not None and nouns.is_plural(label):
        message = f"“{target.said[many]} … {label}” is more than one target."
        make = error if counted else warning
        yield make("two_targets", message, span=target.span(many, target.head + 1), field=FIELD)
    elif _is_several(target):
        message = f"“{label}” names more than one; the description must pick out one."
        yield warning("two_targets", message, span=target.span(target.head, target.naming), field=FIELD)
    elif counted and nouns.is_plural(label):
        message = f"“{label}” may be more than one target; the description must pick out one."
        yield warning("plural_target", message, span=target.span(target.head, target.head + 1), field=FIELD)


def _is_many(word: str) -> bool:
    return word in MANY or (word.isdecimal() and int(word[:4]) > 1)


def _is_several(target: Phrase) -> bool:
    """ "the group of children", "the couple"; not "the pair of scissors" nor "the row of bottles"."""
    label, rest = target.said[target.head], target.said[target.head + 1 : target.naming]
    if label not in SEVERAL:
        return False
    return label == "couple" if not rest else is_person(rest[-1]) or nouns.kind(rest[-1]) in COUNTED
