"""Pools: each task gets as many labels as it wants, whoever comes and however many come at once."""

import os
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.models import Assignment, Label, LabelClaim, LabelSet, LabelTask, User
from annotate.services import claims, labels
from annotate.worklist import Worklist, extras
from fpco_site.errors import Conflict
from tests import factories

pytestmark = pytest.mark.db

As = Callable[[User], Client]
PEOPLE, TASKS, WANTED = 20, 360, 2
# Pages of 360 answers take half a minute of a free machine; FPCO_POOL_PAGES=360 tries them.
PAGES = int(os.environ.get("FPCO_POOL_PAGES", "30"))


def pool(people: list[User], *, tasks: int = 3, wanted: int = 1) -> tuple[LabelSet, list[Assignment]]:
    row = factories.label_set(factories.dataset(), people, tasks=tasks, mode="pool", labels_per_task=wanted)
    return row, list(row.assignments.select_related("label_set").order_by("pk"))


def press(assignment: Assignment, task: uuid.UUID, detect: bool = True) -> Label:
    row = LabelTask.objects.get(pk=task)
    return labels.record(assignment=assignment, task=row, detect=detect, client=uuid.uuid4(), sequence=1)


def lapse(assignment: Assignment) -> None:
    """Eleven minutes go by without a press."""
    assignment.claims.update(taken_at=timezone.now() - timedelta(minutes=11))


def given(assignment: Assignment) -> uuid.UUID:
    found = claims.hand_out(work=Worklist(assignment))
    assert found is not None
    return found


def test_what_is_handed_out_is_nobody_elses(lea: User, lou: User) -> None:
    _, (hers, his) = pool([lea, lou], tasks=2)
    first, second = given(hers), given(his)
    assert first != second
    assert claims.hand_out(work=Worklist(hers), after=first) is None


def test_a_label_takes_the_place_for_good_and_ends_the_claim(lea: User, lou: User) -> None:
    _, (hers, his) = pool([lea, lou], tasks=1)
    press(hers, given(hers))
    assert not LabelClaim.objects.exists()
    assert claims.hand_out(work=Worklist(his)) is None


def test_one_person_labels_a_task_once_however_many_labels_it_wants(lea: User) -> None:
    _, (hers,) = pool([lea], tasks=1, wanted=2)
    press(hers, given(hers))
    assert claims.hand_out(work=Worklist(hers)) is None


def test_going_on_to_the_next_task_leaves_the_one_before(lea: User, lou: User) -> None:
    _, (hers, his) = pool([lea, lou], tasks=2)
    first = given(hers)
    second = claims.hand_out(work=Worklist(hers), after=first)
    assert second not in {None, first}
    assert [claim.task_id for claim in LabelClaim.objects.all()] == [second]
    assert given(his) == first


def test_a_claim_left_open_frees_itself_after_ten_minutes(lea: User, lou: User) -> None:
    _, (hers, his) = pool([lea, lou], tasks=1)
    task = given(hers)
    assert claims.hand_out(work=Worklist(his)) is None
    lapse(hers)
    assert given(his) == task
    assert not claims.take(assignment=hers, task=task)


def test_submitting_leaves_what_was_on_screen(lea: User, lou: User) -> None:
    _, (hers, his) = pool([lea, lou], tasks=2)
    press(hers, given(hers))
    left = given(hers)
    labels.submit(assignment=hers)
    assert given(his) == left


def test_a_label_that_comes_after_its_claim_was_given_away_is_stored_and_is_an_extra(lea: User, lou: User) -> None:
    row, (hers, his) = pool([lea, lou], tasks=1)
    task = given(hers)
    lapse(hers)
    press(his, given(his), detect=False)
    late = press(hers, task)
    assert set(Label.objects.current()) == {late, Label.objects.get(assignment=his)}
    assert extras(row) == {(task, hers.pk)}


def test_a_late_label_that_is_first_counts_and_the_other_is_the_extra(lea: User, lou: User) -> None:
    row, (hers, his) = pool([lea, lou], tasks=1)
    task = given(hers)
    lapse(hers)
    given(his)
    press(hers, task)
    press(his, task)
    press(hers, task, detect=False)
    assert extras(row) == {(task, his.pk)}


def test_a_crossed_set_takes_no_claims_and_has_no_extras(lea: User, lou: User) -> None:
    row = factories.label_set(factories.dataset(), [lea, lou], tasks=1, labels_per_task=1)
    task = row.tasks.get().pk
    for mine in row.assignments.all():
        assert claims.hand_out(work=Worklist(mine)) == task
        assert claims.take(assignment=mine, task=task)
        press(mine, task)
    assert not LabelClaim.objects.exists()
    assert extras(row) == frozenset()


def test_an_own_label_can_be_changed_when_the_task_is_full(lea: User, as_: As) -> None:
    row, (hers,) = pool([lea], tasks=1)
    task = given(hers)
    press(hers, task)
    page = as_(lea).get(reverse("label_task", args=[row.pk, task]))
    assert page.status_code == 200
    press(hers, task, detect=False)
    assert [label.detect for label in Label.objects.current()] == [False]


def test_opening_a_task_that_others_have_leads_to_one_that_is_free(lea: User, lou: User, as_: As) -> None:
    row, (hers, his) = pool([lea, lou], tasks=2)
    task = given(hers)
    reply = as_(lou).get(reverse("label_task", args=[row.pk, task]))
    [free] = his.claims.all()
    assert reply["Location"] == reverse("label_task", args=[row.pk, free.task_id])
    assert as_(lou).get(reply["Location"]).status_code == 200
    lapse(hers)
    press(his, task)
    press(his, free.task_id)
    assert as_(lea).get(reverse("label_task", args=[row.pk, task]))["Location"] == reverse("label_set", args=[row.pk])


def test_the_api_hands_out_and_says_when_there_is_nothing(lea: User, lou: User, as_: As) -> None:
    row, _ = pool([lea, lou], tasks=1)
    url = f"/api/v1/label-sets/{row.pk}/next/"
    first = as_(lea).post(url)
    assert first.json()["id"] == str(row.tasks.get().pk)
    assert "no-store" in first["Cache-Control"]
    assert as_(lou).post(url).status_code == 204
    assert as_(factories.person("ada")).post(url).status_code == 404


def test_a_locked_set_hands_out_nothing(lea: User, ada: User) -> None:
    row, (hers,) = pool([lea], tasks=2)
    task = given(hers)
    labels.close(label_set=row, by=ada)
    assert claims.hand_out(work=Worklist(hers)) is None
    assert not claims.take(assignment=hers, task=task)
    with pytest.raises(Conflict, match="closed"):
        press(hers, task)


# Many at once ---------------------------------------------------------------------------------------


def at_once(work: Callable[[Assignment], int], assignments: list[Assignment]) -> int:
    """Everybody works in a thread of their own until nothing is left for them; how many labels they gave together."""
    gate = Barrier(len(assignments))

    def run(assignment: Assignment) -> int:
        try:
            gate.wait(60)
            return work(assignment)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(assignments)) as threads:
        return sum(threads.map(run, assignments))


def twenty() -> list[User]:
    return [factories.person(f"annotator-{number}", "annotator") for number in range(PEOPLE)]


def check(row: LabelSet, given: int) -> None:
    """Each task has exactly the labels that it wants, and nothing was refused or lost."""
    counts = Counter(Label.objects.values_list("task", flat=True))
    assert Counter(counts.values()) == {WANTED: row.tasks.count()}
    assert given == Label.objects.count() == WANTED * row.tasks.count()
    assert not LabelClaim.objects.exists()
    assert extras(row) == frozenset()


@pytest.mark.django_db(transaction=True)
def test_twenty_people_at_once_give_each_of_360_answers_exactly_two_labels() -> None:
    row, assignments = pool(twenty(), tasks=TASKS, wanted=WANTED)

    def work(mine: Assignment) -> int:
        given = 0
        task = claims.hand_out(work=Worklist(mine))
        while task:
            press(mine, task)
            given += 1
            task = claims.hand_out(work=Worklist(mine), after=task)
        return given

    check(row, at_once(work, assignments))


@pytest.mark.django_db(transaction=True)
def test_twenty_people_at_once_on_the_page_meet_no_error(as_: As) -> None:
    row, assignments = pool(twenty(), tasks=PAGES, wanted=WANTED)
    end = reverse("label_set", args=[row.pk])

    def work(mine: Assignment) -> int:
        client, given = as_(mine.person), 0
        url = next_of(client, row)
        while url != end:
            assert client.get(url).status_code == 200
            reply = client.post(url, {"detect": "1", "client": uuid.uuid4(), "sequence": 1})
            assert reply.status_code == 302
            given += 1
            url = reply["Location"]
        return given

    check(row, at_once(work, assignments))


def next_of(client: Client, row: LabelSet) -> str:
    """The page of the task that one is handed, or that of the set when there is none."""
    told: Any = client.post(f"/api/v1/label-sets/{row.pk}/next/")
    task = told.json()["id"] if told.status_code == 200 else ""
    return reverse("label_task", args=[row.pk, task]) if task else reverse("label_set", args=[row.pk])
