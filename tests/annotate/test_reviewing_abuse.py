"""Review and edit pages given what no form of theirs sends, and by whom it does not come from."""

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse

from annotate import provenance
from annotate.models import Comment, DatasetItem, EditDraft, Item, Review, ReviewRules, User
from annotate.services import comments, datasets, edit_drafts, items, reviews
from annotate.services.edit_drafts import Message
from annotate.services.items import Question, Texts
from annotate.services.reviews import ALL_HOLD
from tests import factories

pytestmark = [pytest.mark.db, pytest.mark.django_db]
As = Callable[[User], Client]
HERE, THERE = UUID(int=1), UUID(int=2)
ODD = ["", "-1", "9" * 30, "x\0", "a" * 100_000, "\u202e\U0001f469\u200d\U0001f467<script>x</script>"]
POSTS = [
    ("item_edit", "version target target_description content_1 modified_4 machine_4 client sequence"),
    ("item_autosave", "version target content_1 modified_4 client sequence seen_client seen_sequence"),
    ("item_compute", "version target_description content_4 machine_4"),
    ("item_check", "version modified_target_description content_4 machine_4"),
    ("item_discard", "client sequence"),
    ("item_decide", "version verdict failing comment accepted"),
    ("item_submit", "version reason"),
    ("item_reopen", "version reason"),
    ("item_undo", "version"),
    ("item_move", "version complexity category premise_class reason"),
    ("comment_add", "version text line"),
]


def rule(*, share: float) -> None:
    ReviewRules.objects.update_or_create(pk=1, defaults={"second_share": share, "seed": 0})


def approve(item: Item, by: User) -> Review:
    item.refresh_from_db()
    return reviews.decide(item=item, version=item.version, verdict="approved", by=by, checks=ALL_HOLD)


def texts(item: Item, first: str) -> Texts:
    now = items.texts_of(item)
    return Texts(
        now.target, now.target_description, now.modified_target_description, {**now.questions, 1: Question(first)}
    )


@pytest.mark.parametrize(("name", "fields"), POSTS)
def test_whatever_a_field_holds_is_answered_in_words(name: str, fields: str, as_: As, ada: User) -> None:
    window = as_(ada)
    for field in fields.split():
        for value in ODD:
            item = factories.item(state="draft" if name == "item_submit" else "in_review", edited_by=ada)
            items.record(item, by=ada, reason="written")
            good = {"version": 1, "reason": "why", "verdict": "sent_back", "failing": "grounding", "comment": "c"}
            good |= {"text": "t", "line": "1:content", "content_1": "What?", "client": str(HERE), "sequence": "1"}
            reply = window.post(reverse(name, args=[item.key]), {**good, field: value})
            assert reply.status_code in {200, 302, 400, 409}, (field, value[:20], reply.status_code)


def test_what_a_form_refuses_is_said_of_the_field_that_it_is_about(as_: As, ada: User) -> None:
    item = factories.item()
    long = {"version": 1, "verdict": "rejected", "comment": "a" * 5001, "text": "a" * 5001, "reason": "a" * 1001}
    for name, words in (("item_decide", "Comment: Ensure"), ("comment_add", "Comment: Ensure")):
        assert words in as_(ada).post(reverse(name, args=[item.key]), long).content.decode()
    reply = as_(ada).post(reverse("item_reopen", args=[item.key]), long)
    assert "Reason: Ensure this value has at most 1000" in reply.content.decode()


def test_lone_surrogates_over_the_api_are_refused(as_: As, ada: User) -> None:
    item = factories.item(state="draft")
    for body in ('{"version": 1, "target": "\\ud800"}', '{"version": 1, "turns": [{"turn": 1, "content": "\\udc00"}]}'):
        reply = as_(ada).patch(f"/api/v1/items/{item.key}/", body, content_type="application/json")
        assert reply.status_code == 400
    for version in (-1, "x", None, 10**30):
        body = json.dumps({"version": version, "target": "dog"})
        reply = as_(ada).patch(f"/api/v1/items/{item.key}/", body, content_type="application/json")
        assert reply.status_code in {400, 409}
    assert Item.objects.get().version == 1


def test_a_field_that_was_not_sent_stays_as_it_is(as_: As, ada: User) -> None:
    item = factories.item(state="draft")
    before = items.texts_of(item)
    sent = {"version": 1, "content_1": "What does it eat?"}
    as_(ada).post(reverse("item_autosave", args=[item.key]), sent)
    draft = edit_drafts.of(item, ada)
    assert draft is not None
    assert edit_drafts.texts_of(draft, before) == texts(item, "What does it eat?")
    as_(ada).post(reverse("item_edit", args=[item.key]), sent)
    assert items.texts_of(Item.objects.get()) == texts(item, "What does it eat?")
    as_(ada).post(reverse("item_edit", args=[item.key]), {"version": 2})
    assert Item.objects.get().version == 2


def test_nothing_is_done_from_the_page_of_somebody_else(as_: As, ada: User, ben: User) -> None:
    item = factories.item(edited_by=ben)
    items.record(item, by=ben, reason="written")
    sent = {"version": 1, "verdict": "approved", "text": "Mine.", "target": "dog", "reason": "why", "person": "ada"}
    for name in ("item_decide", "comment_add", "item_edit", "item_autosave", "item_discard", "item_undo"):
        reply = as_(ben).post(reverse(name, args=[item.key]), sent, headers={"Accept": "application/json"})
        assert (name, reply.status_code) == (name, 409)
        assert "You are signed in as ben now; this page is ada&#x27;s" in reply.content.decode() or (
            reply.json()["detail"].startswith("You are signed in as ben now; this page is ada's.")
        )
    assert (Review.objects.count(), Comment.objects.count(), EditDraft.objects.count()) == (0, 0, 0)
    assert Item.objects.get().version == 1


# Two windows of one person ------------------------------------------------------------------------


def post(window: Client, item: Item, text: str, client: UUID, sequence: int, **more: Any) -> Any:
    sent = {"version": 1, "content_1": text, "client": str(client), "sequence": sequence, **more}
    return window.post(reverse("item_autosave", args=[item.key]), sent)


def test_a_window_never_overwrites_what_another_one_holds(as_: As, ada: User) -> None:
    item, window = factories.item(state="draft"), as_(ada)
    assert post(window, item, "here", HERE, 1).status_code == 200
    reply = post(window, item, "there", THERE, 1)
    assert (reply.status_code, reply.json()["other_window"]) == (409, True)
    assert EditDraft.objects.get().texts["questions"]["1"]["content"] == "here"
    page = window.get(reverse("item_edit", args=[item.key])).content.decode()
    assert f'data-seen-client="{HERE}" data-seen-sequence="1"' in page
    assert post(window, item, "here and there", THERE, 2, seen_client=HERE, seen_sequence=1).status_code == 200
    assert post(window, item, "here again", HERE, 2).status_code == 409


def test_a_save_leaves_what_another_window_holds_to_be_seen_beside_it(as_: As, ada: User) -> None:
    item, window = factories.item(state="draft"), as_(ada)
    post(window, item, "here", HERE, 1)
    window.post(
        reverse("item_edit", args=[item.key]), {"version": 1, "content_1": "there", "client": THERE, "sequence": 1}
    )
    assert items.texts_of(Item.objects.get()).questions[1].content == "there"
    page = window.get(reverse("item_edit", args=[item.key])).content.decode()
    assert "Changed meanwhile" in page
    assert ">here<" in page


def test_a_duplicated_tab_is_told_that_its_number_is_taken(as_: As, ada: User) -> None:
    item, window = factories.item(state="draft"), as_(ada)
    post(window, item, "first", HERE, 5)
    for sequence in (4, 5):
        assert post(window, item, "second", HERE, sequence).json()["overtaken"] is True
    assert EditDraft.objects.get().texts["questions"]["1"]["content"] == "first"


def test_what_is_typed_after_a_save_was_sent_outlives_it(ada: User) -> None:
    item = factories.item(state="draft")
    edit_drafts.keep(item=item, version=1, texts=texts(item, "later"), by=ada, message=Message(HERE, 2))
    edit_drafts.save(item=item, version=1, texts=texts(item, "saved"), by=ada, message=Message(HERE, 1))
    draft = edit_drafts.of(item, ada)
    assert draft is not None
    assert (draft.version, draft.texts["questions"]["1"]["content"]) == (1, "later")


def test_the_same_text_from_two_windows_is_one(ada: User) -> None:
    item = factories.item(state="draft")
    edit_drafts.keep(item=item, version=1, texts=texts(item, "same"), by=ada, message=Message(HERE, 1))
    edit_drafts.keep(item=item, version=1, texts=texts(item, "same"), by=ada, message=Message(THERE, 1))
    assert EditDraft.objects.get().client == THERE


# What a first verdict must not tell ---------------------------------------------------------------


def test_a_lowered_share_tells_nothing_of_a_first_verdict(as_: As, ada: User, ben: User) -> None:
    rule(share=1)
    item = factories.item()
    approve(item, ada)
    comments.add(item=item, version=1, text="I like it.", by=ada)
    rule(share=0)
    page = as_(ben).get(reverse("review_queue"))
    assert page.context["remarks"] == {}
    assert page.context["twice"] == {item.pk}
    assert "open comments" not in page.content.decode()


def test_the_provenance_of_an_older_dataset_tells_nothing_of_a_first_verdict(as_: As, ada: User, ben: User) -> None:
    rule(share=0)
    item = factories.item(edited_by=ada)
    items.record(item, by=ada, reason="written")
    approve(item, ada)
    dataset = datasets.freeze(name="Pilot", by=ada)
    rule(share=1)
    items.edit(item=item, version=1, texts=texts(item, "What is the striped cat on the chair eating?"), by=ada)
    approve(item, ada)
    comments.add(item=Item.objects.get(), version=2, text="I like it.", by=ada)
    frozen = DatasetItem.objects.get()
    for path in (f"/datasets/{dataset.pk}/items/{frozen.pk}/provenance/", f"/datasets/{dataset.pk}/provenance.jsonl"):
        reply = as_(ben).get(path)
        body = reply.getvalue() if reply.streaming else reply.content
        assert reply.status_code == 200
        assert b"I like it." not in body
    [record] = provenance.records([frozen])
    assert [review["version"] for review in record["reviews"]] == [1]
    approve(item, ben)
    [record] = provenance.records([frozen])
    assert ([review["version"] for review in record["reviews"]], len(record["comments"])) == ([1, 2, 2], 1)
