"""How blind the labels of a validation set are: the evidence as plain sections, for a page and a PDF alike.

Reads only. No label, answer, verdict or agreement is in it; people are pseudonyms unless names are asked for.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256

from django.db.models import Count, Max, Min

from annotate.models import Adjudication, Assignment, LabelTask, User
from annotate.records import canonical
from annotate.services import adjudication
from benchmark import evidence
from benchmark.evidence import Look, Work
from benchmark.models import Opened, ValidationSet
from benchmark.services import release_labels

ATTEMPTS = 1000  # listed one by one; more are counted
WORK_OF_A_TASK = {"id", "label_set", "created_at"}  # columns of a task that say nothing of its answer
SHOWN = {
    "premise_class": "class of the false premise",
    "content": "question with the right description",
    "modified": "question as it was asked, with what differs marked",
    "response": "answer, as plain text",
    "image": "picture",
}
TOLD_ELSEWHERE = {
    "cells",
    "shortfalls",
    "naming",
    "sha256",
    "probabilities",
}  # parts of a design with a place of their own
NAMING = {
    "rule": "Rule",
    "found": "Among the answers that could be drawn",
    "replaced": "Passed over for the next in the draw",
    "names": "Version of the list of names",
}
LOOK_COLUMNS = ["Who", "Page", "Views", "Dialogues", "First", "Last"]


@dataclass(frozen=True)
class Table:
    """Rows of words under their columns; `numeric` are the columns set to the right."""

    columns: list[str]
    rows: list[list[str]]
    numeric: tuple[int, ...] = ()


@dataclass(frozen=True)
class Section:
    """One part of the report: a sentence, facts, a table; `empty` stands where the table has no row."""

    title: str
    text: str = ""
    facts: list[tuple[str, str]] = field(default_factory=list)
    table: Table | None = None
    empty: str = ""


@dataclass(frozen=True)
class Report:
    """The whole of it. The same rows in the database give the same report."""

    title: str
    subtitle: str
    sections: list[Section]


class People:
    """Who is called what: annotators by their pseudonyms, others by role and number, or all by name as well."""

    def __init__(self, assignments: Iterable[Assignment], *, names: bool) -> None:
        self._names = names
        self._others = 0
        self._known = {row.person_id: self._called(row.pseudonym, row.person) for row in assignments}

    def _called(self, pseudonym: str, person: User) -> str:
        return f"{pseudonym} ({person.username})" if self._names else pseudonym

    def __call__(self, person: User | None) -> str:
        if person is None:
            return "–"
        if person.pk not in self._known:
            self._others += 1
            self._known[person.pk] = self._called(f"{person.role} {self._others}", person)
        return self._known[person.pk]

    def of(self, person: int) -> str:
        """An annotator by id."""
        return self._known[person]


def report(validation_set: ValidationSet, *, names: bool = False) -> Report:
    """Everything on record of who could have known what, from the rows as they stand."""
    label_set = validation_set.label_set
    assignments = list(label_set.assignments.select_related("person", "label_set", "guideline_read").order_by("id"))
    people = People(assignments, names=names)
    work = evidence.work(label_set, assignments)
    sections = [
        _set(validation_set, people),
        _design(validation_set),
        _who(work, people),
        _shown(validation_set),
        _guidelines(validation_set, work, people),
        _before(validation_set, assignments, people),
        _during(validation_set, assignments, people),
        _attempts(validation_set, assignments, people),
        _opened(validation_set, assignments, people),
        _self_naming(validation_set),
        _times(work, people),
        _doubts(work, people),
        _decisions(validation_set, people),
        _hashes(validation_set),
    ]
    return Report(f"Blindness of {label_set.name}", f"Labels over {label_set.dataset.name}", sections)


def moment(at: datetime | None) -> str:
    """A time in UTC, to the second."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if at else "–"


def _set(row: ValidationSet, people: People) -> Section:
    label_set = row.label_set
    facts = [
        ("Set", label_set.name),
        ("Dataset", label_set.dataset.name),
        ("Result set", row.result_set.name),
        ("Mode", label_set.get_mode_display()),
        ("State", label_set.state),
        ("Opened", f"{moment(label_set.opened_at)}, by {people(label_set.opened_by)}"),
        ("Closed", f"{moment(label_set.closed_at)}, by {people(label_set.closed_by)}" if label_set.closed_at else "–"),
        ("Simulated", "yes: made offline, not by real models or people" if row.simulated else "no"),
    ]
    return Section("The set", facts=facts)


def _design(row: ValidationSet) -> Section:
    """Seed and design as they are stored: whoever has them and the data can draw again."""
    design = {name: value for name, value in row.design.items() if name not in TOLD_ELSEWHERE}
    stored = [(name.replace("_", " ").capitalize(), _plain(value)) for name, value in sorted(design.items())]
    short = ("Strata that fell short", str(len(row.design.get("shortfalls") or [])))
    facts = [("Seed", str(row.seed)), ("Answers of each stratum", str(row.per_cell)), *stored, short]
    text = "The draw depends on the seed and the data alone. The seed is withheld from people while they label."
    return Section("Draw", text, facts, _strata(row))


def _strata(row: ValidationSet) -> Table:
    """How many answers of each stratum could be drawn and were, and how likely each was; from the items drawn."""
    held = {" / ".join(map(str, cell["stratum"])): cell for cell in row.design.get("cells") or []}
    drawn = (
        row.items.order_by("stratum")
        .values_list("stratum")
        .annotate(n=Count("pk"), low=Min("inclusion_probability"), high=Max("inclusion_probability"))
    )
    rows = [
        [
            name,
            str(held.get(name, {}).get("size", "–")),
            str(n),
            f"{low:.4f}" if low == high else f"{low:.4f}-{high:.4f}",
        ]
        for name, n, low, high in drawn
    ]
    return Table(["Stratum", "Answers held", "Drawn", "Probability of each"], rows, (1, 2, 3))


def _plain(value: object) -> str:
    """A value of the design in words; what has parts of its own as canonical JSON."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and not any(isinstance(part, dict | list) for part in value):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, dict | list):
        return canonical(value)
    return "–" if value is None else str(value)


def _who(work: Sequence[Work], people: People) -> Section:
    rows = [
        [
            people(mine.assignment.person),
            mine.assignment.person.role,
            "open"
            if not mine.assignment.is_locked
            else "submitted"
            if mine.assignment.submitted_at
            else "locked by closing",
            moment(evidence.locked_at(mine.assignment)),
            f"{mine.labelled} of {mine.total}",
            moment(mine.assignment.practised_at),
            f"v{mine.assignment.guideline_read.version}" if mine.assignment.guideline_read else "–",
        ]
        for mine in work
    ]
    columns = ["Who", "Role", "State", "Labels locked", "Labelled", "Practised", "Guidelines read"]
    text = "Each person gets the tasks in an order of their own, a keyed hash of set and person."
    return Section("Who labelled", text, table=Table(columns, rows, (4,)), empty="Nobody was assigned.")


def _shown(row: ValidationSet) -> Section:
    """Read from the table of tasks itself, so that a column that is added cannot be forgotten here."""
    columns = [column.name for column in LabelTask._meta.concrete_fields if column.name not in WORK_OF_A_TASK]
    picture = "beside each answer" if row.label_set.show_picture else "not shown"
    facts = [(name, picture if name == "image" else SHOWN.get(name, "shown")) for name in columns]
    text = (
        "These are all the fields that the page of a task can show; its id is random, all tasks have one creation "
        "time, and the table that links a task to a model, run or verdict is out of that page's reach."
    )
    return Section("What was shown", text, facts=facts)


def _guidelines(row: ValidationSet, work: Sequence[Work], people: People) -> Section:
    rows = [
        [
            f"v{guideline.version}",
            moment(guideline.created_at),
            people(guideline.by),
            str(sum(mine.by_guideline[guideline.version] for mine in work)),
            sha256(guideline.text.encode("utf-8", "surrogatepass")).hexdigest(),
            guideline.change or "–",
        ]
        for guideline in row.label_set.guidelines.select_related("by").order_by("version")
    ]
    columns = ["Version", "Since", "By", "Labels", "sha256 of its text", "What changed"]
    untold = sum(mine.by_guideline[None] for mine in work)
    facts = [("Labels without a version", str(untold))] if untold else []
    return Section("Guidelines", facts=facts, table=Table(columns, rows, (3,)), empty="No guidelines are stored.")


def _looks(looks: Iterable[Look], people: People) -> Table:
    rows = [
        [people.of(look.person), look.page, str(look.views), str(look.of), moment(look.first), moment(look.last)]
        for look in looks
    ]
    return Table(LOOK_COLUMNS, rows, (2, 3))


def _before(row: ValidationSet, assignments: Sequence[Assignment], people: People) -> Section:
    found = _looks(evidence.seen_before(row, assignments), people)
    clean = [people(one.person) for one in assignments if all(line[0] != people(one.person) for line in found.rows)]
    text = "Views of single answers, verdicts or labels of this dataset, by those who labelled, before the draw."
    facts = [("Saw none", ", ".join(clean))] if clean and found.rows else []
    return Section(
        "Seen before the draw", text, facts, found, "Nobody who labelled had seen an answer of this dataset."
    )


def _during(row: ValidationSet, assignments: Sequence[Assignment], people: People) -> Section:
    text = "Views of single answers, verdicts or labels after the draw, until that person's own labels were locked."
    found = _looks(evidence.seen_while_labelling(row, assignments), people)
    return Section("Seen while labelling", text, table=found, empty="None.")


def _attempts(row: ValidationSet, assignments: Sequence[Assignment], people: People) -> Section:
    found = evidence.attempts(row, assignments)
    total = found.count()
    rows = [
        [moment(look.at), people.of(look.person_id), look.page, str(look.dialogue_id or "–")]
        for look in found[:ATTEMPTS]
    ]
    text = (
        "Each attempt since the draw to open something withheld. The page named was not shown. People who only "
        "annotate have no such pages: for them every address of models, runs and results answers 'not found'."
    )
    facts = [("Attempts", str(total)), ("Listed", f"the first {ATTEMPTS:,}")] if total > ATTEMPTS else []
    return Section("What was withheld", text, facts, Table(["When", "Who", "Page", "Dialogue"], rows), "None.")


def _opened(row: ValidationSet, assignments: Sequence[Assignment], people: People) -> Section:
    ends = {one.person_id: evidence.locked_at(one) for one in assignments}
    found = Opened.objects.filter(dataset=row.label_set.dataset_id).select_related("person").order_by("first_at", "id")
    rows = [[moment(look.first_at), people(look.person), look.page, _phase(row, look, ends)] for look in found]
    text = "The first time that each person opened aggregates of this dataset: results, their tables, agreement."
    table = Table(["First opened", "Who", "Page", "When that was"], rows)
    return Section("Results and agreement", text, table=table, empty="Nobody has opened them.")


def _phase(row: ValidationSet, look: Opened, ends: dict[int, datetime | None]) -> str:
    if look.first_at < row.label_set.opened_at:
        return "before the draw"
    if look.person_id not in ends:
        return "did not label"
    end = ends[look.person_id]
    return "after own labels were locked" if end is not None and look.first_at >= end else "while labelling"


def _self_naming(row: ValidationSet) -> Section:
    told = row.design.get("naming") or {"rule": "leave"}
    facts = [("Among the answers drawn", str(evidence.self_naming(row)))]
    facts += [(NAMING.get(name, name.capitalize()), _plain(value)) for name, value in told.items() if name != "drawn"]
    text = (
        "An answer that names its own model or maker could tell an annotator who speaks. The rule was chosen before "
        "the draw, and applied by a program, unseen."
    )
    return Section("Answers that name themselves", text, facts=facts)


def _times(work: Sequence[Work], people: People) -> Section:
    rows = []
    for mine in work:
        found = mine.quartiles
        shown = [f"{value:.1f}" for value in found] if found else ["–"] * 3
        rows.append([people(mine.assignment.person), str(len(mine.seconds)), *shown, f"{sum(mine.seconds) / 60:.1f}"])
    columns = ["Who", "Labels with a time", "Lower quartile (s)", "Median (s)", "Upper quartile (s)", "In all (min)"]
    text = "Seconds that an answer was in view before the label that counts; idle time is left out."
    return Section("Label times", text, table=Table(columns, rows, (1, 2, 3, 4, 5)), empty="Nobody was assigned.")


def _doubts(work: Sequence[Work], people: People) -> Section:
    rows = [
        [
            people(mine.assignment.person),
            *map(str, (mine.labelled, mine.unsure, mine.comments, mine.changed, mine.rows, mine.simulated)),
        ]
        for mine in work
    ]
    columns = ["Who", "Labelled", "Unsure", "With a comment", "Answer changed", "Rows stored", "Simulated"]
    text = "A change is a new row and the latest counts; every row is kept."
    table = Table(columns, rows, (1, 2, 3, 4, 5, 6))
    return Section("Doubts and changes", text, table=table, empty="Nobody was assigned.")


def _decisions(row: ValidationSet, people: People) -> Section:
    if row.label_set.closed_at is None:
        return Section("Disagreements", "The set is open: nobody has seen where its labels differ.")
    found = adjudication.docket(row.label_set)
    made = Adjudication.objects.filter(pk__in=[decision.pk for decision in found.decisions.values()])
    counts: dict[tuple[str, str], int] = {}
    for decision in made.select_related("decided_by").order_by("id"):
        how = "together" if decision.together else "third person"
        key = (people(decision.decided_by), how)
        counts[key] = counts.get(key, 0) + 1
    rows = [[who, how, str(n)] for (who, how), n in counts.items()]
    facts = [("Disagreements", str(found.total)), ("Decided", str(found.done))]
    text = "Decided after closing, without names, each with a reason; the labels stay as they are."
    return Section("Disagreements", text, facts, Table(["Who", "How", "Decisions"], rows, (2,)), "None decided yet.")


def _hashes(row: ValidationSet) -> Section:
    drawn = row.items.order_by().values_list(
        "response__dialogue__run__model__name",
        "response__dialogue__item__key",
        "response__turn",
        "stratum",
        "inclusion_probability",
    )
    facts = [
        ("Dataset", row.label_set.dataset.dataset_hash),
        ("Design", _sha256([{"seed": row.seed, "per_cell": row.per_cell, "design": row.design}])),
        *([("Draw, as kept", row.design["sha256"])] if row.design.get("sha256") else []),
        ("Draw", _sha256([list(line) for line in sorted(drawn)])),
        ("Labels", _sha256(release_labels.rows(row))),
    ]
    text = (
        "sha256. Dataset: as in the release's manifest. Labels: of this set's lines of human_labels.jsonl, as a "
        "release holds them. Design and draw: of canonical JSON, one line each (sorted keys, no spaces)."
    )
    return Section("Hashes", text, facts=facts)


def _sha256(lines: Iterable[object]) -> str:
    digest = sha256()
    for line in lines:
        digest.update(canonical(line).encode() + b"\n")
    return digest.hexdigest()
