"""Blind labelling: what is stored of each press, who may still press, and in which order tasks come."""

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate import guidelines
from annotate.models import Assignment, Label, LabelSet, LabelTask, User
from annotate.services import labels
from annotate.worklist import Worklist
from fpco_site.errors import Conflict, Invalid
from tests import factories

pytestmark = pytest.mark.db


def opened(people: list[User], *, n: int = 4, **more: Any) -> LabelSet:
    tasks = [
        labels.NewTask("identity", f"cat {i}?", f"dog {i}?", f"It sleeps {i}.", factories.image()) for i in range(n)
    ]
    values: dict[str, Any] = {"name": f"set {uuid.uuid4()}", "dataset": factories.dataset(), "seed": 1, "by": None}
    return labels.open_set(tasks=tasks, annotators=people, **{**values, **more})[0]


def press(assignment: Assignment, task: LabelTask | None = None, detect: bool = True, **more: Any) -> Label:
    values: dict[str, Any] = {"client": uuid.uuid4(), "sequence": 1}
    task = task or labels.tasks_in_order(assignment)[0]
    return labels.record(assignment=assignment, task=task, detect=detect, **{**values, **more})


def test_annotators_become_h1_and_h2_with_an_order_of_their_own(lea: User, lou: User) -> None:
    row = opened([lea, lou], n=30)
    first, second = row.assignments.all()
    assert (first.pseudonym, second.pseudonym) == ("H1", "H2")
    orders = [[task.pk for task in labels.tasks_in_order(one)] for one in (first, second)]
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]
    assert orders[0] == [task.pk for task in labels.tasks_in_order(first)]


def stored_order(row: LabelSet) -> list[str]:
    """The questions of a set as the table keeps them."""
    place = "rowid" if connection.vendor == "sqlite" else "ctid"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT content, label_set_id FROM annotate_labeltask ORDER BY {place}")
        return [content for content, owner in cursor.fetchall() if owner == row.pk]


def test_tasks_are_stored_in_an_order_shuffled_by_the_seed_with_one_time(lea: User) -> None:
    first, again, other = (opened([lea], n=20, seed=seed) for seed in (7, 7, 8))
    assert stored_order(first) == stored_order(again)
    assert stored_order(first) != stored_order(other)
    assert stored_order(first) != [f"cat {i}?" for i in range(20)]
    assert sorted(stored_order(first)) == sorted(f"cat {i}?" for i in range(20))
    assert set(first.tasks.values_list("created_at", flat=True)) == {first.opened_at}


def test_the_tasks_come_back_in_the_order_given(lea: User) -> None:
    given = [labels.NewTask("identity", f"{i}", "", f"{i}") for i in range(20)]
    _, rows = labels.open_set(name="s", dataset=factories.dataset(), tasks=given, annotators=[lea], seed=1, by=None)
    assert [row.content for row in rows] == [task.content for task in given]


def test_a_picture_is_kept_only_where_the_set_shows_pictures(lea: User) -> None:
    assert opened([lea]).tasks.filter(image__isnull=False).count() == 0
    assert opened([lea], show_picture=True).tasks.filter(image__isnull=False).count() == 4


def test_a_reader_is_refused_as_annotator(rita: User) -> None:
    with pytest.raises(Invalid, match="rita can't label"):
        opened([rita])
    assert not LabelSet.objects.exists()


def test_a_set_needs_tasks_and_people_and_a_free_name(lea: User) -> None:
    with pytest.raises(Invalid, match="draw is empty"):
        opened([lea], n=0)
    with pytest.raises(Invalid, match="at least one annotator"):
        opened([])
    with pytest.raises(Invalid, match="chosen once"):
        opened([lea, lea])
    opened([lea], name="taken")
    with pytest.raises(Invalid, match="exists already"):
        opened([lea], name="taken")


def test_a_label_says_under_which_guidelines_it_was_made(lea: User) -> None:
    label = press(opened([lea]).assignments.get(), comment=" hm ", unsure=True, seconds=3.5)
    assert label.guideline is not None
    assert label.guideline.text == guidelines.text()
    assert (label.comment, label.unsure, label.seconds) == ("hm", True, 3.5)


def test_the_same_press_is_stored_once(lea: User) -> None:
    mine = opened([lea]).assignments.get()
    client = uuid.uuid4()
    assert press(mine, client=client, sequence=3).pk == press(mine, client=client, sequence=3).pk
    assert Label.objects.count() == 1


def test_the_same_press_with_another_answer_is_refused(lea: User) -> None:
    mine = opened([lea]).assignments.get()
    client = uuid.uuid4()
    press(mine, client=client)
    with pytest.raises(Conflict, match="other answer"):
        press(mine, client=client, detect=False)


def test_a_changed_label_is_a_new_row_and_the_latest_counts(lea: User) -> None:
    mine = opened([lea]).assignments.get()
    press(mine, detect=True)
    press(mine, detect=False)
    assert Label.objects.count() == 2
    assert [label.detect for label in Label.objects.current()] == [False]


def test_yes_no_yes_is_one_current_label_with_three_rows_of_history(lea: User) -> None:
    mine = opened([lea]).assignments.get()
    client = uuid.uuid4()
    for sequence, detect in enumerate((True, False, True), 1):
        press(mine, detect=detect, client=client, sequence=sequence)
    assert list(Label.objects.values_list("detect", flat=True)) == [True, False, True]
    assert [(label.detect, label.sequence) for label in Label.objects.current()] == [(True, 3)]


def test_a_press_that_is_sent_again_late_is_answered_with_the_label_that_counts(lea: User) -> None:
    mine = opened([lea]).assignments.get()
    client = uuid.uuid4()
    press(mine, detect=True, client=client, sequence=1)
    press(mine, detect=False, client=client, sequence=2)
    assert press(mine, detect=True, client=client, sequence=1).detect is False
    assert Label.objects.count() == 2


def test_a_label_names_the_guidelines_that_were_in_view(lea: User) -> None:
    mine = opened([lea]).assignments.get()
    old = mine.label_set.guidelines.get()
    mine.label_set.guidelines.create(version=2, text="Newer.")
    assert press(mine, guideline=old).guideline == old
    assert press(mine).guideline == mine.label_set.guidelines.get(version=2)


def test_a_stale_press_is_ignored(lea: User) -> None:
    mine = opened([lea]).assignments.get()
    client = uuid.uuid4()
    press(mine, detect=False, client=client, sequence=5)
    assert press(mine, detect=True, client=client, sequence=4).detect is False
    assert Label.objects.count() == 1


def test_a_task_of_another_set_is_refused(lea: User) -> None:
    mine, other = opened([lea]).assignments.get(), opened([lea]).assignments.get()
    with pytest.raises(Invalid, match="not part of this set"):
        press(mine, labels.tasks_in_order(other)[0])


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf"), 100_000.0])
def test_impossible_seconds_are_refused(lea: User, seconds: float) -> None:
    with pytest.raises(Invalid, match="seconds"):
        press(opened([lea]).assignments.get(), seconds=seconds)


def test_submitting_takes_every_label_and_says_how_many_are_missing(lea: User) -> None:
    mine = opened([lea]).assignments.get()
    with pytest.raises(Conflict, match="no label"):
        labels.submit(assignment=mine)
    for task in labels.tasks_in_order(mine)[:3]:
        press(mine, task)
    with pytest.raises(Conflict, match="1 of 4 answers is still without a label"):
        labels.submit(assignment=mine)
    press(mine, labels.tasks_in_order(mine)[3])
    assert labels.submit(assignment=mine).state == "submitted"
    with pytest.raises(Conflict, match="submitted"):
        labels.submit(assignment=mine)


def test_nothing_is_recorded_after_submission_but_a_repeat_is_answered(lea: User) -> None:
    mine = opened([lea], n=1).assignments.get()
    client = uuid.uuid4()
    label = press(mine, client=client)
    labels.submit(assignment=mine)
    assert press(mine, client=client) == label
    with pytest.raises(Conflict, match="submitted"):
        press(mine, detect=False)


def test_a_closed_set_is_locked_and_never_closed_twice(lea: User, ada: User) -> None:
    row = opened([lea])
    assert labels.close(label_set=row, by=ada).closed_by == ada
    with pytest.raises(Conflict, match="closed"):
        press(row.assignments.get())
    with pytest.raises(Conflict, match="never reopens"):
        labels.close(label_set=row, by=ada)


def test_anybody_who_labels_can_join_an_open_pool_once(lea: User, lou: User, rita: User, ada: User) -> None:
    row = opened([lea], mode="pool")
    assert labels.join(label_set=row, by=lou) == labels.join(label_set=row, by=lou)
    assert row.assignments.last().pseudonym == "H2"
    with pytest.raises(Invalid):
        labels.join(label_set=row, by=rita)
    labels.close(label_set=row, by=ada)
    with pytest.raises(Conflict, match="open pool"):
        labels.join(label_set=row, by=ada)


def test_going_back_walks_through_the_labels_in_the_order_they_were_given(lea: User) -> None:
    mine = opened([lea]).assignments.get()
    first, second, third, fourth = labels.tasks_in_order(mine)
    for task in (first, third, second):
        press(mine, task)
    work = Worklist(mine)
    assert work.last_before(fourth.pk) == second.pk
    assert work.last_before(second.pk) == third.pk
    assert work.last_before(first.pk) is None
    assert work.next_after(second.pk) == fourth.pk
    assert work.next_after(fourth.pk) is None


def test_skipping_comes_round_to_what_was_left_out(lea: User) -> None:
    mine = opened([lea]).assignments.get()
    first, second, _, fourth = labels.tasks_in_order(mine)
    press(mine, first)
    assert Worklist(mine).next_after(fourth.pk) == second.pk


@pytest.mark.django_db(transaction=True)
def test_twenty_identical_posts_at_once_store_one_row(lea: User) -> None:
    mine = opened([lea]).assignments.get()
    task, client = labels.tasks_in_order(mine)[0], uuid.uuid4()

    def post(_: int) -> int:
        try:
            return press(mine, task, client=client, sequence=1).pk
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as threads:
        answers = set(threads.map(post, range(20)))
    assert answers == set(Label.objects.values_list("pk", flat=True))
    assert len(answers) == 1


@pytest.mark.django_db(transaction=True)
def test_twenty_identical_posts_of_the_page_at_once_store_one_row(lea: User, as_: Callable[[User], Client]) -> None:
    mine = opened([lea]).assignments.get()
    url = reverse("label_task", args=[mine.label_set_id, labels.tasks_in_order(mine)[0].pk])
    values = {"detect": "1", "client": uuid.uuid4(), "sequence": 1}

    def post(who: Client) -> tuple[int, str]:
        try:
            reply = who.post(url, values)
            return reply.status_code, reply.get("Location", "")
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as threads:
        answers = set(threads.map(post, [as_(lea) for _ in range(20)]))
    assert answers == {(302, reverse("label_task", args=[mine.label_set_id, labels.tasks_in_order(mine)[1].pk]))}
    assert Label.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_no_label_slips_in_behind_a_submission(lea: User) -> None:
    mine = opened([lea], n=1).assignments.get()
    press(mine)

    def attempt(number: int) -> bool:
        try:
            if number == 10:
                return labels.submit(assignment=mine).state == "submitted"
            return bool(press(mine, detect=False))
        except Conflict:
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(20) as threads:
        list(threads.map(attempt, range(20)))
    mine.refresh_from_db()
    assert mine.submitted_at is not None
    assert mine.labels.latest("id").created_at <= timezone.now()
    with pytest.raises(Conflict):
        press(mine, detect=True)


def test_guidelines_are_read_as_blocks_of_plain_text() -> None:
    read = guidelines.blocks("# Rule\n\nOne\nline.\n\n- a <b>\n- b\n  goes on")
    assert [(block.kind, block.text, block.items) for block in read] == [
        ("heading", "Rule", []),
        ("paragraph", "One line.", []),
        ("list", "", ["a <b>", "b goes on"]),
    ]
    assert [block.kind for block in guidelines.blocks(guidelines.text())][:2] == ["heading", "paragraph"]
