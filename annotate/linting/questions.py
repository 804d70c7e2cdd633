"""Rules on the questions with the true description."""

import re
from collections.abc import Iterator
from functools import lru_cache

from annotate.drafting import occurrences
from annotate.linting.answers import answer_findings
from annotate.linting.phrases import WORD, phrase
from annotate.linting.types import Finding, PlainItem, PlainTurn, Plan, Span, error, warning
from annotate.linting.words import DETERMINERS, PLACES, STAND_INS, split

_QUESTION_END = re.compile(r"\?[\"'”’)\]]*\s*$")
_UNTIDY = re.compile(
    r"^\s+|\s+$|[\t\r\n]|  +|\s(?=[?!,;](?:\s|$))"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
)
_ASKS_AGAIN = re.compile(
    r"\?.*\w.*\?|[,;] (?:and|or) (?:what|where|who|which|how|why|when|is|are|does|do|can)\b", re.I | re.S
)
# Words that a question may differ by and still ask the same.
_IDLE = DETERMINERS | split(
    """is are was were be been being do does did has have had can could will would may might seem seems appear appears
    look looks there here any anything some something in of on at to you we see seen tell say and or it
    picture image photo photograph scene currently right now"""
)
_ENDINGS = re.compile(r"(?:ing|ed|es|s|e)$")


def question_findings(item: PlainItem, plan: Plan) -> Iterator[Finding]:
    """Number, form and description of the questions."""
    yield from _numbering(item, plan)
    yield from _duplicates(item)
    for turn in item.turns:
        if not turn.content.strip():
            yield error("content_empty", f"Question {turn.number} is empty.", turn=turn.number, field="content")
            continue
        yield from form(turn.content, turn.number, "content")
        if item.target_description.strip():
            yield from _description(turn, item.target_description)
            yield from _modified(turn, item)


def form(text: str, turn: int, field: str) -> Iterator[Finding]:
    """A question ends as one, asks one thing, and has no stray space."""
    if not (text.endswith("?") or _QUESTION_END.search(text)):
        message = "This does not end with a question mark."
        yield warning("not_a_question", message, turn=turn, span=_last(text), field=field)
    again = _ASKS_AGAIN.search(text) if text.count("?") > 1 or "," in text or ";" in text else None
    if again:
        message = "This asks two things; one question a turn can be answered and labelled as one."
        yield warning("two_questions", message, turn=turn, span=again.span(), field=field)
    stray = _UNTIDY.search(text) if not _is_tidy(text) else None
    if stray:
        message = "There is a stray space, line break or invisible letter."
        yield warning("untidy_space", message, turn=turn, span=stray.span(), field=field)


def _is_tidy(text: str) -> bool:
    """A cheap look before a costly one."""
    return text.isprintable() and text == " ".join(text.split()) and " ?" not in text and " ," not in text


def _last(text: str) -> Span:
    """The last thing written, where the question mark should stand."""
    end = len(text.rstrip())
    return (max(end - 1, 0), end)


def _numbering(item: PlainItem, plan: Plan) -> Iterator[Finding]:
    numbers = [turn.number for turn in item.turns]
    wanted = range(1, plan.turns + 1)
    missing = [str(number) for number in wanted if number not in numbers]
    if missing:
        message = f"There must be {plan.turns} questions; missing: {', '.join(missing)}."
        yield error("questions_missing", message)
    for number in sorted(set(numbers)):
        if number not in wanted:
            yield error("questions_extra", f"The plan has {plan.turns} turns; this one is beyond.", turn=number)
        elif numbers.count(number) > 1:
            yield error("turn_twice", f"Turn {number} is there {numbers.count(number)} times.", turn=number)


def _duplicates(item: PlainItem) -> Iterator[Finding]:
    first: dict[tuple[str, ...], int] = {}
    alike: dict[tuple[str, ...], int] = {}
    idle = _IDLE | set(phrase(item.target_description).said)
    for turn in sorted(item.turns, key=lambda turn: turn.number):
        said = tuple(WORD.findall(turn.content.casefold()))
        if not said:
            continue
        core = tuple(_stem(word) for word in said if word not in idle)
        if first.setdefault(said, turn.number) != turn.number:
            message = f"This asks the same as question {first[said]}."
            yield error("question_duplicate", message, turn=turn.number, span=(0, len(turn.content)), field="content")
        elif len(core) > 1 and alike.setdefault(core, turn.number) != turn.number:
            message = f"This asks nearly the same as question {alike[core]}."
            yield warning("question_similar", message, turn=turn.number, span=(0, len(turn.content)), field="content")


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    """The word without its commonest endings: "facing" and "face" are one."""
    return _ENDINGS.sub("", word)


def _description(turn: PlainTurn, description: str) -> Iterator[Finding]:
    found = occurrences(turn.content, description)
    if len(found) > 1:
        message = f"The description is there {len(found)} times; it must be there exactly once."
        yield error("description_twice", message, turn=turn.number, span=found[1], field="content")
    elif found:
        yield from answer_findings(turn, description, found[0])
    else:
        yield _why_not_there(turn, description)


def _modified(turn: PlainTurn, item: PlainItem) -> Iterator[Finding]:
    """The false description must not stand in the question with the true one."""
    modified = item.modified_target_description
    if not modified.strip() or modified in item.target_description:
        return
    found = occurrences(turn.content, modified)
    if found:
        message = "The modified description is in the question that should have the true one."
        yield error("premise_in_content", message, turn=turn.number, span=found[0], field="content")


def _why_not_there(turn: PlainTurn, description: str) -> Finding:
    """Altered, replaced by a pronoun, or simply not there."""
    number, tokens = turn.number, list(WORD.finditer(turn.content))
    telling = set(phrase(description).said) - DETERMINERS - PLACES - {"with", "of"}
    kept = telling & {token[0].casefold() for token in tokens}
    if telling and 2 * len(kept) >= len(telling):
        message = f"The description is altered or shortened; it must read “{description}” word for word."
        span = nearest(turn.content, description)
        return error("description_altered", message, turn=number, span=span, field="content")
    stand_in = next((token for token in tokens if token[0].casefold() in STAND_INS), None)
    if stand_in and not kept:
        message = f"“{stand_in[0]}” stands for the target; the description must be there word for word."
        return error("description_pronoun", message, turn=number, span=stand_in.span(), field="content")
    message = f"The description “{description}” is missing."
    return error("description_missing", message, turn=number, span=(0, len(turn.content)), field="content")


def nearest(text: str, description: str) -> Span | None:
    """Where the words of a description stand together in a text: the run with most that tell something."""
    wanted = set(phrase(description).said)
    best: Span | None = None
    run: list[re.Match[str]] = []
    most = (0, 0)
    for token in WORD.finditer(text):
        run = [*run, token] if token[0].casefold() in wanted else []
        worth = (sum(one[0].casefold() not in DETERMINERS for one in run), len(run))
        if worth > most:
            best, most = (run[0].start(), token.end()), worth
    return best
