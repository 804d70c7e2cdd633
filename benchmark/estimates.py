"""What a run, a retry or a detector would use and cost before it is started, from a sample. Reads only.

Every estimate is a range: at its low end texts are short and what was sent before is read from the
provider's cache, at its high end they are long and nothing is cached. It says what it rests on.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal

from django.db.models import Count

from annotate.models import Dataset, DatasetItem, DatasetTurn
from benchmark import estimating, measured
from benchmark.estimating import CHARACTERS_HIGH, CHARACTERS_LOW, Side
from benchmark.measured import Answers, Said
from benchmark.models import Detector, EvaluatedModel, Run, Spending
from benchmark.pace import span
from fpco_site.errors import Invalid
from fpco_site.llm import detection, endpoints, image_tokens, money, prompts

SAMPLE = 60  # items that are read, spread over the dataset


@dataclass(frozen=True)
class Estimate:
    """What is expected of one model or detector. `low` and `high` are bills; `seconds` the same of time.

    `basis` are sentences that say what it rests on.
    """

    name: str
    dialogues: int
    low: money.Bill
    high: money.Bill
    seconds: tuple[int, int]
    basis: tuple[str, ...] = ()

    @property
    def calls(self) -> int:
        return self.high.calls

    @property
    def simulated(self) -> bool:
        return self.high.simulated

    @property
    def tokens(self) -> str:
        """Input and output tokens as ranges."""
        return f"{_many(self.low.input, self.high.input)} tokens in, {_many(self.low.output, self.high.output)} out"

    @property
    def time(self) -> str:
        low, high = (span(timedelta(seconds=one)) for one in self.seconds)
        return low if low == high else f"{low} to {high}"

    @property
    def words(self) -> str:
        """The cost as a range; unknown where a price is."""
        return spread(self.low.cost, self.high.cost)


@dataclass(frozen=True)
class Total:
    """Several estimates in sum; `unknown` names those whose cost can't be told and is not in it."""

    calls: int
    low: Decimal
    high: Decimal
    unknown: tuple[str, ...]

    @property
    def words(self) -> str:
        return spread(self.low, self.high)


def spread(low: Decimal | None, high: Decimal | None) -> str:
    if low is None or high is None:
        return "unknown"
    first, last = money.dollars(low), money.dollars(high)
    return first if first == last else f"{first} to {last}"


def _many(low: int, high: int) -> str:
    """Counts as a range, with three digits that say something."""
    first, last = (_short(count) for count in (low, high))
    return first if first == last else f"{first} to {last}"


def _short(count: int) -> str:
    for size, word in ((10**9, " bn"), (10**6, " M"), (10**3, " k")):
        if count >= 10 * size:
            return f"{count // size:,}{word}"
        if count >= size:
            return f"{Decimal(count) / size:.1f}{word}"
    return str(count)


def total(rows: Iterable[Estimate]) -> Total:
    found = list(rows)
    known = [row for row in found if row.low.cost is not None and row.high.cost is not None]
    return Total(
        calls=sum(row.calls for row in found),
        low=sum((row.low.cost or money.NOTHING for row in known), money.NOTHING),
        high=sum((row.high.cost or money.NOTHING for row in known), money.NOTHING),
        unknown=tuple(row.name for row in found if row not in known),
    )


@dataclass(frozen=True)
class Sample:
    """Items of a dataset with their turns and picture sizes, read once for all models; `size` of them stand for all."""

    size: int
    turns: dict[int, list[DatasetTurn]]
    pictures: dict[int, tuple[int, int]]

    @property
    def weight(self) -> Decimal:
        return Decimal(self.size) / max(1, len(self.turns))

    @property
    def words(self) -> str:
        n = len(self.turns)
        return f"{n} of the dataset's own dialogue{'' if n == 1 else 's'}, by their real questions"


def sample(dataset: Dataset) -> Sample:
    """Up to `SAMPLE` items, spread evenly. Three queries."""
    return _sample(list(dataset.items.order_by("key").values_list("pk", flat=True)))


def of_models(
    *,
    models: Sequence[EvaluatedModel],
    dataset: Dataset,
    concurrency: int | None = None,
    prompt_version: int | None = None,
    cap: int | None = None,
) -> list[Estimate]:
    """A run of each model over a dataset, all its turns asked once. The queries are the same for any number."""
    prompt, items, said = prompts.load("inference", prompt_version), sample(dataset), measured.of_models(models)
    return [
        _of_turns(
            model,
            items,
            dict.fromkeys(items.turns, 1),
            system=prompt.text,
            said=said[model.pk].within(cap or model.max_output_tokens),
            prices=model.prices,
            concurrency=concurrency or model.concurrency,
        )
        for model in models
    ]


def retry(*, run: Run, dialogues: Collection[int]) -> Estimate:
    """Asking dialogues of a run again from their first turn without text on, at the prices that the run keeps."""
    rows = run.dialogues.filter(pk__in=dialogues).order_by("pk").values_list("item", flat=True)
    items = _sample(list(rows))
    answered = run.dialogues.filter(item__in=items.turns).annotate(answered=Count("responses"))
    firsts = {item: count + 1 for item, count in answered.values_list("item", "answered")}
    cap = run.settings.get("max_output_tokens") or run.model.max_output_tokens
    estimate = _of_turns(
        run.model,
        items,
        firsts,
        system=prompts.load(run.prompt_name, int(run.prompt_version)).text if run.prompt_version else "",
        said=measured.of_models([run.model])[run.model_id].within(cap),
        prices=Spending.objects.get(run=run).prices,
        concurrency=run.concurrency,
    )
    return replace(estimate, name=str(run))


def of_detectors(
    *,
    detectors: Sequence[Detector],
    dataset: Dataset,
    dialogues: int | None = None,
    discount: Decimal = money.NOTHING,
) -> list[Estimate]:
    """Each detector over so many dialogues of a dataset (default: one for each item), a call for each.

    `discount` is the part of the price that a batch job is let off.
    """
    items, judged, answers = (
        sample(dataset),
        measured.of_detectors(detectors, dataset.turns),
        measured.of_dataset(dataset),
    )
    count = items.size if dialogues is None else dialogues
    return [_of_detector(row, items, answers, judged[row.pk], count, discount) for row in detectors]


def _of_detector(
    detector: Detector, items: Sample, answers: Answers, said: Said, count: int, discount: Decimal
) -> Estimate:
    system = _prompt_of(detector)
    sides = []
    for end, characters in enumerate((CHARACTERS_LOW, CHARACTERS_HIGH)):
        answer = answers.tokens[end]
        read = sum((_judging(rows, system, answer, characters) for rows in items.turns.values()), Decimal(0))
        each = Side(Decimal(1), read / max(1, len(items.turns)), Decimal(0), said.output[end])
        sides.append(each.times(Decimal(count)).rounded())
    prices = replace(detector.prices, discount=discount)
    return Estimate(
        name=str(detector),
        dialogues=count,
        low=money.bill(sides[0], prices, simulated=detector.simulated),
        high=money.bill(sides[1], prices, simulated=detector.simulated),
        seconds=_seconds(count, Decimal(1), detector.concurrency, said.latency),
        basis=(items.words, answers.words, *said.basis),
    )


def _of_turns(
    model: EvaluatedModel,
    items: Sample,
    firsts: dict[int, int],
    *,
    system: str,
    said: Said,
    prices: money.Prices,
    concurrency: int,
) -> Estimate:
    """The sampled dialogues, each from its first turn on, scaled up to all of them."""
    rule = image_tokens.rule(model.provider, model.model_id)
    low, high = (_side(end, items, firsts, rule, system, said).times(items.weight) for end in (0, 1))
    simulated = endpoints.is_simulated(model.provider)
    return Estimate(
        name=model.name,
        dialogues=items.size,
        low=money.bill(low.rounded(), prices, simulated=simulated),
        high=money.bill(high.rounded(), prices, simulated=simulated),
        seconds=_seconds(items.size, high.calls / max(1, items.size), concurrency, said.latency),
        basis=(
            items.words,
            f"picture: {rule.words}",
            *said.basis,
            "at the low end, what the turn before sent is read from the cache; at the high end, nothing is",
        ),
    )


def _side(end: int, items: Sample, firsts: dict[int, int], rule: image_tokens.Rule, system: str, said: Said) -> Side:
    """One end of the range, 0 or 1, over the sampled dialogues."""
    characters = (CHARACTERS_LOW, CHARACTERS_HIGH)[end]
    found = Side()
    for item, first in firsts.items():
        asked = [len(row.asked) / characters for row in items.turns[item]]
        found += estimating.dialogue(
            system=len(system) / characters,
            picture=Decimal(rule.tokens(*items.pictures[item])[end]) if item in items.pictures else Decimal(0),
            questions=asked,
            answers=[said.text[end]] * len(asked),
            output=said.output[end],
            cached=end == 0,
            first=first,
        )
    return found


def _judging(rows: Sequence[DatasetTurn], system: str, answer: Decimal, characters: Decimal) -> Decimal:
    """Input tokens of a detector's call about one dialogue: its real JSON, with answers of the length assumed."""
    items = [
        detection.Item(row.number, "attribute", row.false_premise, row.content, row.modified or None, "x")
        for row in rows
        if row.modified or not row.false_premise
    ]
    if not items:
        return Decimal(0)
    sent = detection.request(system=system, items=items)
    texts = (len(system) + len(sent.messages[0].text)) / characters
    return texts + answer * len(items) + 2 * estimating.OVERHEAD


def _prompt_of(detector: Detector) -> str:
    try:
        return prompts.load(detector.prompt_name, int(detector.prompt_version)).text
    except (Invalid, ValueError):  # known from a release only, or its file is gone
        return ""


def _seconds(dialogues: int, turns: Decimal, concurrency: int, latency: tuple[Decimal, Decimal]) -> tuple[int, int]:
    low, high = (
        estimating.seconds(dialogues=dialogues, turns=turns, concurrency=concurrency, latency=one) for one in latency
    )
    return low, high


def _sample(ids: Sequence[int]) -> Sample:
    chosen = list(ids) if len(ids) <= SAMPLE else [ids[index * len(ids) // SAMPLE] for index in range(SAMPLE)]
    turns: dict[int, list[DatasetTurn]] = {pk: [] for pk in chosen}
    for turn in DatasetTurn.objects.filter(item__in=chosen).order_by("item", "number"):
        turns[turn.item_id].append(turn)
    rows = DatasetItem.objects.filter(pk__in=chosen, image__isnull=False)
    sizes = rows.values_list("pk", "image__width", "image__height")
    return Sample(len(ids), turns, {pk: (width, height) for pk, width, height in sizes})
