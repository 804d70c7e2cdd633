"""The agreement of two people who reviewed the same items."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from annotate import review_pairs
from annotate.models import Item, ReviewRules, User
from annotate.services import reviews
from tests import factories

pytestmark = pytest.mark.django_db
As = Callable[[User], Client]


def reviewed(verdicts: tuple[str, str], ada: User, ben: User) -> Item:
    """An item with that first and second verdict; what is not approved fails as one error too many."""
    item = factories.item()
    for who, verdict in zip((ada, ben), verdicts, strict=True):
        checks = reviews.ALL_HOLD if verdict == "approved" else reviews.failing(["single_error"])
        comment = "" if verdict == "approved" else "two errors"
        reviews.decide(item=item, version=1, verdict=verdict, by=who, checks=checks, comment=comment)
    return item


@pytest.fixture
def all_twice(db: None) -> None:
    ReviewRules.objects.update_or_create(pk=1, defaults={"second_share": 1.0, "seed": 3})


@pytest.mark.usefixtures("all_twice")
def test_the_page_counts_both_verdicts_and_gives_kappa(as_: As, ada: User, ben: User) -> None:
    for verdicts in [("approved", "approved")] * 4 + [("sent_back", "sent_back")] * 2:
        reviewed(verdicts, ada, ben)
    odd = reviewed(("approved", "sent_back"), ada, ben)
    reply = as_(ada).get(reverse("second_reviews"))
    found = reply.context["verdicts"]
    assert (found.both, found.first_only, found.second_only, found.neither) == (4, 1, 0, 2)
    # p_o = 6/7; chance: (5 * 4 + 2 * 3) / 49 = 26/49; kappa = (42/49 - 26/49) / (23/49) = 16/23.
    assert found.agreement.value == pytest.approx(6 / 7)
    assert found.kappa.value == pytest.approx(16 / 23)
    levels = {level["label"]: level["found"] for level in reply.context["levels"]}
    assert levels["One error"].kappa.value == pytest.approx(16 / 23)
    assert levels["Grounded"].kappa.value is None
    assert "chance agreement is complete" in reply.content.decode()
    assert [pair.item for pair in reply.context["disagreements"]] == [odd]
    assert "two errors" in reply.content.decode()


@pytest.mark.usefixtures("all_twice")
def test_a_first_verdict_alone_is_nowhere_on_the_page(as_: As, ada: User, ben: User) -> None:
    item = factories.item()
    reviews.decide(item=item, version=1, verdict="sent_back", by=ada, comment="a goat")
    page = as_(ben).get(reverse("second_reviews")).content.decode()
    assert "a goat" not in page
    assert "No pair of verdicts yet" in page
    assert review_pairs.settled() == []


def test_without_the_rule_the_page_says_how_to_set_it(as_: As, ada: User) -> None:
    page = as_(ada).get(reverse("second_reviews")).content.decode()
    assert "No item is reviewed twice" in page
    assert reverse("study_settings") in page


def test_the_page_is_for_authors(as_: As, lea: User, rita: User, client: Client) -> None:
    assert as_(lea).get(reverse("second_reviews")).status_code == 404
    assert as_(rita).get(reverse("second_reviews")).status_code == 404
    assert client.get(reverse("second_reviews")).status_code == 302
