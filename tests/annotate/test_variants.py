"""Variants: six of an image that differ in their premise alone."""

import json

import pytest
from django.db import IntegrityError

from annotate import draft_rules, draws, selectors
from annotate.draws import Unit
from annotate.models import Draft, Item, Revision, User, VariantDraw
from annotate.services import datasets, draft_jobs, drafters, drafts, items, reviews, variants
from annotate.services.draft_jobs import Wish
from fpco_site.errors import Conflict, Invalid
from tests import factories
from tests.engine import run_engine

pytestmark = [pytest.mark.db, pytest.mark.django_db]
CHECKS = reviews.Checks(grounding=True, consistency=True, naturalness=True, single_error=True)


def variant(parent: Item, premise_class: str, letter: str) -> Item:
    return parent.variants.get(premise_class=premise_class, variant=letter)


def write(item: Item, premise: str, by: User) -> Item:
    return variants.save(move=variants.Move(item, item.version, premise, ""), by=by)


@pytest.fixture
def parent(ada: User) -> Item:
    row = factories.item(state="approved")
    variants.choose(parent=row, by=ada)
    return row


def test_an_approved_item_gets_six_variants_with_its_prefix_and_question_four(ada: User) -> None:
    parent = factories.item(state="approved")
    made = variants.choose(parent=parent, by=ada)
    assert [row.key.removeprefix(parent.key) for row in made] == [
        "-identity-A", "-identity-B", "-attribute-A", "-attribute-B", "-location-A", "-location-B",
    ]  # fmt: skip
    theirs = items.texts_of(parent).questions
    for row in made:
        texts = items.texts_of(row)
        assert (row.image, row.target, row.target_description) == (
            parent.image, parent.target, parent.target_description,
        )  # fmt: skip
        assert [texts.questions[n].content for n in sorted(texts.questions)] == [theirs[n].content for n in range(1, 5)]
        assert {question.modified for question in texts.questions.values()} == {""}
        assert Revision.objects.get(item=row).reason == f"variant of {parent.key}, chosen by hand"


def test_only_approved_items_without_variants_are_chosen(ada: User, parent: Item) -> None:
    with pytest.raises(Conflict, match="has its variants already"):
        variants.choose(parent=parent, by=ada)
    with pytest.raises(Conflict, match="this one is in review"):
        variants.choose(parent=factories.item(), by=ada)
    with pytest.raises(Invalid, match="no variants of its own"):
        variants.choose(parent=variant(parent, "identity", "A"), by=ada)


def test_the_database_holds_each_variant_once(parent: Item) -> None:
    with pytest.raises(IntegrityError):
        Item.objects.create(key="twice", parent=parent, variant="A", premise_class="identity", image=parent.image)


def test_variants_count_nowhere_as_items(ada: User, parent: Item) -> None:
    assert selectors.state_counts()["draft"] == 0
    assert selectors.state_counts(variants=True)["draft"] == Item.objects.exclude(parent=None).count() > 0
    assert sum(count.placed for count in selectors.cell_counts()) == 1
    assert datasets.readiness().unfinished == 0
    assert list(selectors.Queue().items()) == [parent]
    assert datasets.freeze(name="First", by=ada).items.count() == 1


def test_a_draw_fills_up_what_was_chosen_by_hand_and_can_be_repeated(ada: User, parent: Item) -> None:
    cells = [("single_clean", category, "identity") for category in ("person", "vehicle", "food", "animal")]
    for complexity, category, premise_class in cells:
        factories.item(state="approved", complexity=complexity, category=category, premise_class=premise_class)
    factories.item(state="in_review", category="food")
    made = variants.draw(seed=5, by=ada, n=4)
    assert (len(made.keys), made.frame_size, made.taken) == (3, 4, [parent.key])
    drawn = Item.objects.filter(key__in=made.keys)
    assert set(drawn.values_list("category", flat=True)) == {"person", "vehicle", "food"}  # an animal was there
    assert Item.objects.filter(parent__in=drawn).count() == 18
    frame = [
        Unit(row.key, row.cell) for row in Item.objects.filter(parent=None, state="approved").exclude(pk=parent.pk)
    ]
    assert draws.draw(frame, 3, 5, taken=[parent.cell]) == made.keys
    with pytest.raises(Conflict, match="4 images are chosen already"):
        variants.draw(seed=6, by=ada, n=4)


def test_an_image_that_was_set_aside_leaves_its_place_to_another(ada: User, parent: Item) -> None:
    other = factories.item(state="approved", category="food")
    variants.set_aside(parent=parent, reason="It is blurred.", by=ada)
    made = variants.draw(seed=5, by=ada, n=1)
    assert (made.keys, made.taken) == ([other.key], [])
    with pytest.raises(Conflict, match="1 images are chosen already"):
        variants.draw(seed=5, by=ada, n=1)


def test_nothing_is_drawn_where_nothing_is_approved(ada: User) -> None:
    factories.item()
    with pytest.raises(Conflict, match="No approved item is left"):
        variants.draw(seed=1, by=ada)
    assert not VariantDraw.objects.exists()


# The rules -----------------------------------------------------------------------------------------------------


def test_a_premise_is_saved_and_its_question_follows(ada: User, parent: Item) -> None:
    row = write(variant(parent, "identity", "A"), "the striped fox on the chair", ada)
    assert items.texts_of(row).questions[4].modified == "What is the closest thing to the striped fox on the chair?"
    row = write(row, "the striped owl on the chair", ada)
    assert items.missing_texts(row) == ""


def test_a_question_that_a_person_worded_is_kept(ada: User, parent: Item) -> None:
    row = variant(parent, "identity", "A")
    worded = "What is nearest to the striped fox on the chair?"
    row = variants.save(move=variants.Move(row, 1, "the striped fox on the chair", worded), by=ada)
    assert items.texts_of(row).questions[4].modified == worded


def test_what_is_the_parents_is_not_edited_in_a_variant(ada: User, parent: Item) -> None:
    row = variant(parent, "identity", "A")
    now = items.texts_of(row)
    for texts in (
        items.Texts("dog", now.target_description, "", now.questions),
        items.Texts(now.target, "the cat", "", now.questions),
        items.Texts(now.target, now.target_description, "", {2: items.Question("What else?")}),
    ):
        with pytest.raises(Invalid, match="are its parent's"):
            items.edit(item=row, version=row.version, texts=texts, by=ada)
    with pytest.raises(Conflict, match="A variant is where its parent is"):
        items.move(item=row, cell=("single_clean", "food", "identity"), reason="no", by=ada)


def test_a_and_b_of_a_class_differ_or_neither_is_approved(ada: User, ben: User, parent: Item) -> None:
    first = write(variant(parent, "identity", "A"), "the striped fox on the chair", ada)
    second = write(variant(parent, "identity", "B"), "The striped fox on the chair", ada)
    for row, other in ((first, "identity B"), (second, "identity A")):
        assert f"the premise of {other} too" in variants.findings_of(row)[0].message
    row = items.submit(item=second, version=second.version, by=ada)
    with pytest.raises(Invalid, match="This is the premise of identity A too"):
        reviews.decide(item=row, version=row.version, verdict="approved", by=ben, checks=CHECKS)


def test_a_changed_parent_puts_its_variants_out_of_step_until_they_take_it_over(
    ada: User, ben: User, parent: Item
) -> None:
    row = write(variant(parent, "identity", "A"), "the striped fox on the chair", ada)
    row = items.submit(item=row, version=row.version, by=ada)
    reviews.decide(item=row, version=row.version, verdict="approved", by=ben, checks=CHECKS)
    assert variants.findings_of(row) == []
    changed = items.Question("How near is the striped cat on the chair?", "How near is the striped dog on the chair?")
    texts = items.Texts(parent.target, parent.target_description, parent.modified_target_description, {4: changed})
    items.edit(item=parent, version=parent.version, texts=texts, by=ada)
    row.refresh_from_db()
    [found] = variants.findings_of(Item.objects.get(pk=row.pk))
    assert (found.code, found.turn) == ("variant_out_of_step", 4)
    assert row.state == "approved"
    assert variants.sync(parent=parent, by=ada) == 6
    row = Item.objects.get(pk=row.pk)
    assert (row.state, variants.findings_of(row)) == ("in_review", [])
    assert items.texts_of(row).questions[4] == items.Question(
        "How near is the striped cat on the chair?", "How near is the striped fox on the chair?"
    )
    assert variants.sync(parent=parent, by=ada) == 0


def test_a_moved_parent_takes_its_variants_with_it(ada: User, parent: Item) -> None:
    items.move(item=parent, cell=("multi_separated", "animal", "location"), reason="another look", by=ada)
    parent = Item.objects.get(pk=parent.pk)
    row = variant(parent, "identity", "B")
    assert "now in multi separated, animal" in variants.findings_of(row)[0].message
    assert variants.sync(parent=parent, by=ada) == 6
    assert variant(parent, "identity", "B").cell == ("multi_separated", "animal", "identity")


def test_the_parents_premise_is_the_proposal_for_a_of_its_class(ada: User, parent: Item) -> None:
    row = variants.adopt(item=variant(parent, "identity", "A"), by=ada)
    assert row.modified_target_description == parent.modified_target_description
    assert items.missing_texts(row) == ""
    for other in (row, variant(parent, "identity", "B"), variant(parent, "location", "A")):
        with pytest.raises(Conflict, match="fits an empty variant A"):
            variants.adopt(item=other, by=ada)


def test_an_image_is_set_aside_with_a_reason_and_taken_back(ada: User, parent: Item) -> None:
    with pytest.raises(Invalid, match="Say why"):
        variants.set_aside(parent=parent, reason=" ", by=ada)
    assert variants.set_aside(parent=parent, reason="too dark", by=ada) == 6
    assert set(parent.variants.values_list("state", flat=True)) == {"rejected"}
    assert variants.take_back(parent=parent, by=ada) == 6
    assert set(parent.variants.values_list("state", flat=True)) == {"draft"}


def test_a_draft_for_b_must_not_say_what_a_says(ada: User, parent: Item) -> None:
    first = write(variant(parent, "identity", "A"), "the striped fox on the chair", ada)
    second = variant(parent, "identity", "B")
    assert variants.to_avoid(second) == ("the striped fox on the chair",)
    drafter = drafters.default()
    draft = drafts.request(item=first, kind="premise", drafter=drafter, by=ada)
    Draft.objects.update(state="ready", payload={"modified_target_description": "the striped owl on the chair"})
    assert draft.kind == "premise"
    assert variants.to_avoid(second) == ("the striped fox on the chair", "the striped owl on the chair")
    assert variants.to_avoid(variant(parent, "location", "A")) == ()
    assert variants.to_avoid(parent) == ()


@pytest.mark.django_db(transaction=True)
@pytest.mark.worker
def test_b_is_drafted_after_a_and_says_something_else(ada: User, fast_engine: None) -> None:
    parent = factories.item(state="approved", target_description="the brown cat on the chair")
    variants.choose(parent=parent, by=ada)
    wish = Wish(kind="premise", scope="variants")
    for _ in range(2):
        draft_jobs.start(wish=wish, drafter=drafters.default(), by=ada)
        run_engine()
    assert set(Draft.objects.values_list("state", flat=True)) == {"ready"}
    for premise_class in ("identity", "attribute", "location"):
        made = Draft.objects.filter(item__premise_class=premise_class).order_by("item")
        assert [row.item.variant for row in made] == ["A", "B"]
        first, second = ((row.payload or {})["modified_target_description"] for row in made)
        assert first != second
        assert json.loads(json.loads(made[1].request or b"")["messages"][0]["text"])["taken"]["descriptions"] == [first]


def test_only_the_premise_of_a_variant_is_drafted(ada: User, parent: Item) -> None:
    with pytest.raises(Invalid, match="only the false premise is drafted"):
        drafts.request(item=variant(parent, "identity", "A"), kind="questions", drafter=drafters.default(), by=ada)
    with pytest.raises(Invalid, match="only the false premise is drafted"):
        draft_jobs.start(wish=Wish(kind="both", scope="variants"), drafter=drafters.default(), by=ada)


def test_a_draft_that_repeats_the_other_variant_breaks_a_rule() -> None:
    [found] = draft_rules.repeated({"modified_target_description": "The striped Fox"}, ["the striped fox"])
    assert "taken by the other variant" in found.message
    assert draft_rules.repeated({"modified_target_description": "the striped owl"}, ["the striped fox"]) == []
