"""Two independent reviews of one item, and the rule that the approver is not the last editor."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from annotate import selectors
from annotate.models import Item, Review, ReviewRules, User
from annotate.services import comments, items, reviews, rules, undo
from annotate.services.reviews import ALL_HOLD
from fpco_site.errors import Conflict
from tests import factories

pytestmark = [pytest.mark.db, pytest.mark.django_db]
As = Callable[[User], Client]
SECRET = "a goat stands on the chair"


def rule(*, share: float = 0.0, other_hand: bool = False) -> None:
    values = {"second_share": share, "approver_not_last_editor": other_hand}
    ReviewRules.objects.update_or_create(pk=1, defaults=values)


def approve(item: Item, by: User, version: int = 1) -> Review:
    return reviews.decide(item=item, version=version, verdict="approved", by=by, checks=ALL_HOLD)


def send_back(item: Item, by: User) -> Review:
    checks = reviews.failing(["grounding"])
    return reviews.decide(item=item, version=1, verdict="sent_back", by=by, checks=checks, comment=SECRET)


def state_of(item: Item) -> str:
    return str(Item.objects.get(pk=item.pk).state)


def test_a_chosen_item_stays_in_review_until_both_verdicts_are_in(ada: User, ben: User) -> None:
    rule(share=1)
    item = factories.item()
    since = Item.objects.get().state_since
    approve(item, ada)
    assert (state_of(item), Item.objects.get().state_since, Item.objects.get().version) == ("in_review", since, 1)
    approve(item, ben)
    assert state_of(item) == "approved"
    assert set(Review.objects.values_list("independent", flat=True)) == {True}


@pytest.mark.parametrize(
    ("first", "second", "state"),
    [("sent_back", "approved", "draft"), ("approved", "rejected", "draft"), ("rejected", "rejected", "rejected")],
)
def test_anything_but_two_equal_verdicts_sends_it_back(
    ada: User, ben: User, first: str, second: str, state: str
) -> None:
    rule(share=1)
    item = factories.item()
    for who, verdict in ((ada, first), (ben, second)):
        checks = ALL_HOLD if verdict == "approved" else None
        reviews.decide(item=item, version=1, verdict=verdict, by=who, checks=checks, comment=f"{who}: why")
    assert state_of(item) == state


def test_one_person_never_gives_both_verdicts(ada: User) -> None:
    rule(share=1)
    item = factories.item()
    first = approve(item, ada)
    assert approve(item, ada) == first
    with pytest.raises(Conflict, match="reviewed this version already"):
        send_back(item, ada)
    assert state_of(item) == "in_review"


def test_an_item_that_is_not_chosen_needs_one_verdict(ada: User) -> None:
    rule(share=0)
    item = factories.item()
    assert not approve(item, ada).independent
    assert state_of(item) == "approved"


def test_a_first_verdict_still_gets_its_second_when_the_rule_is_dropped(ada: User, ben: User) -> None:
    rule(share=1)
    item = factories.item()
    approve(item, ada)
    rule(share=0)
    assert approve(item, ben).independent
    assert state_of(item) == "approved"


def test_the_first_verdict_shows_nowhere_to_the_second_reviewer(as_: As, ada: User, ben: User) -> None:
    rule(share=1)
    item = factories.item(edited_by=ada)
    items.record(item, by=ada, reason="written")
    before = {path: _seen(as_, ben, path) for path in _paths(item)}
    send_back(item, ada)
    comments.add(item=item, version=1, text=SECRET, by=ada)
    for path, was in before.items():
        assert (path, _seen(as_, ben, path)) == (path, was)
        assert SECRET not in was
    assert SECRET in as_(ada).get(reverse("item_review", args=[item.key])).content.decode()
    send_back(item, ben)
    page = as_(ben).get(reverse("item_review", args=[item.key])).content.decode()
    assert page.count(SECRET) == 3


def _paths(item: Item) -> list[str]:
    names = ("item_review", "item_history", "item_edit")
    pages = [reverse(name, args=[item.key]) for name in names]
    return [
        *pages,
        reverse("review_queue"),
        "/overview/",
        "/second-reviews/",
        "/api/v1/items/",
        f"/api/v1/items/{item.key}/",
    ]


def _seen(as_: As, who: User, path: str) -> str:
    """What that person sees, but for tokens and nonces that are new at every visit."""
    import re

    text = as_(who).get(path).content.decode()
    text = re.sub(r'(csrfmiddlewaretoken" value|csrf-token" content)="[^"]*"', "", text)
    return re.sub(r'nonce="[^"]*"|\d+ (?:min|h|d)\b|>now<', "", text)


def test_an_unsettled_verdict_stays_hidden_after_an_edit_and_after_being_taken_back(ada: User, ben: User) -> None:
    rule(share=1)
    item = factories.item()
    send_back(item, ada)
    item.refresh_from_db()
    undo.undo(item=item, version=1, by=ada)
    assert (Item.objects.get().version, reviews.visible(item, ben)) == (1, [])
    send_back(item, ada)
    texts = items.texts_of(item)
    edited = items.Texts("cat", texts.target_description, texts.modified_target_description, {1: items.Question("x?")})
    items.edit(item=item, version=1, texts=edited, by=ben)
    item.refresh_from_db()
    assert reviews.visible(item, ben) == []
    assert len(reviews.visible(item, ada)) == 2


def test_the_second_of_two_verdicts_is_not_taken_back(ada: User, ben: User) -> None:
    rule(share=1)
    item = factories.item()
    approve(item, ada)
    approve(item, ben)
    assert undo.last_step(ben) is None
    with pytest.raises(Conflict, match="nothing of yours to take back"):
        undo.undo(item=item, version=1, by=ben)


def test_the_queue_gives_nobody_an_item_twice(ada: User, ben: User) -> None:
    rule(share=1)
    first, second = factories.item(), factories.item()
    approve(first, ada)
    queue = selectors.Queue(state="in_review")
    assert list(queue.waiting_for(ada)) == [second]
    assert list(queue.waiting_for(ben)) == [first, second]


def test_the_last_editor_does_not_approve_under_the_rule(as_: As, ada: User, ben: User) -> None:
    rule(other_hand=True)
    item = factories.item(edited_by=ada)
    with pytest.raises(Conflict, match="You wrote the last change of these texts, so somebody else approves"):
        approve(item, ada)
    page = as_(ada).get(reverse("item_review", args=[item.key])).content.decode()
    assert "so somebody else approves them" in page
    assert "you wrote it last" in as_(ada).get(reverse("review_queue")).content.decode()
    assert list(selectors.Queue().waiting_for(ada)) == []
    approve(item, ben)
    assert state_of(item) == "approved"


def test_the_last_editor_may_still_send_back_what_one_person_reviews(ada: User) -> None:
    rule(other_hand=True)
    item = factories.item(edited_by=ada)
    send_back(item, ada)
    assert state_of(item) == "draft"


def test_both_rules_together_take_three_people(as_: As, ada: User, ben: User) -> None:
    cleo = factories.person("cleo")
    rules.check(approver_not_last_editor=True, second_share=1)
    rule(share=1, other_hand=True)
    item = factories.item(edited_by=ada)
    with pytest.raises(Conflict, match="so two other people review them"):
        send_back(item, ada)
    assert "two other people review them" in as_(ada).get(reverse("item_review", args=[item.key])).content.decode()
    approve(item, ben)
    approve(item, cleo)
    assert state_of(item) == "approved"
