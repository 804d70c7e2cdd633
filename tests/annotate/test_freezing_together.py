"""Two people, or two windows, who place, take back, set aside and freeze at once."""

import pytest

from annotate.models import Dataset, ImagePair, Item, TakenBack, User
from annotate.services import datasets, duplicates, freezing, items, placing, protocols
from fpco_site.errors import Conflict
from tests import factories
from tests.annotate.test_reviews_together import at_once

pytestmark = [pytest.mark.db, pytest.mark.django_db(transaction=True)]
CELL = ("single_clean", "animal", "identity")
OTHER = ("single_clean", "animal", "location")


def refusals(results: list[object]) -> list[object]:
    """What was raised; nothing but a Conflict is a refusal that a person can act on."""
    raised = [result for result in results if isinstance(result, Exception)]
    assert [error for error in raised if not isinstance(error, Conflict)] == []
    return raised


def test_a_dataset_frozen_twice_at_once_under_one_name_is_frozen_once(ada: User, ben: User) -> None:
    factories.approved(ada)
    calls = [lambda by=by: freezing.freeze(name="Spring", by=by, accept_all=True) for by in (ada, ben) * 2]
    assert len(refusals(at_once(calls))) == 3
    assert Dataset.objects.get().items.count() == 1


def test_a_name_that_was_taken_since_it_was_checked_is_refused_in_words(ada: User) -> None:
    """Items and variants are frozen under different locks, so the name may go in between."""
    item = factories.approved(ada)
    datasets.freeze(name="Spring", by=ada)
    with pytest.raises(Conflict, match="already a dataset named Spring"):
        datasets.store(name="Spring", plan=protocols.study(), chosen=[item], by=ada, checks=None)


def test_one_picture_placed_in_two_cells_at_once_is_placed_once(ada: User, ben: User) -> None:
    image = factories.image()
    calls = [lambda: items.place(image=image, cell=CELL, by=ada), lambda: items.place(image=image, cell=OTHER, by=ben)]
    assert len(refusals(at_once(calls * 2))) == 3
    assert Item.objects.count() == 1


def test_a_placing_taken_back_twice_at_once_is_taken_back_once(ada: User, ben: User) -> None:
    item = placing.place(image=factories.image(), cell=CELL, target="cat", by=ada)
    calls = [lambda by=by: placing.take_back(item=item, by=by) for by in (ada, ben)]
    assert len(refusals(at_once(calls))) == 1
    assert (TakenBack.objects.count(), Item.objects.count()) == (1, 0)


def test_a_picture_is_placed_or_set_aside_and_never_both(ada: User, ben: User) -> None:
    first, second = factories.image(), factories.image()
    pair = ImagePair.objects.create(first=first, second=second, distance=1)
    calls = [
        lambda: items.place(image=second, cell=CELL, by=ada),
        lambda: duplicates.decide(pair=pair, keep=first, by=ben),
    ]
    assert len(refusals(at_once(calls))) == 1
    second.refresh_from_db()
    assert (second.duplicate_of_id is not None) is not second.items.exists()
