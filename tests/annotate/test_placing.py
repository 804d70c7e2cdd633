"""Pictures are placed one after the other, a placing can be taken back, and the cells say what they lack."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from annotate import cells, selectors
from annotate.axes import CELLS
from annotate.models import Image, Item, Review, Revision, StudyChange, TakenBack, Turn, User
from annotate.services import datasets, items, placing, protocols, rules, study
from fpco_site.errors import Conflict, Invalid
from tests import factories

pytestmark = pytest.mark.django_db
As = Callable[[User], Client]
CELL = ("single_clean", "animal", "identity")
PLACE = dict(zip(("complexity", "category", "premise_class"), CELL, strict=True))
GETS = ("placing", "cells", "cell", "study_settings")
POSTS = ("placing", "placing_undo", "study_settings")


def test_none_but_authors_place_see_cells_or_set_rules(as_: As, lea: User, rita: User) -> None:
    item = factories.item()
    move = reverse("item_move", args=[item.key])
    for who in (lea, rita):
        client = as_(who)
        assert {client.get(reverse(name)).status_code for name in GETS} == {404}
        assert {client.post(reverse(name)).status_code for name in POSTS} == {404}
        assert (client.get(move).status_code, client.post(move).status_code) == (404, 404)


def test_who_is_not_signed_in_is_sent_to_sign_in(client: Client) -> None:
    for name in GETS:
        assert client.get(reverse(name)).url.startswith(reverse("sign_in"))


# Placing ---------------------------------------------------------------------------------------------------------


def test_nothing_is_preselected_at_first_and_the_last_choice_later(as_: As, ada: User) -> None:
    first, second = factories.image(), factories.image()
    client = as_(ada)
    assert " checked" not in client.get(reverse("placing")).content.decode()
    reply = client.post(reverse("placing"), {"image": first.pk, "target": "cat", **PLACE}, follow=True)
    assert reply.redirect_chain == [(f"{reverse('placing')}?image={second.pk}", 302)]
    assert [choice["value"] for axis in reply.context["axes"] for choice in axis["choices"] if choice["on"]] == [*CELL]
    item = Item.objects.get()
    assert (item.image, item.cell, item.target, item.state) == (first, CELL, "cat", "draft")


def test_a_cell_that_the_address_names_is_marked(as_: As, ada: User) -> None:
    factories.image()
    reply = as_(ada).get(reverse("placing"), PLACE)
    assert [choice["value"] for axis in reply.context["axes"] for choice in axis["choices"] if choice["on"]] == [*CELL]


def test_a_choice_that_lacks_an_axis_places_nothing_and_keeps_what_was_typed(as_: As, ada: User) -> None:
    image = factories.image()
    reply = as_(ada).post(reverse("placing"), {"image": image.pk, "target": "a fox", "category": "animal"})
    assert reply.status_code == 400
    page = reply.content.decode()
    assert 'value="a fox"' in page
    assert "Choose a complexity" in page
    assert not Item.objects.exists()


def test_the_same_placing_twice_is_one(as_: As, ada: User, ben: User) -> None:
    image = factories.image()
    sent = {"image": image.pk, "target": "cat", **PLACE}
    for _ in range(2):
        assert as_(ada).post(reverse("placing"), sent).status_code == 302
    assert Item.objects.count() == Revision.objects.count() == 1
    other = as_(ben).post(reverse("placing"), sent, follow=True).content.decode()
    assert "already placed by ada" in other
    assert Item.objects.count() == 1


def test_candidates_are_paged_in_order_and_wrap_to_the_first(as_: As, ada: User) -> None:
    images = [factories.image() for _ in range(3)]
    factories.item()
    here = cells.candidate(images[1].pk)
    assert here is not None
    assert (here.before, here.image, here.after, here.number, here.total) == (*images, 2, 3)
    past = cells.candidate(images[2].pk + 50)
    assert past is not None
    assert past.image == images[0]
    page = as_(ada).get(reverse("placing"), {"image": images[1].pk}).content.decode()
    assert f'rel="prefetch" as="image" href="{reverse("picture", args=[images[2].sha256])}"' in page
    assert as_(ada).get(reverse("placing"), {"image": "x" * 50}).status_code == 200


def test_a_picture_that_was_set_aside_is_no_candidate(ada: User) -> None:
    kept = factories.image()
    factories.image(duplicate_of=kept)
    assert list(cells.unplaced()) == [kept]


def test_the_facts_of_a_picture_and_the_flag_of_its_licence_are_shown(as_: As, ada: User) -> None:
    factories.image(license="CC BY-ND 2.0", license_url="", author="P. Hotographer", source_id="4711")
    page = as_(ada).get(reverse("placing")).content.decode()
    assert "allows no derivatives: a release leaves its pixels out" in page
    assert "P. Hotographer" in page
    assert "4711" in page


def test_with_no_picture_left_the_page_says_what_to_do_next(as_: As, ada: User) -> None:
    assert "No pictures to place" in as_(ada).get(reverse("placing")).content.decode()
    factories.item()
    assert "Every picture has its place" in as_(ada).get(reverse("placing")).content.decode()


# Taking back -----------------------------------------------------------------------------------------------------


def test_the_last_placing_is_taken_back_and_stays_on_record(as_: As, ada: User) -> None:
    image = factories.image(target="cat")
    client = as_(ada)
    client.post(reverse("placing"), {"image": image.pk, "target": "", **PLACE})
    key = Item.objects.get().key
    reply = client.post(reverse("placing_undo"), {"item": key})
    assert reply.url == f"{reverse('placing')}?image={image.pk}"
    assert (Item.objects.count(), Turn.objects.count(), Revision.objects.count()) == (0, 0, 0)
    gone = TakenBack.objects.get()
    assert (gone.image, gone.key, gone.target, gone.placed_by, gone.by) == (image, key, "cat", ada, ada)
    assert "taken back already" in client.post(reverse("placing_undo"), {"item": key}, follow=True).content.decode()
    client.post(reverse("placing"), {"image": image.pk, **PLACE})
    assert Item.objects.get().key == key


def touch_text(item: Item, by: User) -> None:
    items.edit(item=item, version=1, texts=items.Texts(target_description="a cat"), by=by)


def touch_cell(item: Item, by: User) -> None:
    items.move(item=item, cell=CELLS[0], reason="better", by=by)


def touch_review(item: Item, by: User) -> None:
    checks = dict.fromkeys(("grounding", "consistency", "naturalness", "single_error"), False)
    Review.objects.create(item=item, item_version=1, reviewer=by, verdict="rejected", **checks)


def touch_variant(item: Item, by: User) -> None:
    place = dict(PLACE)
    Item.objects.create(key="variant", image=item.image, parent=item, variant="A", **place)


@pytest.mark.parametrize("touch", [touch_text, touch_cell, touch_review, touch_variant])
def test_an_item_that_somebody_touched_is_not_taken_back(touch: Callable[[Item, User], None], ada: User) -> None:
    item = items.place(image=factories.image(), cell=CELL, by=ada)
    touch(item, ada)
    with pytest.raises(Conflict, match="can't be taken back"):
        placing.take_back(item=item, by=ada)
    assert not TakenBack.objects.exists()
    assert Revision.objects.filter(item=item).exists()


def test_an_item_placed_by_an_import_is_taken_back_too(ada: User) -> None:
    item = items.place(image=factories.image(), cell=CELL, by=None)
    assert placing.take_back(item=item, by=ada).placed_by is None


# Cells -----------------------------------------------------------------------------------------------------------


def fill(cell: tuple[str, str, str], **states: int) -> None:
    complexity, category, premise_class = cell
    for state, n in states.items():
        for _ in range(n):
            factories.item(state=state, complexity=complexity, category=category, premise_class=premise_class)


def test_gaps_come_first_and_say_what_they_lack(ada: User) -> None:
    study.save(per_cell=3, approver_not_last_editor=False, second_share=0, seed=0, by=ada)
    fill(CELLS[0], approved=3)
    fill(CELLS[1], approved=1, draft=1, in_review=1, rejected=2)
    fill(CELLS[2], draft=1)
    found = cells.gaps(selectors.cell_counts())
    assert [gap.count.cell for gap in found] == [*CELLS[3:], CELLS[2], CELLS[1]]
    assert [(gap.missing, gap.unapproved) for gap in found[-3:]] == [(3, 3), (2, 3), (0, 2)]


def test_the_grid_shows_every_state_and_rejected_items_apart(as_: As, ada: User) -> None:
    fill(CELLS[1], approved=1, draft=2, in_review=3, rejected=4)
    page = as_(ada).get(reverse("cells")).content.decode()
    assert "6 of 30 (2 in draft, 3 in review, 1 approved; 4 rejected)" in page
    assert cells.href(CELLS[1]).replace("&", "&amp;") in page
    assert as_(ada).get(reverse("cells"), {"all": 1}).content.decode().count("to approve") == 36


def test_a_cell_lists_its_items_and_the_pictures_in_reserve(as_: As, ada: User) -> None:
    fill(CELL, approved=1, rejected=1)
    candidate, other = factories.image(target="Cat"), factories.image(target="tram")
    reply = as_(ada).get(cells.href(CELL))
    assert [image.pk for image in reply.context["reserve"]] == [candidate.pk]
    assert [group["state"] for group in reply.context["groups"]] == ["approved", "rejected"]
    assert other.pk not in {image.pk for image in reply.context["reserve"]}
    assert as_(ada).get(reverse("cell"), {"complexity": "none"}).url == reverse("cells")


def test_an_item_moves_with_a_reason_that_its_history_keeps(as_: As, ada: User) -> None:
    item = factories.item(state="approved")
    address = reverse("item_move", args=[item.key])
    assert as_(ada).get(address).status_code == 200
    other = {**PLACE, "premise_class": "location"}
    refused = as_(ada).post(address, {**other, "reason": " "})
    assert (refused.status_code, "Say why" in refused.content.decode()) == (400, True)
    assert as_(ada).post(address, {**other, "reason": "it names a place"}).url == reverse(
        "item_review", args=[item.key]
    )
    item.refresh_from_db()
    assert (item.premise_class, item.state) == ("location", "in_review")
    assert Revision.objects.get(item=item).reason == "moved: it names a place"


# Quotas and rules ------------------------------------------------------------------------------------------------

SENT = {"per_cell": "10", "second_percent": "0", "seed": "0"}


def test_a_change_of_quota_is_on_record_and_said_to_differ(as_: As, ada: User, ben: User) -> None:
    client = as_(ada)
    assert "as in the published study" in client.get(reverse("study_settings")).content.decode()
    sent = {**SENT, "approver_not_last_editor": "on", "second_percent": "0", "seed": "7"}
    page = client.post(reverse("study_settings"), sent, follow=True).content.decode()
    assert "the published one has 30" in page
    changes = {change.name: (change.before, change.after, change.by) for change in StudyChange.objects.all()}
    assert changes == {
        "per_cell": ("30", "10", ada),
        "approver_not_last_editor": ("False", "True", ada),
        "seed": ("0", "7", ada),
    }
    assert protocols.study().per_cell == 10
    assert (rules.current().approver_not_last_editor, rules.current().seed) == (True, 7)
    client.post(reverse("study_settings"), sent)
    assert StudyChange.objects.count() == 3


def test_rules_that_too_few_people_can_keep_change_nothing_at_all(as_: As, ada: User) -> None:
    sent = {**SENT, "approver_not_last_editor": "on"}
    reply = as_(ada).post(reverse("study_settings"), sent)
    assert (reply.status_code, "two active authors" in reply.content.decode()) == (400, True)
    assert (protocols.study().per_cell, StudyChange.objects.count()) == (30, 0)


@pytest.mark.parametrize("per_cell", [0, -1, 1001])
def test_a_quota_is_a_sensible_number(per_cell: int, as_: As, ada: User) -> None:
    with pytest.raises(Invalid, match="A cell wants"):
        study.save(per_cell=per_cell, approver_not_last_editor=False, second_share=0, seed=0, by=ada)
    assert as_(ada).post(reverse("study_settings"), {**SENT, "per_cell": str(per_cell)}).status_code == 400


def test_a_frozen_dataset_keeps_the_quota_it_was_frozen_with(ada: User) -> None:
    fill(CELL, approved=1)
    dataset = datasets.freeze(name="First", by=ada)
    study.save(per_cell=10, approver_not_last_editor=False, second_share=0, seed=0, by=ada)
    dataset.refresh_from_db()
    assert dataset.protocol["per_cell"] == 30
    assert {count.quota for count in selectors.frozen_counts(dataset)} == {30}
    assert {count.quota for count in selectors.cell_counts()} == {10}
    assert Image.objects.count() == 1
