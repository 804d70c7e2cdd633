"""The blindness report: what is on record, as a page and as a PDF whose bytes are always the same."""

import hashlib
import json
import re
import uuid
from collections.abc import Callable
from datetime import timedelta
from io import BytesIO

import pytest
import time_machine
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.models import Dataset, Guideline, User
from annotate.records import canonical
from annotate.services import adjudication, labels
from benchmark import blindness_pdf, blindness_report
from benchmark.blindness_report import Report, Section
from benchmark.models import Exposure, Opened, Response, ValidationSet
from benchmark.services import blindness, release_labels, validation
from tests import factories

As = Callable[[User], Client]
SEED = 918273645


@pytest.fixture
def over(db: None) -> Dataset:
    row = factories.dataset(items=3)
    factories.run(dataset=row, model=factories.model("Model A"), answered=10, state="complete")
    return row


def opened(over: Dataset, people: list[User], **more: object) -> ValidationSet:
    return validation.open(**{"dataset": over, "annotators": people, "by": None, "per_cell": 1, "seed": SEED, **more})


def label_all(row: ValidationSet, who: User, seconds: list[float | None], **more: object) -> None:
    mine = row.label_set.assignments.get(person=who)
    for task, took in zip(labels.tasks_in_order(mine), seconds, strict=True):
        values = {"detect": True, "client": uuid.uuid4(), "sequence": 1, "seconds": took, **more}
        labels.record(assignment=mine, task=task, **values)


def section(report: Report, title: str) -> Section:
    return next(part for part in report.sections if part.title == title)


def rows(report: Report, title: str) -> list[list[str]]:
    table = section(report, title).table
    assert table is not None
    return table.rows


def test_what_was_seen_before_the_draw_is_told_by_person_page_and_time(ada: User, ben: User, over: Dataset) -> None:
    dialogues = over_dialogues(over)
    for dialogue in (dialogues[0], dialogues[0], dialogues[1]):
        blindness.require_open_eyes(user=ben, dataset=over, page="dialogue", dialogue=dialogue)
    blindness.require_open_eyes(user=ben, dataset=factories.dataset(), page="dialogue of another dataset")
    blindness.require_open_eyes(user=ada, dataset=over, page="dialogue of somebody who does not label")
    row = opened(over, [ben, factories.person("lea", "annotator")])
    report = blindness_report.report(row)
    (line,) = rows(report, "Seen before the draw")
    assert line[:4] == ["H1", "dialogue", "3", "2"]
    assert section(report, "Seen before the draw").facts == [("Saw none", "H2")]
    assert rows(report, "Seen while labelling") == []


def over_dialogues(over: Dataset) -> list[object]:
    return [response.dialogue for response in Response.objects.filter(dialogue__item__dataset=over, turn=1)]


def test_answers_labelled_in_an_earlier_set_were_seen_before(ben: User, lea: User, over: Dataset, ada: User) -> None:
    earlier = opened(over, [lea])
    label_all(earlier, lea, [1.0] * 3)
    validation.close(validation_set=earlier, by=ada)
    report = blindness_report.report(opened(over, [lea]))
    (line,) = rows(report, "Seen before the draw")
    assert line[:4] == ["H1", f"labelled in {earlier.label_set.name}", "3", "3"]


def test_each_attempt_to_open_what_is_hidden_is_told(ben: User, over: Dataset, as_: As) -> None:
    row = opened(over, [ben])
    dialogue = over_dialogues(over)[0]
    assert as_(ben).get(reverse("dialogue_detail", args=[dialogue.pk])).status_code == 403
    assert as_(ben).get(reverse("agreement_set", args=[row.pk])).status_code == 403
    found = rows(blindness_report.report(row), "What was withheld")
    assert [line[1] for line in found] == ["H1", "H1"]
    assert found[0][3] == str(dialogue.pk)
    assert found[1][2] == f"agreement: {row.label_set.name}"


def test_when_aggregates_were_first_opened_is_told_once_a_person_and_page(
    ada: User, ben: User, over: Dataset, as_: As
) -> None:
    factories.detector_labels(factories.detector("strict"), over_dialogues(over)[0].run)
    as_(ben).get(reverse("results"))
    row = opened(over, [ben])
    for _ in range(2):
        as_(ben).get(reverse("results"))
        as_(ben).get(reverse("results_table", args=[over.pk, "corr_tp", "csv"]))
        as_(ada).get(reverse("agreement_set", args=[row.pk]))
    found = [line[1:] for line in rows(blindness_report.report(row), "Results and agreement")]
    assert found == [
        ["H1", "results", "before the draw"],
        ["H1", "results: corr_tp.csv", "while labelling"],
        ["author 1", f"agreement: {row.label_set.name}", "did not label"],
    ]
    assert Opened.objects.count() == 3


def test_labels_under_each_version_of_the_guidelines_are_counted(lea: User, over: Dataset) -> None:
    row = opened(over, [lea])
    mine = row.label_set.assignments.get()
    first, *rest = labels.tasks_in_order(mine)
    labels.record(assignment=mine, task=first, detect=True, client=uuid.uuid4(), sequence=1)
    new = Guideline.objects.create(label_set=row.label_set, version=2, text="New.", change="Hedging is no correction.")
    for task in rest:
        labels.record(assignment=mine, task=task, detect=True, client=uuid.uuid4(), sequence=1)
    found = rows(blindness_report.report(row), "Guidelines")
    assert [(line[0], line[3], line[5]) for line in found] == [
        ("v1", "1", "–"),
        ("v2", "2", "Hedging is no correction."),
    ]
    assert found[1][4] == hashlib.sha256(new.text.encode()).hexdigest()


def test_times_doubts_and_changes_with_their_arithmetic(lea: User, lou: User, over: Dataset) -> None:
    row = opened(over, [lea, lou])
    label_all(row, lea, [2.0, 4.0, 12.0], unsure=True)
    label_all(row, lou, [None, 3.0, 5.0])
    label_all(row, lou, [None, 3.0, 5.0], detect=False, comment="hm")
    report = blindness_report.report(row)
    # Of 2, 4, 12 the quartiles lie half way between neighbours: 3, 4, 8; of 3 and 5: 3.5, 4, 4.5.
    assert [line[1:] for line in rows(report, "Label times")] == [
        ["3", "3.0", "4.0", "8.0", "0.3"],
        ["2", "3.5", "4.0", "4.5", "0.1"],
    ]
    assert [line[:6] for line in rows(report, "Doubts and changes")] == [
        ["H1", "3", "3", "0", "0", "3"],
        ["H2", "3", "0", "3", "3", "6"],
    ]


def test_the_fields_that_were_shown_are_those_of_the_task_itself(lea: User, over: Dataset) -> None:
    facts = dict(section(blindness_report.report(opened(over, [lea])), "What was shown").facts)
    assert list(facts) == ["premise_class", "content", "modified", "response", "image"]
    assert facts["image"] == "not shown"
    shown = opened(over, [lea], show_picture=True)
    assert dict(section(blindness_report.report(shown), "What was shown").facts)["image"] == "beside each answer"


def test_an_answer_that_names_its_model_is_counted(lea: User, over: Dataset) -> None:
    odd = factories.dataset(items=1)
    run = factories.run(dataset=odd, model=factories.model("Quux-9000"), state="complete")
    dialogue = run.dialogues.get()
    Response.objects.create(dialogue=dialogue, turn=4, text="As Quux-9000, I see no dog.")
    row = opened(odd, [lea])
    assert (
        dict(section(blindness_report.report(row), "Answers that name themselves").facts)["Among the answers drawn"]
        == "1"
    )


def test_disagreements_are_told_of_a_closed_set_alone(lea: User, lou: User, ada: User, over: Dataset) -> None:
    row = opened(over, [lea, lou])
    label_all(row, lea, [1.0] * 3)
    label_all(row, lou, [1.0] * 3, detect=False)
    assert section(blindness_report.report(row), "Disagreements").facts == []
    validation.close(validation_set=row, by=ada)
    adjudication.decide(task=row.label_set.tasks.first(), detect=True, reason="So.", by=ada)
    report = blindness_report.report(row)
    assert section(report, "Disagreements").facts == [("Disagreements", "3"), ("Decided", "1")]
    assert rows(report, "Disagreements") == [["author 1", "third person", "1"]]


def test_the_hash_of_the_labels_is_that_of_their_lines_in_a_release(lea: User, ada: User, over: Dataset) -> None:
    row = opened(over, [lea])
    label_all(row, lea, [1.0] * 3)
    before = dict(section(blindness_report.report(row), "Hashes").facts)
    lines = "".join(canonical(line) + "\n" for line in release_labels.rows(row))
    assert before["Labels"] == hashlib.sha256(lines.encode()).hexdigest()
    assert before["Dataset"] == over.dataset_hash
    label_all(row, lea, [1.0] * 3, detect=False)
    after = dict(section(blindness_report.report(row), "Hashes").facts)
    assert {name for name in before if before[name] != after[name]} == {"Labels"}


# The page and the PDF -------------------------------------------------------------------------------


def text_of(data: bytes) -> str:
    from pypdf import PdfReader

    return " ".join(" ".join(page.extract_text() for page in PdfReader(BytesIO(data)).pages).split())


def test_page_and_pdf_tell_the_same_under_pseudonyms_and_names_by_choice(
    ada: User, lea: User, over: Dataset, as_: As
) -> None:
    row = opened(over, [lea, factories.person("zoë-čapek", "annotator")], by=ada, name="Étude Ω 中")
    label_all(row, lea, [2.0, 4.0, 12.0])
    page = as_(ada).get(reverse("blindness_report", args=[row.pk]))
    assert "no-store" in page["Cache-Control"]
    reply = as_(ada).get(reverse("blindness_pdf", args=[row.pk]))
    assert reply["Content-Type"] == "application/pdf"
    text = text_of(reply.content)
    for part in blindness_report.report(row).sections:
        assert part.title in text
        assert f">{part.title}</h2>" in page.text
    for told in (text, page.text):
        assert str(SEED) in told
        assert "čapek" not in told
    assert "Étude" in text
    assert "\\u4e2d" in text, "A sign that the font lacks is told by its code."
    named = text_of(as_(ada).get(reverse("blindness_pdf", args=[row.pk]), {"names": "1"}).content)
    assert "zoë-čapek" in named
    assert "zoë-čapek" in as_(ada).get(reverse("blindness_report", args=[row.pk]), {"names": "1"}).text


def test_the_pdf_has_the_same_bytes_at_another_time(lea: User, over: Dataset) -> None:
    row = opened(over, [lea])
    first = blindness_pdf.pdf(blindness_report.report(row))
    with time_machine.travel(timezone.now() + timedelta(days=400)):
        assert blindness_pdf.pdf(blindness_report.report(row)) == first
    assert re.search(rb"/FontFile2", first), "The fonts are embedded."


def test_who_is_blind_gets_no_report_and_the_attempt_is_in_it(ada: User, ben: User, over: Dataset, as_: As) -> None:
    row = opened(over, [ben])
    for name in ("blindness_report", "blindness_pdf"):
        reply = as_(ben).get(reverse(name, args=[row.pk]))
        assert reply.status_code == 403
        assert str(SEED) not in reply.text
    assert len(rows(blindness_report.report(row), "What was withheld")) == 2
    label_all(row, ben, [1.0] * 3)
    labels.submit(assignment=row.label_set.assignments.get())
    assert as_(ben).get(reverse("blindness_report", args=[row.pk])).status_code == 200


def test_readers_annotators_and_strangers_find_no_report(
    rita: User, lea: User, over: Dataset, client: Client, as_: As
) -> None:
    row = opened(over, [lea])
    for name in ("blindness_report", "blindness_pdf"):
        url = reverse(name, args=[row.pk])
        assert [as_(who).get(url).status_code for who in (rita, lea)] == [404, 404]
        assert client.get(url).status_code == 302


def test_a_set_without_anybody_has_a_report_too(over: Dataset, lea: User) -> None:
    row = opened(over, [lea])
    row.label_set.assignments.all().delete()
    report = blindness_report.report(row)
    assert rows(report, "Who labelled") == []
    assert "Nobody was assigned." in text_of(blindness_pdf.pdf(report))


# Closing --------------------------------------------------------------------------------------------


def test_closing_says_first_what_is_missing_by_pseudonym(
    ada: User, lea: User, lou: User, over: Dataset, as_: As
) -> None:
    row = opened(over, [lea, lou])
    label_all(row, lea, [1.0] * 3)
    url = reverse("validation_close", args=[row.pk])
    page = as_(ada).get(url).text
    assert "3 of 3 answers lack a label" in page
    assert re.findall(r'<th scope="row">(H\d)</th>.*?<td class="num">(\d)</td>', page, re.DOTALL) == [
        ("H1", "0"),
        ("H2", "3"),
    ]
    assert "lou" not in page
    row.label_set.refresh_from_db()
    assert row.label_set.state == "open", "Looking closes nothing."
    label_all(row, lou, [1.0] * 3)
    assert "Nothing is missing" in as_(ada).get(url).text
    assert as_(ada).post(url)["Location"] == reverse("validation_detail", args=[row.pk])
    assert as_(ada).get(url).status_code == 302
    assert as_(ada).post(url).status_code == 409


@pytest.mark.parametrize("who", ["rita", "lea"])
def test_only_authors_close(who: str, request: pytest.FixtureRequest, lea: User, over: Dataset, as_: As) -> None:
    row = opened(over, [lea])
    person = request.getfixturevalue(who)
    for method in ("get", "post"):
        assert getattr(as_(person), method)(reverse("validation_close", args=[row.pk])).status_code == 404


def test_what_was_seen_cannot_be_changed(ada: User, over: Dataset) -> None:
    from django.db import DatabaseError, transaction

    blindness.require_open_eyes(user=ada, dataset=over, page="dialogue")
    blindness.note_opened(user=ada, dataset=over, page="results")
    for rows_, change in ((Exposure.objects, {"withheld": True}), (Opened.objects, {"first_at": timezone.now()})):
        with pytest.raises(DatabaseError, match="can not be changed"), transaction.atomic():
            rows_.update(**change)
    assert json.dumps(Exposure.objects.get().withheld) == "false"
