"""The scripted drafter: well-formed questions and premises from metadata and word lists, without seeing anything."""

import re
from collections.abc import Mapping

from fpco_site.llm.simulated import pick
from fpco_site.llm.simulated.phrases import head_noun, words
from fpco_site.llm.simulated.words import (
    ATTRIBUTES,
    CLEAR_COLOURS,
    COLOURS,
    DETERMINERS,
    FALLBACK_IDENTITY,
    INCOMPATIBLE,
    LOOKS,
    MATERIALS,
    OPPOSITES,
    PREPOSITIONS,
)

PERSON = 1
DETAIL = {
    "single_clean": "in the center of the picture",
    "multi_separated": "closest to the camera",
    "multi_overlapping": "at the front of the group",
}
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


def describe(target: str, complexity: str) -> str:
    """ "dog" -> "the dog in the center of the picture"; a target that already says more is kept."""
    spoken = " ".join(target.split()).strip(" .,;")
    parts = spoken.split()
    if parts and parts[0].lower() in DETERMINERS:
        parts = parts[1:]
    name = " ".join(parts) or "target"
    detailed = len(parts) > 2
    return f"the {name}" if detailed else f"the {name} {DETAIL.get(complexity, DETAIL['single_clean'])}"


def questions(description: str, category: int) -> dict[int, str]:
    """Ten different questions, each with the description exactly once."""
    templates = QUESTIONS.get(category, QUESTIONS[3])
    return {number: template.format(d=description) for number, template in enumerate(templates, start=1)}


def modified_description(description: str, premise_class: str, category: int) -> str:
    """One error of the class, by one word where the lists know one, else by one short phrase."""
    if premise_class == "identity":
        return _other_identity(description, category)
    if premise_class == "attribute":
        return _other_attribute(description, category)
    return _other_place(description)


def modified_questions(contents: Mapping[int, str], description: str, modified: str) -> dict[int, str]:
    """The questions with the description replaced."""
    pattern = re.compile(re.escape(description), re.IGNORECASE)
    return {number: pattern.sub(lambda _: modified, content) for number, content in contents.items()}


def _other_identity(description: str, category: int) -> str:
    known = [word for word in words(description) if word in INCOMPATIBLE]
    head = head_noun(words(description))
    old = head if head in INCOMPATIBLE or not known else known[0]
    return _swap(description, old, INCOMPATIBLE.get(old, FALLBACK_IDENTITY.get(category, "statue")))


def _other_attribute(description: str, category: int) -> str:
    known = [word for word in words(description) if word in ATTRIBUTES]
    if known:
        return _swap(description, known[0], _another(known[0], description))
    head = head_noun(words(description))
    # No colour is put on a person: it could be read as a guess at what must not be guessed.
    look = "smiling" if category == PERSON else pick(CLEAR_COLOURS, "attribute", description)
    return _swap(description, head, f"{look} {head}")


def _another(word: str, description: str) -> str:
    kind = CLEAR_COLOURS if word in COLOURS else next(kind for kind in (MATERIALS, LOOKS) if word in kind)
    near = {"golden": "yellow", "gold": "yellow", "blond": "yellow", "blonde": "yellow", "cream": "white"}.get(word)
    others = [other for other in kind if other not in {word, near}]
    return pick(others, "attribute", description)


def _other_place(description: str) -> str:
    known = [place for place in OPPOSITES if re.search(rf"\b{place}\b", description, re.IGNORECASE)]
    if not known:
        return f"{description} on the {pick(('left', 'right'), 'place', description)}"
    telling = [place for place in known if place not in PREPOSITIONS] or known
    return _swap(description, telling[0], OPPOSITES[telling[0]])


def _swap(description: str, old: str, new: str) -> str:
    return re.sub(rf"\b{re.escape(old)}\b", lambda _: new, description, count=1, flags=re.IGNORECASE)
