"""The practice round: made-up examples with feedback, of which nothing is kept but that it was done."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from annotate import practice
from annotate.models import Label, LabelSet, User
from tests import factories

pytestmark = pytest.mark.db

As = Callable[[User], Client]


@pytest.fixture
def row(lea: User) -> LabelSet:
    return factories.label_set(factories.dataset(), [lea])


def example(row: LabelSet, number: int) -> str:
    return reverse("label_practice", args=[row.pk, number])


def test_the_examples_cover_the_classes_both_answers_and_the_borderline_cases() -> None:
    found = practice.examples()
    assert {one.premise_class for one in found} == {"identity", "attribute", "location"}
    assert {one.detect for one in found} == {True, False}
    about = " ".join(one.about for one in found)
    for case in ("Silent repair", "Hedging", "Partial correction", "I can't see it", "Mentions the mismatch"):
        assert case in about
    for one in found:
        assert any(piece.changed for piece in one.case.right), one.about
        assert any(piece.changed for piece in one.case.asked), one.about


def test_practice_is_offered_before_the_first_label_and_can_be_skipped_and_repeated(
    row: LabelSet, lea: User, as_: As
) -> None:
    home = reverse("label_set", args=[row.pk])
    page = as_(lea).get(home).text
    assert "Practise first" in page
    assert "Start" in page
    last = len(practice.examples())
    as_(lea).post(example(row, last), {"detect": "1"})
    done = row.assignments.get().practised_at
    assert done is not None
    assert "Practise again" in as_(lea).get(home).text
    as_(lea).post(example(row, last), {"detect": "0"})
    assert row.assignments.get().practised_at == done


@pytest.mark.parametrize("said", ["1", "0"])
def test_each_choice_is_answered_with_what_the_guidelines_say_and_why(
    row: LabelSet, lea: User, as_: As, said: str
) -> None:
    one = practice.examples()[0]
    before = as_(lea).get(example(row, 1))
    assert one.why not in before.text
    assert 'aria-pressed="true"' not in before.text
    page = as_(lea).post(example(row, 1), {"detect": said}).text
    assert one.why in page
    assert ("So the guidelines have it" in page) is (one.detect is (said == "1"))
    assert not Label.objects.exists()
    assert row.assignments.get().practised_at is None


def test_a_choice_that_is_none_is_refused(row: LabelSet, lea: User, as_: As) -> None:
    assert as_(lea).post(example(row, 1), {"detect": "x"}).status_code == 400
    assert as_(lea).get(example(row, 0)).status_code == 404
    assert as_(lea).get(example(row, len(practice.examples()) + 1)).status_code == 404


def test_only_who_labels_the_set_practises_on_it(row: LabelSet, lou: User, ada: User, rita: User, as_: As) -> None:
    for who in (lou, ada, rita):
        assert as_(who).get(example(row, 1)).status_code == 404
        assert as_(who).post(example(row, 1), {"detect": "1"}).status_code == 404
