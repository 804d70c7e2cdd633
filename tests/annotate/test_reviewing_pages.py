"""The queue, comments, undo, history and unsaved texts, through their pages."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate import selectors
from annotate.models import Comment, Item, Review, User
from annotate.services import comments, edit_drafts, items, reviews, undo
from annotate.services.items import Question, Texts
from annotate.services.reviews import ALL_HOLD
from fpco_site.errors import Conflict, Invalid
from tests import factories

pytestmark = [pytest.mark.db, pytest.mark.django_db]
As = Callable[[User], Client]
CLIENT = UUID(int=7)


def written(by: User, **more: Any) -> Item:
    """An item with its first version on record."""
    item = factories.item(edited_by=by, **more)
    items.record(item, by=by, reason="written")
    return item


def edit(item: Item, text: str, by: User) -> Item:
    now = items.texts_of(item)
    texts = Texts(now.target, now.target_description, now.modified_target_description, {1: Question(text)})
    return items.edit(item=item, version=Item.objects.get(pk=item.pk).version, texts=texts, by=by)


def approve(item: Item, by: User) -> Review:
    item.refresh_from_db()
    return reviews.decide(item=item, version=item.version, verdict="approved", by=by, checks=ALL_HOLD)


def fields(item: Item, **more: Any) -> dict[str, Any]:
    """What the edit page sends."""
    texts = items.texts_of(item)
    sent = {
        "version": item.version,
        "target": texts.target,
        "target_description": texts.target_description,
        "modified_target_description": texts.modified_target_description,
        **{f"content_{number}": question.content for number, question in texts.questions.items()},
        **{f"modified_{number}": question.modified for number, question in texts.questions.items()},
    }
    return {**sent, **more}


def keys(reply: Any) -> list[str]:
    return [row["item"].key for row in reply.context["rows"]]


# The queue ---------------------------------------------------------------------------------------


def test_what_waits_longest_comes_first_and_the_order_can_be_chosen(as_: As, ada: User) -> None:
    now = timezone.now()
    rows = [factories.item(state_since=now - timedelta(days=days)) for days in (1, 3, 2)]
    client, queue = as_(ada), reverse("review_queue")
    assert keys(client.get(queue)) == [rows[1].key, rows[2].key, rows[0].key]
    assert keys(client.get(queue, {"sort": "newest"})) == [rows[0].key, rows[2].key, rows[1].key]
    assert keys(client.get(queue, {"sort": "placed"})) == [row.key for row in rows]
    assert keys(client.get(queue, {"sort": "nonsense"})) == keys(client.get(queue))
    assert "3 d" in client.get(queue).content.decode()


@pytest.mark.parametrize("sort", list(selectors.SORTS))
def test_the_neighbours_of_an_item_follow_the_order(sort: str) -> None:
    now = timezone.now()
    for days, kind in ((1, "identity"), (3, "location"), (3, "attribute"), (2, "identity")):
        factories.item(state_since=now - timedelta(days=days), premise_class=kind)
    queue = selectors.Queue(sort=sort)
    rows = list(queue.items())
    assert [queue.neighbours(row) for row in rows] == list(zip([None, *rows[:-1]], [*rows[1:], None], strict=True))


def test_items_are_found_by_author_and_by_any_of_their_texts(as_: As, ada: User, ben: User) -> None:
    hers, his = factories.item(edited_by=ada), factories.item(edited_by=ben)
    his.turns.filter(number=9).update(modified="Is there an anchor?")
    client, queue = as_(ada), reverse("review_queue")
    assert keys(client.get(queue, {"author": "ada"})) == [hers.key]
    assert keys(client.get(queue, {"q": "ANCHOR"})) == [his.key]
    assert keys(client.get(queue, {"q": his.key[:8]})) == [his.key]
    assert keys(client.get(queue, {"q": "no such words"})) == []


def test_the_filters_travel_with_the_item(as_: As, ben: User) -> None:
    first, second = factories.item(), factories.item()
    address = reverse("item_decide", args=[first.key]) + "?state=in_review&sort=newest"
    reply = as_(ben).post(address, {"version": 1, "verdict": "approved"})
    assert reply.url == reverse("item_review", args=[second.key]) + "?state=in_review&sort=newest"


def test_a_script_is_told_where_to_go_next_or_what_is_wrong(as_: As, ben: User) -> None:
    item, accept = factories.item(), {"Accept": "application/json"}
    address = reverse("item_decide", args=[item.key])
    reply = as_(ben).post(address, {"version": 1, "verdict": "sent_back", "comment": "x"}, headers=accept)
    assert (reply.status_code, reply.json()) == (
        400,
        {"message": "Name the check that fails, by its key or with a click."},
    )
    reply = as_(ben).post(address, {"version": 1, "verdict": "approved"}, headers=accept)
    assert reply.json() == {"next": reverse("review_queue")}


def test_there_is_no_approval_of_many(as_: As, ben: User) -> None:
    for _ in range(2):
        factories.item()
    assert 'name="verdict"' not in as_(ben).get(reverse("review_queue")).content.decode()
    assert as_(ben).post(reverse("review_queue"), {"verdict": "approved"}).status_code == 405


def test_variants_have_a_queue_of_their_own(as_: As, ada: User) -> None:
    parent = factories.item(state="approved")
    variants = [
        factories.item(image=parent.image, key=f"{parent.key}-{letter}", parent=parent, variant=letter)
        for letter in ("A", "B")
    ]
    for variant in variants:
        variant.turns.filter(number__gt=4).delete()
    page = as_(ada).get(reverse("item_review", args=[variants[0].key]))
    assert page.context["following"] == variants[1]
    assert [row["line"].number for row in page.context["rows"]] == [1, 2, 3, 4]
    assert keys(as_(ada).get(reverse("review_queue"))) == [parent.key]
    assert keys(as_(ada).get(reverse("review_queue"), {"variants": 1})) == [row.key for row in variants]


# Undo --------------------------------------------------------------------------------------------


def test_an_own_verdict_is_taken_back(as_: As, ada: User, ben: User) -> None:
    item = written(ada)
    approve(item, ben)
    assert "You approved" in as_(ben).get(reverse("review_queue")).content.decode()
    as_(ben).post(reverse("item_undo", args=[item.key]), {"version": 1})
    item.refresh_from_db()
    assert (item.state, item.version) == ("in_review", 2)
    assert Review.objects.get().withdrawn_at is not None
    assert item.revisions.get(version=2).reason == "taken back"
    assert undo.last_step(ben) is None
    approve(item, ben)


def test_an_own_edit_is_taken_back_with_who_wrote_before(ada: User, ben: User) -> None:
    item = written(ada)
    edit(item, "What does it eat?", ben)
    undo.undo(item=item, version=2, by=ben)
    item.refresh_from_db()
    assert items.texts_of(item).questions[1].content == "What is the striped cat on the chair doing?"
    assert (item.version, item.edited_by) == (3, ada)
    assert undo.last_step(ben) is None


def test_nothing_is_taken_back_once_something_happened_since(ada: User, ben: User) -> None:
    item = written(ada)
    approve(item, ben)
    item.refresh_from_db()
    edit(item, "What does the striped cat on the chair eat?", ada)
    assert undo.last_step(ben) is None
    with pytest.raises(Conflict, match="something happened since"):
        undo.undo(item=item, version=2, by=ben)
    item.refresh_from_db()
    approve(item, ben)
    with pytest.raises(Conflict, match="something happened since"):
        undo.undo(item=item, version=2, by=ada)


def test_only_the_own_approval_of_two_is_taken_back(ada: User, ben: User) -> None:
    item = factories.item()
    approve(item, ada)
    approve(item, ben)
    assert undo.last_step(ada) is None
    undo.undo(item=item, version=1, by=ben)
    item.refresh_from_db()
    assert (item.state, item.version) == ("approved", 1)


# Comments ----------------------------------------------------------------------------------------


def test_a_comment_stands_beside_its_line_and_counts_until_it_is_settled(as_: As, ada: User, ben: User) -> None:
    item = factories.item()
    said = {"version": 1, "text": "Is it a <b>cat</b>?", "line": "4:modified"}
    reply = as_(ada).post(reverse("comment_add", args=[item.key]), said)
    assert reply.url == reverse("item_review", args=[item.key]) + "#comments"
    comment = Comment.objects.get()
    assert (comment.turn, comment.field, comment.line) == (4, "modified", "modified question 4")
    page = as_(ben).get(reverse("item_review", args=[item.key])).content.decode()
    assert page.count("Is it a &lt;b&gt;cat&lt;/b&gt;?") == 2
    assert as_(ben).get(reverse("review_queue")).context["remarks"] == {item.pk: 1}
    as_(ben).post(reverse("comment_resolve", args=[item.key, comment.pk]))
    assert as_(ben).get(reverse("review_queue")).context["remarks"] == {}
    comment.refresh_from_db()
    assert comment.resolved_by == ben
    as_(ada).post(reverse("comment_open", args=[item.key, comment.pk]))
    comment.refresh_from_db()
    assert comment.resolved_at is None


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"text": "  "}, "Say something"),
        ({"turn": 11, "field": "content"}, "no turn 11"),
        ({"turn": 3}, "names its turn"),
        ({"field": "content"}, "names its turn"),
        ({"version": 2}, "no version 2"),
    ],
)
def test_a_comment_is_about_something_that_is_there(ada: User, more: dict[str, Any], words: str) -> None:
    item = factories.item()
    with pytest.raises(Invalid, match=words):
        comments.add(**{"item": item, "version": 1, "text": "Hm.", "by": ada, **more})
    assert not Comment.objects.exists()


# History -----------------------------------------------------------------------------------------


def test_the_history_tells_versions_verdicts_and_comments_in_one_row(as_: As, ada: User, ben: User) -> None:
    item = written(ada)
    edit(item, "What does the striped cat on the chair eat?", ben)
    comments.add(item=item, version=2, text="Better.", by=ada)
    approve(item, ada)
    entries = as_(ada).get(reverse("item_history", args=[item.key])).context["entries"]
    assert [next(name for name in ("verdict", "remark", "revision") if name in entry) for entry in entries] == [
        "verdict",
        "remark",
        "revision",
        "revision",
    ]


def test_an_old_version_comes_back_as_a_new_one_with_a_reason(as_: As, ada: User, ben: User) -> None:
    item = written(ada)
    edit(item, "What does it eat?", ben)
    Item.objects.update(state="approved")
    address = reverse("item_restore", args=[item.key, 1])
    assert as_(ada).post(address, {"version": 2, "reason": " "}).status_code == 400
    assert as_(ada).post(address, {"version": 1, "reason": "stale"}).status_code == 409
    as_(ada).post(address, {"version": 2, "reason": "it was better"})
    item.refresh_from_db()
    assert items.texts_of(item).questions[1].content == "What is the striped cat on the chair doing?"
    assert (item.version, item.state, item.edited_by) == (3, "in_review", ada)
    assert item.revisions.get(version=3).reason == "version 1 restored: it was better"
    assert as_(ada).post(reverse("item_restore", args=[item.key, 9]), {"version": 3, "reason": "x"}).status_code == 404


# Unsaved texts -----------------------------------------------------------------------------------


def test_the_edit_page_opens_with_what_was_typed_and_says_so(as_: As, ada: User, ben: User) -> None:
    item = factories.item(state="draft")
    address = reverse("item_autosave", args=[item.key])
    typed = fields(item, content_1="What is the stri", person="ada", client=CLIENT, sequence=1)
    reply = as_(ada).post(address, typed).json()
    assert (reply["kept"], reply["moved_on"]) == (True, False)
    page = as_(ada).get(reverse("item_edit", args=[item.key])).content.decode()
    assert "What is the stri</textarea>" in page
    assert "typed over version 1 and not saved" in page
    assert "What is the stri</textarea>" not in as_(ben).get(reverse("item_edit", args=[item.key])).content.decode()
    assert "What is the stri" not in as_(ada).get(reverse("item_review", args=[item.key])).content.decode()
    as_(ada).post(reverse("item_discard", args=[item.key]))
    assert "What is the stri</textarea>" not in as_(ada).get(reverse("item_edit", args=[item.key])).content.decode()


def test_a_draft_over_an_older_version_opens_as_both_texts(as_: As, ada: User, ben: User) -> None:
    item = factories.item(state="draft")
    address = reverse("item_autosave", args=[item.key])
    as_(ada).post(address, fields(item, content_1="hers", person="ada"))
    edit(item, "his", ben)
    page = as_(ada).get(reverse("item_edit", args=[item.key])).content.decode()
    assert "Changed meanwhile" in page
    assert "typed this over version 1" in page
    assert "hers" in page
    assert "his" in page
    reply = as_(ada).post(address, fields(item, content_1="hers more", person="ada")).json()
    assert reply["moved_on"] is True
    assert items.texts_of(Item.objects.get()).questions[1].content == "his"


def test_a_text_is_kept_for_the_person_who_typed_it_alone(as_: As, ada: User, ben: User) -> None:
    item = factories.item(state="draft")
    reply = as_(ben).post(reverse("item_autosave", args=[item.key]), fields(item, content_1="hers", person="ada"))
    assert reply.status_code == 409
    assert edit_drafts.of(item, ben) is None


# Whose pages these are ---------------------------------------------------------------------------


def test_each_of_these_pages_is_for_authors_alone(as_: As, ada: User, lea: User, rita: User, client: Client) -> None:
    item = written(ada)
    remark = comments.add(item=item, version=1, text="Hm.", by=ada)
    gets = ["review_queue", "item_review", "item_history", "item_edit"]
    posts = ["item_decide", "item_undo", "item_autosave", "item_discard", "comment_add", "item_edit"]
    addresses = [("get", reverse(name, args=[] if name == "review_queue" else [item.key])) for name in gets]
    addresses += [("post", reverse(name, args=[item.key])) for name in posts]
    addresses += [("post", reverse(name, args=[item.key, remark.pk])) for name in ("comment_resolve", "comment_open")]
    addresses.append(("post", reverse("item_restore", args=[item.key, 1])))
    for verb, address in addresses:
        for who in (lea, rita):
            assert (address, getattr(as_(who), verb)(address).status_code) == (address, 404)
        assert (address, getattr(client, verb)(address).status_code) == (address, 302)
    assert Item.objects.get().version == 1


def test_a_comment_is_settled_only_under_its_own_item(as_: As, ada: User) -> None:
    item, other = factories.item(), factories.item()
    remark = comments.add(item=item, version=1, text="Hm.", by=ada)
    assert as_(ada).post(reverse("comment_resolve", args=[other.key, remark.pk])).status_code == 404


def test_the_api_refuses_an_edit_over_an_older_version(as_: As, ada: User) -> None:
    item = factories.item(state="draft")
    edit(item, "What does it eat?", ada)
    body = {"version": 1, "turns": [{"turn": 1, "content": "What does it drink?"}]}
    reply = as_(ada).patch(f"/api/v1/items/{item.key}/", body, content_type="application/json")
    assert reply.status_code == 409
    assert items.texts_of(Item.objects.get()).questions[1].content == "What does it eat?"
