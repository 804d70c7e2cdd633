"""Freezing datasets."""

import json
from hashlib import sha256

import pytest

from annotate import records
from annotate.models import Dataset, DatasetTurn, Item, Protocol, User
from annotate.services import datasets
from fpco_site.errors import Conflict, Invalid
from tests import factories

pytestmark = [pytest.mark.db, pytest.mark.django_db]


def test_freezing_copies_the_approved_items_word_for_word(ada: User) -> None:
    item = factories.item(state="approved")
    factories.item(state="rejected")
    dataset = datasets.freeze(name="First", by=ada)
    [frozen] = dataset.items.all()
    assert (frozen.key, frozen.source_item, frozen.image) == (item.key, item, item.image)
    assert (frozen.sha256, frozen.image_name) == (item.image.sha256, f"{item.image.sha256}.jpg")
    assert (frozen.author, frozen.license) == ("A. Photographer", "CC0")
    assert frozen.modified_target_description == "the striped dog on the chair"
    asked = list(DatasetTurn.objects.filter(item=frozen))
    assert [turn.false_premise for turn in asked] == [False] * 3 + [True] * 7
    assert asked[2].modified == ""
    assert asked[3].asked == "What is the closest thing to the striped dog on the chair?"
    assert dataset.protocol["false_turns"] == [4, 5, 6, 7, 8, 9, 10]


def test_the_hash_is_over_canonical_items_sorted_by_id(ada: User) -> None:
    for _ in range(3):
        factories.item(state="approved", target="Kätzchen")
    dataset = datasets.freeze(name="First", by=ada)
    rows = [records.item_record(item) for item in dataset.items.all()]
    text = json.dumps(
        sorted(rows, key=lambda row: row["item"]), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    assert dataset.dataset_hash == sha256(text.encode()).hexdigest()
    assert datasets.freeze(name="Again", by=ada).dataset_hash == dataset.dataset_hash
    assert set(rows[0]) == {
        "item", "image", "sha256", "original_sha256", "source", "source_id", "author", "license", "license_url",
        "landing_url", "complexity", "category", "premise_class", "target", "target_description",
        "modified_target_description", "parent", "variant", "turns",
    }  # fmt: skip
    assert set(rows[0]["turns"][0]) == {"turn", "false_premise", "content", "modified"}


def test_a_lone_surrogate_has_a_hash_too() -> None:
    assert records.canonical({"b": "\ud800ä", "a": 1}) == '{"a":1,"b":"\\ud800ä"}'


def test_freezing_with_unapproved_items_is_refused_in_one_sentence(ada: User) -> None:
    factories.item(state="approved")
    factories.item(state="draft")
    factories.item(state="in_review")
    with pytest.raises(Conflict) as refused:
        datasets.freeze(name="First", by=ada)
    assert refused.value.message.startswith("2 items are not approved yet (1 in draft, 1 in review)")
    assert not Dataset.objects.exists()
    assert datasets.freeze(name="First", by=ada, only_approved=True).items.count() == 1


def test_nothing_is_frozen_from_nothing(ada: User) -> None:
    with pytest.raises(Conflict, match="No item is approved yet"):
        datasets.freeze(name="First", by=ada)


def test_a_name_is_used_once_and_can_name_a_folder(ada: User) -> None:
    factories.item(state="approved")
    datasets.freeze(name=" First ", by=ada)
    with pytest.raises(Conflict, match="already a dataset named First"):
        datasets.freeze(name="First", by=ada)
    for name in ("", "../up", "a/b", ".hidden", "x" * 101):
        with pytest.raises(Invalid, match="needs a name"):
            datasets.freeze(name=name, by=ada)


def test_an_approved_item_without_a_question_of_the_protocol_stops_the_freeze(ada: User) -> None:
    item = factories.item(state="approved")
    item.turns.filter(number=5).update(modified="")
    with pytest.raises(Conflict, match=f"Item {item.key} is approved but not complete: the modified question 5"):
        datasets.freeze(name="First", by=ada)


def test_a_shorter_protocol_freezes_its_own_turns(ada: User) -> None:
    factories.item(state="approved")
    short = Protocol.objects.create(name="short", turns=4, false_turns=[4], per_cell=1)
    [frozen] = datasets.freeze(name="Short", by=ada, protocol=short).items.all()
    assert [(turn.number, turn.false_premise) for turn in frozen.turns.all()] == [
        (1, False), (2, False), (3, False), (4, True),
    ]  # fmt: skip


def test_editing_an_item_leaves_what_is_frozen(ada: User) -> None:
    factories.item(state="approved")
    dataset = datasets.freeze(name="First", by=ada)
    Item.objects.update(target_description="another cat")
    assert dataset.items.get().target_description == "the striped cat on the chair"


def test_pictures_are_attached_by_the_hash_of_stored_or_original_bytes() -> None:
    stored, original = factories.image(), factories.image(original_sha256="b" * 64)
    dataset = factories.dataset(items=0, origin="imported")
    by_stored = factories.dataset_item(dataset, image=None, sha256=stored.sha256)
    by_original = factories.dataset_item(dataset, image=None, sha256="", original_sha256="b" * 64)
    unknown = factories.dataset_item(dataset, image=None, sha256="c" * 64)
    assert datasets.attach_images(dataset=dataset) == 2
    assert datasets.attach_images(dataset=dataset) == 0
    for item, image in ((by_stored, stored), (by_original, original), (unknown, None)):
        item.refresh_from_db()
        assert item.image == image
