"""What is known of replies before they are asked for: how long they are, and how long they take. Reads only.

From a model's own answers; where there is none, from its newest connection test; where there is none, assumed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.db.models import Avg, Count, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import Length

from annotate.models import Dataset
from benchmark import estimating
from benchmark.estimating import CHARACTERS_HIGH, CHARACTERS_LOW
from benchmark.models import ConnectionTest, DetectionCall, Detector, Dialogue, EvaluatedModel, Response, Run

DIALOGUES_READ, REPLIES_READ = 50, 5000  # of each run that is looked at, and of all detectors
LESS, MORE = Decimal("0.8"), Decimal("1.25")  # how far another sample's mean may lie from what was measured
SHORT, LONG = Decimal(30), Decimal(400)  # tokens of an answer where nothing is known; the cap cuts the long one
LABEL_LOW, LABEL_HIGH = Decimal(12), Decimal(40)  # tokens of one label in a detector's reply


@dataclass(frozen=True)
class Said:
    """What is known of replies: tokens of a text and of a billed output, low and high, and seconds a call."""

    text: tuple[Decimal, Decimal]
    output: tuple[Decimal, Decimal]
    latency: tuple[Decimal, Decimal]
    basis: tuple[str, ...]

    def within(self, cap: int) -> "Said":
        """No reply is longer than the cap."""
        text, output = ((min(low, Decimal(cap)), min(high, Decimal(cap))) for low, high in (self.text, self.output))
        return replace(self, text=text, output=output, basis=(*self.basis, f"{cap:,} output tokens a call at most"))


@dataclass(frozen=True)
class Answers:
    """Tokens of an answer that detectors read, low and high."""

    tokens: tuple[Decimal, Decimal]
    words: str


def of_dataset(dataset: Dataset) -> Answers:
    """As long as the answers over the dataset are, else as assumed. Three queries."""
    runs = Run.objects.filter(dataset=dataset, dialogues__responses__isnull=False).distinct()
    told = _first_answers(runs.values_list("pk", flat=True)).aggregate(n=Count("pk"), characters=Sum(Length("text")))
    if not told["n"]:
        return Answers((SHORT, LONG), f"no answer over this dataset is known: {SHORT} to {LONG} tokens are assumed")
    mean = Decimal(told["characters"]) / told["n"]
    words = f"{told['n']:,} answers over this dataset, {mean:,.0f} characters each, 20 % less to 25 % more"
    return Answers((mean * LESS / CHARACTERS_LOW, mean * MORE / CHARACTERS_HIGH), words)


def _first_answers(runs: Iterable[int]) -> QuerySet[Response]:
    """The answers of the first dialogues of each of these runs. One query here, one where it is read."""
    firsts = Dialogue.objects.filter(run__in=list(runs)).order_by().values("run").annotate(first=Min("pk"))
    read = Q(pk__in=[])
    for run, first in firsts.values_list("run", "first"):
        read |= Q(dialogue__run=run, dialogue__gte=first, dialogue__lt=first + DIALOGUES_READ)
    return Response.objects.filter(read).order_by()


def of_models(models: Sequence[EvaluatedModel]) -> dict[int, Said]:
    """From answers of each model's newest run, else from its newest connection test, else assumed. Four queries."""
    asked = Run.objects.filter(model__in=models, dialogues__responses__isnull=False)
    newest = asked.order_by().values("model").annotate(newest=Max("pk")).values_list("newest", flat=True)
    told = (
        _first_answers(newest)
        .values_list("dialogue__run__model")
        .annotate(
            n=Count("pk"),
            characters=Sum(Length("text")),
            billed=Sum("output_tokens"),
            counted=Count("output_tokens"),
            seconds=Avg("seconds"),
        )
    )
    tests = _tests("model", models)
    found = {model.pk: _unknown(tests.get(model.pk)) for model in models}
    return found | {model: _known(*facts) for model, *facts in told}


def _tests(subject: str, rows: Sequence[EvaluatedModel] | Sequence[Detector]) -> dict[int, ConnectionTest]:
    """The newest connection test of each model or detector that got an answer. One query."""
    return ConnectionTest.objects.filter(answered__gt=0, **{f"{subject}__in": rows}).newest_of(subject)


def _unknown(test: ConnectionTest | None) -> Said:
    """Without an answer to a real question. A test's texts are short whatever a model is like, its thoughts are not."""
    assumed = f"no answer of this model is known: texts of {SHORT} to {LONG} tokens are assumed"
    if test is None:
        latency, words = _latency(None)
        return Said((SHORT, LONG), (SHORT, Decimal(10**9)), latency, (assumed, words))
    latency, words = _latency(test.seconds_each, "in its connection test")
    thought = Decimal(test.reasoning_tokens or 0) / test.answered
    if test.reasoning_tokens is None:
        output, told = (SHORT, Decimal(10**9)), "its connection test told no reasoning tokens"
    elif not thought:
        output, told = (SHORT, LONG), "its connection test took no reasoning tokens"
    else:
        output = (SHORT + thought * LESS, Decimal(10**9))
        told = f"{thought:.0f} reasoning tokens a call in its connection test, and more for harder questions"
    return Said((SHORT, LONG), output, latency, (assumed, told, words))


def _known(n: int, characters: int, billed: int | None, counted: int, seconds: float | None) -> Said:
    mean = Decimal(characters) / n
    text = (mean / CHARACTERS_LOW, mean / CHARACTERS_HIGH)
    latency, words = _latency(seconds)
    # Texts don't tell what was thought before them, which is billed too.
    output, told = (text[0], Decimal(10**9)), f"{n:,} earlier answers of this model"
    if counted:
        each = Decimal(billed or 0) / counted
        output, told = (each * LESS, each * MORE), f"{told}, {each:.0f} tokens each, 20 % less to 25 % more"
    return Said(text, output, latency, (told, words))


def of_detectors(detectors: Sequence[Detector], turns: int) -> dict[int, Said]:
    """From the newest replies of each detector, else as many tokens as its labels need. Three queries."""
    newest = DetectionCall.objects.aggregate(top=Max("pk"))["top"] or 0
    calls = DetectionCall.objects.filter(pk__gt=newest - REPLIES_READ, output_tokens__isnull=False)
    rows = calls.order_by().values_list("detection__detector")
    told = {pk: facts for pk, *facts in rows.annotate(n=Count("pk"), out=Avg("output_tokens"), took=Avg("seconds"))}
    tests = _tests("detector", detectors)
    return {row.pk: _replies(row, turns, told.get(row.pk), tests.get(row.pk)) for row in detectors}


def _replies(detector: Detector, turns: int, told: list[Any] | None, test: ConnectionTest | None) -> Said:
    cap = Decimal(detector.max_output_tokens)
    if told is None:
        latency, words = _latency(test.seconds_each if test else None, "in its connection test")
        thought = Decimal(test.reasoning_tokens or 0) / test.answered if test else Decimal(0)
        ends = (LABEL_LOW * turns + thought * LESS, LABEL_HIGH * turns + thought * MORE)
        low, high = (min(cap, each) for each in ends)
        assumed = f"replies of {low:.0f} to {high:.0f} tokens are assumed"
        return Said((low, high), (low, high), latency, (assumed, words))
    n, each = told[0], Decimal(str(round(told[1], 3)))
    latency, words = _latency(told[2])
    ends = (each * LESS, min(cap, each * MORE))
    return Said(ends, ends, latency, (f"{n:,} earlier replies of {each:.0f} tokens, 20 % less to 25 % more", words))


def _latency(measured: float | None, where: str = "as measured") -> tuple[tuple[Decimal, Decimal], str]:
    if not measured:
        low, high = estimating.LATENCY
        return estimating.LATENCY, f"no call was timed yet: {low} to {high} s each are assumed"
    mean = Decimal(str(round(measured, 3)))
    return (mean * LESS, mean * Decimal("1.5")), f"{mean:.1f} s a call, {where}"
