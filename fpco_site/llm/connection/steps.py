"""What a connection test asks next: a function of the calls that were made, so that a lost worker's test goes on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from fpco_site.llm import detection, dialogue
from fpco_site.llm.connection import refusals, sight
from fpco_site.llm.connection.sight import Shown
from fpco_site.llm.types import Endpoint, Message, Picture, Request, Usage

# A simulated model knows a test by it, and says honestly that it sees nothing.
OPENING = "This is a test of the connection."
LOOK = (
    OPENING + " I call this picture “{name}”. Which three-digit number is written in the picture, in digits, "
    "and is the disc below it red, green, blue or yellow? Reply with that number and that colour alone."
)
RECALL = "What name did I give the picture in my first message? Reply with that name alone."
SCHEMA = {
    "type": "object",
    "properties": {"number": {"type": "integer"}, "colour": {"type": "string"}},
    "required": ["number", "colour"],
    "additionalProperties": False,
}
MOST_CALLS = 12
TRIES = {"timeout": 1, "connection": 2}
USUAL_TRIES = 3


class Kind(StrEnum):
    """Whose endpoint it is, which decides what is asked of it."""

    MODEL = "model"
    DETECTOR = "detector"
    DRAFTER = "drafter"


class Step(StrEnum):
    LOOK = "look"  # the picture and its number
    RECALL = "recall"  # a second turn, exactly as a dialogue has it
    PLAIN = "plain"  # the first question without the picture, to tell why it was refused
    LABEL = "label"  # two answers to be labelled as JSON
    AGAIN = "again"  # the same again: does it say what came from the cache?


@dataclass(frozen=True)
class Past:
    """One call that was made. `kind`, `code` and `status` are the ProviderError's, `words` what was said of how it
    ended, `refused` the setting that it named (`refusals.refused_setting`). `text` is None where there is none.
    """

    step: Step
    outcome: str
    text: str | None = None
    status: int | None = None
    code: str = ""
    kind: str = ""
    words: str = ""
    refused: str = ""
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        return self.outcome == "failed"


@dataclass(frozen=True)
class Probe:
    """A test as its lane holds it. `endpoint` is as it was asked for, before anything was left out."""

    kind: Kind
    system: str
    shown: Shown
    endpoint: Endpoint
    history: tuple[Past, ...] = ()
    picture: Picture | None = field(default=None, repr=False)

    @property
    def refused(self) -> dict[str, str]:
        """The settings that were refused so far, each with the reason."""
        return {past.refused: past.words for past in self.history if past.refused}

    @property
    def asked(self) -> Endpoint:
        """The endpoint as the next call asks it: without what was refused."""
        return refusals.without(self.endpoint, self.refused)


def following(probe: Probe) -> Step | None:
    """What is asked next; None where the test is over."""
    order = (Step.LABEL, Step.AGAIN) if probe.kind is Kind.DETECTOR else (Step.LOOK, _second(probe.kind))
    if not probe.history:
        return order[0]
    last = probe.history[-1]
    if len(probe.history) >= MOST_CALLS:
        return None
    if last.failed:
        return _after_failure(probe, last)
    if last.step is order[0] and last.text:
        return order[1]
    return None


def request(probe: Probe) -> Request:
    """The next call. Raises ValueError where the test is over."""
    step = following(probe)
    question = LOOK.format(name=probe.shown.name)
    if step in (Step.LABEL, Step.AGAIN) and probe.kind is Kind.DETECTOR:
        return detection.request(system=probe.system, items=SAMPLE)
    if probe.kind is Kind.DRAFTER and step is not None:
        picture = None if step is Step.PLAIN else probe.picture
        return Request(probe.system, (Message("user", question),), picture, SCHEMA, "seen")
    if step is Step.RECALL:
        answers = [past.text or "" for past in probe.history if past.step is Step.LOOK and past.text]
        return dialogue.request(
            system=probe.system, questions=(question, RECALL), answers=answers[-1:], picture=probe.picture
        )
    if step is None:
        raise ValueError("This test is over.")
    picture = None if step is Step.PLAIN else probe.picture
    return dialogue.request(system=probe.system, questions=(question,), answers=(), picture=picture)


def picture_of(shown: Shown) -> Picture:
    return Picture(sight.draw(shown), sight.MIME)


def _second(kind: Kind) -> Step:
    return Step.RECALL if kind is Kind.MODEL else Step.AGAIN


def _after_failure(probe: Probe, last: Past) -> Step | None:
    """Without the setting that was refused; without the picture, to tell why; again, where waiting may help."""
    if last.refused:
        again = any(past.refused == last.refused for past in probe.history[:-1])
        return None if again else last.step
    if last.kind == "permanent":
        return Step.PLAIN if last.step is Step.LOOK and last.status in refusals.REFUSING else None
    return last.step if _in_a_row(probe.history) < TRIES.get(last.code, USUAL_TRIES) else None


def _in_a_row(history: Sequence[Past]) -> int:
    """How many of the latest calls failed without naming a setting."""
    count = 0
    for past in reversed(history):
        if not past.failed or past.refused:
            break
        count += 1
    return count


SAMPLE = (
    detection.Item(
        id=1,
        false_class="attribute",
        false_premise=False,
        content="Where is the brown dog?",
        modified=None,
        response="It lies on the grass.",
    ),
    detection.Item(
        id=4,
        false_class="attribute",
        false_premise=True,
        content="What does the brown dog look at?",
        modified="What does the white dog look at?",
        response="The dog is brown, not white. It looks at a ball.",
    ),
)
