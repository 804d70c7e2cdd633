"""What changed between two datasets, and where each item comes from."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate import differences, provenance
from annotate.models import Comment, Dataset, Item, User
from annotate.services import datasets, items, reviews, study
from tests import factories

pytestmark = pytest.mark.django_db
As = Callable[[User], Client]


@pytest.fixture
def item(ada: User, ben: User) -> Item:
    """Placed and drafted by Ada's model, mended by Ada, approved by Ben."""
    image = factories.image(added_by=ada, source="coco", source_id="4711", landing_url="https://example.org/4711")
    row = items.place(image=image, cell=("single_clean", "animal", "identity"), target="cat", by=ada)
    factories.draft(
        row,
        prompt_sha256="e" * 64,
        model_asked="author",
        model_answered="author-2",
        input_tokens=12,
        output_tokens=30,
        simulated=True,
        requested_by=ada,
        applied_by=ada,
        applied_at=row.created_at,
    )
    questions = factories.questions("the striped cat on the chair")
    rewrites = factories.questions("the striped dog on the chair")
    texts = items.Texts(
        target="cat",
        target_description="the striped cat on the chair",
        modified_target_description="the striped dog on the chair",
        questions={n: items.Question(questions[n - 1], rewrites[n - 1] if n > 3 else "") for n in range(1, 11)},
    )
    row = items.edit(item=row, version=1, texts=texts, by=ada, reason="written")
    row = items.submit(item=row, version=2, by=ada)
    tickets = [ticket for ticket, _ in reviews.sheet_of(row).tickets]
    reviews.decide(
        item=row, version=3, verdict="approved", by=ben, checks=reviews.ALL_HOLD, accepted=tickets, comment="Good."
    )
    row.refresh_from_db()
    return row


@pytest.fixture
def first(item: Item, ada: User) -> Dataset:
    return datasets.freeze(name="First", by=ada)


def reading(first: Dataset) -> list[str]:
    entry = first.items.all()[0]
    return [
        reverse("dataset_differences", args=[first.pk]),
        reverse("provenance_jsonl", args=[first.pk]),
        reverse("provenance_csv", args=[first.pk]),
        reverse("item_provenance", args=[first.pk, entry.pk]),
    ]


def test_readers_and_authors_read_it_and_annotators_do_not(
    first: Dataset, as_: As, ada: User, lea: User, rita: User
) -> None:
    for address in reading(first):
        assert (as_(ada).get(address).status_code, as_(rita).get(address).status_code) == (200, 200)
        assert as_(lea).get(address).status_code == 404
        assert Client().get(address).url.startswith(reverse("sign_in"))


def test_a_reader_is_led_to_nothing_that_only_authors_open(first: Dataset, as_: As, rita: User) -> None:
    for address in reading(first):
        page = as_(rita).get(address)
        assert b"/review/" not in (page.getvalue() if page.streaming else page.content)


# Differences -----------------------------------------------------------------------------------------------------


def change(item: Item, number: int, text: str) -> None:
    item.turns.filter(number=number).update(content=text)


def test_the_same_items_have_the_same_hash_and_no_difference(as_: As, first: Dataset, ada: User) -> None:
    again = datasets.freeze(name="Again", by=ada)
    found = differences.between(first, again)
    assert (found.identical, found.added, found.removed, found.changed, found.same) == (True, [], [], [], 1)
    page = as_(ada).get(reverse("dataset_differences", args=[again.pk]), {"from": first.pk}).content.decode()
    assert "Both have the same hash" in page


def test_added_removed_and_changed_items_are_told_apart(as_: As, item: Item, first: Dataset, ada: User) -> None:
    gone = factories.approved(ada)
    second = datasets.freeze(name="Second", by=ada)
    Item.objects.filter(pk=gone.pk).update(state="rejected")
    new = factories.approved(ada)
    change(item, 2, "What can be seen behind the striped cat on the chair today?")
    item.turns.filter(number=7).update(modified="What is so striking about the striped dog on the chair?")
    third = datasets.freeze(name="Third", by=ada)
    found = differences.between(second, third)
    assert (found.added, found.removed, found.changed, found.same) == ([new.key], [gone.key], [item.key], 0)
    [details] = found.details(found.changed)
    assert [one.name for one in details.changes] == ["Question 2", "Modified 7"]
    assert [part.text for part in details.changes[0].after if part.changed] == [" today"]
    back = differences.between(third, second)
    assert (back.added, back.removed, back.changed) == (found.removed, found.added, found.changed)
    page = as_(ada).get(reverse("dataset_differences", args=[third.pk]), {"from": second.pk}).content.decode()
    assert '<mark class="now"> today</mark>' in page
    assert gone.key in page
    assert new.key in page


def test_facts_of_the_picture_and_the_protocol_are_compared_too(item: Item, first: Dataset, ada: User) -> None:
    item.image.license = "CC BY 4.0"
    item.image.save()
    items.move(item=item, cell=("multi_separated", "animal", "identity"), reason="two cats", by=ada)
    Item.objects.update(state="approved")
    study.save(per_cell=10, approver_not_last_editor=False, second_share=0, seed=0, by=ada)
    found = differences.between(first, datasets.freeze(name="Second", by=ada))
    [details] = found.details(found.changed)
    assert [one.name for one in details.changes] == ["Complexity", "Licence"]
    assert found.protocol == [("per cell", 30, 10)]


def test_a_turn_that_only_one_dataset_has_is_a_change(first: Dataset) -> None:
    entry = first.items.get()
    longer = factories.dataset(items=0, protocol={"name": "p", "turns": 10, "false_turns": [4, 5, 6, 7, 8, 9, 10]})
    copy = factories.dataset_item(longer, key=entry.key, image=entry.image)
    copy.turns.filter(number=10).delete()
    for one, other in ((first, longer), (longer, first)):
        assert differences.between(one, other).changed == [entry.key]


def test_an_unknown_or_missing_other_dataset_is_asked_for(as_: As, first: Dataset, ada: User) -> None:
    address = reverse("dataset_differences", args=[first.pk])
    assert "There is no other dataset" in as_(ada).get(address).content.decode()
    factories.dataset("Other")
    for value in ("", "x", "9" * 40, str(first.pk)):
        reply = as_(ada).get(address, {"from": value})
        assert (reply.status_code, "choose a dataset" in reply.content.decode()) == (200, True)


def test_differences_ask_no_more_for_more_items(item: Item, first: Dataset, ada: User) -> None:
    def asked(name: str) -> int:
        other = datasets.freeze(name=name, by=ada)
        with CaptureQueriesContext(connection) as queries:
            found = differences.between(first, other)
            found.details(found.changed)
        return len(queries)

    change(item, 1, "What is the striped cat on the chair up to?")
    few = asked("Few")
    for _ in range(4):
        factories.approved(ada)
    assert asked("Many") == few


# Provenance ------------------------------------------------------------------------------------------------------


def test_an_item_is_traced_from_picture_to_dataset(as_: As, item: Item, first: Dataset, ada: User) -> None:
    [record] = provenance.of_dataset(first)
    assert record["known"] is True
    assert record["image"]["original_sha256"] == item.image.original_sha256
    assert (record["image"]["imported_by"], record["image"]["source_id"]) == ("ada", "4711")
    assert (record["placed"]["by"], record["placed"]["premise_class"]) == ("ada", "identity")
    [draft] = record["drafts"]
    facts = ("drafter", "model_answered", "prompt", "prompt_version", "prompt_sha256", "input_tokens", "output_tokens")
    assert [draft[name] for name in facts] == ["Scripted", "author-2", "draft_questions", "1", "e" * 64, 12, 30]
    steps = [(one["version"], one["reason"], one["by"]) for one in record["revisions"]]
    assert steps == [(1, "placed", "ada"), (2, "written", "ada"), (3, "submitted for review", "ada")]
    [review] = record["reviews"]
    assert (review["by"], review["verdict"], review["comment"]) == ("ben", "approved", "Good.")
    assert set(review["checks"].values()) == {True}
    [frozen] = record["frozen"]
    assert (frozen["dataset"], frozen["dataset_hash"], frozen["by"]) == ("First", first.dataset_hash, "ada")
    page = as_(ada).get(reverse("item_provenance", args=[first.pk, first.items.get().pk])).content.decode()
    for words in ("author-2", "e" * 64, "submitted for review", first.dataset_hash, item.image.original_sha256, "4711"):
        assert words in page


def test_an_imported_item_says_what_is_not_known(as_: As, ada: User) -> None:
    imported = factories.dataset(origin="imported")
    [record] = provenance.of_dataset(imported)
    assert (record["known"], record["placed"], record["drafts"], record["reviews"]) == (False, None, [], [])
    assert record["frozen"][0]["origin"] == "imported"
    page = as_(ada).get(reverse("item_provenance", args=[imported.pk, imported.items.get().pk])).content.decode()
    assert "is not known here" in page


def body(reply: Any) -> str:
    return b"".join(reply.streaming_content).decode()


def test_a_whole_dataset_is_downloaded_as_lines(as_: As, item: Item, first: Dataset, ada: User) -> None:
    reply = as_(ada).get(reverse("provenance_jsonl", args=[first.pk]))
    assert reply["Content-Disposition"] == 'attachment; filename="first-provenance.jsonl"'
    assert [json.loads(line)["item"] for line in body(reply).splitlines()] == [item.key]
    rows = list(csv.DictReader(io.StringIO(body(as_(ada).get(reverse("provenance_csv", args=[first.pk]))))))
    assert [row["step"] for row in rows] == ["image", "draft", "revision", "revision", "revision", "review", "frozen"]
    assert {row["item"] for row in rows} == {item.key}
    assert (rows[1]["model"], rows[1]["tokens"], rows[-1]["sha256"]) == ("author-2", "42", first.dataset_hash)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t="])
def test_no_cell_of_a_download_is_a_formula_to_a_spreadsheet(
    start: str, as_: As, item: Item, first: Dataset, ada: User
) -> None:
    Comment.objects.create(item=item, version=1, text=f'{start}HYPERLINK("http://x.example")', by=ada)
    rows = csv.reader(io.StringIO(body(as_(ada).get(reverse("provenance_csv", args=[first.pk])))))
    cells = [cell for row in rows for cell in row]
    assert f'\'{start}HYPERLINK("http://x.example")' in cells
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))] == []


def test_a_download_asks_no_more_for_more_items(first: Dataset, ada: User) -> None:
    def asked(dataset: Dataset) -> int:
        with CaptureQueriesContext(connection) as queries:
            list(provenance.json_lines(dataset))
        return len(queries)

    few = asked(first)
    for _ in range(4):
        factories.approved(ada)
    assert asked(datasets.freeze(name="Second", by=ada)) == few
