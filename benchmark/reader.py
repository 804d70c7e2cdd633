"""One dialogue as its reader shows it: question, answer, outcome, attempts and labels of each turn. Reads only.

This is response-level: whoever calls it has asked `blindness.require_open_eyes` before.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Max
from django.db.models.functions import Length

from annotate.drafting import Segment, split_marks
from annotate.models import Dataset, DatasetTurn
from benchmark import finding, naming, rebuilt
from benchmark.models import Attempt, DetectorLabel, Dialogue, Response, Run
from benchmark.models.responses import CallOutcome
from benchmark.models.runs import ENDED
from benchmark.progress import WITHOUT_TEXT, WORDS
from fpco_site.errors import FpcoError
from fpco_site.llm import settings_rules

NEWEST_SHOWN = 8
NEWEST_READ = 10_000
BY_RULE = "this interface gets it only with a positive temperature"


def asked(question: DatasetTurn) -> list[Segment]:
    """The question as it was asked, with the words that the correct one lacks marked."""
    if not question.false_premise:
        return [Segment(question.content, False)]
    return split_marks(question.content, question.modified)[1]


@dataclass(frozen=True)
class TurnView:
    """One turn. `response` is None where there is no text; `outcome` then says why."""

    question: DatasetTurn
    response: Response | None
    attempts: list[Attempt]
    labels: list[DetectorLabel]
    over: bool
    own: tuple[str, ...] = ()

    @property
    def number(self) -> int:
        return self.question.number

    @cached_property
    def asked(self) -> list[Segment]:
        return asked(self.question)

    @cached_property
    def correct(self) -> list[Segment]:
        """The correct question, with the words that the asked one lacks marked."""
        return split_marks(self.question.modified, self.question.content)[1]

    @cached_property
    def named(self) -> list[str]:
        """The words in which the answer names a model or its maker."""
        return naming.named(self.response.text, self.own) if self.response else []

    @property
    def answered_by(self) -> Attempt | None:
        """The call that brought the text; None where no call is kept, as in most releases."""
        brought = (attempt for attempt in reversed(self.attempts) if attempt.outcome not in WITHOUT_TEXT)
        return next(brought, None) if self.response else None

    @property
    def disagree(self) -> bool:
        return len({label.detect for label in self.labels}) > 1

    @property
    def latest(self) -> Attempt | None:
        return self.attempts[-1] if self.attempts else None

    @property
    def outcome(self) -> str:
        """answered, cut, refused, blocked, empty, failed, or not_asked."""
        if self.response is not None:
            return str(self.response.outcome)
        latest = self.attempts[-1].outcome if self.attempts else ""
        return latest if self.over and latest in WITHOUT_TEXT else "not_asked"

    @property
    def outcome_words(self) -> str:
        return WORDS[self.outcome]

    @property
    def named_words(self) -> str:
        return f"It says: {', '.join(self.named)}"

    @property
    def why(self) -> str:
        """What the latest call said, in its own words."""
        latest = self.latest
        return (latest.error or latest.reason or "no reason was given") if latest else ""


def turns(dialogue: Dialogue) -> list[TurnView]:
    """Every planned turn of a dialogue, in order."""
    responses = {row.turn: row for row in dialogue.responses.defer("raw")}
    attempts: dict[int, list[Attempt]] = defaultdict(list)
    for attempt in dialogue.attempts.defer("raw").select_related("software").order_by("id"):
        attempts[attempt.turn].append(attempt)
    labels: dict[int, list[DetectorLabel]] = defaultdict(list)
    for label in dialogue.labels.select_related("detector").order_by("detector_id"):
        labels[label.turn].append(label)
    over, own = dialogue.state in ENDED, tuple(finding.own_names(dialogue.run))
    return [
        TurnView(
            question, responses.get(question.number), attempts[question.number], labels[question.number], over, own
        )
        for question in dialogue.item.turns.order_by("number")
    ]


@dataclass(frozen=True)
class Row:
    """A dialogue as a list of them shows it: the outcome of each turn, and what may be worth a look."""

    dialogue: Dialogue
    outcomes: list[tuple[int, str, str]]
    corrections: int
    disagreements: int
    longest: int


def rows(run: Run, ids: list[int]) -> list[Row]:
    """These dialogues of a run, in this order. Four queries, however many they are."""
    found = Dialogue.objects.select_related("item").in_bulk(ids)
    texts: dict[int, dict[int, tuple[str, int]]] = defaultdict(dict)
    answers = Response.objects.filter(dialogue__in=ids).annotate(length=Length("text")).defer("raw", "text")
    for answer in answers:
        texts[answer.dialogue_id][answer.turn] = (str(answer.outcome), answer.length)
    ends = dict(Attempt.objects.filter(dialogue__in=ids).order_by("turn", "id").values_list("dialogue", "outcome"))
    verdicts: dict[int, dict[int, set[bool]]] = defaultdict(lambda: defaultdict(set))
    labels = DetectorLabel.objects.filter(dialogue__in=ids, detector__in=finding.judges(run)).order_by()
    for dialogue, turn, detect in labels.values_list("dialogue", "turn", "detect"):
        verdicts[dialogue][turn].add(detect)
    return [_row(found[pk], run.dataset, texts[pk], ends.get(pk, ""), verdicts[pk]) for pk in ids]


def _row(
    dialogue: Dialogue, dataset: Dataset, texts: dict[int, tuple[str, int]], end: str, verdicts: dict[int, set[bool]]
) -> Row:
    known = {turn: outcome for turn, (outcome, _) in texts.items()}
    if dialogue.state in ENDED and end in WITHOUT_TEXT:
        known[max(known, default=0) + 1] = end
    return Row(
        dialogue=dialogue,
        outcomes=[
            (turn, outcome, WORDS[outcome])
            for turn in range(1, dataset.turns + 1)
            if (outcome := known.get(turn, "not_asked"))
        ],
        corrections=sum(1 for turn in dataset.false_turns if True in verdicts.get(turn, set())),
        disagreements=sum(1 for found in verdicts.values() if len(found) > 1),
        longest=max((length for _, length in texts.values()), default=0),
    )


def newest(run: Run, n: int = NEWEST_SHOWN) -> list[Response]:
    """The answers of a run that came last, the newest first, among the last thousands of all runs."""
    last = Response.objects.aggregate(last=Max("pk"))["last"] or 0
    rows = Response.objects.filter(pk__gt=last - NEWEST_READ, dialogue__run=run).defer("raw")
    return list(rows.select_related("dialogue__item").order_by("-pk")[:n])


def ate_cap(turns: Iterable[TurnView]) -> Attempt | None:
    """The call that brought no text because reasoning ate its cap, where the dialogue ended so."""
    for turn in turns:
        if turn.outcome == CallOutcome.EMPTY and turn.latest is not None and turn.latest.reasoning_tokens:
            return turn.latest
    return None


def sent(turns: Iterable[TurnView]) -> list[dict[str, Any]]:
    """How a dialogue's turns were asked, once for each way: more than one where a worker was updated meanwhile."""
    found: list[dict[str, Any]] = []
    for attempt in (attempt for turn in turns for attempt in turn.attempts):
        facts = provenance(attempt)
        if facts not in found:
            found.append(facts)
    return found


def provenance(attempt: Attempt) -> dict[str, Any]:
    """What is kept of how one call was asked: settings as sent and not sent, prompt, picture, software.

    A release tells the settings once for a run, so what came with one has them from there.
    """
    settings = dict(attempt.settings) or _of_release(attempt.dialogue.run)
    prompt, digest = settings.pop("prompt", ""), settings.pop("sha256", "")
    left_out = not_sent(settings)
    hidden = {"api_key_env", "not_sent", *left_out}
    return {
        "model_asked": settings.get("model_id", ""),
        "settings": {name: value for name, value in settings.items() if name not in hidden},
        "not_sent": left_out,
        "prompt": prompt,
        "prompt_sha256": digest,
        "image_sha256": attempt.image_sha256,
        "software": dict(attempt.software.versions) if attempt.software else {},
    }


def _of_release(run: Run) -> dict[str, Any]:
    """How a run was asked as its release says; nothing where that is not written as this software writes it."""
    told = run.asked_by()
    kinds = {"provider": str, "model_id": str, "options": dict, "not_sent": dict}
    return told if all(isinstance(told.get(name, kind()), kind) for name, kind in kinds.items()) else {}


def not_sent(settings: dict[str, Any]) -> dict[str, str]:
    """Settings that were asked for and left out, each with the reason."""
    refused = {name: str(why) for name, why in settings.get("not_sent", {}).items()}
    try:
        going = settings_rules.sampling(rebuilt.endpoint_of(settings))
    except FpcoError:
        return refused
    asked = [name for name in ("temperature", "top_p") if settings.get(name) is not None]
    return {name: BY_RULE for name in asked if name not in going} | refused
