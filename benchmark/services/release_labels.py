"""Human labels in releases: out under pseudonyms once locked, in as closed sets of imported people."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid5

from django.contrib.auth.hashers import make_password
from django.utils import timezone

from annotate.models import Adjudication, Assignment, Dataset, DatasetItem, Guideline, Label, LabelSet, LabelTask, User
from annotate.models.labels import AssignmentState, LabelSetState
from annotate.models.people import Role
from benchmark.models import ResultSet, ValidationItem, ValidationSet
from benchmark.releases.reading import Checked, texts_of
from benchmark.releases.rows import AdjudicationRow, HumanLabelRow

_CLIENT = UUID("8c0c1f0e-5d5f-4b0c-9a54-2f6f5b1f7a10")  # stands for "imported" where a page's own id would be
THIRD = "third"  # who decided, where it was none of the annotators


def closed_sets(dataset: Dataset) -> list[ValidationSet]:
    """The validation sets whose labels a release may hold: closed ones."""
    found = ValidationSet.objects.filter(label_set__dataset=dataset, label_set__state=LabelSetState.CLOSED)
    return list(found.select_related("label_set").order_by("label_set__name"))


def facts(validation: ValidationSet) -> dict[str, Any]:
    """What the manifest says of one set."""
    label_set = validation.label_set
    return {
        "name": label_set.name,
        "mode": label_set.mode,
        "labels_per_task": label_set.labels_per_task,
        "show_picture": label_set.show_picture,
        "seed": validation.seed,
        "per_cell": validation.per_cell,
        "design": validation.design,
        "simulated": validation.simulated,
        "guidelines": [{"version": row.version, "text": row.text} for row in label_set.guidelines.all()],
        "annotators": list(label_set.assignments.order_by("pseudonym").values_list("pseudonym", flat=True)),
    }


def rows(validation: ValidationSet) -> Iterator[dict[str, Any]]:
    """Rows of human_labels.jsonl; comments stay at home, they may name people."""
    by_task = _by_task(validation)
    labels = Label.objects.filter(task__label_set=validation.label_set).current()
    made = [
        _row(validation, by_task[label.task_id], label)
        for label in labels.select_related("assignment", "guideline")
        if label.task_id in by_task
    ]
    yield from sorted(made, key=lambda row: (row["model"], row["item"], row["turn"], row["annotator"]))


def _by_task(validation: ValidationSet) -> dict[UUID, ValidationItem]:
    """What was drawn, by its task, with all that says where it comes from."""
    items = ValidationItem.objects.filter(validation_set=validation)
    return {
        item.task_id: item
        for item in items.select_related("response__dialogue__run__model", "response__dialogue__item")
    }


def _row(validation: ValidationSet, item: ValidationItem, label: Label) -> dict[str, Any]:
    return {
        **_place(validation, item),
        "annotator": label.assignment.pseudonym,
        "detect": label.detect,
        "unsure": label.unsure,
        "seconds": label.seconds,
        "guideline": label.guideline.version if label.guideline else None,
        "simulated": label.simulated,
        "inclusion_probability": item.inclusion_probability,
        "stratum": item.stratum,
    }


def _place(validation: ValidationSet, item: ValidationItem) -> dict[str, Any]:
    dialogue = item.response.dialogue
    return {
        "set": validation.label_set.name,
        "model": dialogue.run.model.name,
        "item": dialogue.item.key,
        "turn": item.response.turn,
    }


def decisions(validation: ValidationSet) -> Iterator[dict[str, Any]]:
    """Rows of adjudications.jsonl: what was decided where annotators differ, and why; the latest alone."""
    by_task = _by_task(validation)
    names = dict(validation.label_set.assignments.values_list("person", "pseudonym"))
    current = Adjudication.objects.filter(task__label_set=validation.label_set).current()
    made = [
        {
            **_place(validation, by_task[row.task_id]),
            "detect": row.detect,
            "reason": row.reason,
            "together": row.together,
            "decided_by": names.get(row.decided_by_id, THIRD),
        }
        for row in current
        if row.task_id in by_task
    ]
    yield from sorted(made, key=lambda row: (row["model"], row["item"], row["turn"]))


def insert(found: Checked, *, result_set: ResultSet, response_ids: list[int], items: list[DatasetItem]) -> None:
    """Store the release's human labels as closed sets with their tasks, people and draw."""
    known = {row["name"]: row for row in found.manifest.get("label_sets") or []}
    names = dict.fromkeys(row.set for _, row in found.human)
    for name in names:
        chosen = [(response, row) for response, row in found.human if row.set == name]
        _insert_set(found, result_set, name, known.get(name, {}), chosen, response_ids, items)


def _insert_set(
    found: Checked,
    result_set: ResultSet,
    name: str,
    known: dict[str, Any],
    chosen: list[tuple[int, HumanLabelRow]],
    response_ids: list[int],
    items: list[DatasetItem],
) -> None:
    label_set = _label_set(result_set.dataset, name, known)
    guidelines = _guidelines(label_set, known)
    tasks = _tasks(found, label_set, chosen, items)
    people = _people(label_set, known, chosen)
    validation = ValidationSet.objects.create(
        label_set=label_set,
        result_set=result_set,
        seed=known.get("seed") or 0,
        per_cell=known.get("per_cell") or 0,
        design=known.get("design") or {},
        simulated=bool(known.get("simulated")),
    )
    first = dict(reversed(chosen))
    ValidationItem.objects.bulk_create(
        ValidationItem(
            validation_set=validation,
            task=task,
            response_id=response_ids[response],
            stratum=first[response].stratum or f"{first[response].model} x {task.premise_class}",
            inclusion_probability=first[response].inclusion_probability,
        )
        for response, task in tasks.items()
    )
    Label.objects.bulk_create(
        Label(
            task=tasks[response],
            assignment=people[row.annotator],
            detect=row.detect,
            unsure=row.unsure,
            seconds=row.seconds,
            guideline=guidelines.get(row.guideline or 0),
            simulated=row.simulated,
            client=uuid5(_CLIENT, row.annotator),
            sequence=1,
        )
        for response, row in chosen
    )
    _insert_decisions(label_set, tasks, people, [entry for entry in found.decided if entry[1].set == name])


def _insert_decisions(
    label_set: LabelSet,
    tasks: dict[int, LabelTask],
    people: dict[str, Assignment],
    chosen: list[tuple[int, AdjudicationRow]],
) -> None:
    """Decisions by those who labelled, or by one imported person who stands for everybody else."""
    deciders = {pseudonym: row.person for pseudonym, row in people.items()}
    if any(row.decided_by not in deciders for _, row in chosen):
        deciders[THIRD] = _imported(label_set, THIRD)
    Adjudication.objects.bulk_create(
        Adjudication(
            task=tasks[response],
            detect=row.detect,
            reason=row.reason,
            together=row.together,
            decided_by=deciders.get(row.decided_by) or deciders[THIRD],
        )
        for response, row in chosen
    )


def _label_set(dataset: Dataset, name: str, known: dict[str, Any]) -> LabelSet:
    wanted = name or f"Human labels of {dataset.name}"
    taken = LabelSet.objects.filter(name=wanted).exists()
    now = timezone.now()
    return LabelSet.objects.create(
        name=f"{wanted} ({dataset.name})" if taken else wanted,
        dataset=dataset,
        mode=known.get("mode") or "crossed",
        labels_per_task=known.get("labels_per_task") or 2,
        show_picture=bool(known.get("show_picture")),
        state=LabelSetState.CLOSED,
        opened_at=now,
        closed_at=now,
    )


def _guidelines(label_set: LabelSet, known: dict[str, Any]) -> dict[int, Guideline]:
    return {
        row["version"]: Guideline.objects.create(label_set=label_set, version=row["version"], text=row["text"])
        for row in known.get("guidelines") or []
    }


def _tasks(
    found: Checked, label_set: LabelSet, chosen: list[tuple[int, HumanLabelRow]], items: list[DatasetItem]
) -> dict[int, LabelTask]:
    """One task a response that was labelled, holding what its annotators saw (the answer is read back)."""
    texts = texts_of(found, {response for response, _ in chosen})
    tasks: dict[int, LabelTask] = {}
    for response, row in chosen:
        if response not in tasks:
            index = found.item_index[row.item]
            turn = next(turn for turn in found.items[index].turns if turn.turn == row.turn)
            tasks[response] = LabelTask(
                label_set=label_set,
                created_at=label_set.opened_at,
                premise_class=items[index].premise_class,
                content=turn.content,
                modified=turn.modified or "",
                response=texts[response],
                image=items[index].image if label_set.show_picture else None,
            )
    LabelTask.objects.bulk_create(tasks.values())
    return tasks


def _people(
    label_set: LabelSet, known: dict[str, Any], chosen: list[tuple[int, HumanLabelRow]]
) -> dict[str, Assignment]:
    """An imported person for each pseudonym: inactive, without a password, of this set alone."""
    names = dict.fromkeys([*(known.get("annotators") or []), *(row.annotator for _, row in chosen)])
    return {
        pseudonym: Assignment.objects.create(
            label_set=label_set,
            person=_imported(label_set, pseudonym),
            pseudonym=pseudonym[:60],
            order_key=sha256(f"{label_set.pk}:{pseudonym}".encode()).hexdigest(),
            state=AssignmentState.SUBMITTED,
            submitted_at=label_set.closed_at,
        )
        for pseudonym in names
    }


def _imported(label_set: LabelSet, pseudonym: str) -> User:
    return User.objects.create(
        username=f"imported-{label_set.pk}-{pseudonym}"[:150],
        password=make_password(None),
        role=Role.ANNOTATOR,
        is_active=False,
        imported=True,
    )
