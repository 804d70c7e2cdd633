"""Validation sets and agreement as pages, for the right and the wrong person."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Dataset, User
from annotate.services import labels
from benchmark.models import Exposure, ValidationSet
from benchmark.services import validation
from tests import factories

As = Callable[[User], Client]


@pytest.fixture
def over(db: None) -> Dataset:
    """Two models over six dialogues, labelled by two detectors."""
    row = factories.dataset(items=6)
    for name in ("Model A", "Model B"):
        run = factories.run(dataset=row, model=factories.model(name), answered=10, state="complete")
        for slug in ("strict", "lenient"):
            detector = factories.Detector.objects.filter(slug=slug).first() or factories.detector(slug)
            factories.detector_labels(detector, run, lambda response: response.turn % 2 == 0)
    return row


def opened(over: Dataset, people: list[User], **more: Any) -> ValidationSet:
    return validation.open(
        **{"dataset": over, "annotators": people, "by": None, "per_cell": 2, "seed": 918273645, **more}
    )


def label_all(row: ValidationSet, who: User, detect: bool = True) -> None:
    mine = row.label_set.assignments.get(person=who)
    for number, task in enumerate(labels.tasks_in_order(mine)):
        verdict = detect if number % 3 else not detect
        labels.record(assignment=mine, task=task, detect=verdict, client=uuid.uuid4(), sequence=1)
    labels.submit(assignment=mine)


def test_ada_opens_a_set_in_the_browser(ada: User, lea: User, lou: User, over: Dataset, as_: As) -> None:
    reply = as_(ada).post(
        reverse("validation_new"), {"dataset": over.pk, "per_cell": 2, "seed": "", "annotators": [lea.pk, lou.pk]}
    )
    row = ValidationSet.objects.get()
    assert reply["Location"] == reverse("validation_detail", args=[row.pk])
    assert row.label_set.opened_by == ada
    page = as_(ada).get(reply["Location"]).text
    assert "12 of 84 answers" in page
    assert str(row.seed) in page
    assert row.label_set.name in as_(ada).get(reverse("validation_list")).text


def test_what_was_typed_stays_when_the_draw_is_refused(ada: User, lea: User, as_: As) -> None:
    empty = factories.dataset()
    reply = as_(ada).post(
        reverse("validation_new"), {"dataset": empty.pk, "per_cell": 4, "seed": 77, "annotators": [lea.pk]}
    )
    assert "No model has run over" in reply.text
    assert 'value="77"' in reply.text
    assert not ValidationSet.objects.exists()


def test_the_form_offers_only_people_who_can_label(ada: User, lea: User, rita: User, as_: As) -> None:
    page = as_(ada).get(reverse("validation_new")).text
    assert "lea" in page
    assert "rita" not in page


def test_progress_is_shown_by_person_without_a_label(ada: User, lea: User, over: Dataset, as_: As) -> None:
    row = opened(over, [lea])
    label_all(row, lea)
    page = as_(ada).get(reverse("validation_detail", args=[row.pk])).text
    assert "12 of 12 labelled" in page
    assert "submitted" in page
    assert "goes along" not in page
    assert "corrects" not in page


def test_the_seed_is_hidden_from_an_author_who_labels_until_they_submit(
    ada: User, ben: User, over: Dataset, as_: As
) -> None:
    row = opened(over, [ben])
    url = reverse("validation_detail", args=[row.pk])
    assert "918273645" not in as_(ben).get(url).text
    assert "918273645" in as_(ada).get(url).text
    label_all(row, ben)
    assert "918273645" in as_(ben).get(url).text


def test_the_report_says_what_an_annotator_had_seen(ada: User, ben: User, over: Dataset, as_: As) -> None:
    Exposure.objects.create(person=ben, dataset=over, page="dialogue")
    row = opened(over, [ben])
    Exposure.objects.create(person=ben, dataset=over, page="dialogue", withheld=True)
    Exposure.objects.create(person=ben, dataset=over, page="dialogue", withheld=True)
    cells = as_(ada).get(reverse("validation_detail", args=[row.pk])).text
    assert '<td class="num">1</td>' in cells
    assert '<td class="num">2</td>' in cells


def test_ada_closes_a_set_once(ada: User, lea: User, over: Dataset, as_: As) -> None:
    row = opened(over, [lea])
    url = reverse("validation_close", args=[row.pk])
    assert as_(ada).post(url).status_code == 302
    reply = as_(ada).post(url)
    assert reply.status_code == 409
    assert "never reopens" in reply.text


def test_agreement_shows_kappa_with_its_n_and_marks_what_is_simulated(
    rita: User, lea: User, lou: User, over: Dataset, as_: As
) -> None:
    row = opened(over, [lea, lou])
    label_all(row, lea)
    label_all(row, lou)
    page = as_(rita).get(reverse("agreement")).text
    assert "H1 – H2" in page
    assert "n=12" in page
    assert "simulated" in page
    assert re.search(r"\blea\b", page) is None
    assert "lou" not in page


def test_an_undefined_kappa_is_a_dash_with_its_reason(rita: User, lea: User, over: Dataset, as_: As) -> None:
    row = opened(over, [lea])
    page = as_(rita).get(reverse("agreement_set", args=[row.pk])).text
    assert "no response that both labelled" in page


def test_agreement_is_withheld_from_an_author_who_labels(ada: User, lea: User, over: Dataset, as_: As) -> None:
    row = opened(over, [ada, lea])
    assert as_(ada).get(reverse("agreement_set", args=[row.pk])).status_code == 403
    page = as_(ada).get(reverse("agreement"))
    assert "Withheld for now" in page.text
    assert "kappa-" not in page.text
    label_all(row, ada)
    assert as_(ada).get(reverse("agreement_set", args=[row.pk])).status_code == 200


def test_without_a_set_the_page_says_what_comes_next(ada: User, rita: User, as_: As) -> None:
    assert "Open a set" in as_(ada).get(reverse("agreement")).text
    assert "Open a set" not in as_(rita).get(reverse("agreement")).text


def test_the_pages_do_not_exist_for_the_wrong_person(lea: User, rita: User, over: Dataset, as_: As) -> None:
    row = opened(over, [lea])
    for who in (lea, rita):
        for name in ("validation_list", "validation_new"):
            assert as_(who).get(reverse(name)).status_code == 404
        assert as_(who).get(reverse("validation_detail", args=[row.pk])).status_code == 404
        assert as_(who).post(reverse("validation_close", args=[row.pk])).status_code == 404
    for name, args in (("agreement", []), ("agreement_set", [row.pk])):
        assert as_(lea).get(reverse(name, args=args)).status_code == 404
        assert as_(rita).get(reverse(name, args=args)).status_code == 200
        assert Client().get(reverse(name, args=args)).status_code == 302


def test_pages_take_few_queries(
    ada: User, lea: User, lou: User, over: Dataset, as_: As, django_assert_max_num_queries: Any
) -> None:
    row = opened(over, [lea, lou])
    client = as_(ada)
    for url in (
        reverse("agreement_set", args=[row.pk]),
        reverse("validation_detail", args=[row.pk]),
        reverse("validation_list"),
    ):
        with django_assert_max_num_queries(30):
            client.get(url)
