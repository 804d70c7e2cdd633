"""Labels of a set in files: what goes out, and bringing labels in that were given elsewhere.

An import is looked at first, then stored whole or not at all. Its labels are marked by a client id that follows from
the file, so that the same file stores once; what it says against a stored label is a change that has to be wanted.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from django.db import transaction

from annotate import interchange, worklist
from annotate.interchange import Said, Shown
from annotate.models import Assignment, Guideline, Label, LabelClaim, LabelSet, LabelTask
from annotate.models.labels import AssignmentState, LabelSetState
from annotate.services import labels
from fpco_site.errors import Conflict, Invalid

_FILE = uuid.UUID("1d1a5a1f-0d53-4a3e-8e0c-6d0a53b1c1d2")  # labels of a file stand under ids made from this one
_NAMED = 5  # places that a refusal names

type Rows = list[tuple[Shown, list[Said]]]


# Out ------------------------------------------------------------------------------------------------


def own(assignment: Assignment) -> Rows:
    """This person's tasks in their own order, with their own labels: what they may see, and nothing else."""
    said = _said(Label.objects.filter(assignment=assignment).current(), assignment.label_set)
    return [(_shown(task), said[task.pk]) for task in labels.tasks_in_order(assignment)]


def everybodys(label_set: LabelSet) -> Rows:
    """All tasks, by their ids, which tell nothing, with the labels of everybody."""
    said = _said(Label.objects.filter(assignment__label_set=label_set).current(), label_set)
    tasks = LabelTask.objects.filter(label_set=label_set).select_related("image").order_by("pk")
    return [(_shown(task), said[task.pk]) for task in tasks]


def _shown(task: LabelTask) -> Shown:
    return Shown(
        task=str(task.pk),
        premise_class=task.premise_class,
        content=task.content,
        modified=task.modified,
        response=task.response,
        image=task.image.sha256 if task.image else "",
    )


def _said(rows: Iterable[Label], label_set: LabelSet) -> dict[uuid.UUID, list[Said]]:
    names = dict(label_set.assignments.values_list("pk", "pseudonym"))
    versions = dict(label_set.guidelines.values_list("pk", "version"))
    extras = worklist.extras(label_set)
    found: dict[uuid.UUID, list[Said]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.assignment_id):
        found[row.task_id].append(
            Said(
                task=str(row.task_id),
                names=(names[row.assignment_id],),
                detect=row.detect,
                unsure=row.unsure,
                comment=row.comment,
                seconds=row.seconds,
                guideline=versions.get(row.guideline_id) if row.guideline_id else None,
                origin=_origin(row),
                at=f"{row.created_at:%Y-%m-%dT%H:%M:%SZ}",
                extra=(row.task_id, row.assignment_id) in extras,
            )
        )
    return found


def _origin(row: Label) -> str:
    if row.simulated:
        return interchange.SIMULATED
    return interchange.IMPORTED if row.imported else interchange.PAGE


def write(
    rows: Rows,
    kind: str,
    *,
    label_set: LabelSet,
    predictions: Mapping[str, Sequence[tuple[str, bool]]] | None = None,
) -> str:
    """The text of a file of one of `interchange.FORMATS`. A task without a label keeps its row."""
    if kind == "json":
        newest = Guideline.objects.filter(label_set=label_set).last()
        return interchange.labelstudio.write(
            rows, guideline=newest.version if newest else None, predictions=predictions
        )
    flat: list[tuple[Shown, Said | None]] = []
    for shown, said in rows:
        flat += [(shown, one) for one in said] or [(shown, None)]
    return interchange.tables.write_csv(flat) if kind == "csv" else interchange.tables.write_jsonl(flat)


# In -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """One label of a file, whose task and person are known."""

    task: uuid.UUID
    assignment: int
    detect: bool
    unsure: bool = False
    comment: str = ""
    seconds: float | None = None
    guideline: int | None = None
    simulated: bool = False
    where: str = ""


@dataclass(frozen=True)
class Batch:
    """The labels of a file of this hash, all of tasks and people of one set; `without` counts tasks that had none."""

    digest: str
    entries: list[Entry]
    without: int = 0

    def client(self, label_set: LabelSet) -> uuid.UUID:
        """What stands where a page's own id would be: the same for the same file and set."""
        return uuid.uuid5(_FILE, f"{label_set.pk}:{self.digest}")


@dataclass
class Counts:
    """What an import does for one person. `again` came with the same file before, `same` says what is stored."""

    pseudonym: str
    new: int = 0
    same: int = 0
    again: int = 0
    changed: int = 0


@dataclass
class Outcome:
    """What an import would do or has done, by person; `changes` are entries that differ from stored labels."""

    people: list[Counts] = field(default_factory=list)
    to_store: list[Entry] = field(default_factory=list)
    changes: list[Entry] = field(default_factory=list)
    without: int = 0

    @property
    def stored(self) -> int:
        return len(self.to_store)


def read(
    *,
    label_set: LabelSet,
    data: bytes,
    name: str,
    who: Mapping[str, str] | None = None,
    whose: Assignment | None = None,
    only: Assignment | None = None,
) -> Batch:
    """The labels of a file, each of a task and a person of the set.

    `who` says who is meant by a name of the file (pseudonym or username); `whose` are labels without a name. With
    `only`, labels of anybody else are refused.

    Raises
    ------
    Invalid
        For a file that can't be read, an id, a person or a guideline that the set does not have, or two labels of one
        person on one task; with the line.
    """
    file = interchange.parse(data, name=name)
    _refuse_unknown(file.said, label_set, name)
    people, guidelines = _people(label_set, who or {}), dict(label_set.guidelines.values_list("version", "pk"))
    entries = [_entry(said, _person(said, people, whose), guidelines) for said in file.said]
    _refuse_twice(entries)
    foreign = next((entry for entry in entries if only and entry.assignment != only.pk), None)
    if foreign:
        raise Invalid(f"{foreign.where}: while you label here, you can bring in your own labels alone.")
    return Batch(sha256(data).hexdigest(), entries, file.without)


def who_is_who(text: str) -> dict[str, str]:
    """From "7=H1, lea@lab.example=H2" to who is meant by which name. Raises Invalid for what is no such pair."""
    pairs = [pair.strip() for pair in text.replace("\n", ",").split(",") if pair.strip()]
    found = {}
    for pair in pairs:
        name, sign, meant = (part.strip() for part in pair.rpartition("="))
        if not (name and sign and meant):
            raise Invalid(f"{pair!r} does not say who is who: write the name in the file, =, and the annotator.")
        found[name] = meant
    return found


def _refuse_unknown(found: Sequence[Said], label_set: LabelSet, name: str) -> None:
    known = {str(pk) for pk in LabelTask.objects.filter(label_set=label_set).values_list("pk", flat=True)}
    unknown = [said for said in found if said.task not in known]
    if unknown:
        places = ", ".join(f"{said.where.rpartition(', ')[2]} ({said.task})" for said in unknown[:_NAMED])
        more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
        raise Invalid(f"{name}: {len(unknown)} labels are of tasks that are not of this set: {places}{more}.")


def _people(label_set: LabelSet, who: Mapping[str, str]) -> dict[str, Assignment]:
    """Everybody of the set by pseudonym, username and the names that a file has for them."""
    rows = label_set.assignments.select_related("person")
    people = {row.person.username: row for row in rows} | {row.pseudonym: row for row in rows}
    for meant in who.values():
        if meant not in people:
            raise Invalid(f"{meant} does not label in {label_set.name}; those who do: {_listed(people)}.")
    return people | {name: people[meant] for name, meant in who.items()}


def _listed(people: Mapping[str, Assignment]) -> str:
    found = sorted({row.pseudonym: row for row in people.values()}.values(), key=lambda row: row.pk)
    return ", ".join(f"{row.pseudonym} ({row.person.username})" for row in found) or "nobody yet"


def _person(said: Said, people: Mapping[str, Assignment], whose: Assignment | None) -> Assignment:
    found = next((people[name] for name in said.names if name in people), None)
    if found is not None:
        return found
    if said.names:
        raise Invalid(
            f"{said.where}: {said.annotator} is nobody of this set; say who is meant. "
            f"Those who label: {_listed(people)}."
        )
    if whose is None:
        raise Invalid(f"{said.where}: it does not say whose label this is; say whose labels these are.")
    return whose


def _entry(said: Said, person: Assignment, guidelines: Mapping[int, int]) -> Entry:
    if said.guideline is not None and said.guideline not in guidelines:
        raise Invalid(f"{said.where}: this set has no version {said.guideline} of its guidelines.")
    return Entry(
        task=uuid.UUID(said.task),
        assignment=person.pk,
        detect=said.detect,
        unsure=said.unsure,
        comment=said.comment,
        seconds=said.seconds,
        guideline=guidelines[said.guideline] if said.guideline is not None else None,
        simulated=said.origin == interchange.SIMULATED,
        where=said.where,
    )


def _refuse_twice(entries: Iterable[Entry]) -> None:
    seen: dict[tuple[uuid.UUID, int], Entry] = {}
    for entry in entries:
        before = seen.setdefault((entry.task, entry.assignment), entry)
        if before is not entry:
            raise Invalid(
                f"{entry.where}: the same person labelled this task already on {before.where.rpartition(', ')[2]}."
            )


def look(*, label_set: LabelSet, batch: Batch) -> Outcome:
    """What `store` would do now."""
    people = {row.pk: Counts(row.pseudonym) for row in label_set.assignments.order_by("pk")}
    mine = Label.objects.filter(assignment__in={entry.assignment for entry in batch.entries})
    current = {(row.task_id, row.assignment_id): row for row in mine.current()}
    again = set(mine.filter(client=batch.client(label_set)).values_list("task_id", "assignment_id"))
    found = Outcome(without=batch.without)
    for entry in batch.entries:
        key, counts = (entry.task, entry.assignment), people[entry.assignment]
        stored = current.get(key)
        if key in again:
            counts.again += 1
        elif stored is None:
            counts.new += 1
            found.to_store.append(entry)
        elif (stored.detect, stored.unsure, stored.comment) == (entry.detect, entry.unsure, entry.comment):
            counts.same += 1
        else:
            counts.changed += 1
            found.to_store.append(entry)
            found.changes.append(entry)
    found.people = [row for row in people.values() if row.new or row.same or row.again or row.changed]
    return found


@transaction.atomic
def store(*, label_set: LabelSet, batch: Batch, replace: bool = False) -> Outcome:
    """Store the labels of a file, all or none. A label that differs from a stored one is a change of it.

    Raises
    ------
    Conflict
        Where labels are locked, or stored ones would be changed without `replace`.
    """
    ids = {entry.assignment for entry in batch.entries}
    # All people first and then the set, as closing does: nobody waits for somebody who waits for them.
    people = list(Assignment.objects.select_for_update().filter(pk__in=ids).order_by("pk"))
    label_set = LabelSet.objects.select_for_update(no_key=True).get(pk=label_set.pk)
    _refuse_locked(label_set, people)
    found = look(label_set=label_set, batch=batch)
    if found.changes and not replace:
        raise Conflict(
            f"{len(found.changes)} of these labels differ from stored ones (first: {found.changes[0].where}). "
            "Nothing was stored; say that you want to change them."
        )
    client = batch.client(label_set)
    Label.objects.bulk_create([_label(entry, client) for entry in found.to_store], batch_size=500)
    LabelClaim.objects.filter(assignment__in=ids, task__in=[entry.task for entry in found.to_store]).delete()
    return found


def _refuse_locked(label_set: LabelSet, people: Iterable[Assignment]) -> None:
    if label_set.state == LabelSetState.CLOSED:
        raise Conflict("This set is closed; its labels can't be changed any more.")
    for row in people:
        if row.state == AssignmentState.SUBMITTED:
            raise Conflict(f"{row.pseudonym} has submitted; these labels can't be changed any more.")


def _label(entry: Entry, client: uuid.UUID) -> Label:
    return Label(
        task_id=entry.task,
        assignment_id=entry.assignment,
        detect=entry.detect,
        unsure=entry.unsure,
        comment=entry.comment,
        seconds=entry.seconds,
        guideline_id=entry.guideline,
        client=client,
        sequence=1,
        simulated=entry.simulated,
    )
