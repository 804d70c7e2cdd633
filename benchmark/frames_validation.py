"""From answers and verdicts to the frame that a validation set is drawn from. Reads only."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count

from annotate.models import Dataset, User
from benchmark import naming
from benchmark.designs import Candidate, Frame, Plan
from benchmark.models import Dialogue, Exposure, Pattern, Response, ResultSet
from benchmark.services import patterns

CHUNK = 5_000
type Labels = tuple[bool | None, ...]


@dataclass(frozen=True)
class Source:
    """A frame with the id of each answer's row by its key."""

    frame: Frame
    ids: dict[str, int]

    @property
    def named(self) -> set[str]:
        """The keys of answers that name a model or its maker."""
        return {candidate.key for candidate in self.frame.candidates if candidate.named}


class _Run(NamedTuple):
    """The model of a run, and what finds it named in an answer: by its id as it was when the run was made, too."""

    model: str
    named: Callable[[str], list[str]]


class _Dialogue(NamedTuple):
    """What all answers of one dialogue share."""

    run_id: int
    item_id: int
    premise_class: str
    item: str


def source(result_set: ResultSet, plan: Plan) -> Source:
    """Every answer that a plan could draw from a result set: a key that lasts, and what its stratum depends on."""
    held, pair = result_set.held_runs, result_set.primary[:2]
    if plan.needs_labels:
        patterns.refresh(runs=[row.run for row in held])
    verdicts = _Verdicts([row.run_id for row in held], [detector.pk for detector in pair if plan.needs_labels])
    spoken = {
        row.run_id: _Run(row.model.name, naming.finder((row.model.name, str(row.run.settings.get("model_id", "")))))
        for row in held
    }
    ids: dict[str, int] = {}
    candidates = list(_candidates(result_set.dataset, plan, spoken, verdicts, ids))
    classes = result_set.dataset.items.order_by("premise_class").values_list("premise_class", flat=True).distinct()
    frame = Frame(candidates, [row.model.name for row in held], list(classes), [detector.slug for detector in pair])
    return Source(frame, ids)


def turns(dataset: Dataset, plan: Plan) -> list[int]:
    """The turns whose answers a plan can draw."""
    return [*(correct_turns(dataset) if plan.correct else []), *dataset.false_turns]


def correct_turns(dataset: Dataset) -> list[int]:
    """The turns with a correct premise."""
    return [turn for turn in range(1, dataset.turns + 1) if turn not in dataset.false_turns]


def _candidates(
    dataset: Dataset, plan: Plan, spoken: dict[int, _Run], verdicts: "_Verdicts", ids: dict[str, int]
) -> Iterator[Candidate]:
    dialogues, false = _dialogues(spoken), set(dataset.false_turns)
    answered = Response.objects.filter(dialogue__run__in=spoken, turn__in=turns(dataset, plan)).order_by()
    for pk, at, turn, text in answered.values_list("id", "dialogue_id", "turn", "text").iterator(CHUNK):
        dialogue = dialogues[at]
        model, named = spoken[dialogue.run_id]
        key = f"{model}/{dialogue.item}/{turn}"
        ids[key] = pk
        labels = verdicts.of(dialogue, turn)
        yield Candidate(key, model, dialogue.premise_class, turn not in false, labels, bool(named(text)))


def _dialogues(runs: Iterable[int]) -> dict[int, _Dialogue]:
    rows = Dialogue.objects.filter(run__in=runs).order_by()
    told = rows.values_list("id", "run_id", "item_id", "item__premise_class", "item__key")
    return {pk: _Dialogue(run, item, place, key) for pk, run, item, place, key in told.iterator(CHUNK)}


class _Verdicts:
    """What the primary pair said of each answer, from the patterns; nothing where a design needs none."""

    def __init__(self, runs: list[int], detectors: list[int]) -> None:
        self.detectors = detectors
        rows = Pattern.objects.filter(run__in=runs, detector__in=detectors)
        told = rows.values_list("run_id", "item_id", "detector_id", "labelled", "correction")
        self.masks = {(run, item, detector): (given, yes) for run, item, detector, given, yes in told.iterator(CHUNK)}

    def of(self, dialogue: _Dialogue, turn: int) -> Labels:
        return tuple(self._one(dialogue, detector, 1 << (turn - 1)) for detector in self.detectors)

    def _one(self, dialogue: _Dialogue, detector: int, bit: int) -> bool | None:
        labelled, correction = self.masks.get((dialogue.run_id, dialogue.item_id, detector), (0, 0))
        return bool(correction & bit) if labelled & bit else None


def seen_before(dataset: Dataset, people: Iterable[User]) -> dict[int, int]:
    """How many pages with single answers of a dataset each person has opened so far, by the person's id."""
    rows = Exposure.objects.filter(dataset=dataset, person__in=list(people), withheld=False).order_by()
    return dict(rows.values_list("person").annotate(n=Count("pk")))
