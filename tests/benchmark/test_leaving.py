"""People who leave: what they labelled stays, and so does every number that rests on it."""

import uuid
from collections.abc import Callable

import pytest
from django.db.models import ProtectedError
from django.test import Client
from django.urls import reverse

from annotate.models import Label, User
from annotate.services import labels, people
from benchmark import frames_agreement, tables_agreement
from benchmark.models import ValidationSet
from benchmark.services import validation
from fpco_site.errors import Conflict
from tests import factories

pytestmark = pytest.mark.db

As = Callable[[User], Client]


@pytest.fixture
def row(lea: User, lou: User, ada: User) -> ValidationSet:
    """Lea and Lou have labelled twelve answers and agree on most."""
    over = factories.dataset(items=12)
    run = factories.run(dataset=over, answered=10, state="complete")
    factories.detector_labels(factories.detector("strict"), run, lambda response: response.turn % 2 == 0)
    made = validation.open(dataset=over, annotators=[lea, lou], by=ada, per_cell=4, seed=1)
    places = {task: place for place, task in enumerate(made.label_set.tasks.order_by("pk"))}
    for who, says in ((lea, lambda place: place % 2 == 0), (lou, lambda place: place % 3 == 0)):
        mine = made.label_set.assignments.get(person=who)
        for task in labels.tasks_in_order(mine):
            detect = says(places[task])
            labels.record(assignment=mine, task=task, detect=detect, client=uuid.uuid4(), sequence=1)
        labels.submit(assignment=mine)
    return made


def numbers(row: ValidationSet) -> list[dict[str, object]]:
    return tables_agreement.records(frames_agreement.kappa_pairs(frames_agreement.frame(row)))


def stored() -> list[tuple[object, ...]]:
    return list(Label.objects.order_by("pk").values_list("pk", "task", "assignment__person", "detect"))


def test_deactivating_an_annotator_changes_no_label_and_no_kappa(row: ValidationSet, ada: User, lea: User) -> None:
    before, told = stored(), numbers(row)
    assert next(one["kappa"] for one in told if (one["first"], one["second"]) == ("H1", "H2")) is not None
    people.deactivate(person=lea, by=ada)
    assert (stored(), numbers(row)) == (before, told)
    validation.close(validation_set=row, by=ada)
    assert (stored(), numbers(row)) == (before, told)


def test_somebody_deactivated_in_the_middle_keeps_what_was_given(ada: User, lea: User, as_: As) -> None:
    label_set = factories.label_set(factories.dataset(), [lea])
    mine = label_set.assignments.get()
    client = as_(lea)
    task = labels.tasks_in_order(mine)[0]
    labels.record(assignment=mine, task=task, detect=True, client=uuid.uuid4(), sequence=1)
    people.deactivate(person=lea, by=ada)
    press = {"detect": "1", "client": uuid.uuid4(), "sequence": 1}
    reply = client.post(reverse("label_task", args=[label_set.pk, labels.tasks_in_order(mine)[1].pk]), press)
    assert reply.status_code == 302
    assert reply["Location"].startswith(reverse("sign_in"))
    assert Label.objects.count() == 1
    people.reactivate(person=lea, by=ada)
    assert [label.detect for label in Label.objects.current()] == [True]


def test_an_account_with_labels_is_not_deleted_and_the_page_says_what_to_do(
    row: ValidationSet, ada: User, lea: User, as_: As
) -> None:
    before, told = stored(), numbers(row)
    reply = as_(ada).post(reverse("person_delete", args=[lea.pk]))
    assert reply.status_code == 409
    assert "lea has a part in this study" in reply.text
    assert "Deactivate it instead." in reply.text
    with pytest.raises(ProtectedError):
        User.objects.filter(pk=lea.pk).delete()
    assert (stored(), numbers(row)) == (before, told)


def test_deleting_an_account_that_nothing_rests_on_changes_no_label_and_no_kappa(
    row: ValidationSet, ada: User, as_: As
) -> None:
    before, told = stored(), numbers(row)
    max_ = factories.person("max", "annotator")
    assert reverse("person_delete", args=[max_.pk]) in as_(ada).get(reverse("people")).text
    reply = as_(ada).post(reverse("person_delete", args=[max_.pk]), follow=True)
    assert "The account max is deleted" in reply.text
    assert not User.objects.filter(username="max").exists()
    assert (stored(), numbers(row)) == (before, told)


def test_whoever_opened_a_set_is_not_deleted(row: ValidationSet, ada: User, ben: User) -> None:
    with pytest.raises(Conflict, match="ada has a part in this study"):
        people.delete(person=ada, by=ben)


def test_nobody_deletes_their_own_account_and_only_authors_delete(ada: User, ben: User, lea: User, as_: As) -> None:
    with pytest.raises(Conflict, match="Nobody deletes their own account"):
        people.delete(person=ada, by=ada)
    with pytest.raises(Conflict, match="Only an active author"):
        people.delete(person=ben, by=lea)
    assert as_(lea).post(reverse("person_delete", args=[ben.pk])).status_code == 404
    assert as_(ada).get(reverse("person_delete", args=[ben.pk])).status_code == 405
    assert User.objects.count() == 3
