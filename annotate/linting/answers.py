"""Whether a question asks for what its description already says."""

import re
from collections.abc import Iterator

from annotate.linting import nouns
from annotate.linting.phrases import WORD, Phrase, phrase
from annotate.linting.types import Finding, PlainTurn, Span, warning
from annotate.linting.words import ATTRIBUTES, CLOTHES, COLOURS, MATERIALS, PLACES, is_part, split

CODE = "answer_given"
_BE = r"(?:is|are|was|were)"
_COLOUR = re.compile(rf"^(?:what|which) colou?rs? {_BE}$|^what {_BE} the colou?rs? of$", re.I)
_MATERIAL = re.compile(rf"^(?:what|which) (?:kind of |sort of )?materials? {_BE}$|^what {_BE}$", re.I)
_MADE = re.compile(r"^(?:made (?:out )?(?:of|from))\b", re.I)
_WHERE = re.compile(
    rf"^where(?: in the (?:picture|image|photo|scene))? (?:{_BE}|does|do)$"
    rf"|^(?:in|on|at) (?:which|what) (?:part|side|area|corner|half) of the (?:picture|image|photo|scene) {_BE}$",
    re.I,
)
_STAYS = re.compile(
    r"^(?:(?:located|placed|positioned|situated|standing|sitting|lying|resting|parked|stand|sit|lie|rest)\b)?"
    r"(?: ?(?:right now|in (?:the|this) (?:picture|image|photo|scene)))?\W*$",
    re.I,
)
_KIND = re.compile(rf"^(?:what|which) (?:(?:kind|type|sort) of )?(\w+) {_BE}$", re.I)
_WHO = re.compile(rf"^what {_BE}$", re.I)
_POSES = split("holding carrying riding pulling pushing eating drinking sitting standing lying running walking")
_ACTIONS = _POSES | split("wearing looking facing")
_YES_NO = split("is are was were does do did has have can could would will isn't aren't doesn't")
_SIDES = split("left right foreground background middle center centre corner")
# Words of place too common to give anything away.
_COMMON = split("in on at by to from near of off up down front back side far around across through along end")
# "the whole outline", "the light on it": not said of the look of the target.
_TELLING = (ATTRIBUTES - split("whole light plain")) | (PLACES - _COMMON)


def answer_findings(turn: PlainTurn, description: str, found: Span) -> Iterator[Finding]:
    """At most one finding a question: the words that give the answer away."""
    first = WORD.search(turn.content)
    target = phrase(description)
    if first is None or first[0].casefold() in _YES_NO:
        repeated = _repeated(turn.content, found, target)
        if repeated:
            said = turn.content[slice(*repeated)]
            message = f"The description gives the answer away: it already says “{said}”."
            yield warning(CODE, message, turn=turn.number, span=repeated, field="content")
        return
    before, after = " ".join(turn.content[: found[0]].split()), turn.content[found[1] :].strip()
    given = _asked_look(before, after, target) or _asked_place(before, after, target)
    given = given or _asked_kind(before, after, target) or _asked_action(before, after, target)
    if given:
        message = f"The description gives the answer away: “{given}”."
        yield warning(CODE, message, turn=turn.number, span=found, field="content")


def _asked_look(before: str, after: str, target: Phrase) -> str:
    """ "What colour is the red bicycle?": a look that stands before the label."""
    looks = target.said[: target.head]
    if _COLOUR.match(before) and not WORD.search(after):
        return next((word for word in looks if word in COLOURS), "")
    if _MATERIAL.match(before) and (_MADE.match(after) or ("material" in before and not WORD.search(after))):
        return next((word for word in looks if word in MATERIALS), "")
    return ""


def _asked_place(before: str, after: str, target: Phrase) -> str:
    """ "Where is the dog on the sofa?": a place that follows the label."""
    if not (_WHERE.match(before) and _STAYS.match(after)):
        return ""
    rest = target.said[target.naming :] or target.said[: target.head]
    tied = bool(rest) and (rest[0] in PLACES - {"in"} or not _SIDES.isdisjoint(rest))
    inside = rest[:1] == ("in",) and not any(is_part(word) or word in COLOURS for word in rest)
    return " ".join(rest) if tied or inside else ""


def _asked_kind(before: str, after: str, target: Phrase) -> str:
    """ "What kind of animal is the brown dog?": the label is one."""
    asked = _KIND.match(before)
    if not asked or WORD.search(after):
        return ""
    label = target.label()
    return label if label and asked[1].casefold() != label and nouns.is_a(label, asked[1].casefold()) else ""


def _asked_action(before: str, after: str, target: Phrase) -> str:
    """ "What is the man holding a cup holding?", "What is the woman in the red coat wearing?"."""
    action = WORD.match(after)
    if not _WHO.match(before) or not action or WORD.search(after[action.end() :]):
        return ""
    asked = action[0].casefold()
    said = target.said[target.naming :]
    if asked in _ACTIONS & {*said}:
        return " ".join(said[said.index(asked) :])
    if asked == "wearing" and CLOTHES & {*said} and {"in", "wearing"} & {*said}:
        return " ".join(said)
    if asked == "doing" and _POSES & {*said}:
        return " ".join(said)
    return ""


def _repeated(content: str, found: Span, target: Phrase) -> Span | None:
    """The word of look or place of a yes-or-no question that the description has too."""
    telling = {word for word in target.said if word in _TELLING} - {target.label()}
    for token in WORD.finditer(content) if telling else ():
        if token[0].casefold() in telling and not found[0] <= token.start() < found[1]:
            return token.span()
    return None
