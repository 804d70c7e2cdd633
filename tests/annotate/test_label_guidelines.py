"""Guidelines: authors add versions, each annotator hears of each, and whose they are not sees none."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse

from annotate.models import Assignment, Guideline, LabelSet, User
from annotate.services import guidelines, labels
from fpco_site.errors import Conflict, Invalid
from tests import factories

pytestmark = pytest.mark.db

As = Callable[[User], Client]


@pytest.fixture
def row(lea: User, lou: User) -> LabelSet:
    return factories.label_set(factories.dataset(), [lea, lou])


def mine(row: LabelSet, who: User) -> Assignment:
    return row.assignments.select_related("label_set", "guideline_read").get(person=who)


def revise(row: LabelSet, by: User, **more: Any) -> Guideline:
    values = {"text": "Look at the mark.", "change": "Shorter.", "base": 1, **more}
    return guidelines.revise(label_set=row, by=by, **values)


def task_page(row: LabelSet, who: User) -> str:
    return reverse("label_task", args=[row.pk, labels.tasks_in_order(mine(row, who))[0].pk])


def test_ada_writes_a_version_and_the_one_before_stays(row: LabelSet, ada: User, as_: As) -> None:
    before = row.guidelines.get().text
    new = reverse("label_guidelines_new", args=[row.pk])
    assert before in as_(ada).get(new).text
    values = {"text": "Look at the mark.\r\n\r\n- a\r\n", "change": "Shorter.", "base": "1"}
    reply = as_(ada).post(new, values)
    assert reply["Location"] == reverse("label_guidelines", args=[row.pk])
    first, second = row.guidelines.all()
    assert (first.text, second.text) == (before, "Look at the mark.\n\n- a")
    assert (second.version, second.change, second.by) == (2, "Shorter.", ada)
    page = as_(ada).get(reply["Location"]).text
    assert "Shorter." in page
    assert "Look at the mark." in page


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"text": ""}, "required"),
        ({"change": " "}, "required"),
        ({"text": "Say whether the answer corrects the premise.\r\n"}, "Nothing in the text has changed"),
        ({"base": "0"}, "Version 1 was written meanwhile"),
    ],
)
def test_a_refused_version_keeps_what_was_typed(
    row: LabelSet, ada: User, as_: As, values: dict[str, str], sentence: str
) -> None:
    sent = {"text": "My long text.", "change": "My reason.", "base": "1", **values}
    reply = as_(ada).post(reverse("label_guidelines_new", args=[row.pk]), sent)
    assert reply.status_code == 400
    assert sentence in reply.text
    assert sent["text"].strip() in reply.text
    assert row.guidelines.count() == 1


def test_a_version_over_somebody_elses_is_saved_at_the_second_press(
    row: LabelSet, ada: User, ben: User, as_: As
) -> None:
    revise(row, ben)
    new = reverse("label_guidelines_new", args=[row.pk])
    page = as_(ada).post(new, {"text": "Mine.", "change": "Mine.", "base": "1"}).text
    assert 'name="base" value="2"' in page
    as_(ada).post(new, {"text": "Mine.", "change": "Mine.", "base": "2"})
    assert [one.version for one in row.guidelines.all()] == [1, 2, 3]


@pytest.mark.django_db(transaction=True)
def test_two_authors_at_once_make_one_version(row: LabelSet, ada: User, ben: User) -> None:
    def write(by: User) -> bool:
        try:
            return bool(revise(row, by, text=f"By {by}."))
        except Conflict:
            return False
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        written = list(threads.map(write, [ada, ben] * 4))
    assert sum(written) == 1
    assert [one.version for one in row.guidelines.all()] == [1, 2]


def test_a_version_is_never_rewritten(row: LabelSet) -> None:
    with pytest.raises(DatabaseError, match="guidelines can not be changed"), transaction.atomic():
        row.guidelines.update(text="Another.")


def test_a_closed_set_keeps_its_guidelines(row: LabelSet, ada: User, as_: As) -> None:
    labels.close(label_set=row, by=ada)
    with pytest.raises(Conflict, match="closed"):
        revise(row, ada)
    assert "Write a new version" not in as_(ada).get(reverse("label_guidelines", args=[row.pk])).text


def test_each_annotator_is_told_until_they_have_read_it(
    row: LabelSet, ada: User, lea: User, lou: User, as_: As
) -> None:
    assert "have changed" not in as_(lea).get(task_page(row, lea)).text
    revise(row, ada, change="<b>Silent</b> repair counts.")
    revise(row, ada, text="Look twice.", change="Look twice.", base=2)
    for page in (task_page(row, lea), reverse("label_set", args=[row.pk])):
        text = as_(lea).get(page).text
        assert "v2: &lt;b&gt;Silent&lt;/b&gt; repair counts." in text
        assert "v3: Look twice." in text
    task = task_page(row, lea)
    read = reverse("label_guidelines_read", args=[row.pk])
    assert as_(lea).post(read, {"version": "3", "task": task.split("/")[-2]})["Location"] == task
    assert "have changed" not in as_(lea).get(task).text
    assert "have changed" in as_(lou).get(task_page(row, lou)).text
    revise(row, ada, text="Look thrice.", change="Look thrice.", base=3)
    text = as_(lea).get(task).text
    assert "v4: Look thrice." in text
    assert "v3:" not in text


def test_an_earlier_page_takes_back_nothing_that_was_read(row: LabelSet, ada: User, lea: User) -> None:
    revise(row, ada)
    guidelines.mark_read(assignment=mine(row, lea), version=2)
    guidelines.mark_read(assignment=mine(row, lea), version=1)
    assert guidelines.unread(mine(row, lea)) == []
    with pytest.raises(Invalid, match="does not have"):
        guidelines.mark_read(assignment=mine(row, lea), version=9)


def test_who_may_read_and_who_may_write(row: LabelSet, lea: User, ben: User, rita: User, ada: User, as_: As) -> None:
    page, new, read = (
        reverse(name, args=[row.pk]) for name in ("label_guidelines", "label_guidelines_new", "label_guidelines_read")
    )
    values = {"text": "Mine.", "change": "Mine.", "base": "1"}
    assert as_(lea).get(page).status_code == 200
    assert "Write a new version" not in as_(lea).get(page).text
    assert as_(ada).get(page).status_code == 200
    stranger = factories.person("max", role="annotator")
    assert [as_(who).get(page).status_code for who in (stranger, rita)] == [404, 404]
    for who in (lea, stranger, rita):
        assert as_(who).get(new).status_code == 404
        assert as_(who).post(new, values).status_code == 404
    for who in (stranger, ben, rita, ada):
        assert as_(who).post(read, {"version": "1"}).status_code == 404
    assert Client().get(page).status_code == 302
    assert row.guidelines.count() == 1
