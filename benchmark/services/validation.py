"""Human validation: draw answers, open them for blind labelling, close (paper, human validation)."""

import secrets
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction

from annotate.models import Dataset, DatasetTurn, LabelSet, LabelTask, User
from annotate.models.labels import LabelSetState
from annotate.services import labels
from annotate.services.labels import NewTask
from benchmark import sampling
from benchmark.models import Response, ResultSet, ValidationItem, ValidationSet
from benchmark.models.runs import RunState
from benchmark.sampling import Draw, Drawn, Stratum, Unit
from benchmark.services import results
from fpco_site.errors import Conflict, Invalid

STUDY_PER_CELL = 6
_UNFINISHED = (RunState.DRAFT, RunState.RUNNING, RunState.PAUSED)


def open(
    *,
    dataset: Dataset,
    annotators: Iterable[User],
    by: User | None,
    per_cell: int = STUDY_PER_CELL,
    seed: int | None = None,
    result_set: ResultSet | None = None,
    name: str = "",
    show_picture: bool = False,
    twins: bool = True,
) -> ValidationSet:
    """Draw `per_cell` answers of each model and class from the false-premise turns, and open them.

    The draw depends on the seed and on the names of models, items and turns alone, so that it comes
    out the same from the same data wherever it is loaded. Without a seed one is drawn and kept. Only
    turns with an answer can be drawn; where a stratum holds fewer, all of it is taken and `design`
    says how many are short.

    Raises
    ------
    Invalid
        If nothing can be drawn, an annotator can't label, or a picture to be shown is missing.
    Conflict
        If a run that counts has not ended: its draw could not be repeated. Without `twins`, also if the same
        was opened for the same people before, and nobody has labelled in it yet; a name of its own opens another.
    """
    result_set = result_set or results.default(dataset)
    if result_set is None:
        raise Invalid(f"No model has run over {dataset.name} yet, so there is nothing to draw from.")
    _refuse_unfinished(result_set)
    if per_cell < 1:
        raise Invalid("Draw at least one answer of each model and class.")
    wanted, seed = seed, secrets.randbelow(2**31) if seed is None else seed
    frame = _frame(result_set)
    drawn = sampling.draw([unit for unit, _ in frame], per_cell, seed, strata=_strata(result_set))
    ids = {unit.key: pk for unit, pk in frame}
    responses = _responses([ids[unit.key] for unit in drawn.drawn])
    tasks = _tasks(dataset, responses, show_picture)
    people = list(annotators)
    with transaction.atomic():
        Dataset.objects.select_for_update().get(pk=dataset.pk)  # the same form sent twice takes turns
        if not twins and not name.strip():
            _refuse_twin(result_set, people, wanted, per_cell=per_cell, label_set__show_picture=show_picture)
        label_set, rows = labels.open_set(
            name=name.strip() or _free_name(dataset),
            dataset=dataset,
            tasks=tasks,
            annotators=people,
            seed=seed,
            by=by,
            show_picture=show_picture,
        )
        made = ValidationSet.objects.create(
            label_set=label_set,
            result_set=result_set,
            seed=seed,
            per_cell=per_cell,
            design=_design(dataset, drawn, len(frame)),
            simulated=result_set.runs.filter(run__simulated=True).exists(),
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


def close(*, validation_set: ValidationSet, by: User) -> ValidationSet:
    """Lock all labels of the set; it never reopens."""
    validation_set.label_set = labels.close(label_set=validation_set.label_set, by=by)
    return validation_set


def _refuse_twin(result_set: ResultSet, people: list[User], seed: int | None, **same: Any) -> None:
    """A form that is sent twice must not give annotators the same work twice."""
    twins = ValidationSet.objects.filter(result_set=result_set, label_set__state=LabelSetState.OPEN, **same)
    for twin in twins.select_related("label_set") if seed is None else twins.filter(seed=seed):
        mine = twin.label_set.assignments.all()
        if {row.person_id for row in mine} == {person.pk for person in people} and not mine.exclude(labels=None):
            raise Conflict(
                f"{twin.label_set.name} is open for the same people, and nobody has labelled in it yet. "
                "To open another one all the same, give it a name."
            )


def _refuse_unfinished(result_set: ResultSet) -> None:
    open_run = result_set.runs.filter(run__state__in=_UNFINISHED).select_related("model", "run").first()
    if open_run is not None:
        raise Conflict(f"The run of {open_run.model.name} is {open_run.run.state}: draw when it has ended.")


def _frame(result_set: ResultSet) -> list[tuple[Unit, int]]:
    """Every answer that could be drawn, with its row's id."""
    answered = Response.objects.filter(
        dialogue__run__in=result_set.runs.values("run"), turn__in=result_set.dataset.false_turns
    ).order_by()
    rows = answered.values_list(
        "dialogue__run__model__name", "dialogue__item__premise_class", "dialogue__item__key", "turn", "id"
    )
    return [(Unit(f"{model}/{item}/{turn}", (model, place)), pk) for model, place, item, turn, pk in rows.iterator()]


def _strata(result_set: ResultSet) -> list[Stratum]:
    classes = result_set.dataset.items.order_by("premise_class").values_list("premise_class", flat=True).distinct()
    return [(row.model.name, place) for row in result_set.runs.select_related("model") for place in classes]


def _responses(ids: Sequence[int]) -> list[Response]:
    found = Response.objects.select_related("dialogue__item__image").in_bulk(ids)
    return [found[pk] for pk in ids]


def _tasks(dataset: Dataset, responses: Sequence[Response], show_picture: bool) -> list[NewTask]:
    items = {response.dialogue.item_id for response in responses}
    turns = {(turn.item_id, turn.number): turn for turn in DatasetTurn.objects.filter(item__in=items)}
    if show_picture and any(response.dialogue.item.image is None for response in responses):
        raise Invalid(f"Some pictures of {dataset.name} are missing: attach them, or label without pictures.")
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


def _design(dataset: Dataset, drawn: Draw, frame: int) -> dict[str, Any]:
    """How the set was drawn, as data."""
    return {
        "strata": ["model", "premise_class"],
        "turns": dataset.false_turns,
        "frame": frame,
        "drawn": len(drawn.drawn),
        "shortfalls": [
            {"stratum": list(short.stratum), "available": short.available, "wanted": short.wanted}
            for short in drawn.shortfalls
        ],
    }


def _free_name(dataset: Dataset) -> str:
    """A name that says nothing of where the answers come from."""
    taken = set(LabelSet.objects.values_list("name", flat=True))
    number = LabelSet.objects.filter(dataset=dataset).count() + 1
    while (name := f"Validation {number} of {dataset.name}"[:100]) in taken:
        number += 1
    return name
