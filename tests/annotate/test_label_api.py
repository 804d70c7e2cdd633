"""Labelling over the API: one's own tasks alone, and the same rules as the page."""

import uuid
from collections.abc import Callable
from typing import Any

from django.test import Client

from annotate.models import Label, LabelSet, User
from annotate.services import labels
from tests import factories

As = Callable[[User], Client]
SETS = "/api/v1/label-sets/"


def first_task(row: LabelSet, who: User) -> str:
    return f"/api/v1/label-tasks/{labels.tasks_in_order(row.assignments.get(person=who))[0].pk}/"


def press(who: Client, url: str, **more: Any) -> Any:
    values = {"detect": True, "client": str(uuid.uuid4()), "sequence": 1, **more}
    return who.post(f"{url}label/", values, content_type="application/json")


def test_lea_gets_her_sets_and_tasks_in_her_order(lea: User, lou: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea, lou], name="Spring")
    press(as_(lou), first_task(row, lou))
    assert as_(lea).get(SETS).json() == [
        {"id": row.pk, "name": "Spring", "state": "open", "own_state": "open", "total": 3, "done": 0}
    ]
    tasks = as_(lea).get(f"{SETS}{row.pk}/tasks/").json()
    assert [task["id"] for task in tasks] == [
        str(task.pk) for task in labels.tasks_in_order(row.assignments.get(person=lea))
    ]
    assert set(tasks[0]) == {"id", "premise_class", "content", "modified", "response", "image", "own_label"}
    assert all(task["own_label"] is None for task in tasks)


def test_a_press_is_stored_through_the_service(lea: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    url = first_task(row, lea)
    client = str(uuid.uuid4())
    reply = press(as_(lea), url, unsure=True, comment="hm", client=client)
    assert reply.json() == {"detect": True, "unsure": True, "comment": "hm"}
    press(as_(lea), url, unsure=True, comment="hm", client=client)
    assert Label.objects.count() == 1
    assert as_(lea).get(url).json()["own_label"] == reply.json()
    assert "no-store" in reply["Cache-Control"]


def test_a_refusal_is_a_sentence(lea: User, ada: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    early = as_(lea).post(f"{SETS}{row.pk}/submit/")
    assert (early.status_code, early.json()) == (409, {"detail": "There is no label to submit yet."})
    assert press(as_(lea), first_task(row, lea), sequence=0).status_code == 400
    labels.close(label_set=row, by=ada)
    assert press(as_(lea), first_task(row, lea)).status_code == 409
    assert not Label.objects.exists()


def test_lea_submits(lea: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea], tasks=1)
    press(as_(lea), first_task(row, lea))
    assert as_(lea).post(f"{SETS}{row.pk}/submit/").json()["own_state"] == "submitted"


def test_nothing_of_it_exists_for_others(lea: User, lou: User, rita: User, ada: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    task = first_task(row, lea)
    for who in (lou, ada, rita):
        assert as_(who).get(f"{SETS}{row.pk}/tasks/").status_code == 404
        assert as_(who).post(f"{SETS}{row.pk}/submit/").status_code == 404
        assert as_(who).get(task).status_code == 404
        assert press(as_(who), task).status_code == 404
    assert as_(lou).get(SETS).json() == []
    assert as_(rita).get(SETS).status_code == 404
    assert Client().get(SETS).status_code == 403
