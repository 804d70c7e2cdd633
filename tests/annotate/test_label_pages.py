"""The labelling pages: what they show, what they keep, and to whom they do not exist."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Assignment, Label, LabelSet, User
from annotate.services import labels
from annotate.worklist import Worklist
from tests import factories

As = Callable[[User], Client]
HTMX = {"hx-request": "true"}


def mine(row: LabelSet, who: User) -> Assignment:
    return row.assignments.get(person=who)


def address(row: LabelSet, who: User, place: int = 0) -> str:
    return reverse("label_task", args=[row.pk, labels.tasks_in_order(mine(row, who))[place].pk])


def choose(who: Client, url: str, choice: str = "1", *, headers: dict[str, str] | None = None, **more: Any) -> Any:
    return who.post(url, {"detect": choice, "client": uuid.uuid4(), "sequence": 1, **more}, headers=headers)


def test_lea_sees_her_sets_and_how_far_she_is(lea: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea], name="Spring")
    choose(as_(lea), address(row, lea))
    page = as_(lea).get(reverse("label_home")).text
    assert "Spring" in page
    assert "1 of 3 labelled" in page


def test_without_sets_the_page_says_what_comes_next(lea: User, as_: As) -> None:
    assert "Nothing to label" in as_(lea).get(reverse("label_home")).text


def test_a_task_shows_class_both_questions_and_the_answer_as_text(lea: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea], tasks=0)
    row.tasks.create(
        created_at=row.opened_at,
        premise_class="identity",
        content="What is the cat doing?",
        modified="What is the dog doing?",
        response="<script>alert(1)</script> It sleeps.",
    )
    reply = as_(lea).get(address(row, lea))
    assert '<mark class="was">cat</mark>' in reply.text
    assert '<mark class="now">dog</mark>' in reply.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; It sleeps." in reply.text
    assert "no-store" in reply["Cache-Control"]
    assert 'aria-pressed="true"' not in reply.text


def test_the_picture_is_shown_only_where_the_set_says_so(lea: User, as_: As) -> None:
    photo = factories.image(name="secret-file-name.jpg")
    task = labels.NewTask("identity", "cat?", "dog?", "It sleeps.", photo)
    for shown in (True, False):
        row, _ = labels.open_set(
            name=f"s{shown}",
            dataset=factories.dataset(),
            tasks=[task],
            annotators=[lea],
            seed=1,
            by=None,
            show_picture=shown,
        )
        page = as_(lea).get(address(row, lea)).text
        assert (reverse("picture", args=[photo.sha256]) in page) is shown
        assert "secret-file-name" not in page
        assert as_(lea).get(reverse("picture", args=[photo.sha256])).status_code == 200


def test_a_press_saves_and_shows_the_next_task(lea: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    reply = choose(as_(lea), address(row, lea), "0", unsure="on", comment="hm", seconds="2.5")
    assert reply["Location"] == address(row, lea, 1)
    label = Label.objects.get()
    assert (label.detect, label.unsure, label.comment, label.seconds) == (False, True, "hm", 2.5)


def test_a_press_by_script_brings_the_next_task_as_a_part_with_its_address(lea: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    reply = choose(as_(lea), address(row, lea), headers=HTMX)
    assert reply["HX-Push-Url"] == address(row, lea, 1)
    assert reply.text.strip().startswith('<div id="labelling"')
    assert "no-store" in reply["Cache-Control"]


def test_after_the_last_task_comes_the_summary_with_the_submission(lea: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea], tasks=1)
    reply = choose(as_(lea), address(row, lea), headers=HTMX)
    assert reply["HX-Redirect"] == reverse("label_set", args=[row.pk])
    assert "Submit labels" in as_(lea).get(reply["HX-Redirect"]).text
    as_(lea).post(reverse("label_submit", args=[row.pk]))
    assert mine(row, lea).state == "submitted"
    assert "Submit labels" not in as_(lea).get(reply["HX-Redirect"]).text


def test_an_earlier_label_is_shown_and_can_be_changed(lea: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    choose(as_(lea), address(row, lea), "0", comment="why not")
    page = as_(lea).get(address(row, lea)).text
    assert "why not" in page
    assert page.count('aria-pressed="true"') == 1
    choose(as_(lea), address(row, lea), "1")
    assert [label.detect for label in Label.objects.current()] == [True]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"detect": ""}, "Choose one of the two answers."),
        ({"client": "x"}, "The page sent a broken label."),
        ({"seconds": "nan"}, "broken label"),
        ({"seconds": "-1"}, "seconds of a label"),
        ({"sequence": 2**31}, "broken label"),
    ],
)
def test_a_broken_press_is_refused_with_a_sentence(lea: User, as_: As, values: dict[str, Any], sentence: str) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    reply = choose(as_(lea), address(row, lea), **values)
    assert reply.status_code == 400
    assert sentence in reply.text
    assert not Label.objects.exists()


def test_submitting_too_early_says_how_many_are_missing(lea: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    choose(as_(lea), address(row, lea))
    reply = as_(lea).post(reverse("label_submit", args=[row.pk]))
    assert reply.status_code == 409
    assert "2 of 3 answers are still without a label" in reply.text


def test_a_locked_task_leads_to_the_summary(lea: User, ada: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    labels.close(label_set=row, by=ada)
    assert as_(lea).get(address(row, lea))["Location"] == reverse("label_set", args=[row.pk])
    assert choose(as_(lea), address(row, lea)).status_code == 409


def test_nothing_of_a_set_exists_for_those_who_do_not_label_it(
    lea: User, lou: User, ada: User, rita: User, as_: As
) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    pages = [reverse("label_set", args=[row.pk]), address(row, lea)]
    for who in (lou, ada, rita):
        assert [as_(who).get(page).status_code for page in pages] == [404, 404]
        assert choose(as_(who), address(row, lea)).status_code == 404
        assert as_(who).post(reverse("label_submit", args=[row.pk])).status_code == 404
    assert as_(rita).get(reverse("label_home")).status_code == 404
    assert Client().get(pages[0]).status_code == 302


def test_a_task_of_another_set_does_not_exist_in_this_one(lea: User, as_: As) -> None:
    first, second = (factories.label_set(factories.dataset(), [lea]) for _ in range(2))
    task = labels.tasks_in_order(mine(second, lea))[0]
    assert as_(lea).get(reverse("label_task", args=[first.pk, task.pk])).status_code == 404


def test_a_page_of_a_long_set_takes_few_queries(lea: User, as_: As, django_assert_max_num_queries: Any) -> None:
    row = factories.label_set(factories.dataset(), [lea], tasks=360)
    client = as_(lea)
    url = address(row, lea)
    with django_assert_max_num_queries(12):
        client.get(url)
    with django_assert_max_num_queries(25):
        choose(client, url)
    assert Worklist(mine(row, lea)).done == 1


def test_anybody_who_labels_joins_a_pool(lou: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [], mode="pool", name="Pool")
    assert "Pool" in as_(lou).get(reverse("label_home")).text
    as_(lou).post(reverse("label_join", args=[row.pk]))
    assert mine(row, lou).pseudonym == "H1"
