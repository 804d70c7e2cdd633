"""Disagreements as pages and over the API, for the right and the wrong person; each look is on record."""

import json
import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Adjudication, LabelSet, LabelTask, User
from annotate.services import adjudication, labels
from benchmark.models import Exposure
from tests import factories

As = Callable[[User], Client]


@pytest.fixture
def closed(lea: User, lou: User, ada: User) -> LabelSet:
    """A closed set of two tasks, on both of which Lea and Lou differ."""
    row = factories.label_set(factories.dataset(), [lea, lou], tasks=2)
    for task in row.tasks.all():
        for person, detect in ((lea, True), (lou, False)):
            labels.record(
                assignment=row.assignments.get(person=person),
                task=task,
                detect=detect,
                comment=f"{'repairs' if detect else 'hedges'} <b>",
                client=uuid.uuid4(),
                sequence=1,
            )
    return labels.close(label_set=row, by=ada)


def first_of(row: LabelSet) -> LabelTask:
    return LabelTask.objects.get(pk=adjudication.docket(row).order[0])


def page(row: LabelSet, task: LabelTask | None = None) -> str:
    return reverse("adjudication_task", args=[row.pk, task.pk]) if task else reverse("adjudication_set", args=[row.pk])


def test_ada_decides_one_by_one_until_none_is_left(closed: LabelSet, ada: User, as_: As) -> None:
    client = as_(ada)
    assert "0 of 2 decided" in client.get(reverse("adjudication_list")).text
    reply = client.get(page(closed))
    assert re.search(r"\b(lea|lou|H1|H2)\b", reply.text) is None
    assert "no-store" in reply["Cache-Control"]
    url = page(closed, first_of(closed))
    shown = client.get(url).text
    assert "repairs &lt;b&gt;" in shown
    assert "checked" not in shown, "Nothing is preselected."
    for _ in range(2):
        url = client.post(url, {"detect": "1", "reason": "It says so.", "seen": ""})["Location"]
    assert url == page(closed)
    assert "2 of 2 decided" in client.get(url).text
    assert Adjudication.objects.filter(decided_by=ada, together=False).count() == 2


def test_what_was_typed_stays_when_the_reason_is_missing_or_somebody_was_faster(
    closed: LabelSet, ada: User, ben: User, as_: As
) -> None:
    url = page(closed, first_of(closed))
    reply = as_(ada).post(url, {"detect": "0", "reason": " "})
    assert reply.status_code == 400
    assert "needs its reason" in reply.text
    assert 'value="0" required data-key="2" data-key-label="Goes along" checked' in reply.text
    adjudication.decide(task=first_of(closed), detect=True, reason="Ben's reason.", by=ben)
    reply = as_(ada).post(url, {"detect": "0", "reason": "My long reason.", "seen": ""})
    assert reply.status_code == 409
    assert "in the meantime" in reply.text
    assert "My long reason.</textarea>" in reply.text
    assert "Ben&#x27;s reason." in reply.text
    assert Adjudication.objects.count() == 1


def test_lea_decides_only_together(closed: LabelSet, lea: User, as_: As) -> None:
    client, url = as_(lea), page(closed, first_of(closed))
    assert "<textarea" not in client.get(url).text
    assert "We sit together" in client.get(url).text
    assert client.post(url, {"detect": "1", "reason": "Alone."}).status_code == 400
    assert "<textarea" in client.get(f"{url}?together=1").text
    reply = client.post(url, {"detect": "1", "reason": "Both of us.", "together": "1"})
    assert reply["Location"].endswith("?together=1")
    assert Adjudication.objects.get().together


def test_a_third_annotator_may_decide_and_a_reader_finds_nothing(
    closed: LabelSet, rita: User, client: Client, as_: As
) -> None:
    max_ = factories.person("max", "annotator")
    assert as_(max_).get(page(closed, first_of(closed))).status_code == 200
    for url in (reverse("adjudication_list"), page(closed), page(closed, first_of(closed))):
        assert as_(rita).get(url).status_code == 404
        assert client.get(url).status_code == 302
    assert as_(rita).post(page(closed, first_of(closed)), {"detect": "1", "reason": "x"}).status_code == 404
    assert not Adjudication.objects.exists()


def test_who_labels_the_dataset_is_refused_and_the_attempt_is_kept(closed: LabelSet, ben: User, as_: As) -> None:
    factories.label_set(closed.dataset, [ben])
    task = first_of(closed)
    for url in (page(closed), page(closed, task), f"/api/v1/adjudications/{closed.pk}/"):
        assert as_(ben).get(url).status_code == 403
    assert as_(ben).post(page(closed, task), {"detect": "1", "reason": "x"}).status_code == 403
    assert closed.name not in as_(ben).get(reverse("adjudication_list")).text
    assert Exposure.objects.filter(person=ben, withheld=True, page__startswith="decisions of").count() == 3


def test_an_open_set_and_tasks_that_are_not_disputed_are_not_there(
    closed: LabelSet, lea: User, ada: User, as_: As
) -> None:
    other = factories.label_set(factories.dataset(), [lea])
    assert as_(ada).get(page(other)).status_code == 409
    assert as_(ada).get(page(closed, other.tasks.first())).status_code == 404
    assert as_(ada).get(reverse("adjudication_set", args=[999])).status_code == 404


def test_a_look_at_disagreements_is_a_look_at_answers(closed: LabelSet, ada: User, as_: As) -> None:
    as_(ada).get(page(closed, first_of(closed)))
    seen = Exposure.objects.get()
    assert (seen.person, seen.dataset, seen.withheld) == (ada, closed.dataset, False)
    assert seen.page == f"decisions of {closed.name}"


def test_the_api_lists_and_decides_with_the_same_rules(closed: LabelSet, ada: User, lea: User, as_: As) -> None:
    def post(who: User, **values: Any) -> Any:
        body = {"task": str(first_of(closed).pk), "detect": True, "reason": "It says so.", **values}
        url = f"/api/v1/adjudications/{closed.pk}/decide/"
        return as_(who).post(url, json.dumps(body), content_type="application/json")

    assert as_(ada).get("/api/v1/adjudications/").json() == [
        {"id": closed.pk, "name": closed.name, "dataset": closed.dataset.name, "total": 2, "done": 0}
    ]
    rows = as_(ada).get(f"/api/v1/adjudications/{closed.pk}/").json()
    assert set(rows[0]) == {"id", "premise_class", "content", "modified", "response", "decision"}
    assert post(lea).status_code == 400
    assert post(ada, reason=" ").status_code == 400
    assert post(ada, task=str(uuid.uuid4())).status_code == 404
    made = post(ada).json()
    assert post(ada).json() == made
    assert post(ada, detect=False).status_code == 409
    assert post(ada, detect=False, seen=made["id"]).json()["detect"] is False
    assert as_(ada).get(f"/api/v1/adjudications/{closed.pk}/").json()[0]["decision"]["detect"] is False
