"""Near duplicates: found at the import, decided by a person, undone."""

import pytest
from django.db import IntegrityError, transaction

from annotate import selectors
from annotate.models import Image, ImagePair, User
from annotate.services import duplicates, images, items
from fpco_site.errors import Conflict
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.db]


def bring(seed: int, quality: int = 90) -> Image:
    data = factories.photograph(seed, quality=quality)
    return images.import_file(data=data, name=f"{seed}-{quality}.jpg", by=None).image


@pytest.fixture
def pair() -> ImagePair:
    bring(1), bring(1, 40), bring(2)
    return ImagePair.objects.get()


def test_every_new_picture_is_compared_with_all_others(pair: ImagePair) -> None:
    assert (pair.first.name, pair.second.name, pair.state) == ("1-90.jpg", "1-40.jpg", "open")
    assert pair.distance <= duplicates.NEAR
    bring(1)
    assert ImagePair.objects.count() == 1


def test_plain_pictures_are_no_duplicates_of_each_other() -> None:
    for _ in range(4):
        images.import_file(data=factories.jpeg(), name="plain.jpg", by=None)
    assert not ImagePair.objects.exists()


def test_two_different_pictures_both_stay(pair: ImagePair, ada: User) -> None:
    duplicates.decide(pair=pair, keep=None, by=ada)
    assert not selectors.open_pairs().exists()
    assert not Image.objects.exclude(duplicate_of=None).exists()
    with pytest.raises(Conflict, match="decided already: different pictures"):
        duplicates.decide(pair=pair, keep=pair.first, by=ada)


@pytest.mark.parametrize("side", ["first", "second"])
def test_of_the_same_picture_one_is_set_aside_and_comes_back(pair: ImagePair, side: str, ada: User) -> None:
    keep = getattr(pair, side)
    decided = duplicates.decide(pair=pair, keep=keep, by=ada)
    assert (decided.state, decided.decided_by) == ("same", ada)
    assert Image.objects.exclude(duplicate_of=None).get().duplicate_of == keep
    duplicates.undo(pair=pair)
    duplicates.undo(pair=pair)
    assert not Image.objects.exclude(duplicate_of=None).exists()
    assert ImagePair.objects.get().state == "open"


def test_a_picture_with_an_item_is_not_set_aside(pair: ImagePair, ada: User) -> None:
    item = factories.item(image=pair.second, state="approved")
    with pytest.raises(Conflict) as refused:
        duplicates.decide(pair=pair, keep=pair.first, by=ada)
    assert f"carries the item {item.key} (approved): keep this picture" in refused.value.message
    assert ImagePair.objects.get().state == "open"
    type(item).objects.update(state="rejected")
    duplicates.decide(pair=pair, keep=pair.first, by=ada)
    assert Image.objects.get(pk=pair.second_id).duplicate_of == pair.first


def test_what_was_set_aside_is_neither_kept_nor_set_aside_again(ada: User) -> None:
    first, second, third = bring(1), bring(1, 40), bring(1, 15)
    between = {(row.first_id, row.second_id): row for row in ImagePair.objects.all()}
    duplicates.decide(pair=between[first.pk, second.pk], keep=first, by=ada)
    assert {row.pk for row in selectors.open_pairs()} == {between[first.pk, third.pk].pk}
    with pytest.raises(Conflict, match="was set aside already"):
        duplicates.decide(pair=between[second.pk, third.pk], keep=second, by=ada)


def test_open_pairs_are_found_only_where_both_pictures_are_meant(pair: ImagePair, ada: User) -> None:
    both = [pair.first_id, pair.second_id]
    assert [row.pk for row in selectors.open_pairs_among(both)] == [pair.pk]
    assert not selectors.open_pairs_among(both[:1]).exists()
    duplicates.decide(pair=pair, keep=None, by=ada)
    assert not selectors.open_pairs_among(both).exists()


def test_the_database_keeps_a_pair_once_and_in_order(pair: ImagePair) -> None:
    for first, second in ((pair.first, pair.second), (pair.second, pair.first), (pair.first, pair.first)):
        with pytest.raises(IntegrityError), transaction.atomic():
            ImagePair.objects.create(first=first, second=second, distance=1)
    with pytest.raises(IntegrityError), transaction.atomic():
        Image.objects.filter(pk=pair.first_id).update(duplicate_of=pair.first)


def test_an_item_comes_back_only_with_a_picture_that_was_not_set_aside(pair: ImagePair, ada: User) -> None:
    item = factories.item(image=pair.second, state="rejected")
    duplicates.decide(pair=pair, keep=pair.first, by=ada)
    with pytest.raises(Conflict, match="set aside"):
        items.reopen(item=item, version=item.version, reason="after all", by=ada)
    known = factories.image()
    Image.objects.filter(pk=known.pk).update(duplicate_of=pair.first)
    with pytest.raises(Conflict, match="set aside"):  # though a page that was opened before knows it otherwise
        items.place(image=known, cell=item.cell, by=ada)
