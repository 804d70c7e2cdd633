"""Images, items and datasets over the API: the same services and permissions as the pages."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from annotate import records, selectors
from annotate.models import Item, User
from annotate.services import datasets, items, variants
from tests import factories

pytestmark = pytest.mark.django_db
As = Callable[[User], Client]
API = "/api/v1"


def patch(client: Client, item: Item, **given: Any) -> Any:
    return client.patch(f"{API}/items/{item.key}/", given, content_type="application/json")


def test_annotators_and_readers_find_nothing_of_the_authors(as_: As, lea: User, rita: User) -> None:
    item = factories.item()
    for who in (lea, rita):
        for path in ("images/", f"images/{item.image_id}/", "items/", f"items/{item.key}/"):
            reply = as_(who).get(f"{API}/{path}")
            assert reply.status_code == 404
            assert "cat" not in reply.content.decode()
        assert patch(as_(who), item, version=1, target="dog").status_code == 404
    assert Item.objects.get().target == "cat"


def test_datasets_are_for_readers_too_and_not_for_annotators(as_: As, lea: User, rita: User) -> None:
    dataset = factories.dataset("Secret set")
    for path in ("datasets/", f"datasets/{dataset.pk}/", f"datasets/{dataset.pk}/items/"):
        assert as_(rita).get(f"{API}/{path}").status_code == 200
        reply = as_(lea).get(f"{API}/{path}")
        assert reply.status_code == 404
        assert "Secret" not in reply.content.decode()


def test_the_list_of_items_has_as_many_as_the_pages_and_variants_apart(as_: As, ada: User) -> None:
    parent = factories.item(state="approved")
    made = variants.choose(parent=parent, by=ada)
    reply = as_(ada).get(f"{API}/items/").json()
    assert reply["count"] == sum(selectors.state_counts().values()) == 1
    apart = as_(ada).get(f"{API}/items/?variants=1").json()["results"]
    assert [(row["key"], row["variant_of"], row["variant"]) for row in apart][:2] == [
        (made[0].key, parent.key, "A"),
        (made[1].key, parent.key, "B"),
    ]
    assert as_(ada).get(f"{API}/items/{made[0].key}/").json()["variant_of"] == parent.key
    assert as_(ada).get(f"{API}/items/{parent.key}/").json()["variant_of"] == ""


def test_without_a_sign_in_there_is_no_api(client: Client) -> None:
    for path in ("images/", "items/", "datasets/"):
        assert client.get(f"{API}/{path}").status_code == 403


def test_an_image_is_listed_with_its_source_and_address(as_: As, ada: User) -> None:
    image = factories.image()
    [row] = as_(ada).get(f"{API}/images/").json()["results"]
    assert (row["sha256"], row["license"], row["url"]) == (image.sha256, "CC0", f"/images/{image.sha256}")


def test_an_item_is_edited_over_the_version_that_was_read(as_: As, ada: User) -> None:
    item = factories.item(state="approved")
    reply = patch(as_(ada), item, version=1, target_description="the cat", turns=[{"turn": 4, "modified": "Dog?"}])
    body = reply.json()
    assert (reply.status_code, body["version"], body["state"], body["target_description"]) == (
        200, 2, "in_review", "the cat",
    )  # fmt: skip
    assert body["turns"][3]["modified"] == "Dog?"
    assert body["turns"][4]["content"] == items.texts_of(item).questions[5].content
    stale = patch(as_(ada), item, version=1, target_description="the other cat")
    assert stale.status_code == 409
    assert stale.json()["detail"].startswith("ada changed this item meanwhile")
    assert patch(as_(ada), item, version=2, turns=[{"turn": 99, "content": "x"}]).json() == {
        "detail": "This item has no turn 99."
    }
    assert patch(as_(ada), item, target="x").status_code == 400


def test_items_of_a_dataset_are_the_rows_of_its_release(as_: As, ada: User) -> None:
    factories.item(state="approved")
    dataset = datasets.freeze(name="First", by=ada)
    body = as_(ada).get(f"{API}/datasets/{dataset.pk}/items/").json()
    assert body["count"] == 1
    assert records.dataset_hash(body["results"]) == dataset.dataset_hash
    row = as_(ada).get(f"{API}/datasets/{dataset.pk}/").json()
    assert (row["items"], row["protocol"]["turns"], row["dataset_hash"]) == (1, 10, dataset.dataset_hash)
