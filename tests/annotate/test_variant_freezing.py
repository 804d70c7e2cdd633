"""Variants are frozen into a four-turn dataset of their own, after a check list."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from annotate import records, selectors
from annotate.models import Dataset, Image, Item, Review, User
from annotate.services import items, variant_freezing
from annotate.services.freezing import Level
from fpco_site.errors import Conflict, Invalid
from tests import factories
from tests import variants as written

pytestmark = [pytest.mark.db, pytest.mark.django_db]


@pytest.fixture
def parent(ada: User, ben: User) -> Item:
    row = written.chosen(ada)
    written.approve(row, by=ben, author=ada)
    return row


def levels(read_files: bool = False) -> dict[str, str]:
    return {row.code: row.level.value for row in variant_freezing.checks(read_files=read_files)}


def test_the_six_of_an_image_are_frozen_word_for_word_with_lasting_keys(ada: User, parent: Item) -> None:
    dataset = variant_freezing.freeze(name="Lexical", by=ada, accept_all=True)
    assert (dataset.turns, dataset.false_turns, dataset.protocol["name"]) == (4, [4], "FPCO-Dialog lexical")
    rows = {row.key: row for row in dataset.items.prefetch_related("turns")}
    assert sorted(rows) == sorted(
        f"{parent.key}-{kind}-{letter}" for kind in ("identity", "attribute", "location") for letter in "AB"
    )
    row = rows[f"{parent.key}-location-B"]
    assert (row.parent, row.variant, row.premise_class) == (parent.key, "B", "location")
    assert row.modified_target_description == written.PREMISES["location_B"]
    theirs = items.texts_of(parent).questions
    assert [(turn.false_premise, turn.content) for turn in row.turns.all()] == [
        (number == 4, theirs[number].content) for number in range(1, 5)
    ]
    assert row.turns.get(number=4).modified == "What is the closest thing to the striped cat behind the chair?"
    assert dataset.dataset_hash == records.dataset_hash(records.item_record(row) for row in rows.values())
    assert records.item_record(row)["parent"] == parent.key
    assert {check["code"] for check in dataset.checks or []} >= {"images", "families", "approvals"}


def test_only_whole_images_are_frozen_and_the_others_are_named(ada: User, ben: User, parent: Item) -> None:
    other = written.chosen(ada)
    row = next(check for check in variant_freezing.checks() if check.code == "left_out")
    assert (row.level, row.keys) == (Level.WARN, (other.key,))
    dataset = variant_freezing.freeze(name="Lexical", by=ada, accept_all=True)
    assert set(dataset.items.values_list("parent", flat=True)) == {parent.key}


def test_what_is_missing_is_said_and_must_be_accepted(ada: User, parent: Item) -> None:
    assert levels() == {
        "images": "warn", "left_out": "ok", "step": "ok", "approvals": "ok", "parents": "ok", "families": "warn",
        "objections": "ok", "simulated_checks": "ok", "drafters": "ok", "licences": "ok", "files": "later",
    }  # fmt: skip
    assert levels(read_files=True)["files"] == "ok"
    with pytest.raises(Invalid, match="1 image has all six variants approved; the published study has 30"):
        variant_freezing.freeze(name="Lexical", by=ada)
    with pytest.raises(Invalid, match="6 variants are not checked by 3 families"):
        variant_freezing.freeze(name="Lexical", by=ada, accepted=["images:1"])
    variant_freezing.freeze(name="Lexical", by=ada, accepted=["images:1", "families:6"])


def test_checks_by_three_families_and_their_objections_count(ada: User, parent: Item) -> None:
    written.check(parent, by=ada, natural=False)
    assert levels() | {"images": "", "files": ""} == {
        **levels(), "families": "ok", "objections": "warn", "simulated_checks": "ok", "images": "", "files": "",
    }  # fmt: skip


@pytest.mark.django_db
def test_what_is_out_of_step_or_without_a_review_stops_it(ada: User, parent: Item) -> None:
    texts = items.texts_of(parent)
    changed = items.Texts("tom", texts.target_description, texts.modified_target_description, texts.questions)
    items.edit(item=parent, version=parent.version, texts=changed, by=ada)
    Review.objects.all().delete()
    with pytest.raises(Conflict, match="6 variants are out of step") as refused:
        variant_freezing.freeze(name="Lexical", by=ada, accept_all=True)
    assert "6 variants have no review of their present version" in str(refused.value)
    assert levels()["parents"] == "warn"
    assert not Dataset.objects.exists()


def test_nothing_is_frozen_from_nothing_and_a_lost_file_stops_it(ada: User, ben: User) -> None:
    with pytest.raises(Conflict, match="No image has all six variants approved"):
        variant_freezing.freeze(name="Lexical", by=ada, accept_all=True)
    written.approve(written.chosen(ada), by=ben, author=ada)
    Image.objects.get().file.delete(save=False)
    with pytest.raises(Conflict):
        variant_freezing.freeze(name="Lexical", by=ada, accept_all=True)


def test_the_cells_of_a_dataset_of_variants_show_them(ada: User, parent: Item) -> None:
    dataset = variant_freezing.freeze(name="Lexical", by=ada, accept_all=True)
    counts = {count.cell[2]: count.approved for count in selectors.frozen_counts(dataset) if count.approved}
    assert counts == {"identity": 2, "attribute": 2, "location": 2}


# The page ----------------------------------------------------------------------------------------------------------


def test_an_author_reads_the_list_ticks_and_freezes(
    as_: Callable[[User], Client], ada: User, lea: User, rita: User, parent: Item
) -> None:
    address = reverse("variant_freeze")
    for who in (lea, rita):
        assert as_(who).get(address).status_code == 404
        assert as_(who).post(address).status_code == 404
    client = as_(ada)
    page = client.get(address).content.decode()
    assert "images:1" in page
    assert "Freeze the variants of 1 image" in page
    reply = client.post(address, {"name": "Lexical"})
    assert reply.status_code == 400
    assert "Not accepted yet" in reply.content.decode()
    reply = client.post(address, {"name": "Lexical", "accepted": ["images:1", "families:6"]})
    dataset = Dataset.objects.get()
    assert reply.url == reverse("dataset_detail", args=[dataset.pk])  # type: ignore[attr-defined]
    page = client.get(reply.url).content.decode()  # type: ignore[attr-defined]
    assert f"{parent.key}-identity-A" in page
    frozen = dataset.items.get(key=f"{parent.key}-identity-A")
    assert client.get(reverse("dataset_item", args=[dataset.pk, frozen.pk])).status_code == 200


def test_an_empty_list_stops(as_: Callable[[User], Client], ada: User) -> None:
    factories.item(state="approved")
    assert "nothing to freeze" in as_(ada).get(reverse("variant_freeze")).content.decode()
