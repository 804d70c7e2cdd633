"""Guesses of what must not be guessed of a person: origin, religion, health, orientation, age, means."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from annotate.linting import nouns
from annotate.linting.labels import is_person
from annotate.linting.phrases import WORD
from annotate.linting.types import Severity, Span
from annotate.linting.words import split

# Of a person these are guesses; of a dish or an animal ("Asian noodles") they are not.
ORIGIN = split(
    """asian african caucasian hispanic latino latina arab arabic black-skinned white-skinned dark-skinned light-skinned
    brown-skinned indian chinese japanese korean vietnamese thai mexican american european african-american british
    french german italian spanish russian turkish jewish polish brazilian native indigenous aboriginal gypsy eskimo
    mixed-race biracial oriental ethnic foreign immigrant"""
)
SKIN = split("black white brown yellow")
RELIGION = split("muslim christian jewish hindu buddhist sikh catholic protestant mormon atheist religious islamic")
HEALTH = split(
    """disabled handicapped crippled blind deaf autistic pregnant sick ill diseased depressed drunk alcoholic addicted
    insane crazy demented mentally obese anorexic diabetic injured infertile"""
)
ORIENTATION = split("gay lesbian homosexual bisexual transgender trans queer heterosexual nonbinary")
MEANS = split("poor rich wealthy homeless unemployed uneducated illegal criminal republican democrat communist")
LOOKS = split("ugly fat overweight unattractive hideous stupid dumb lazy beautiful handsome sexy pretty attractive")
# Nouns that are such a guess by themselves.
PEOPLE = split(
    """muslim muslims christian christians jew jews hindu hindus buddhist buddhists sikh sikhs lesbian lesbians
    homosexual homosexuals immigrant immigrants refugee refugees foreigner foreigners alcoholic beggar cripple
    asian asians african africans american americans mexican mexicans indian indians arab arabs european europeans
    latino latinos latina latinas"""
)
AGE = re.compile(
    r"\b(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|forty|fifty|sixty|seventy|eighty)"
    r"[- ]years?[- ]old\b|\baged \d+\b|\bin (?:his|her|their) (?:\w+ )?(?:teens|twenties|thirties|forties|fifties|"
    r"sixties|seventies|eighties|\d0s)\b|\bage of \d+\b",
    re.I,
)
# A text without one of these has no age in it: a cheap look before a costly one.
AGE_HINTS = ("old", "OLD", "age", "AGE", "ies", "IES", "teens", "TEENS", "0s")
ASKED = re.compile(
    r"\bhow old\b|\bwhat age\b|\b(?:what|which) country\b|\bhow much does (?:he|she|x+) weigh\b"
    r"|\b(?:nationality|ethnicity|ethnic|race|religion|faith|sexual|orientation|disability|illness|disease|"
    r"income|salary|political|pregnant)\b",
    re.I,
)
ASKED_HINTS = split(
    """old age weigh country nationality ethnicity ethnic race religion faith sexual orientation disability illness
    disease income salary political pregnant"""
)
GROUPS = (
    (ORIGIN, "origin"),
    (RELIGION, "religion"),
    (HEALTH, "health"),
    (ORIENTATION, "orientation"),
    (MEANS, "means or conduct"),
)
SENSITIVE, JUDGING, ASKING = "sensitive_attribute", "judging_word", "sensitive_question"
# So many words on, a word may still be said of a person: "the blind old man".
REACH = 3
WATCHED = SKIN.union(LOOKS, PEOPLE, *(words for words, _ in GROUPS))


class Found(NamedTuple):
    """A code, how certain, a sentence, and where."""

    code: str
    severity: Severity
    message: str
    span: Span


def sensitive(text: str, tokens: Sequence[re.Match[str]], said: list[str]) -> Iterator[Found]:
    """All guesses in a text, given with its words as found and in lower case.

    They are errors where one is said of a person, warnings where it may be.
    """
    for place, word in enumerate(said):
        if word in WATCHED:
            yield from _word(word, tokens[place].span(), said[place + 1 : place + 1 + REACH])
    for found in AGE.finditer(text) if any(hint in text for hint in AGE_HINTS) else ():
        person = any(is_person(word) for word in _said_after(text, found)) or "in h" in found[0].casefold()
        message = f"“{found[0]}” guesses an age."
        yield Found(SENSITIVE, Severity.ERROR if person else Severity.WARNING, message, found.span())
    asked = ASKED.search(text) if not ASKED_HINTS.isdisjoint(said) else None
    if asked:
        message = f"“{asked[0]}” may ask for a guess at a sensitive attribute of a person."
        yield Found(ASKING, Severity.WARNING, message, asked.span())


def _said_after(text: str, found: re.Match[str]) -> list[str]:
    before = WORD.findall(text[: found.start()])[-2:]
    return [word.casefold() for word in (*before, *WORD.findall(text[found.end() :])[:2])]


def _word(word: str, span: Span, after: list[str]) -> Iterator[Found]:
    named = next((place for place, following in enumerate(after) if is_person(following)), None)
    of_person = named is not None and not {"and", "or", "in", "with", "on", "the", "a", "of"} & set(after[:named])
    if named == 0 and nouns.kind(f"{word} {after[0]}") not in {"", "person"}:
        return  # "German shepherd", "black widow": the kind of a thing that has a person's word in it
    if word in SKIN and of_person and named == 0:
        message = f"“{word} {after[0]}” reads as a guess of origin; name clothes or place instead."
        yield Found(SENSITIVE, Severity.ERROR, message, span)
        return
    kind = next((name for words, name in GROUPS if word in words), "")
    if word in PEOPLE and not after[:1]:
        of_person = True
    if kind and of_person:
        yield Found(SENSITIVE, Severity.ERROR, f"“{word}” guesses a person's {kind}.", span)
    elif kind and word not in ORIGIN:
        yield Found(SENSITIVE, Severity.WARNING, f"“{word}” may guess a person's {kind}.", span)
    elif word in LOOKS and of_person:
        yield Found(JUDGING, Severity.WARNING, f"“{word}” judges; descriptions are to be objective.", span)
