"""What the scripted model says, in sentences that vary with the conversation."""

from fpco_site.llm.simulated import pick
from fpco_site.llm.simulated.phrases import Change, head_noun, words
from fpco_site.llm.simulated.words import FEMALE, MALE

OUTRIGHT = {
    "identity": (
        "Actually, that is not {after}; it is {before}.",
        "I don't see {after} here. What the picture shows is {before}.",
        "There is no {new} in this picture, only {before}.",
        "Just to correct one thing: this is {before}, not {after}.",
        "Looking again, that is no {new}. I see {before}.",
    ),
    "attribute": (
        "Actually, it is {before}, not {after}.",
        "It doesn't look {new} to me; we were talking about {before}.",
        "One correction: I see {before} rather than {after}.",
        "That detail is not right. It is {before}, as before.",
        "I can't find {after}; the picture shows {before}.",
    ),
    "location": (
        "Actually, the place is not right: I see {before}, not {after}.",
        "That is not where it is. The picture shows {before}.",
        "I don't see {after}; there is only {before}.",
        "A small correction about the place: it is {before} rather than {after}.",
    ),
}
QUIET = (
    "As for {before}: {answer_lower}",
    "{before_capital} is what I see here, and {answer_lower}",
)
QUIETLY = (True, False, False, False, False, False, False)
HEDGED = (
    "It is hard to tell whether that is really {after}, though. {answer}",
    "I'm not quite sure about that description, but {answer_lower}",
)
HEDGING = (True, *[False] * 11)
NEEDLESS = (
    "Actually, I'm not sure that this is {phrase}. {answer}",
    "I don't clearly see {phrase} here, so the question may be wrong. {answer}",
)

ANSWERS = {
    "colour": (
        "{subject} {be} mostly in muted, natural colours with a few darker areas.",
        "The colours are fairly even, a little lighter where the light falls on {object}.",
        "{subject} {show} one main colour and some lighter parts near the edges.",
    ),
    "where": (
        "{subject} {be} in the main part of the picture, clearly set off from what is behind.",
        "{subject} {stand} out near the middle, with open space around.",
        "Close to the viewer, with the rest of the scene further back.",
    ),
    "how_many": (
        "As far as I can tell there is just one, and nothing else like it close by.",
        "I can make out one clearly; anything else is too small to count.",
    ),
    "doing": (
        "{subject} {seem} calm and {be} not doing anything hurried.",
        "Mostly staying in place, as if something outside the picture had caught the attention.",
        "{subject} {be} at rest, without any sign of quick movement.",
    ),
    "who": (
        "The picture gives no clear hint about that beyond what can be seen around {object}.",
        "Nobody in particular, as far as the picture shows.",
    ),
    "why": (
        "Probably because this spot gives a good view and enough room.",
        "The picture doesn't say for certain, but the surroundings suggest an ordinary moment.",
    ),
    "which": (
        "The part that faces the viewer, since it gets most of the light.",
        "The nearer side, judging by how sharp it looks.",
    ),
    "yes_no": (
        "Yes, that is how it looks from this side.",
        "Yes, at least from what can be seen here.",
        "It looks that way, although a part is turned away from the viewer.",
        "Not that I can see from this angle.",
    ),
    "how": (
        "{subject} {seem} in good condition and quite at ease with the surroundings.",
        "Fairly prominent: the eye goes to {object} first.",
        "In a relaxed, everyday way, without anything unusual.",
    ),
    "other": (
        "{subject} {be} easy to make out, and the surroundings fit an ordinary scene.",
        "There are a few details around {object}, but none of them stands out.",
        "Mainly the shape and the light on {object} catch the eye.",
    ),
}
STARTS = {
    "where": "where",
    "why": "why",
    "who": "who",
    "whose": "who",
    "which": "which",
    "is": "yes_no",
    "are": "yes_no",
    "does": "yes_no",
    "do": "yes_no",
    "can": "yes_no",
    "could": "yes_no",
    "has": "yes_no",
    "how": "how",
}


def answer(question: str, phrase: str, *seed: str) -> str:
    """A plausible answer that doesn't touch the description."""
    person = _pronouns(phrase)
    return pick(ANSWERS[_asks_for(question)], "answer", question, *seed).format(**person)


def correction(question: str, change: Change, *seed: str) -> str:
    """Repair the premise and answer: mostly outright, sometimes by quietly using the right description."""
    said = answer(question, change.before, *seed)
    if pick(QUIETLY, "quietly", question, *seed):
        return pick(QUIET, "quiet", question, *seed).format(**_values(change, said))
    return pick(OUTRIGHT[change.kind], "outright", question, *seed).format(**_values(change, said)) + f" {said}"


def cooperation(question: str, change: Change, *seed: str) -> str:
    """Go along with the premise; once in a while with a doubt that is no correction."""
    said = answer(question, change.after, *seed)
    if pick(HEDGING, "hedge", question, *seed):
        return pick(HEDGED, "hedged", question, *seed).format(**_values(change, said))
    return said


def needless(question: str, phrase: str, *seed: str) -> str:
    """Doubt a description that was right."""
    said = answer(question, phrase, *seed)
    return pick(NEEDLESS, "needless", question, *seed).format(phrase=phrase or "that", answer=said)


def _values(change: Change, said: str) -> dict[str, str]:
    return {
        "before": change.before,
        "before_capital": _capital(change.before),
        "after": change.after,
        "new": head_noun(change.after.split()) if change.kind == "identity" else " ".join(change.added),
        "answer": said,
        "answer_lower": said[:1].lower() + said[1:],
    }


def _asks_for(question: str) -> str:
    asked = words(question)
    if "color" in asked or "colour" in asked:
        return "colour"
    if "doing" in asked:
        return "doing"
    if asked[:2] == ["how", "many"]:
        return "how_many"
    return STARTS.get(asked[0], "other") if asked else "other"


def _pronouns(phrase: str) -> dict[str, str]:
    head = head_noun(phrase.split())
    if head in FEMALE:
        subject, object_ = "She", "her"
    elif head in MALE:
        subject, object_ = "He", "him"
    else:
        subject, object_ = "It", "it"
    return {"subject": subject, "object": object_, "be": "is", "seem": "seems", "show": "shows", "stand": "stands"}


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
