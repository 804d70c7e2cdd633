"""Human validation: look at what could be drawn, draw it, open it for blind labelling, repeat it, close it.

The draw depends on plan, seed, and the names of models, items and turns (by label also on what the primary pair
said), so that it comes out the same from the same data wherever it is loaded. Only turns with an answer can be drawn.
"""

import secrets
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypedDict, Unpack

from django.db import transaction

from annotate.models import Dataset, DatasetTurn, LabelSet, LabelTask, User
from annotate.models.labels import Mode
from annotate.services import labels
from annotate.services.labels import NewTask
from benchmark import designs, frames_validation, naming
from benchmark.designs import Naming, Plan, Survey
from benchmark.frames_validation import Source
from benchmark.models import DetectionJob, Response, ResultSet, ValidationItem, ValidationSet
from benchmark.models.detectors import JobState
from benchmark.models.runs import RunState
from benchmark.sampling import Draw, Drawn
from benchmark.services import results
from fpco_site.errors import Conflict, Invalid

STUDY_PER_CELL = designs.STUDY_NUMBER
MOST_LABELS = 50
SEED_IS_DRAWN = (
    "You are to label this set, or could join its pool, so its seed must not be known to you: leave it to be drawn."
)
_UNFINISHED = (RunState.DRAFT, RunState.RUNNING, RunState.PAUSED)


@dataclass(frozen=True)
class Prepared:
    """What a draw would be made from. Its `survey` tells numbers alone; `source` is for the draw itself."""

    result_set: ResultSet
    plan: Plan
    source: Source
    survey: Survey


def prepare(
    *, dataset: Dataset, plan: Plan, result_set: ResultSet | None = None, show_picture: bool = False
) -> Prepared:
    """Look at what could be drawn; nothing is drawn, and no seed is needed.

    Raises
    ------
    Invalid
        If nothing has run, a design by labels has no pair of detectors, or a picture to be shown is missing.
    Conflict
        If a run that counts, or for a design by labels a detector, has not ended: the draw could not be repeated.
    """
    result_set = result_set or results.default(dataset)
    if result_set is None:
        raise Invalid(f"No model has run over {dataset.name} yet, so there is nothing to draw from.")
    if result_set.dataset_id != dataset.pk:
        raise Invalid(f"{result_set.name} is a result set of another dataset.")
    _refuse_unfinished(result_set)
    if plan.needs_labels:
        _refuse_unlabelled(result_set)
    if show_picture and dataset.items.filter(image=None).exists():
        raise Invalid(f"Some pictures of {dataset.name} are missing: attach them, or label without pictures.")
    source = frames_validation.source(result_set, plan)
    return Prepared(result_set, plan, source, designs.survey(plan, source.frame))


class Opening(TypedDict, total=False):
    """How a label set is opened. Without a name it is numbered; `labels_per_task` counts in a pool alone."""

    name: str
    mode: str
    labels_per_task: int
    show_picture: bool


def open(
    *,
    dataset: Dataset,
    annotators: Iterable[User],
    by: User | None,
    plan: Plan | None = None,
    per_cell: int = STUDY_PER_CELL,
    seed: int | None = None,
    result_set: ResultSet | None = None,
    client: uuid.UUID | None = None,
    shown: str = "",
    **opening: Unpack[Opening],
) -> ValidationSet:
    """Draw answers by a plan, else by the study's with `per_cell` of each model and class, and open them.

    Without a seed one is drawn and kept. `client` is the page's own id: sent twice, it opens one set. `shown` is the
    fingerprint of the survey that was looked at before.

    Raises
    ------
    Invalid
        If nothing can be drawn, an annotator can't label, who chose the seed is to label, or as `prepare` does.
    Conflict
        If the numbers are not those that were shown, or as `prepare` does.
    """
    people = list(annotators)
    _check(people, by, seed, opening)
    show_picture, plan = opening.get("show_picture", False), plan or Plan(number=per_cell)
    prepared = prepare(dataset=dataset, plan=plan, result_set=result_set, show_picture=show_picture)
    if shown and shown != prepared.survey.fingerprint:
        raise Conflict("The answers that could be drawn have changed since the preview. Look at it again.")
    with transaction.atomic():
        Dataset.objects.select_for_update().get(pk=dataset.pk)  # the same form sent twice takes turns
        if client is not None and (same := ValidationSet.objects.filter(client=client).first()) is not None:
            return same
        return _store(prepared, seed=seed, client=client, annotators=people, by=by, opening=opening)


def _check(people: list[User], by: User | None, seed: int | None, opening: Opening) -> None:
    mode = opening.get("mode", Mode.CROSSED)
    if mode not in Mode.values:
        raise Invalid(f"There is no mode named {mode}.")
    if not 1 <= opening.get("labels_per_task", 2) <= MOST_LABELS:
        raise Invalid(f"A task gets 1 to {MOST_LABELS} labels.")
    if seed is not None and by is not None and (by in people or mode == Mode.POOL):
        raise Invalid(SEED_IS_DRAWN)


def _store(
    prepared: Prepared,
    *,
    seed: int | None,
    client: uuid.UUID | None,
    annotators: list[User],
    by: User | None,
    opening: Opening,
) -> ValidationSet:
    drawn_seed = secrets.randbelow(2**31) if seed is None else seed
    drawn = designs.draw(prepared.plan, prepared.source.frame, drawn_seed)
    responses = _responses([prepared.source.ids[unit.key] for unit in drawn.drawn])
    dataset = prepared.result_set.dataset
    named: Opening = {**opening, "name": opening.get("name", "").strip() or _free_name(dataset)}
    label_set, rows = labels.open_set(
        dataset=dataset, tasks=_tasks(responses), annotators=annotators, seed=drawn_seed, by=by, **named
    )
    made = ValidationSet.objects.create(
        label_set=label_set,
        result_set=prepared.result_set,
        seed=drawn_seed,
        per_cell=prepared.plan.number,
        design=_design(prepared, drawn, drawn_seed, seed_chosen=seed is not None),
        simulated=prepared.result_set.runs.filter(run__simulated=True).exists(),
        client=client,
    )
    ValidationItem.objects.bulk_create(
        _item(made, task, response, unit) for task, response, unit in zip(rows, responses, drawn.drawn, strict=True)
    )
    return made


def _item(made: ValidationSet, task: LabelTask, response: Response, unit: Drawn) -> ValidationItem:
    return ValidationItem(
        validation_set=made,
        task=task,
        response=response,
        stratum=" / ".join(unit.stratum),
        inclusion_probability=unit.probability,
    )


def _responses(ids: Sequence[int]) -> list[Response]:
    found = Response.objects.select_related("dialogue__item__image").in_bulk(ids)
    return [found[pk] for pk in ids]


def _tasks(responses: Sequence[Response]) -> list[NewTask]:
    items = {response.dialogue.item_id for response in responses}
    turns = {(turn.item_id, turn.number): turn for turn in DatasetTurn.objects.filter(item__in=items)}
    return [
        NewTask(
            premise_class=response.dialogue.item.premise_class,
            content=turns[response.dialogue.item_id, response.turn].content,
            modified=turns[response.dialogue.item_id, response.turn].modified,
            response=response.text,
            image=response.dialogue.item.image,
        )
        for response in responses
    ]


def _design(prepared: Prepared, drawn: Draw, seed: int, *, seed_chosen: bool) -> dict[str, Any]:
    """How the set was drawn, as data; the hash is of the whole draw, so that a repeat can be told from another."""
    plan, dataset = prepared.plan, prepared.result_set.dataset
    made = designs.record(plan, prepared.survey, drawn, named=prepared.source.named)
    return {
        **made,
        "naming": {**made["naming"], "names": naming.VERSION},
        "turns": dataset.false_turns,
        "correct_turns": frames_validation.correct_turns(dataset) if plan.correct else [],
        "detectors": prepared.source.frame.detectors if plan.needs_labels else [],
        "seed_chosen": seed_chosen,
        "sha256": _digest(designs.canonical(plan, seed, drawn)),
    }


@dataclass(frozen=True)
class Repeated:
    """A set's draw, made again: its canonical JSON, and whether it is the set's own to the last byte."""

    canonical: str
    same: bool
    reason: str

    @property
    def sentence(self) -> str:
        """What came of it, for people."""
        if self.same:
            return "Drawn again from seed and data: the same answers, strata and probabilities, byte for byte."
        return f"Drawn again, it is another draw: {self.reason}"


def repeat(*, validation_set: ValidationSet) -> Repeated:
    """Draw a set again from its seed and from the data as they are now.

    It is the same if the canonical JSON has the hash that was kept at the draw, and every task of the set shows an
    answer of the draw, in its stratum and with its probability. For open eyes only.

    Raises
    ------
    Invalid
        If it isn't known how the set was drawn, as of an imported set that doesn't say so.
    Conflict
        As `prepare` does.
    """
    kept = validation_set.design
    plan = Plan.read(kept.get("plan") or {})
    result_set = validation_set.result_set
    prepared = prepare(dataset=result_set.dataset, plan=plan, result_set=result_set)
    drawn = designs.draw(plan, prepared.source.frame, validation_set.seed)
    text = designs.canonical(plan, validation_set.seed, drawn)
    reason = _difference(kept, prepared, text) or _strangers(validation_set, prepared, drawn)
    return Repeated(text, not reason, reason)


def _difference(kept: dict[str, Any], prepared: Prepared, text: str) -> str:
    """Why the draw as a whole is another one; empty where it isn't."""
    if _digest(text) == kept.get("sha256"):
        return ""
    if kept.get("frame") != prepared.survey.frame:
        return f"{prepared.survey.frame:,} answers could be drawn now, {kept.get('frame', 0):,} then."
    told = kept.get("naming") or {}
    if told.get("rule") == Naming.REPLACE and told.get("names") != naming.VERSION:
        return "the names by which answers are found to name a model are others now."
    return "the answers that could be drawn, or their strata, are others now."


def _strangers(validation_set: ValidationSet, prepared: Prepared, drawn: Draw) -> str:
    """Whether a task of the set is none of the draw; sets that came with a release hold labelled tasks alone."""
    made = {prepared.source.ids[unit.key]: (" / ".join(unit.stratum), unit.probability) for unit in drawn.drawn}
    rows = validation_set.items.values_list("response_id", "stratum", "inclusion_probability")
    strangers = sum(made.get(response) != (stratum, probability) for response, stratum, probability in rows)
    return f"{strangers:,} tasks of the set are not in it as they are stored." if strangers else ""


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def close(*, validation_set: ValidationSet, by: User) -> ValidationSet:
    """Lock all labels of the set; it never reopens."""
    validation_set.label_set = labels.close(label_set=validation_set.label_set, by=by)
    return validation_set


def _refuse_unfinished(result_set: ResultSet) -> None:
    open_run = result_set.runs.filter(run__state__in=_UNFINISHED).select_related("model", "run").first()
    if open_run is not None:
        raise Conflict(f"The run of {open_run.model.name} is {open_run.run.state}: draw when it has ended.")


def _refuse_unlabelled(result_set: ResultSet) -> None:
    pair = result_set.primary
    if len(pair) < results.PRIMARY:
        raise Invalid(f"{result_set.name} has no two detectors, by whose labels answers could be drawn.")
    jobs = DetectionJob.objects.filter(dataset=result_set.dataset_id, detector__in=pair)
    at_work = jobs.filter(state__in=[JobState.RUNNING, JobState.PAUSED]).select_related("detector").first()
    if at_work is not None:
        raise Conflict(f"{at_work.detector} is still labelling ({at_work.state}): draw when it has ended.")


def _free_name(dataset: Dataset) -> str:
    """A name that says nothing of where the answers come from."""
    taken = set(LabelSet.objects.values_list("name", flat=True))
    number = LabelSet.objects.filter(dataset=dataset).count() + 1
    while (name := f"Validation {number} of {dataset.name}"[:100]) in taken:
        number += 1
    return name
