"""The pages where authors work: what they do, and what others get of them."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from PIL import Image as Pillow

from annotate.models import Dataset, Image, Item, LabelSet, Turn, User
from annotate.services import datasets, drafters, drafts, imports, items, reviews
from fpco_site.llm.engine.takeovers import Stop
from tests import factories

pytestmark = pytest.mark.django_db
As = Callable[[User], Client]


@pytest.fixture
def item() -> Item:
    return factories.item()


@pytest.fixture
def dataset(ada: User) -> Dataset:
    factories.item(state="approved")
    return datasets.freeze(name="First", by=ada, only_approved=True)


def typed(item: Item, **changes: str) -> dict[str, str]:
    """The form of an item as a browser sends it, with changes."""
    texts = items.texts_of(item)
    fields = {
        "version": str(item.version),
        "target": texts.target,
        "target_description": texts.target_description,
        "modified_target_description": texts.modified_target_description,
    }
    for number, question in texts.questions.items():
        fields |= {f"content_{number}": question.content, f"modified_{number}": question.modified}
    return {**fields, **changes}


# Who may open what ---------------------------------------------------------------------------------------------

GETS = ["image_list", "image_import", "review_queue", "dataset_freeze"]
ITEM_GETS = ["item_review", "item_edit", "item_history", "draft_panel"]
ITEM_POSTS = ["item_decide", "item_submit", "item_reopen", "item_compute", "item_check", "item_move", "draft_request"]


def addresses(item: Item, dataset: Dataset) -> list[tuple[str, str]]:
    """Every address of this room that only authors may use, with its method."""
    pages = [("get", reverse(name)) for name in GETS]
    pages += [("get", reverse("image_detail", args=[item.image_id]))]
    pages += [("get", reverse(name, args=[item.key])) for name in ITEM_GETS]
    pages += [("post", reverse(name, args=[item.key])) for name in [*ITEM_POSTS, "item_edit"]]
    pages += [("post", reverse(name, args=[item.image_id])) for name in ("image_place", "image_facts")]
    pages += [("post", reverse(name)) for name in ("image_import", "image_import_folder", "dataset_freeze")]
    pages += [("post", reverse("dataset_attach", args=[dataset.pk]))]
    pages += [("post", reverse("draft_apply", args=[item.key, 1]))]
    return pages


def reading(dataset: Dataset) -> list[str]:
    first = dataset.items.all()[0]
    return [
        reverse("dataset_list"),
        reverse("dataset_detail", args=[dataset.pk]),
        reverse("dataset_item", args=[dataset.pk, first.pk]),
    ]


def test_none_but_authors_may_use_these_pages(item: Item, dataset: Dataset, as_: As, lea: User, rita: User) -> None:
    for who in (lea, rita):
        client = as_(who)
        for method, address in addresses(item, dataset):
            assert getattr(client, method)(address).status_code == 404, (who.username, method, address)


def test_readers_and_authors_read_datasets_and_annotators_do_not(
    dataset: Dataset, as_: As, ada: User, rita: User, lea: User
) -> None:
    for address in reading(dataset):
        assert as_(rita).get(address).status_code == 200
        assert as_(ada).get(address).status_code == 200
        assert as_(lea).get(address).status_code == 404


def test_who_is_not_signed_in_is_sent_to_sign_in(item: Item, dataset: Dataset, client: Client) -> None:
    everything = [*addresses(item, dataset), *(("get", address) for address in reading(dataset))]
    everything += [("get", reverse("picture", args=[item.image.sha256])), ("get", reverse("thumb", args=["a" * 64]))]
    for method, address in everything:
        reply = getattr(client, method)(address)
        assert (reply.status_code, reply.url.partition("?")[0]) == (302, reverse("sign_in")), address


def test_a_reader_is_offered_nothing_that_only_authors_may_do(dataset: Dataset, as_: As, rita: User) -> None:
    for address in reading(dataset):
        page = as_(rita).get(address).content.decode()
        assert reverse("dataset_freeze") not in page
        assert "/review/" not in page


# Pictures --------------------------------------------------------------------------------------------------------


def picture_set(show: bool, people: list[User]) -> tuple[LabelSet, Image]:
    row = factories.label_set(factories.dataset(), people, show_picture=show)
    image = factories.image()
    factories.LabelTask.objects.create(
        label_set=row, created_at=row.opened_at, premise_class="identity", content="a?", response="b", image=image
    )
    return row, image


def test_a_picture_is_served_by_its_hash_with_its_type_and_tag(as_: As, ada: User) -> None:
    image = factories.image()
    reply = as_(ada).get(f"/images/{image.sha256}")
    assert (reply.status_code, reply["Content-Type"], reply["ETag"]) == (200, "image/jpeg", f'"{image.sha256}"')
    assert reply["Cache-Control"].startswith("private")
    with image.file.open("rb") as file:
        assert b"".join(reply.streaming_content) == file.read()
    again = as_(ada).get(f"/images/{image.sha256}", headers={"If-None-Match": reply["ETag"]})
    assert again.status_code == 304
    assert image.name not in str(reply.headers)


def test_a_thumbnail_is_smaller_and_made_once(as_: As, ada: User, settings: Any) -> None:
    image = factories.image(data=factories.jpeg(1200, 800))
    small = as_(ada).get(reverse("thumb", args=[image.sha256]))
    assert Pillow.open(io.BytesIO(small.content)).size == (320, 213)
    kept = Path(settings.DATA_DIR) / "cache" / "thumbs" / f"{image.sha256}.jpg"
    assert kept.read_bytes() == small.content
    Path(image.file.path).unlink()
    assert as_(ada).get(reverse("thumb", args=[image.sha256])).status_code == 200
    assert as_(ada).get(reverse("picture", args=[image.sha256])).status_code == 404


def test_an_annotator_gets_the_pictures_of_their_own_tasks_and_no_other(as_: As, lea: User, lou: User) -> None:
    _, shown = picture_set(True, [lea])
    _, hidden = picture_set(False, [lea])
    other = factories.image()
    for image, who, status in ((shown, lea, 200), (shown, lou, 404), (hidden, lea, 404), (other, lea, 404)):
        assert as_(who).get(reverse("picture", args=[image.sha256])).status_code == status
        assert as_(who).get(reverse("thumb", args=[image.sha256])).status_code == status


# Images ----------------------------------------------------------------------------------------------------------


def upload(client: Client, *files: SimpleUploadedFile, table: bytes = b"") -> Any:
    given: dict[str, Any] = {"photographs": list(files)}
    if table:
        given["table"] = SimpleUploadedFile("facts.csv", table)
    return client.post(reverse("image_import"), given, follow=True)


def test_several_files_are_uploaded_with_their_table_and_each_fate_is_told(as_: As, ada: User) -> None:
    reply = upload(
        as_(ada),
        SimpleUploadedFile("dog.jpg", factories.jpeg()),
        SimpleUploadedFile("bad.jpg", b"no picture"),
        table=b"file,author,complexity,category,premise_class,target\ndog.jpg,Jo,single_clean,animal,location,dog\n",
    )
    page = reply.content.decode()
    assert "Placed in single_clean, animal, location." in page
    assert "bad.jpg is not a picture of a known format" in page
    image = Image.objects.get()
    assert (image.author, image.added_by) == ("Jo", ada)
    assert Item.objects.get().image == image


def test_a_bad_table_stops_the_upload_before_anything_is_kept(as_: As, ada: User) -> None:
    reply = upload(as_(ada), SimpleUploadedFile("dog.jpg", factories.jpeg()), table=b"file,colour\ndog.jpg,red\n")
    assert "facts.csv, line 1: there is no column" in reply.content.decode()
    assert not Image.objects.exists()


def test_an_upload_without_a_file_says_so(as_: As, ada: User) -> None:
    assert "This field is required" in as_(ada).post(reverse("image_import"), {}).content.decode()


def test_a_folder_of_the_server_is_imported_only_from_below_its_place(as_: As, ada: User, settings: Any) -> None:
    folder = Path(settings.DATA_DIR) / "import" / "batch"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a.jpg").write_bytes(factories.jpeg())
    (folder / "facts.csv").write_text("file,author\na.jpg,Jo\n")
    address = reverse("image_import_folder")
    as_(ada).post(address, {"folder": "batch", "csv_name": "facts.csv"})
    imports.run_waiting(stop=Stop())
    assert Image.objects.get().author == "Jo"
    for outside in ("../media", "/etc", "nowhere", "batch/../../"):
        page = as_(ada).post(address, {"folder": outside}).content.decode()
        assert "There is no folder" in page
    assert "There is no file" in as_(ada).post(address, {"folder": "batch", "csv_name": "../x"}).content.decode()


def test_images_are_found_by_place_and_name(as_: As, ada: User) -> None:
    factories.item(image=factories.image(name="placed.jpg"))
    factories.image(name="loose.jpg")
    page = as_(ada).get(reverse("image_list"), {"place": "unplaced"}).content.decode()
    assert "loose.jpg" in page
    assert "placed.jpg" not in page
    assert "placed.jpg" in as_(ada).get(reverse("image_list"), {"q": "PLACED"}).content.decode()


def test_an_image_is_placed_by_three_choices_or_by_one_cell(as_: As, ada: User) -> None:
    first, second = factories.image(), factories.image()
    axes = {"complexity": "single_clean", "category": "food", "premise_class": "attribute", "target": "fig"}
    reply = as_(ada).post(reverse("image_place", args=[first.pk]), {**axes, "next": "1"})
    assert reply.url == reverse("image_detail", args=[second.pk])
    reply = as_(ada).post(reverse("image_place", args=[second.pk]), {"cell": "multi_separated/animal/identity"})
    placed = Item.objects.get(image=second)
    assert reply.url == reverse("item_edit", args=[placed.key])
    assert (placed.cell, Item.objects.get(image=first).target) == (("multi_separated", "animal", "identity"), "fig")


def test_nothing_is_preselected_and_a_place_without_a_choice_is_refused(as_: As, ada: User) -> None:
    image = factories.image()
    assert " checked" not in as_(ada).get(reverse("image_detail", args=[image.pk])).content.decode()
    reply = as_(ada).post(reverse("image_place", args=[image.pk]), {"complexity": "single_clean"})
    assert reply.status_code == 400
    assert "Choose a complexity, a category and a premise class." in reply.content.decode()
    assert as_(ada).post(reverse("image_place", args=[image.pk]), {"cell": "a/b/c"}).status_code == 400


def test_facts_are_saved_and_a_licence_address_is_no_script(as_: As, ada: User) -> None:
    image = factories.image()
    address = reverse("image_facts", args=[image.pk])
    as_(ada).post(address, {"source": "coco", "source_id": "42", "license_url": "https://example.org/l"})
    image.refresh_from_db()
    assert (image.source, image.source_id, image.license) == ("coco", "42", "")
    reply = as_(ada).post(address, {"source": "coco", "license_url": "javascript:alert(1)"})
    assert reply.status_code == 400
    image.refresh_from_db()
    assert image.license_url == "https://example.org/l"


# Editing ---------------------------------------------------------------------------------------------------------


def test_an_edit_is_saved_over_the_version_that_was_seen(as_: As, ada: User, item: Item) -> None:
    address = reverse("item_edit", args=[item.key])
    reply = as_(ada).post(address, typed(item, content_2="What is behind the striped cat on the chair?"))
    assert reply.url == address
    item.refresh_from_db()
    assert item.version == 2
    assert items.texts_of(item).questions[2].content == "What is behind the striped cat on the chair?"


def test_a_stale_edit_shows_both_texts_and_saves_nothing(as_: As, ada: User, ben: User, item: Item) -> None:
    address = reverse("item_edit", args=[item.key])
    mine, bens = typed(item, content_1="Ada asks?"), typed(item, content_1="Ben asks?")
    as_(ben).post(address, bens)
    reply = as_(ada).post(address, mine)
    page = reply.content.decode()
    assert reply.status_code == 409
    assert "ben changed this item meanwhile" in page
    assert 'name="content_1" value="Ada asks?"' in page
    assert items.texts_of(Item.objects.get(pk=item.pk)).questions[1].content == "Ben asks?"
    again = typed(Item.objects.get(pk=item.pk), content_1="Ada asks?")
    assert as_(ada).post(address, again).status_code == 302


def test_rewrites_are_computed_without_saving(as_: As, ada: User, item: Item) -> None:
    given = typed(item, modified_target_description="the striped fox on the chair", modified_4="")
    page = as_(ada).post(reverse("item_compute", args=[item.key]), given).content.decode()
    assert "What is the closest thing to the striped fox on the chair?</textarea>" in page
    assert "How is the striped fox on the chair lit?</textarea>" in page
    assert Item.objects.get(pk=item.pk).version == 1


def test_what_the_rules_say_comes_beside_the_line_as_typed(as_: As, ada: User, item: Item) -> None:
    reply = as_(ada).post(reverse("item_check", args=[item.key]), typed(item, content_6=""))
    page = reply.content.decode()
    note = page[page.index('id="notes-6"') : page.index('id="notes-7"')]
    assert "Question 6 is empty." in note
    assert 'hx-swap-oob="true"' in note
    assert "<html" not in page


def test_text_of_a_person_is_text(as_: As, ada: User) -> None:
    item = factories.item(target_description="<script>alert(1)</script>", target="<b>cat</b>")
    for name in ("item_edit", "item_review", "item_history"):
        page = as_(ada).get(reverse(name, args=[item.key])).content.decode()
        assert "<script>alert" not in page
        assert "<b>cat" not in page


def test_an_item_moves_with_a_reason(as_: As, ada: User, item: Item) -> None:
    cell = {"complexity": "single_clean", "category": "animal", "premise_class": "location"}
    address = reverse("item_move", args=[item.key])
    assert as_(ada).post(address, cell).status_code == 400
    as_(ada).post(address, {**cell, "reason": "it is about the place"})
    assert Item.objects.get().premise_class == "location"
    page = as_(ada).get(reverse("item_history", args=[item.key])).content.decode()
    assert "moved: it is about the place" in page


# Review ----------------------------------------------------------------------------------------------------------


def test_the_queue_is_filtered_by_cell_and_state(as_: As, ada: User) -> None:
    factories.item(target_description="the cat in review")
    factories.item(target_description="the approved fig", state="approved", category="food")
    page = as_(ada).get(reverse("review_queue"), {"state": "in_review"}).content.decode()
    assert "the cat in review" in page
    assert "the approved fig" not in page
    assert "the approved fig" in as_(ada).get(reverse("review_queue"), {"category": "food"}).content.decode()
    assert "No item fits" in as_(ada).get(reverse("review_queue"), {"category": "nothing"}).content.decode()


def test_approving_leads_to_the_next_item_in_review(as_: As, ben: User) -> None:
    first, second = factories.item(), factories.item()
    accepted = [name for name, _ in reviews.sheet_of(first).tickets]
    address = reverse("item_decide", args=[first.key])
    reply = as_(ben).post(address, {"version": 1, "verdict": "approved", "accepted": accepted})
    assert reply.url == reverse("item_review", args=[second.key])
    first.refresh_from_db()
    assert first.state == "approved"


def test_a_refused_verdict_says_why_and_keeps_what_was_ticked(as_: As, ben: User, item: Item) -> None:
    given = {"version": 1, "verdict": "sent_back", "comment": "nearly"}
    reply = as_(ben).post(reverse("item_decide", args=[item.key]), given)
    page = reply.content.decode()
    assert reply.status_code == 400
    assert "Name the check that fails" in page
    assert "nearly</textarea>" in page
    Turn.objects.filter(number=2).update(content="What is it doing?")
    given = {"version": 1, "verdict": "approved", "failing": ["grounding"]}
    page = as_(ben).post(reverse("item_decide", args=[item.key]), given).content.decode()
    assert "An error keeps this item from approval (turn 2)" in page
    assert re.search('name="failing" value="grounding"[^>]* checked', page)


def test_sending_back_and_reopening_go_through_the_page(as_: As, ben: User, item: Item) -> None:
    decide = reverse("item_decide", args=[item.key])
    reply = as_(ben).post(decide, {"version": 1, "verdict": "sent_back", "comment": "two cats", "failing": "grounding"})
    assert reply.url == reverse("review_queue")
    assert "two cats" in as_(ben).get(reverse("item_review", args=[item.key])).content.decode()
    as_(ben).post(reverse("item_submit", args=[item.key]), {"version": 1})
    as_(ben).post(decide, {"version": 2, "verdict": "rejected", "comment": "no cat"})
    as_(ben).post(reverse("item_reopen", args=[item.key]), {"version": 2, "reason": "there is one"})
    assert Item.objects.get().state == "draft"
    assert as_(ben).post(reverse("item_submit", args=[item.key]), {}).status_code == 400


def test_a_draft_is_asked_for_and_seen_in_the_panel(as_: As, ada: User, item: Item) -> None:
    address = reverse("draft_request", args=[item.key])
    panel = as_(ada).post(address, {"kind": "questions"}, headers={"HX-Request": "true"}).content.decode()
    assert 'hx-trigger="every 1s"' in panel
    assert "simulated" in panel
    assert as_(ada).post(address, {"kind": "questions"}).status_code == 409
    item.drafts.update(state="failed", error="The reply is not JSON.", reply=b"<i>hello</i>")
    panel = as_(ada).get(reverse("draft_panel", args=[item.key])).content.decode()
    assert "every 1s" not in panel
    assert "The reply is not JSON." in panel
    assert "&lt;i&gt;hello" in panel


def test_a_ready_draft_is_put_in_by_a_person(as_: As, ada: User, item: Item) -> None:
    draft = drafts.request(item=item, kind="premise", drafter=drafters.default(), by=ada)
    payload = {"modified_target_description": "the striped fox on the chair", "questions": {"4": "Fox?"}}
    item.drafts.update(state="ready", payload=payload)
    assert "Fox" in as_(ada).get(reverse("item_edit", args=[item.key])).content.decode()
    as_(ada).post(reverse("draft_apply", args=[item.key, draft.pk]), {"version": 1})
    item.refresh_from_db()
    draft.refresh_from_db()
    assert item.modified_target_description == "the striped fox on the chair"
    assert items.texts_of(item).questions[4].modified == "Fox?"
    assert draft.applied_by == ada
    other = factories.item()
    assert as_(ada).post(reverse("draft_apply", args=[other.key, draft.pk]), {"version": 1}).status_code == 404


# Datasets --------------------------------------------------------------------------------------------------------


def test_a_dataset_is_narrowed_to_one_cell(as_: As, ada: User) -> None:
    dataset = factories.dataset(items=3)
    cell = {"complexity": "single_clean", "category": "animal", "premise_class": "location"}
    reply = as_(ada).get(reverse("dataset_detail", args=[dataset.pk]), cell)
    assert len(reply.context["page_obj"].object_list) == 1
    odd = {**cell, "premise_class": "'; drop"}
    assert as_(ada).get(reverse("dataset_detail", args=[dataset.pk]), odd).status_code == 200


def test_an_imported_item_without_picture_is_shown_and_its_links_are_no_scripts(as_: As, ada: User) -> None:
    dataset = factories.dataset(items=0, origin="imported")
    item = factories.dataset_item(dataset, image=None, license="L", license_url="javascript:alert(1)")
    page = as_(ada).get(reverse("dataset_item", args=[dataset.pk, item.pk])).content.decode()
    assert "No picture" in page
    assert 'href="javascript' not in page
    page = as_(ada).get(reverse("dataset_detail", args=[dataset.pk])).content.decode()
    assert "1 item came without a picture" in page
    image = factories.image()
    late = factories.dataset_item(dataset, image=None, sha256=image.sha256)
    as_(ada).post(reverse("dataset_attach", args=[dataset.pk]))
    late.refresh_from_db()
    assert late.image == image


def test_pages_ask_the_database_little_however_many_rows_there_are(
    as_: As, ada: User, dataset: Dataset, django_assert_max_num_queries: Any
) -> None:
    for _ in range(5):
        factories.item()
    item = Item.objects.all()[0]
    pages = [address for method, address in addresses(item, dataset) if method == "get"] + reading(dataset)
    for address in pages:
        client = as_(ada)
        with django_assert_max_num_queries(20):
            assert client.get(address).status_code == 200


@pytest.mark.parametrize("given", [{"folder": "x" * 300}, {"folder": ".", "csv_name": "x" * 300}])
def test_a_name_too_long_for_any_file_is_a_sentence(given: dict[str, str], as_: As, ada: User, settings: Any) -> None:
    (Path(settings.DATA_DIR) / "import").mkdir(exist_ok=True)
    reply = as_(ada).post(reverse("image_import_folder"), given)
    assert reply.status_code == 200
    assert "There is no" in reply.text


def test_an_empty_file_is_refused_by_name_and_the_others_are_kept(as_: As, ada: User) -> None:
    files = [SimpleUploadedFile("empty.jpg", b""), SimpleUploadedFile("good.jpg", factories.jpeg())]
    reply = as_(ada).post(reverse("image_import"), {"photographs": files}, follow=True)
    assert "empty.jpg is empty." in reply.text
    assert Image.objects.get().name == "good.jpg"
