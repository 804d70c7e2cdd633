"""Who is blind, until when, and what is kept of each look."""

import logging
import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.models import Adjudication, LabelTask, User
from annotate.services import labels
from benchmark.models import Exposure, Opened
from benchmark.services import blindness, validation
from fpco_site.errors import Withheld
from tests import factories

pytestmark = pytest.mark.db


def test_a_person_who_only_annotates_never_sees_answers(lea: User) -> None:
    assert blindness.withheld_from(lea, factories.dataset())


def test_an_author_and_a_reader_without_an_assignment_see_answers(ada: User, rita: User) -> None:
    over = factories.dataset()
    assert not blindness.withheld_from(ada, over)
    assert not blindness.withheld_from(rita, over)


def test_an_open_assignment_hides_this_dataset_and_no_other(ada: User, ben: User) -> None:
    over, other = factories.dataset(), factories.dataset()
    factories.label_set(over, [ada])
    assert blindness.withheld_from(ada, over)
    assert not blindness.withheld_from(ada, other)
    assert not blindness.withheld_from(ben, over)
    assert blindness.withheld_datasets(ada) == {over.pk}


def test_blindness_ends_with_the_submission_of_that_person(ada: User, ben: User) -> None:
    over = factories.dataset()
    tasks = factories.label_set(over, [ada, ben])
    tasks.assignments.filter(person=ada).update(state="submitted", submitted_at=timezone.now())
    assert not blindness.withheld_from(ada, over)
    assert blindness.withheld_from(ben, over)


def test_blindness_ends_when_the_set_is_closed(ada: User) -> None:
    over = factories.dataset()
    factories.label_set(over, [ada], state="closed", closed_at=timezone.now())
    assert not blindness.withheld_from(ada, over)


def test_a_look_is_recorded(ada: User) -> None:
    over = factories.dataset()
    dialogue = factories.run(dataset=over, answered=1).dialogues.get()
    blindness.require_open_eyes(user=ada, dataset=over, page="dialogue", dialogue=dialogue)
    seen = Exposure.objects.get()
    assert (seen.person, seen.dialogue, seen.page, seen.withheld) == (ada, dialogue, "dialogue", False)


def test_a_refused_look_is_recorded_as_withheld(ada: User) -> None:
    over = factories.dataset()
    factories.label_set(over, [ada])
    with pytest.raises(Withheld, match="open labelling assignment"):
        blindness.require_open_eyes(user=ada, dataset=over, page="dialogue")
    assert Exposure.objects.get().withheld


def test_a_refresh_is_refused_without_a_record(ada: User) -> None:
    over = factories.dataset()
    blindness.refuse_blind(user=ada, dataset=over)
    factories.label_set(over, [ada])
    with pytest.raises(Withheld):
        blindness.refuse_blind(user=ada, dataset=over)
    assert not Exposure.objects.exists()


def test_the_first_look_at_aggregates_is_kept_once_and_refused_to_the_blind(ada: User, ben: User) -> None:
    over = factories.dataset()
    factories.label_set(over, [ben])
    for _ in range(2):
        blindness.require_unblinded(user=ada, dataset=over, page="agreement: one")
        with pytest.raises(Withheld):
            blindness.require_unblinded(user=ben, dataset=over, page="agreement: one")
    assert Opened.objects.get().person == ada
    assert [(seen.person, seen.withheld) for seen in Exposure.objects.all()] == [(ben, True), (ben, True)]


def test_a_second_look_writes_nothing(ada: User, django_assert_num_queries: Any) -> None:
    over = factories.dataset()
    blindness.note_opened(user=ada, dataset=over, page="results")
    with django_assert_num_queries(1):
        blindness.note_opened(user=ada, dataset=over, page="results")


# What could tell without a word: ids, times, order, logs -------------------------------------------------


def test_ids_times_and_order_of_tasks_tell_nothing_of_their_answers(lea: User) -> None:
    over = factories.dataset(items=3)
    for name in "AB":
        factories.run(dataset=over, model=factories.model(f"Model {name}"), answered=10, state="complete")
    row = validation.open(dataset=over, annotators=[lea], by=None, per_cell=3, seed=5)
    tasks = LabelTask.objects.filter(label_set=row.label_set)
    assert {task.pk.version for task in tasks} == {4}
    assert set(tasks.values_list("created_at", flat=True)) == {row.label_set.opened_at}
    models = dict(row.items.values_list("task_id", "response__dialogue__run__model__name"))
    shown = [models[task.pk] for task in labels.tasks_in_order(row.label_set.assignments.get())]
    drawn = [models[task] for task in row.items.order_by("id").values_list("task_id", flat=True)]
    assert sorted(shown) == sorted(drawn) != shown
    assert "Model" not in row.label_set.name
    assert over.name in row.label_set.name


def test_logs_hold_nothing_of_a_label_or_a_decision(
    lea: User, lou: User, ada: User, as_: Callable[[User], Client], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    row = factories.label_set(factories.dataset(), [lea, lou], tasks=1)
    task = row.tasks.get()
    for who, detect in ((lea, "1"), (lou, "0")):
        press = {
            "detect": detect,
            "comment": "canary-comment",
            "client": uuid.uuid4(),
            "sequence": 1,
            "seconds": "7.77",
        }
        assert as_(who).post(reverse("label_task", args=[row.pk, task.pk]), press).status_code == 302
    labels.close(label_set=row, by=ada)
    url = reverse("adjudication_task", args=[row.pk, task.pk])
    assert as_(ada).post(url, {"detect": "1", "reason": "canary-reason"}).status_code == 302
    assert Adjudication.objects.exists()
    told = caplog.text.lower()
    for word in ("canary", "detect", "corrects", "goes along", "7.77", "it sleeps"):
        assert word not in told


def test_another_persons_progress_changes_no_byte_for_lea(lea: User, lou: User, as_: Callable[[User], Client]) -> None:
    """Neither when nor how much the other labels: the time of publication of anything is nobody's signal."""
    row = factories.label_set(factories.dataset(), [lea, lou], tasks=3)
    pages = [reverse("label_home"), reverse("label_set", args=[row.pk]), f"/api/v1/label-sets/{row.pk}/tasks/"]
    mine = row.assignments.get(person=lou)

    def seen() -> list[str]:
        return [re.sub(r"(nonce|csrf|token|client)[^>]*>", "", as_(lea).get(url).text) for url in pages]

    before = seen()
    for task in row.tasks.all():
        labels.record(assignment=mine, task=task, detect=True, client=uuid.uuid4(), sequence=1)
    labels.submit(assignment=mine)
    assert seen() == before
