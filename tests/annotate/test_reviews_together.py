"""Several people, or one person's several windows, at one item at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotate.models import EditDraft, Item, Review, User
from annotate.services import edit_drafts, items, reviews
from annotate.services.edit_drafts import Message
from annotate.services.items import EditConflict, Question, Texts
from annotate.services.reviews import ALL_HOLD
from tests import factories

pytestmark = [pytest.mark.db, pytest.mark.django_db(transaction=True)]
As = Callable[[User], Client]
CLIENT, OTHER = UUID(int=1), UUID(int=2)


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """All calls in threads of their own that start together; what each returned or raised."""
    gate = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            gate.wait(30)
            return call()
        except Exception as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def edited(item: Item, text: str) -> Texts:
    now = items.texts_of(item)
    return Texts(now.target, now.target_description, now.modified_target_description, {1: Question(text)})


def test_twenty_saves_of_the_same_edit_are_one_revision(ada: User) -> None:
    item = factories.item(state="draft")
    texts = edited(item, "What is the striped cat on the chair chasing?")
    results = at_once([lambda: edit_drafts.save(item=item, version=1, texts=texts, by=ada)] * 20)
    assert [result for result in results if isinstance(result, Exception)] == []
    assert item.revisions.count() == 1
    assert Item.objects.get().version == 2


def test_of_two_different_saves_one_is_kept_and_the_other_gets_both_texts(ada: User, ben: User) -> None:
    item = factories.item(state="draft")
    mine, theirs = edited(item, "What does it chase?"), edited(item, "What does it eat?")
    results = at_once(
        [
            lambda: edit_drafts.save(item=item, version=1, texts=mine, by=ada),
            lambda: edit_drafts.save(item=item, version=1, texts=theirs, by=ben),
        ]
    )
    (conflict,) = [result for result in results if isinstance(result, EditConflict)]
    kept = items.texts_of(Item.objects.get()).questions[1]
    assert {conflict.mine.questions[1], kept} == {mine.questions[1], theirs.questions[1]}
    assert item.revisions.count() == 1


def test_two_authors_who_approve_at_once_are_both_recorded(ada: User, ben: User) -> None:
    item = factories.item()

    def approve(by: User) -> Callable[[], Review]:
        return lambda: reviews.decide(item=item, version=1, verdict="approved", by=by, checks=ALL_HOLD)

    results = at_once([approve(ada), approve(ben)] * 5)
    assert [result for result in results if isinstance(result, Exception)] == []
    assert sorted(Review.objects.values_list("reviewer__username", flat=True)) == ["ada", "ben"]
    assert (Item.objects.get().state, Item.objects.get().version) == ("approved", 1)


def test_the_second_to_approve_is_told_so_kindly(as_: As, ada: User, ben: User) -> None:
    item = factories.item()
    given = {"version": 1, "verdict": "approved"}
    as_(ada).post(reverse("item_decide", args=[item.key]), given)
    his = as_(ben)
    his.post(reverse("item_decide", args=[item.key]), given)
    assert "ada approved this version just before you" in his.get(reverse("review_queue")).content.decode()


def test_what_is_typed_is_a_draft_until_it_is_saved(ada: User) -> None:
    item = factories.item(state="draft")
    texts = edited(item, "What is the stri")
    edit_drafts.keep(item=item, version=1, texts=texts, by=ada, message=Message(CLIENT, 1))
    assert items.texts_of(item).questions[1].content != "What is the stri"
    draft = edit_drafts.of(item, ada)
    assert draft is not None
    assert edit_drafts.texts_of(draft, items.texts_of(item)).questions[1].content == "What is the stri"
    edit_drafts.save(item=item, version=1, texts=edited(item, "Done?"), by=ada, message=Message(CLIENT, 2))
    assert edit_drafts.of(item, ada) is None


def test_a_message_that_comes_late_changes_nothing(ada: User) -> None:
    item = factories.item(state="draft")
    for sequence, text in ((2, "later"), (1, "earlier")):
        edit_drafts.keep(item=item, version=1, texts=edited(item, text), by=ada, message=Message(CLIENT, sequence))
    draft = edit_drafts.of(item, ada)
    assert draft is not None
    assert draft.texts["questions"]["1"]["content"] == "later"
    edit_drafts.save(item=item, version=1, texts=edited(item, "saved"), by=ada, message=Message(CLIENT, 4))
    edit_drafts.keep(item=item, version=1, texts=edited(item, "half"), by=ada, message=Message(CLIENT, 3))
    assert edit_drafts.of(item, ada) is None
    edit_drafts.keep(item=item, version=2, texts=edited(item, "anew"), by=ada, message=Message(OTHER, 1))
    assert edit_drafts.of(item, ada) is not None


def test_autosaves_at_once_leave_the_one_with_the_highest_number(ada: User) -> None:
    item = factories.item(state="draft")

    def keep(sequence: int) -> Callable[[], EditDraft]:
        texts, message = edited(item, f"text {sequence}"), Message(CLIENT, sequence)
        return lambda: edit_drafts.keep(item=item, version=1, texts=texts, by=ada, message=message)

    results = at_once([keep(sequence) for sequence in (3, 9, 1, 7, 5, 2)])
    assert [result for result in results if isinstance(result, Exception)] == []
    assert EditDraft.objects.get().texts["questions"]["1"]["content"] == "text 9"


def test_each_person_has_a_draft_of_their_own(ada: User, ben: User) -> None:
    item = factories.item(state="draft")
    edit_drafts.keep(item=item, version=1, texts=edited(item, "hers"), by=ada)
    assert edit_drafts.of(item, ben) is None


def test_a_save_that_is_refused_keeps_the_draft(ada: User, ben: User) -> None:
    item = factories.item(state="draft")
    edit_drafts.keep(item=item, version=1, texts=edited(item, "hers"), by=ada)
    items.edit(item=item, version=1, texts=edited(item, "his"), by=ben)
    with pytest.raises(EditConflict):
        edit_drafts.save(item=item, version=1, texts=edited(item, "hers"), by=ada)
    assert edit_drafts.of(item, ada) is not None
