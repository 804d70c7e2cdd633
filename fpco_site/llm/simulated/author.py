"""The scripted drafter: well-formed questions and premises from metadata and word lists, without seeing anything."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from fpco_site.llm.simulated import pick
from fpco_site.llm.simulated.phrases import WORD, head_noun, words
from fpco_site.llm.simulated.words import (
    ATTRIBUTES,
    CLEAR_COLOURS,
    COLOURS,
    CONTRARIES,
    DETERMINERS,
    EXPRESSIONS,
    FALLBACK_IDENTITY,
    FEMALE,
    INCOMPATIBLE,
    KINDS_OF_LOOK,
    MALE,
    MATERIALS,
    OPPOSITES,
    PLACES,
    PREPOSITIONS,
    SECOND_PLACES,
)

PERSON = 1
PLACE = {
    "single_clean": "in the center of the picture",
    "multi_separated": "in the foreground",
    "multi_overlapping": "at the front of the group",
}
# What a thing of each category may look like; of a person the expression, never a colour.
LOOK = {
    1: ("smiling", "serious"),
    2: ("red", "white", "blue"),
    3: ("brown", "white", "black"),
    4: ("golden", "red", "green"),
}
LONGEST = 8
PRONOUNS = {"she": "he", "her": "his", "hers": "his", "herself": "himself"}
PRONOUNS |= {"he": "she", "his": "her", "him": "her", "himself": "herself"}
QUESTIONS = {
    1: (
        "What is {d} doing at this moment?",
        "Which way is {d} facing?",
        "Does {d} seem to be aware of the camera?",
        "What can be seen right behind {d}?",
        "How would you describe the posture of {d}?",
        "Is there anything in the hands of {d}?",
        "What kind of clothing can be made out on {d}?",
        "Where does {d} seem to be looking?",
        "How much of the picture does {d} take up?",
        "What mood does {d} bring to the scene?",
    ),
    2: (
        "Is {d} moving or standing still?",
        "Which side of {d} can be seen?",
        "What is right next to {d}?",
        "In what condition does {d} seem to be?",
        "What kind of ground or water is under {d}?",
        "Can anyone be seen in or on {d}?",
        "How does the light fall on {d}?",
        "What could {d} be used for here?",
        "Is anything hiding a part of {d}?",
        "What part does {d} play in the scene?",
    ),
    3: (
        "What is {d} doing in this picture?",
        "In which direction is {d} looking?",
        "Does {d} seem calm or alert?",
        "What can be seen right beside {d}?",
        "What is {d} standing, sitting or lying on?",
        "How does the coat or skin of {d} look in this light?",
        "Is any part of {d} out of sight?",
        "What could have caught the attention of {d}?",
        "How close does {d} seem to be to the viewer?",
        "What makes {d} stand out in the scene?",
    ),
    4: (
        "How is {d} being served here?",
        "What is {d} resting on?",
        "Does {d} look freshly made?",
        "What can be seen right beside {d}?",
        "What does the surface of {d} look like?",
        "Has any of {d} been eaten or taken away yet?",
        "How is {d} lit in the picture?",
        "Would {d} be enough for more than one person?",
        "Which part of {d} is in sharpest focus?",
        "What kind of meal could {d} belong to?",
    ),
}


class NothingToChangeError(ValueError):
    """The description has no word of the kind that is to be changed."""


def describe(target: str, complexity: str, category: int) -> str:
    """ "dog" -> "the brown dog in the center of the picture"; a target that says look or place keeps its own."""
    spoken = " ".join(target.split()).strip(" .,;")
    parts = spoken.split()
    if parts and parts[0].lower() in DETERMINERS:
        parts = parts[1:]
    name = " ".join(parts) or "target"
    said = words(name)
    if not _changeable(said, category):
        name = f"{pick(LOOK.get(category, LOOK[3]), 'look', name)} {name}"
    if len(said) < LONGEST and not (PLACES - {"in", "to"}) & set(said):  # "in" may be clothes
        name = f"{name} {PLACE.get(complexity, PLACE['single_clean'])}"
    return f"the {name}"


def questions(description: str, category: int) -> dict[int, str]:
    """Ten different questions, each with the description exactly once."""
    templates = QUESTIONS.get(category, QUESTIONS[3])
    return {number: template.format(d=description) for number, template in enumerate(templates, start=1)}


def modified_description(description: str, premise_class: str, category: int, taken: Collection[str] = ()) -> str:
    """One error of the class, by one word where the lists know one, else by one short phrase; none of `taken`.

    Raises NothingToChangeError where an attribute is to change and the description names none, and where all
    that the lists know is taken.
    """
    others = {"identity": _other_identities, "attribute": _other_attributes}.get(premise_class, _other_places)
    used = set(map(_said, (description, *taken)))
    found = next((text for text in others(description, category) if _said(text) not in used), "")
    if not found:
        raise NothingToChangeError("The scripted drafter knows no other change for this description.")
    return found


def _said(text: str) -> tuple[str, ...]:
    return tuple(words(text))


def modified_questions(contents: Mapping[int, str], description: str, modified: str) -> dict[int, str]:
    """The questions with the description replaced; at the start of a sentence it keeps its capital."""
    pattern = re.compile(rf"(?<!\w){re.escape(description)}(?!\w)", re.IGNORECASE)
    wrong = _wrong_pronouns(description, modified)
    found = {}
    for number, content in contents.items():
        parts = [_with_pronouns(part, wrong) for part in pattern.split(content)]
        starts = [match.group() for match in pattern.finditer(content)]
        found[number] = parts[0] + "".join(
            _cased(modified, start) + part for start, part in zip(starts, parts[1:], strict=True)
        )
    return found


def _cased(text: str, like: str) -> str:
    """`text` with a capital where `like` has one."""
    return text[:1].upper() + text[1:] if like[:1].isupper() else text


def _wrong_pronouns(description: str, modified: str) -> frozenset[str]:
    """The pronouns that a change between woman and man makes wrong."""
    before, after = set(words(description)), set(words(modified))
    if before & FEMALE and after & MALE:
        return frozenset({"she", "her", "hers", "herself"})
    if before & MALE and after & FEMALE:
        return frozenset({"he", "his", "him", "himself"})
    return frozenset()


def _with_pronouns(text: str, wrong: frozenset[str]) -> str:
    def swap(match: re.Match[str]) -> str:
        word = match.group()
        if word.lower() not in wrong:
            return word
        # "her" stands for "his" before the thing owned, and for "him" where nothing follows.
        object_ = word.lower() == "her" and not re.match(r"\s+\w", text[match.end() :])
        return _cased("him" if object_ else PRONOUNS[word.lower()], word)

    return WORD.sub(swap, text) if wrong else text


def _other_identities(description: str, category: int) -> Iterator[str]:
    known = [word for word in words(description) if word in INCOMPATIBLE]
    head = head_noun(words(description))
    old = head if head in INCOMPATIBLE or not known else known[0]
    fallbacks = [word for word in FALLBACK_IDENTITY.get(category, FALLBACK_IDENTITY[1]) if word != old]
    for new in filter(None, (INCOMPATIBLE.get(old), *fallbacks)):
        yield _swap(description, old, new)


def _other_attributes(description: str, category: int) -> Iterator[str]:
    known = _changeable(words(description), category)
    if not known:
        raise NothingToChangeError(
            "The description names no colour, material or look that the scripted drafter knows: add one, "
            "as in “the red car”, and draft again."
        )
    for word in known:
        for new in _others(word, description):
            yield _swap(description, word, new)


def _changeable(said: Sequence[str], category: int) -> list[str]:
    """The words of look that may change. Before the name of a person only an expression may: a colour
    or an age there could be read as a guess at what must not be guessed.
    """
    head = head_noun(said)
    name = said.index(head) if head in said else 0
    return [
        word
        for place, word in enumerate(said)
        if word in ATTRIBUTES and (category != PERSON or place > name or word in EXPRESSIONS)
    ]


def _others(word: str, description: str) -> list[str]:
    """What the look may be changed to, the first choice first."""
    if word in CONTRARIES:
        alike = next((kind for kind in KINDS_OF_LOOK if word in kind), ())
        return [CONTRARIES[word], *(other for other in alike if other not in {word, CONTRARIES[word]})]
    kind = CLEAR_COLOURS if word in COLOURS else MATERIALS
    near = {"golden": "yellow", "gold": "yellow", "blond": "yellow", "blonde": "yellow", "cream": "white"}.get(word)
    others = [other for other in kind if other not in {word, near}]
    first = pick(others, "attribute", description)
    return [first, *(other for other in others if other != first)]


def _other_places(description: str, category: int) -> Iterator[str]:
    known = [place for place in OPPOSITES if re.search(rf"\b{place}\b", description, re.IGNORECASE)]
    if not known:
        side = pick(("left", "right"), "place", description)
        yield f"{description} on the {side}"
        yield f"{description} on the {OPPOSITES[side]}"
        return
    telling = [place for place in known if place not in PREPOSITIONS] or known
    yield _swap(description, telling[0], OPPOSITES[telling[0]])
    for phrase, new in SECOND_PLACES.items():
        if re.search(rf"\b{phrase}\b", description, re.IGNORECASE):
            yield _swap(description, phrase, new)


def _swap(description: str, old: str, new: str) -> str:
    return re.sub(rf"\b{re.escape(old)}\b", lambda _: new, description, count=1, flags=re.IGNORECASE)
