"""Verdicts on items."""

import pytest

from annotate.models import Item, Review, User
from annotate.services import items, reviews
from annotate.services.reviews import Checks
from fpco_site.errors import Conflict, Invalid
from tests import factories

pytestmark = [pytest.mark.db, pytest.mark.django_db]

ALL = Checks(grounding=True, consistency=True, naturalness=True, single_error=True)


def test_approving_states_all_four_checks(ben: User) -> None:
    item = factories.item()
    with pytest.raises(Invalid, match="all four checks"):
        reviews.decide(item=item, version=1, verdict="approved", by=ben, checks=Checks(grounding=True))
    reviews.decide(item=item, version=1, verdict="approved", by=ben, checks=ALL)
    assert Item.objects.get().state == "approved"
    assert Review.objects.get().reviewer == ben


@pytest.mark.parametrize(("verdict", "state"), [("sent_back", "draft"), ("rejected", "rejected")])
def test_sending_back_and_rejecting_say_why(ben: User, verdict: str, state: str) -> None:
    item = factories.item()
    with pytest.raises(Invalid, match="Say w"):
        reviews.decide(item=item, version=1, verdict=verdict, by=ben)
    reviews.decide(item=item, version=1, verdict=verdict, by=ben, comment="two cats")
    assert Item.objects.get().state == state
    assert Review.objects.get().comment == "two cats"


@pytest.mark.parametrize("state", ["draft", "approved", "rejected"])
def test_only_what_is_in_review_is_approved(ben: User, state: str) -> None:
    item = factories.item(state=state)
    with pytest.raises(Conflict, match="can't be approved now"):
        reviews.decide(item=item, version=1, verdict="approved", by=ben, checks=ALL)


def test_a_verdict_on_an_older_version_is_refused(ada: User, ben: User) -> None:
    item = factories.item()
    items.edit(item=item, version=1, texts=items.Texts(target="cat", target_description="x"), by=ada)
    with pytest.raises(Conflict, match="ada changed this item meanwhile"):
        reviews.decide(item=item, version=1, verdict="approved", by=ben, checks=ALL)
    assert not Review.objects.exists()


def test_an_item_that_lacks_a_question_is_not_approved(ben: User) -> None:
    item = factories.item()
    item.turns.filter(number=3).update(content="")
    with pytest.raises(Invalid, match="question 3 is missing"):
        reviews.decide(item=item, version=1, verdict="approved", by=ben, checks=ALL)


def test_a_version_is_reviewed_once_by_a_person(ben: User) -> None:
    item = factories.item()
    reviews.decide(item=item, version=1, verdict="sent_back", by=ben, comment="no")
    Item.objects.update(state="in_review")
    with pytest.raises(Conflict, match="reviewed this version already"):
        reviews.decide(item=item, version=1, verdict="approved", by=ben, checks=ALL)
    assert Item.objects.get().state == "in_review"


def test_an_error_of_the_rules_keeps_an_item_from_approval(ben: User) -> None:
    item = factories.item()
    item.turns.filter(number=2).update(content="What is it doing?")
    with pytest.raises(Invalid, match=r"An error keeps this item from approval \(turn 2\)"):
        reviews.decide(item=item, version=1, verdict="approved", by=ben, checks=ALL)


def test_each_warning_is_ticked_before_approval_and_kept(ben: User) -> None:
    item = factories.item()
    item.turns.filter(number=2).update(content="Look at the striped cat on the chair")
    tickets = [name for name, _ in reviews.sheet_of(item).tickets]
    assert tickets
    with pytest.raises(Invalid, match=f"Tick {len(tickets)} warning"):
        reviews.decide(item=item, version=1, verdict="approved", by=ben, checks=ALL, accepted=[])
    review = reviews.decide(item=item, version=1, verdict="approved", by=ben, checks=ALL, accepted=tickets)
    assert review.accepted == tickets
