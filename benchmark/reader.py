"""One dialogue as its reader shows it: question, answer, outcome, attempts and labels of each turn. Reads only.

This is response-level: whoever calls it has asked `blindness.require_open_eyes` before.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from annotate.drafting import Segment, split_marks
from annotate.models import DatasetTurn
from benchmark.models import Attempt, DetectorLabel, Dialogue, Response
from benchmark.models.runs import ENDED
from benchmark.progress import WITHOUT_TEXT


@dataclass(frozen=True)
class TurnView:
    """One turn. `response` is None where there is no text; `outcome` then says why."""

    question: DatasetTurn
    response: Response | None
    attempts: list[Attempt]
    labels: list[DetectorLabel]
    over: bool

    @property
    def number(self) -> int:
        return self.question.number

    @cached_property
    def asked(self) -> list[Segment]:
        """The question as it was asked, with the words that the correct one lacks marked."""
        if not self.question.false_premise:
            return [Segment(self.question.content, False)]
        return split_marks(self.question.content, self.question.modified)[1]

    @property
    def outcome(self) -> str:
        """answered, cut, refused, blocked, empty, failed, or not_asked."""
        if self.response is not None:
            return str(self.response.outcome)
        latest = self.attempts[-1].outcome if self.attempts else ""
        return latest if self.over and latest in WITHOUT_TEXT else "not_asked"

    @property
    def why(self) -> str:
        """What the latest call said, in its own words."""
        latest = self.attempts[-1] if self.attempts else None
        return (latest.error or latest.reason or "no reason was given") if latest else ""


def turns(dialogue: Dialogue) -> list[TurnView]:
    """Every planned turn of a dialogue, in order."""
    responses = {row.turn: row for row in dialogue.responses.defer("raw")}
    attempts: dict[int, list[Attempt]] = defaultdict(list)
    for attempt in dialogue.attempts.defer("raw").order_by("id"):
        attempts[attempt.turn].append(attempt)
    labels: dict[int, list[DetectorLabel]] = defaultdict(list)
    for label in dialogue.labels.select_related("detector").order_by("detector_id"):
        labels[label.turn].append(label)
    over = dialogue.state in ENDED
    return [
        TurnView(question, responses.get(question.number), attempts[question.number], labels[question.number], over)
        for question in dialogue.item.turns.order_by("number")
    ]


def neighbours(dialogue: Dialogue) -> tuple[Dialogue | None, Dialogue | None]:
    """The dialogues of the same run before and after this one."""
    same = Dialogue.objects.filter(run=dialogue.run_id).only("pk")
    before = same.filter(pk__lt=dialogue.pk).order_by("-pk").first()
    return before, same.filter(pk__gt=dialogue.pk).order_by("pk").first()
