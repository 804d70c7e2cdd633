"""Labels out of a validation set and into it as files: for whom, what is in them, and all or nothing."""

import csv
import json
import uuid
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotate.models import Assignment, Label, LabelTask, User
from annotate.services import interchange, labels
from benchmark import frames_agreement
from benchmark.models import Exposure, ValidationSet
from benchmark.services import label_files, validation
from fpco_site.errors import Conflict, Invalid
from tests import factories

pytestmark = pytest.mark.db

As = Callable[[User], Client]
KINDS = ("json", "csv", "jsonl")


@pytest.fixture
def row(lea: User, lou: User, ada: User) -> ValidationSet:
    """Lea and Lou label six answers of one model; Ada opened them."""
    over = factories.dataset(items=6)
    run = factories.run(dataset=over, model=factories.model("Model A"), answered=10, state="complete")
    factories.detector_labels(factories.detector("strict"), run, lambda response: response.turn % 2 == 0)
    return validation.open(dataset=over, annotators=[lea, lou], by=ada, per_cell=2, seed=918273645)


def mine(row: ValidationSet, who: User) -> Assignment:
    return row.label_set.assignments.select_related("label_set").get(person=who)


def press(row: ValidationSet, who: User, place: int, detect: bool = True, **more: Any) -> Label:
    task = labels.tasks_in_order(mine(row, who))[place]
    return labels.record(assignment=mine(row, who), task=task, detect=detect, client=uuid.uuid4(), sequence=1, **more)


def told(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def jsonl(row: ValidationSet, *said: tuple[str, bool], first: int = 0) -> bytes:
    """A file in which each of these people labels the next task of the set."""
    tasks = list(row.label_set.tasks.order_by("pk"))[first:]
    lines = [
        {"task": str(task.pk), "annotator": name, "detect": detect}
        for task, (name, detect) in zip(tasks, said, strict=False)
    ]
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


def bring(row: ValidationSet, data: bytes, *, replace: bool = False, **more: Any) -> interchange.Outcome:
    batch = interchange.read(label_set=row.label_set, data=data, name="labels", **more)
    return interchange.store(label_set=row.label_set, batch=batch, replace=replace)


# Out ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_lea_takes_her_tasks_and_labels_and_nobody_elses(
    row: ValidationSet, lea: User, lou: User, as_: As, kind: str
) -> None:
    press(row, lea, 0, comment="the grey cat")
    press(row, lou, 0, comment="a green parrot")
    reply = as_(lea).get(reverse("label_export", args=[row.label_set_id, kind]))
    assert reply["Content-Disposition"] == f'attachment; filename="labels.{kind}"'
    assert "no-store" in reply["Cache-Control"]
    assert "the grey cat" in reply.text
    assert "a green parrot" not in reply.text
    assert "H2" not in reply.text
    assert "Model A" not in reply.text
    assert "strict" not in reply.text


def test_her_file_is_in_her_order_and_has_what_her_page_has(row: ValidationSet, lea: User, as_: As) -> None:
    press(row, lea, 1, False, unsure=True, seconds=2.5)
    rows = told(as_(lea).get(reverse("label_export", args=[row.label_set_id, "jsonl"])).text)
    assert [one["task"] for one in rows] == [str(task.pk) for task in labels.tasks_in_order(mine(row, lea))]
    assert [one["detect"] for one in rows] == [None, False, None, None, None, None]
    task = LabelTask.objects.get(pk=rows[1]["task"])
    assert {key: value for key, value in rows[1].items() if key != "at"} == {
        "task": str(task.pk),
        "annotator": "H1",
        "premise_class": task.premise_class,
        "content": task.content,
        "modified": task.modified,
        "response": task.response,
        "image": "",
        "detect": False,
        "unsure": True,
        "comment": "",
        "seconds": 2.5,
        "guideline": 1,
        "origin": "page",
        "extra": False,
    }


def test_ada_takes_everybodys_labels_and_her_look_is_recorded(
    row: ValidationSet, ada: User, lea: User, lou: User, as_: As
) -> None:
    press(row, lea, 0)
    press(row, lou, 0)
    rows = told(as_(ada).get(reverse("validation_export", args=[row.pk, "jsonl"])).text)
    assert sorted(one["annotator"] for one in rows if one["detect"] is not None) == ["H1", "H2"]
    assert [one["task"] for one in rows] == sorted(one["task"] for one in rows)
    assert [(seen.person, seen.page, seen.withheld) for seen in Exposure.objects.all()] == [
        (ada, "validation_export", False)
    ]


def test_detectors_are_predictions_once_the_set_is_closed(row: ValidationSet, ada: User, lea: User, as_: As) -> None:
    url = reverse("validation_export", args=[row.pk, "json"])
    assert all(task["predictions"] == [] for task in as_(ada).get(url).json())
    validation.close(validation_set=row, by=ada)
    said = {
        task["data"]["task"]: [
            (one["model_version"], one["result"][0]["value"]["choices"]) for one in task["predictions"]
        ]
        for task in as_(ada).get(url).json()
    }
    assert said == {
        str(item.task_id): [("strict (simulated)", ["corrects" if item.response.turn % 2 == 0 else "goes along"])]
        for item in row.items.select_related("response")
    }
    assert "predictions" not in as_(lea).get(reverse("label_export", args=[row.label_set_id, "csv"])).text
    assert all(
        task["predictions"] == []
        for task in as_(lea).get(reverse("label_export", args=[row.label_set_id, "json"])).json()
    )


def test_an_author_who_labels_gets_own_labels_alone(
    row: ValidationSet, ben: User, ada: User, lea: User, as_: As
) -> None:
    both = validation.open(dataset=row.label_set.dataset, annotators=[ben, lea], by=ada, per_cell=1, seed=5)
    press(both, lea, 0, comment="hers")
    press(both, ben, 1, comment="my own")
    text = as_(ben).get(reverse("validation_export", args=[both.pk, "csv"])).text
    assert "my own" in text
    assert "hers" not in text
    other = as_(ben).get(reverse("validation_export", args=[row.pk, "csv"]))
    assert other.status_code == 403
    assert Exposure.objects.get(person=ben).withheld


def test_files_do_not_exist_for_others(
    row: ValidationSet, lea: User, lou: User, rita: User, ada: User, as_: As
) -> None:
    own = reverse("label_export", args=[row.label_set_id, "csv"])
    pages = [reverse("validation_export", args=[row.pk, "csv"]), reverse("validation_import", args=[row.pk])]
    store = reverse("validation_store", args=[row.pk])
    for who in (lea, rita, factories.person("max", "annotator")):
        assert [as_(who).get(page).status_code for page in pages] == [404, 404]
        assert as_(who).post(store).status_code == 404
    assert [as_(who).get(own).status_code for who in (ada, rita)] == [404, 404]
    assert Client().get(own).status_code == 302
    assert as_(ada).get(reverse("validation_export", args=[row.pk, "xlsx"])).status_code == 404
    assert as_(lea).get(reverse("label_export", args=[row.label_set_id, "exe"])).status_code == 404


# In -------------------------------------------------------------------------------------------------


def test_labels_come_in_under_the_people_of_the_set_and_are_marked(row: ValidationSet, lea: User, lou: User) -> None:
    bring(row, jsonl(row, ("H1", True), ("lou", False)))
    made = {(label.assignment.person, label.detect, label.imported) for label in Label.objects.all()}
    assert made == {(lea, True, True), (lou, False, True)}
    assert not press(row, lea, 0).imported
    rows = interchange.everybodys(row.label_set)
    assert {said.origin for _, many in rows for said in many} >= {"imported"}


def test_the_same_file_twice_stores_once_even_after_a_change_of_mind(row: ValidationSet, lea: User) -> None:
    data = jsonl(row, ("H1", True), ("H1", True))
    assert bring(row, data).stored == 2
    task = row.label_set.tasks.order_by("pk")[0]
    labels.record(assignment=mine(row, lea), task=task, detect=False, client=uuid.uuid4(), sequence=1)
    again = bring(row, data)
    assert (again.stored, again.people[0].again) == (0, 2)
    assert Label.objects.current().get(task=task).detect is False


def test_a_set_goes_out_and_comes_back_into_nothing_new(row: ValidationSet, lea: User, lou: User) -> None:
    press(row, lea, 0, unsure=True, comment="=hm", seconds=1.5)
    press(row, lou, 3, False)
    for kind in KINDS:
        text = label_files.export(validation_set=row, kind=kind, user=factories.person(f"a{kind}"), page="x")
        found = bring(row, text.encode())
        assert (found.stored, sum(counts.same for counts in found.people)) == (0, 2)


def test_a_file_of_label_studio_says_who_is_who(row: ValidationSet, lou: User) -> None:
    task = row.label_set.tasks.first()
    assert task is not None
    result = [{"from_name": "detect", "value": {"choices": ["corrects"]}}]
    made = [{"data": {"task": str(task.pk)}, "annotations": [{"completed_by": 7, "result": result, "lead_time": 3}]}]
    data = json.dumps(made).encode()
    with pytest.raises(
        Invalid, match=r"line 1: 7 is nobody of this set; say who is meant\. Those who label: H1 \(lea\), H2"
    ):
        bring(row, data)
    bring(row, data, who=interchange.who_is_who("7 = H2"))
    assert [(label.assignment.person, label.seconds) for label in Label.objects.all()] == [(lou, 3.0)]


def test_labels_without_a_name_are_whose_one_says(row: ValidationSet, lea: User) -> None:
    data = jsonl(row, ("", True))
    with pytest.raises(Invalid, match="line 1: it does not say whose label this is"):
        bring(row, data)
    bring(row, data, whose=mine(row, lea))
    assert Label.objects.get().assignment.person == lea


def test_one_unknown_id_refuses_the_whole_file_with_its_line(row: ValidationSet) -> None:
    foreign = uuid.uuid4()
    data = jsonl(row, ("H1", True)) + json.dumps({"task": str(foreign), "annotator": "H1", "detect": True}).encode()
    with pytest.raises(Invalid, match=rf"1 labels are of tasks that are not of this set: line 2 \({foreign}\)\."):
        bring(row, data)
    assert not Label.objects.exists()


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ([{"guideline": 4}], "line 1: this set has no version 4"),
        ([{}, {}], "line 2: the same person labelled this task already on line 1"),
        ([{}, {"annotator": "lea"}], "line 2: the same person labelled"),
        ([{"annotator": "max"}], "line 1: max is nobody of this set"),
    ],
)
def test_labels_that_cannot_be_refuse_the_whole_file(
    row: ValidationSet, said: list[dict[str, Any]], sentence: str
) -> None:
    task = str(row.label_set.tasks.order_by("pk")[0].pk)
    lines = [json.dumps({"task": task, "annotator": "H1", "detect": True, **more}) for more in said]
    with pytest.raises(Invalid, match=sentence):
        bring(row, "\n".join(lines).encode())
    assert not Label.objects.exists()


def test_a_label_that_differs_from_a_stored_one_is_a_change_that_must_be_wanted(row: ValidationSet, lea: User) -> None:
    bring(row, jsonl(row, ("H1", True)))
    data = jsonl(row, ("H1", False), ("H1", False))
    with pytest.raises(Conflict, match=r"1 of these labels differ from stored ones \(first: labels, line 1\)"):
        bring(row, data)
    assert Label.objects.count() == 1
    assert bring(row, data, replace=True).stored == 2
    assert sorted(Label.objects.values_list("detect", flat=True)) == [False, False, True]
    assert [label.detect for label in Label.objects.current()] == [False, False]


def test_nothing_comes_into_locked_labels(row: ValidationSet, lea: User, ada: User) -> None:
    for place in range(6):
        press(row, lea, place)
    labels.submit(assignment=mine(row, lea))
    with pytest.raises(Conflict, match="H1 has submitted"):
        bring(row, jsonl(row, ("H2", True), ("H1", False)), replace=True)
    validation.close(validation_set=row, by=ada)
    with pytest.raises(Conflict, match="set is closed"):
        bring(row, jsonl(row, ("H2", True)))
    assert Label.objects.count() == 6


def test_made_up_labels_stay_marked_on_their_way(row: ValidationSet, lea: User) -> None:
    press(row, lea, 0, simulated=True)
    text = interchange.write(interchange.own(mine(row, lea)), "json", label_set=row.label_set)
    Label.objects.all().delete()
    bring(row, text.encode())
    assert Label.objects.get().simulated


def test_a_label_beyond_what_a_pool_wants_goes_out_marked_and_is_left_out_of_agreement(
    row: ValidationSet, ada: User, lea: User, lou: User
) -> None:
    pool = validation.open(
        dataset=row.label_set.dataset,
        annotators=[lea, lou],
        by=ada,
        per_cell=2,
        mode="pool",
        labels_per_task=1,
    )
    bring(pool, jsonl(pool, ("H2", False), ("H2", False)))
    bring(pool, jsonl(pool, ("H1", True)))
    bring(pool, jsonl(pool, ("H2", True)), replace=True)
    sent = [said for _, many in interchange.everybodys(pool.label_set) for said in many]
    assert sorted((said.annotator, said.detect, said.extra) for said in sent) == [
        ("H1", True, True),
        ("H2", False, False),
        ("H2", True, False),
    ]
    given = {rater.name: rater.given for rater in frames_agreement.frame(pool).raters if rater.kind == "human"}
    assert given == {"H1": 0, "H2": 2}


# The page -------------------------------------------------------------------------------------------


def look(client: Client, row: ValidationSet, data: bytes, **more: Any) -> Any:
    return client.post(
        reverse("validation_import", args=[row.pk]), {"file": SimpleUploadedFile("labels.jsonl", data), **more}
    )


def test_ada_looks_at_a_file_and_then_stores_it(row: ValidationSet, ada: User, lea: User, as_: As) -> None:
    client = as_(ada)
    assert reverse("validation_import", args=[row.pk]) in client.get(reverse("validation_detail", args=[row.pk])).text
    page = look(client, row, jsonl(row, ("H1", True), ("H1", False)))
    assert "Store 2 labels" in page.text
    assert not Label.objects.exists()
    reply = client.post(reverse("validation_store", args=[row.pk]), {"ticket": page.context["ticket"]}, follow=True)
    assert "2 labels stored." in reply.text
    assert Label.objects.count() == 2
    again = client.post(reverse("validation_store", args=[row.pk]), {"ticket": page.context["ticket"]}, follow=True)
    assert "Nothing was new." in again.text
    assert "Nothing in this file is new" in look(client, row, jsonl(row, ("H1", True), ("H1", False))).text


def test_a_change_takes_a_tick(row: ValidationSet, ada: User, as_: As) -> None:
    client = as_(ada)
    bring(row, jsonl(row, ("H1", True)))
    page = look(client, row, jsonl(row, ("H1", False)))
    assert "Change 1 stored label;" in page.text
    url, ticket = reverse("validation_store", args=[row.pk]), page.context["ticket"]
    assert client.post(url, {"ticket": ticket}).status_code == 409
    assert client.post(url, {"ticket": ticket, "replace": "on"}).status_code == 302
    assert [label.detect for label in Label.objects.current()] == [False]


def test_a_refusal_stands_by_the_file_with_its_line(row: ValidationSet, ada: User, as_: As) -> None:
    page = look(as_(ada), row, b"task,detect\nx,1", who="nonsense")
    assert page.status_code == 400
    assert "does not say who is who" in page.text
    page = look(as_(ada), row, b"task,detect\nx,1")
    assert "labels.jsonl, line 2: &quot;x&quot; is no id of a task" in page.text


def test_a_ticket_is_of_one_person_and_one_set_and_cannot_be_made_up(
    row: ValidationSet, ada: User, ben: User, as_: As
) -> None:
    other = validation.open(
        dataset=row.label_set.dataset, annotators=[factories.person("max")], by=ada, per_cell=1, seed=5
    )
    ticket = look(as_(ada), row, jsonl(row, ("H1", True))).context["ticket"]
    url = reverse("validation_store", args=[row.pk])
    assert as_(ben).post(url, {"ticket": ticket}).status_code == 400
    assert as_(ada).post(url, {"ticket": f"{ticket}x"}).status_code == 400
    assert as_(ada).post(url).status_code == 400
    assert as_(ada).post(reverse("validation_store", args=[other.pk]), {"ticket": ticket}).status_code == 400
    assert not Label.objects.exists()


def test_an_author_who_labels_brings_in_own_labels_alone(
    row: ValidationSet, ada: User, ben: User, lea: User, as_: As
) -> None:
    both = validation.open(dataset=row.label_set.dataset, annotators=[ben, lea], by=ada, per_cell=1, seed=5)
    client = as_(ben)
    assert "you can bring in your own labels alone" in look(client, both, jsonl(both, ("H1", True), ("H2", True))).text
    ticket = look(client, both, jsonl(both, ("H1", True))).context["ticket"]
    assert client.post(reverse("validation_store", args=[both.pk]), {"ticket": ticket}).status_code == 302
    assert Label.objects.get().assignment.person == ben
    assert look(client, row, jsonl(row, ("H1", True))).status_code == 403


# The commands ---------------------------------------------------------------------------------------


def run(*args: str) -> str:
    out = StringIO()
    call_command(*args, stdout=out)
    return out.getvalue()


def test_the_commands_take_out_and_bring_in(row: ValidationSet, lea: User, ada: User, tmp_path: Path) -> None:
    name, file = row.label_set.name, tmp_path / "labels.csv"
    with pytest.raises(CommandError, match="is open: say for whom the file is"):
        run("export_labels", name, str(file))
    run("export_labels", name, str(file), "--for", "lea")
    first = next(csv.DictReader(StringIO(file.read_text(), newline="")))
    file.write_text(f"task,detect\n{first['task']},1\n")
    said = run("import_labels", name, str(file), "--annotator", "lea", "--dry-run")
    assert "H1: 1 new, 0 would change a label" in said
    assert "Nothing is stored" in said
    assert not Label.objects.exists()
    assert "Stored 1 labels." in run("import_labels", name, str(file), "--annotator", "H1")
    validation.close(validation_set=row, by=ada)
    run("export_labels", name, str(tmp_path / "all.json"))
    assert len(json.loads((tmp_path / "all.json").read_text())) == 6


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("import_labels", "nothing", "x"), "There is no label set named 'nothing'"),
        (("import_labels", "SET", "missing.csv"), "missing.csv can't be read"),
        (("import_labels", "SET", "FILE", "--annotator", "max"), "max does not label in"),
        (("import_labels", "SET", "FILE", "--who", "7=max"), "max does not label in"),
        (("import_labels", "SET", "FILE"), "line 1: it does not say whose label this is"),
        (("export_labels", "SET", "labels.xlsx"), r"labels.xlsx must end with \.json, \.csv, \.jsonl"),
        (("export_labels", "SET", "labels.csv", "--for", "max"), "There is nobody named 'max'"),
    ],
)
def test_the_commands_refuse_in_one_sentence(
    row: ValidationSet, tmp_path: Path, args: tuple[str, ...], sentence: str
) -> None:
    (tmp_path / "file").write_bytes(jsonl(row, ("", True)))
    words = {"SET": row.label_set.name, "FILE": str(tmp_path / "file")}
    with pytest.raises(CommandError, match=sentence):
        run(*(words.get(arg, arg) for arg in args))
    assert not Label.objects.exists()
