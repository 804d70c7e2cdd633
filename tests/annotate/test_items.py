"""Placing, moving and editing items."""

from dataclasses import replace

import pytest

from annotate.models import Item, Revision, User
from annotate.services import items
from annotate.services.items import Question
from fpco_site.errors import Conflict, Invalid
from tests import factories

pytestmark = [pytest.mark.db, pytest.mark.django_db]

CELL = ("single_clean", "animal", "identity")


def texts(item: Item, description: str) -> items.Texts:
    return replace(items.texts_of(item), target_description=description)


def test_a_placed_image_is_a_draft_with_the_protocols_turns(ada: User) -> None:
    image = factories.image(target="dog")
    item = items.place(image=image, cell=CELL, by=ada)
    assert (item.key, item.state, item.version, item.target) == (image.sha256[:12], "draft", 1, "dog")
    assert [turn.number for turn in item.turns.all()] == list(range(1, 11))
    [revision] = item.revisions.all()
    assert (revision.reason, revision.by, revision.snapshot["premise_class"]) == ("placed", ada, "identity")


def test_an_image_is_placed_once_and_only_in_a_cell_that_exists(ada: User) -> None:
    image = factories.image()
    items.place(image=image, cell=CELL, by=ada)
    with pytest.raises(Conflict, match="already placed"):
        items.place(image=image, cell=CELL, by=ada)
    with pytest.raises(Invalid, match="category must be one of person, vehicle, animal, food, not 'fish'"):
        items.place(image=factories.image(), cell=("single_clean", "fish", "identity"), by=ada)


def test_moving_needs_a_reason_and_takes_an_approval_back(ada: User) -> None:
    item = factories.item(state="approved")
    with pytest.raises(Invalid, match="Say why"):
        items.move(item=item, cell=("single_clean", "animal", "location"), reason=" ", by=ada)
    moved = items.move(item=item, cell=("single_clean", "animal", "location"), reason="the class was wrong", by=ada)
    assert (moved.premise_class, moved.state, moved.version) == ("location", "in_review", 2)
    assert Revision.objects.get(item=item).reason == "moved: the class was wrong"


def test_an_edit_is_a_new_version_with_a_snapshot(ada: User) -> None:
    item = factories.item(state="draft")
    wanted = replace(texts(item, " the old cat "), questions={1: Question("What is it?"), 4: Question("Why?", "How?")})
    items.edit(item=item, version=1, texts=wanted, by=ada)
    item = Item.objects.get(pk=item.pk)
    assert (item.version, item.target_description, item.state) == (2, "the old cat", "draft")
    kept = items.texts_of(item).questions
    assert (kept[1], kept[4]) == (Question("What is it?"), Question("Why?", "How?"))
    assert kept[2].content == factories.questions("the striped cat on the chair")[1]
    snapshot = Revision.objects.get(item=item, version=2).snapshot
    assert snapshot["turns"][3] == {"turn": 4, "content": "Why?", "modified": "How?"}


def test_editing_an_approved_item_takes_the_approval_back(ada: User) -> None:
    item = factories.item(state="approved")
    assert items.edit(item=item, version=1, texts=texts(item, "the cat"), by=ada).state == "in_review"


def test_saving_what_is_there_already_is_no_change_however_stale(ada: User) -> None:
    item = factories.item(state="approved")
    assert items.edit(item=item, version=1, texts=items.texts_of(item), by=ada).state == "approved"
    items.edit(item=item, version=1, texts=texts(item, "the cat"), by=ada)
    again = items.edit(item=item, version=1, texts=texts(item, "the cat"), by=ada)
    assert again.version == 2
    assert Revision.objects.filter(item=item).count() == 1


def test_a_stale_edit_is_refused_with_both_texts(ada: User, ben: User) -> None:
    item = factories.item()
    items.edit(item=item, version=1, texts=texts(item, "the cat of Ben"), by=ben)
    with pytest.raises(items.EditConflict) as refused:
        items.edit(item=item, version=1, texts=texts(item, "the cat of Ada"), by=ada)
    assert refused.value.message.startswith("ben changed this item meanwhile")
    assert refused.value.mine.target_description == "the cat of Ada"
    assert refused.value.theirs.target_description == "the cat of Ben"
    assert Item.objects.get().target_description == "the cat of Ben"


def test_a_rejected_item_is_not_edited_until_it_is_reopened(ada: User) -> None:
    item = factories.item(state="rejected")
    with pytest.raises(Conflict, match="rejected"):
        items.edit(item=item, version=1, texts=texts(item, "the cat"), by=ada)
    with pytest.raises(Invalid, match="Say why"):
        items.reopen(item=item, version=1, reason="", by=ada)
    assert items.reopen(item=item, version=1, reason="a slip", by=ada).state == "draft"


def test_only_a_complete_draft_goes_to_review(ada: User) -> None:
    item = factories.item(state="draft")
    item.turns.filter(number=7).update(modified="")
    with pytest.raises(Invalid, match="the modified question 7 is missing"):
        items.submit(item=item, version=1, by=ada)
    item.turns.filter(number=7).update(modified="What about the dog?")
    assert items.submit(item=item, version=1, by=ada).state == "in_review"
    with pytest.raises(Conflict, match="Only a draft"):
        items.submit(item=item, version=2, by=ada)


def test_an_action_on_an_older_version_is_refused(ada: User, ben: User) -> None:
    item = factories.item(state="draft")
    items.edit(item=item, version=1, texts=texts(item, "the cat"), by=ben)
    with pytest.raises(Conflict, match="ben changed this item meanwhile"):
        items.submit(item=item, version=1, by=ada)


def test_text_that_no_keyboard_makes_is_refused(ada: User) -> None:
    item = factories.item()
    with pytest.raises(Invalid, match="control character"):
        items.edit(item=item, version=1, texts=texts(item, "the\x00cat"), by=ada)
