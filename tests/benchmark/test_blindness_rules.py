"""Who is blind, until when, and what is kept of each look."""

import pytest
from django.utils import timezone

from annotate.models import User
from benchmark.models import Exposure
from benchmark.services import blindness
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
