"""The rules of review that a team sets, and which items two people review."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate import second_reviews
from annotate.models import User
from annotate.services import rules
from fpco_site.errors import Invalid
from tests import factories

keys = st.lists(st.text("0123456789abcdef", min_size=12, max_size=12), unique=True, min_size=1, max_size=30)
shares = st.floats(0, 1)
seeds = st.integers(0, 2**31)


@given(keys, seeds, shares, shares)
def test_a_larger_share_keeps_the_items_of_a_smaller_one(names: list[str], seed: int, one: float, other: float) -> None:
    small, large = sorted((one, other))
    chosen = {name for name in names if second_reviews.is_chosen(name, seed=seed, share=small)}
    assert chosen <= {name for name in names if second_reviews.is_chosen(name, seed=seed, share=large)}


@given(keys, seeds)
def test_a_share_of_none_chooses_nothing_and_of_one_everything(names: list[str], seed: int) -> None:
    assert not any(second_reviews.is_chosen(name, seed=seed, share=0) for name in names)
    assert all(second_reviews.is_chosen(name, seed=seed, share=1) for name in names)


def test_which_items_are_chosen_follows_from_seed_and_key_alone() -> None:
    names = [f"{number:012x}" for number in range(2000)]
    chosen = [name for name in names if second_reviews.is_chosen(name, seed=7, share=0.25)]
    assert chosen == [name for name in names if second_reviews.is_chosen(name, seed=7, share=0.25)]
    assert chosen != [name for name in names if second_reviews.is_chosen(name, seed=8, share=0.25)]
    # 2,000 draws at 0.25: mean 500, standard deviation sqrt(2000 * 0.25 * 0.75) = 19.4; five of them is 97.
    assert 403 < len(chosen) < 597


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        ("approved", "approved", "approved"),
        ("rejected", "rejected", "rejected"),
        ("approved", "rejected", "sent_back"),
        ("sent_back", "approved", "sent_back"),
        ("sent_back", "rejected", "sent_back"),
        ("sent_back", "sent_back", "sent_back"),
    ],
)
def test_two_verdicts_that_differ_send_the_item_back(first: str, second: str, outcome: str) -> None:
    assert second_reviews.outcome(first, second) == outcome


@pytest.mark.db
@pytest.mark.django_db
def test_rules_are_refused_while_the_authors_are_too_few(ada: User) -> None:
    with pytest.raises(Invalid, match=r"need two active authors .*the last editor.*; there is one"):
        rules.save(approver_not_last_editor=True, second_share=0, seed=1, by=ada)
    factories.person("ben")
    with pytest.raises(Invalid, match=r"need three active authors .*neither of them the last editor.*; there are 2"):
        rules.save(approver_not_last_editor=True, second_share=0.1, seed=1, by=ada)
    rules.save(approver_not_last_editor=True, second_share=0, seed=1, by=ada)
    assert rules.current().approver_not_last_editor


@pytest.mark.db
@pytest.mark.django_db
def test_people_who_left_and_people_who_only_label_do_not_count(ada: User, ben: User, lea: User) -> None:
    User.objects.filter(pk=ben.pk).update(is_active=False)
    with pytest.raises(Invalid, match="there is one"):
        rules.check(approver_not_last_editor=False, second_share=0.5)


@pytest.mark.db
@pytest.mark.django_db
@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_is_between_none_and_all(ada: User, ben: User, share: float) -> None:
    with pytest.raises(Invalid, match="between 0 and 1"):
        rules.save(approver_not_last_editor=False, second_share=share, seed=1, by=ada)
    assert rules.current().second_share == 0


@pytest.mark.db
@pytest.mark.django_db
def test_only_authors_set_the_rules(rita: User) -> None:
    with pytest.raises(Invalid, match="Only authors"):
        rules.save(approver_not_last_editor=False, second_share=0, seed=1, by=rita)
