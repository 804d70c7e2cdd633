"""Before a dataset is frozen: what is fine, what needs a tick, what stops it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate.models import Dataset, Draft, EditDraft, Image, ImagePair, Item, Turn, User
from annotate.services import comments, duplicates, freezing, items, reviews, study, undo
from annotate.services.freezing import Level
from fpco_site.errors import Conflict, Invalid
from tests import factories

pytestmark = pytest.mark.django_db
As = Callable[[User], Client]


def found(code: str, **how: Any) -> freezing.Check:
    [row] = [row for row in freezing.checks(**how) if row.code == code]
    return row


def tickets() -> list[str]:
    return [row.ticket for row in freezing.checks() if row.level is Level.WARN]


@pytest.fixture
def item(ada: User) -> Item:
    return factories.approved(ada)


# Each row --------------------------------------------------------------------------------------------------------


def test_without_an_approved_item_there_is_nothing_to_freeze(ada: User) -> None:
    factories.item(state="draft")
    rows = freezing.checks()
    assert [(row.code, row.level) for row in rows] == [("approved", Level.STOPS), ("unfinished", Level.WARN)]
    with pytest.raises(Conflict, match="nothing to freeze"):
        freezing.freeze(name="First", by=ada, accept_all=True)


def test_unfinished_items_need_a_tick_with_their_count(item: Item) -> None:
    assert found("unfinished").level is Level.OK
    factories.item(state="draft")
    factories.item(state="in_review")
    factories.item(state="rejected")
    row = found("unfinished")
    assert (row.level, row.ticket) == (Level.WARN, "unfinished:2")
    assert "1 in draft, 1 in review" in row.text


def test_cells_that_miss_or_pass_their_quota_are_counted(item: Item, ada: User) -> None:
    assert (found("quotas").level, found("quotas").count) == (Level.WARN, 36)
    study.save(per_cell=1, approver_not_last_editor=False, second_share=0, seed=0, by=ada)
    assert found("quotas").count == 35
    factories.approved(ada)
    assert found("quotas").count == 36


def lose_content(item: Item) -> None:
    Turn.objects.filter(item=item, number=2).update(content="")


def lose_rewrite(item: Item) -> None:
    Turn.objects.filter(item=item, number=10).update(modified="")


def lose_turn(item: Item) -> None:
    Turn.objects.filter(item=item, number=9).delete()


def lose_premise(item: Item) -> None:
    Item.objects.filter(pk=item.pk).update(modified_target_description="")


@pytest.mark.parametrize("lose", [lose_content, lose_rewrite, lose_turn, lose_premise])
def test_an_approved_item_that_lacks_a_text_stops_it(lose: Callable[[Item], None], item: Item, ada: User) -> None:
    assert found("complete").level is Level.OK
    lose(item)
    assert (found("complete").level, found("complete").keys) == (Level.STOPS, (item.key,))
    with pytest.raises(Conflict, match="lacks a text"):
        freezing.freeze(name="First", by=ada, accept_all=True)


def test_an_approval_of_another_version_is_none(item: Item, ada: User) -> None:
    assert found("approvals").level is Level.OK
    bare = factories.item(state="approved")
    Item.objects.filter(pk=item.pk).update(version=2)
    row = found("approvals")
    assert (row.level, row.count, set(row.keys)) == (Level.STOPS, 2, {item.key, bare.key})


def test_an_approval_that_was_taken_back_is_none(item: Item, ada: User) -> None:
    item.reviews.update(withdrawn_at=item.created_at)
    assert found("approvals").level is Level.STOPS


def test_an_item_that_two_should_review_and_one_did_is_looked_at(item: Item, ada: User, ben: User) -> None:
    assert found("second_reviews").level is Level.OK
    factories.person("cleo")
    study.save(per_cell=30, approver_not_last_editor=False, second_share=1, seed=0, by=ada)
    assert (found("second_reviews").level, found("second_reviews").keys) == (Level.WARN, (item.key,))
    given = item.reviews.get()
    given.pk, given.reviewer = None, ben
    given.save()
    assert found("second_reviews").level is Level.OK


def test_open_comments_and_unsaved_edits_are_looked_at(item: Item, ada: User) -> None:
    assert found("comments").level is found("unsaved").level is Level.OK
    remark = comments.add(item=item, version=1, text="Is it a cat?", by=ada)
    EditDraft.objects.create(item=item, person=ada, version=1, texts={}, at=item.created_at)
    assert found("comments").keys == found("unsaved").keys == (item.key,)
    comments.resolve(comment=remark, by=ada)
    assert found("comments").level is Level.OK


def test_texts_of_a_simulated_drafter_are_told(item: Item, ada: User) -> None:
    draft = factories.draft(item, simulated=True)
    assert found("drafters").level is Level.OK
    Draft.objects.filter(pk=draft.pk).update(applied_at=draft.requested_at, applied_by=ada)
    assert (found("drafters").level, found("drafters").keys) == (Level.WARN, (item.key,))


def test_licences_authors_and_landing_pages_are_looked_at(ada: User) -> None:
    good = factories.image(landing_url="https://example.org/1")
    closed = factories.image(license="CC BY-ND 2.0", license_url="", author="")
    factories.approved(ada, image=good)
    factories.approved(ada, image=closed)
    key = (closed.sha256[:12],)
    assert (found("licences").level, found("licences").keys) == (Level.WARN, key)
    assert (found("authors").level, found("authors").keys) == (Level.WARN, key)
    assert (found("landing_pages").level, found("landing_pages").keys) == (Level.WARN, key)


def test_undecided_near_duplicates_are_looked_at(item: Item, ada: User) -> None:
    other = factories.approved(ada)
    pair = ImagePair.objects.create(first=item.image, second=other.image, distance=2)
    assert (found("near_duplicates").count, found("near_duplicates").level) == (1, Level.WARN)
    pair.state, pair.decided_at = "different", other.created_at
    pair.save()
    assert found("near_duplicates").level is Level.OK


def set_aside_after_rejection(item: Item, ada: User) -> Item:
    """Another item, rejected, whose picture was then set aside as a duplicate of this one's."""
    other = factories.item()
    items.record(other, by=ada, reason="written")
    reviews.decide(item=other, version=other.version, verdict="rejected", comment="The same picture.", by=ada)
    pair = ImagePair.objects.create(first=item.image, second=other.image, distance=2)
    duplicates.decide(pair=pair, keep=item.image, by=ada)
    other.refresh_from_db()
    return other


def test_a_rejected_item_whose_picture_was_set_aside_does_not_come_back(item: Item, ada: User) -> None:
    other = set_aside_after_rejection(item, ada)
    with pytest.raises(Conflict, match="set aside"):
        items.reopen(item=other, version=other.version, reason="It is good.", by=ada)
    with pytest.raises(Conflict, match="set aside"):
        undo.undo(item=other, version=other.version, by=ada)
    other.refresh_from_db()
    assert other.state == "rejected"


def test_a_picture_that_was_set_aside_stops_the_freeze(item: Item, ada: User) -> None:
    assert found("set_aside").level is Level.OK
    other = set_aside_after_rejection(item, ada)
    Item.objects.filter(pk=other.pk).update(state="approved")
    assert (found("set_aside").level, found("set_aside").keys) == (Level.STOPS, (other.key,))


@pytest.mark.parametrize("name", ["Spr\u200bing", "Spring\u202egnp", "Spr\x07ing", "Spr\ud800ing", "Spr\u00a0ing"])
def test_a_name_with_letters_that_nobody_sees_is_refused(name: str, item: Item, ada: User) -> None:
    with pytest.raises(Invalid, match="can't be seen"):
        freezing.freeze(name=name, by=ada, accept_all=True)


def test_a_name_is_taken_however_its_accents_are_encoded(item: Item, ada: User) -> None:
    freezing.freeze(name="Été می\u200cخواهم 🐈", by=ada, accept_all=True)
    with pytest.raises(Conflict, match="already a dataset"):
        freezing.freeze(name=normalize("NFD", "Été می\u200cخواهم 🐈"), by=ada, accept_all=True)


@pytest.mark.parametrize("file", ["", "../../outside.jpg", "images/gone.jpg"])
def test_a_picture_whose_file_is_nowhere_stops_it(file: str, item: Item, ada: User) -> None:
    Image.objects.filter(pk=item.image_id).update(file=file)
    assert found("files", read_files=True).level is Level.STOPS


def test_texts_that_several_items_share_are_looked_at(item: Item, ada: User) -> None:
    assert found("same_descriptions").level is found("same_questions").level is Level.OK
    factories.approved(ada)
    factories.approved(ada, target_description="the grey hen")
    assert found("same_descriptions").count == 2
    assert found("same_questions").count == 10


def test_files_are_hashed_and_a_changed_or_missing_one_stops_it(item: Item, ada: User) -> None:
    assert found("files").level is Level.LATER
    assert found("files", read_files=True).level is Level.OK
    Path(item.image.file.path).write_bytes(factories.jpeg(seed=999))
    row = found("files", read_files=True)
    assert (row.level, row.keys) == (Level.STOPS, (item.key,))
    with pytest.raises(Conflict, match="other bytes than its hash"):
        freezing.freeze(name="First", by=ada, accept_all=True)
    Path(item.image.file.path).unlink()
    assert found("files", read_files=True).level is Level.STOPS
    assert not Dataset.objects.exists()


def test_the_list_asks_no_more_for_more_items(item: Item, ada: User) -> None:
    freezing.checks()  # makes the protocol and the rules on first use
    with CaptureQueriesContext(connection) as few:
        freezing.checks()
    for _ in range(5):
        factories.approved(ada)
    with CaptureQueriesContext(connection) as many:
        freezing.checks()
    assert len(many) == len(few) <= 20


# Freezing --------------------------------------------------------------------------------------------------------


def test_a_tick_covers_what_was_read_and_no_more(item: Item, ada: User) -> None:
    ticked = tickets()
    factories.item(state="draft")
    with pytest.raises(Invalid, match="1 item is not approved yet"):
        freezing.freeze(name="First", by=ada, accepted=ticked)
    dataset = freezing.freeze(name="First", by=ada, accepted=tickets())
    assert dataset.items.count() == 1
    kept = {row.code: row.level for row in freezing.as_rows(dataset.checks)}
    assert (kept["unfinished"], kept["files"], kept["complete"]) == (Level.WARN, Level.OK, Level.OK)


def test_freezing_in_the_browser_says_what_keeps_it(as_: As, ada: User, item: Item) -> None:
    address = reverse("dataset_freeze")
    factories.item(state="draft")
    client = as_(ada)
    reply = client.post(address, {"name": "Spring", "accepted": ["unfinished:7"]})
    assert reply.status_code == 400
    assert "1 item is not approved yet" in reply.content.decode()
    refused = client.post(address, {"name": "Spring", "accepted": tickets()[1:]})
    assert refused.content.decode().count(" checked") == len(tickets()) - 1
    reply = client.post(address, {"name": "Spring", "accepted": tickets()})
    dataset = Dataset.objects.get()
    assert reply.url == reverse("dataset_detail", args=[dataset.pk])
    page = client.get(reply.url).content.decode()
    assert dataset.dataset_hash in page
    assert "the striped dog on the chair" in page
    assert "1 item is not approved yet" in page


def test_every_row_leads_somewhere(as_: As, ada: User, item: Item) -> None:
    factories.item(state="draft")
    client = as_(ada)
    rows = client.get(reverse("dataset_freeze")).context["rows"]
    assert {client.get(row["href"]).status_code for row in rows if row["href"]} == {200}
    checked = client.get(reverse("dataset_freeze"), {"files": 1}).content.decode()
    assert "its bytes have the hash on record" in checked


def test_the_command_freezes_or_says_why_not(item: Item, capsys: pytest.CaptureFixture[str]) -> None:
    factories.item(state="draft")
    with pytest.raises(CommandError, match="1 item is not approved yet"):
        call_command("freeze", "First")
    with pytest.raises(CommandError, match="36 of 36 cells"):
        call_command("freeze", "First", only_approved=True)
    call_command("freeze", "First", check=True)
    assert "warn: 36 of 36 cells" in capsys.readouterr().out
    assert not Dataset.objects.exists()
    call_command("freeze", "First", accept_warnings=True)
    said = capsys.readouterr().out
    assert "Froze 1 item as First." in said
    assert "left out" in said
    assert Dataset.objects.get().dataset_hash in said


def test_the_command_says_what_stops_it(item: Item) -> None:
    lose_rewrite(item)
    with pytest.raises(CommandError, match="Something stops it"):
        call_command("freeze", "First", check=True)
    with pytest.raises(CommandError, match="lacks a text"):
        call_command("freeze", "First", accept_warnings=True)
