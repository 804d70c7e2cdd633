"""The labelling pages: what they show, what they keep, and to whom they do not exist."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Assignment, Label, LabelSet, TaskMark, User
from annotate.services import guidelines, labels
from annotate.worklist import Worklist
from tests import factories

As = Callable[[User], Client]
PART = {"hx-request": "true"}
SCRIPT = {"accept": "application/json"}


def mine(row: LabelSet, who: User) -> Assignment:
    return row.assignments.get(person=who)


def address(row: LabelSet, who: User, place: int = 0) -> str:
    return reverse("label_task", args=[row.pk, labels.tasks_in_order(mine(row, who))[place].pk])


def choose(who: Client, url: str, choice: str = "1", *, headers: dict[str, str] | None = None, **more: Any) -> Any:
    return who.post(url, {"detect": choice, "client": uuid.uuid4(), "sequence": 1, **more}, headers=headers)


def chosen(page: str) -> list[str]:
    """The answers that a page shows as chosen."""
    return re.findall(r'name="detect" value="(.)"[^>]*aria-pressed="true"', page)


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
    assert chosen(reply.text) == []


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


def test_a_script_gets_the_part_that_changes_alone(lea: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    reply = as_(lea).get(address(row, lea), headers=PART)
    assert reply.text.strip().startswith('<div id="labelling"')
    assert "It sleeps" in reply.text
    assert "no-store" in reply["Cache-Control"]


def test_a_press_by_script_is_told_what_comes_next(lea: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    reply = choose(as_(lea), address(row, lea), headers=SCRIPT)
    assert reply.json() == {"next": address(row, lea, 1), "more": True}
    assert "no-store" in reply["Cache-Control"]


def test_a_page_that_went_on_already_asks_by_itself_what_changed_on_it(lea: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    second = labels.tasks_in_order(mine(row, lea))[1]
    assert choose(as_(lea), address(row, lea), headers=SCRIPT, shown=second.pk).json() == {}
    reply = as_(lea).get(address(row, lea, 1) + "?part=standing")
    said = reply.json()
    assert said["version"] == 1
    assert "1 of 3 labelled" in said["state"]
    assert "2 missing" in said["state"]
    assert address(row, lea, 0) in said["moves"]  # undo
    assert "2 / 3" in said["moves"]
    assert "no-store" in reply["Cache-Control"]


def test_after_the_last_task_comes_the_summary_with_the_submission(lea: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea], tasks=1)
    said = choose(as_(lea), address(row, lea), headers=SCRIPT).json()
    assert (said["next"], said["more"]) == (reverse("label_set", args=[row.pk]), False)
    assert "Submit labels" in as_(lea).get(said["next"]).text
    assert f'href="{address(row, lea)}" data-key="u mod+z"' in as_(lea).get(said["next"]).text
    as_(lea).post(reverse("label_submit", args=[row.pk]))
    assert mine(row, lea).state == "submitted"
    assert "Submit labels" not in as_(lea).get(said["next"]).text


def test_who_wants_to_look_again_stays_on_the_answer(lea: User, lou: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea, lou])
    switch = reverse("label_advance", args=[row.pk])
    task = labels.tasks_in_order(mine(row, lea))[0].pk
    assert as_(lea).post(switch, {"on": "0", "task": task})["Location"] == address(row, lea)
    assert choose(as_(lea), address(row, lea))["Location"] == address(row, lea)
    assert choose(as_(lou), address(row, lou))["Location"] == address(row, lou, 1)
    assert as_(lea).post(switch, {"on": "1"}, headers=SCRIPT).json() == {"on": True}
    assert choose(as_(lea), address(row, lea, 1))["Location"] == address(row, lea, 2)
    assert as_(lea).post(switch, {"on": "perhaps"}).status_code == 400


def test_an_answer_is_flagged_apart_from_its_label(lea: User, lou: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea, lou])
    flag = reverse("label_flag", args=[row.pk, labels.tasks_in_order(mine(row, lea))[0].pk])
    for _ in range(2):
        assert as_(lea).post(flag, {"flagged": "1"})["Location"] == address(row, lea)
    assert "1 flagged" in as_(lea).get(address(row, lea)).text
    assert "0 flagged" in as_(lou).get(address(row, lou)).text
    said = as_(lea).post(flag, {"flagged": "0"}, headers=SCRIPT).json()
    assert (said["flagged"], "0 flagged" in said["state"]) == (False, True)
    assert TaskMark.objects.count() == 1
    assert not Label.objects.exists()
    assert as_(lea).post(flag, {}).status_code == 400


def test_the_lists_tell_what_is_missing_flagged_and_unsure(lea: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    choose(as_(lea), address(row, lea), unsure="on")
    as_(lea).post(f"{address(row, lea, 2)}flag/", {"flagged": "1"})
    page = reverse("label_set", args=[row.pk])
    first, second, third = ("1</td>", "2</td>", "3</td>")
    for name, inside, outside in (
        ("labelled", [first], [second, third]),
        ("missing", [second, third], [first]),
        ("flagged", [third], [first, second]),
        ("unsure", [first], [second, third]),
        ("task__label_set__name", [first], [second, third]),
    ):
        text = as_(lea).get(page, {"show": name}).text
        assert all(f'<td class="num">{number}' in text for number in inside), name
        assert not any(f'<td class="num">{number}' in text for number in outside), name
    for words in ("1 labelled", "2 missing", "1 flagged", "1 unsure"):
        assert words in text


def test_the_pace_is_the_median_of_the_labels_that_have_a_time(lea: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea], tasks=20)
    for place, seconds in enumerate(("2", "9", "", "10", "11")):
        choose(as_(lea), address(row, lea, place), seconds=seconds)
    assert "an hour" not in as_(lea).get(address(row, lea, 5)).text
    choose(as_(lea), address(row, lea, 5), seconds="400")
    assert "10 s each, 360 an hour, about 2 min left" in as_(lea).get(address(row, lea, 6)).text


def test_a_label_keeps_the_version_of_the_guidelines_that_was_in_view(lea: User, ada: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    guidelines.revise(label_set=row, text="Anew.", change="All of it.", base=1, by=ada)
    choose(as_(lea), address(row, lea), guideline="1")
    choose(as_(lea), address(row, lea, 1), guideline="2")
    choose(as_(lea), address(row, lea, 2))
    assert [label.guideline.version for label in Label.objects.all() if label.guideline] == [1, 2, 2]
    factories.label_set(factories.dataset(), [lea])  # has a version 1 of its own
    reply = choose(as_(lea), address(row, lea), guideline="3")
    assert reply.status_code == 400
    assert "does not have" in reply.text


def test_an_answer_to_a_right_question_asks_whether_it_questions_that(lea: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea], tasks=0)
    row.tasks.create(
        created_at=row.opened_at, premise_class="identity", content="What is the cat doing?", response="It sleeps."
    )
    page = as_(lea).get(address(row, lea)).text
    assert "Does the answer question what was right?" in page
    assert "Right question" not in page
    assert "<mark" not in page


def test_an_earlier_label_is_shown_and_can_be_changed(lea: User, as_: As) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    choose(as_(lea), address(row, lea), "0", comment="why not")
    page = as_(lea).get(address(row, lea)).text
    assert "why not" in page
    assert chosen(page) == ["0"]
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
    assert as_(lea).post(f"{address(row, lea)}flag/", {"flagged": "1"}).status_code == 409


def test_nothing_of_a_set_exists_for_those_who_do_not_label_it(
    lea: User, lou: User, ada: User, rita: User, as_: As
) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    pages = [reverse("label_set", args=[row.pk]), address(row, lea)]
    for who in (lou, ada, rita):
        assert [as_(who).get(page).status_code for page in pages] == [404, 404]
        assert choose(as_(who), address(row, lea)).status_code == 404
        assert as_(who).post(reverse("label_submit", args=[row.pk])).status_code == 404
        assert as_(who).post(reverse("label_advance", args=[row.pk]), {"on": "0"}).status_code == 404
        assert as_(who).post(f"{address(row, lea)}flag/", {"flagged": "1"}).status_code == 404
    assert as_(rita).get(reverse("label_home")).status_code == 404
    assert Client().get(pages[0]).status_code == 302


def test_a_task_of_another_set_does_not_exist_in_this_one(lea: User, as_: As) -> None:
    first, second = (factories.label_set(factories.dataset(), [lea]) for _ in range(2))
    task = labels.tasks_in_order(mine(second, lea))[0]
    assert as_(lea).get(reverse("label_task", args=[first.pk, task.pk])).status_code == 404
    assert as_(lea).post(reverse("label_flag", args=[first.pk, task.pk]), {"flagged": "1"}).status_code == 404


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
