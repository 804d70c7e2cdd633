"""Dollars are exact: no float comes near them, no token is billed twice, and nothing unknown is free."""

from dataclasses import astuple
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fpco_site.llm import money
from fpco_site.llm.money import Prices, Sums
from fpco_site.llm.types import Usage

TOKENS = st.none() | st.integers(0, 10**9)
USAGES = st.builds(Usage, TOKENS, TOKENS, TOKENS, TOKENS)
CALLS = st.lists(st.none() | USAGES, max_size=8)
PRICE = st.decimals("0", "9999", places=6)
KNOWN = st.builds(Prices, PRICE, st.none() | PRICE, PRICE)


def summed(calls: list[Usage | None]) -> Sums:
    return sum((Sums.of(call) for call in calls), Sums())


def test_a_cost_is_fresh_cached_and_output_tokens_each_at_its_own_price() -> None:
    """(1,000,000 - 400,000) x 2 + 400,000 x 0.5 + 100,000 x 8, each per million: 1.2 + 0.2 + 0.8."""
    sums = Sums.of(Usage(input=1_000_000, cached=400_000, output=100_000, reasoning=60_000))
    prices = Prices(Decimal(2), Decimal("0.5"), Decimal(8))
    assert money.cost(sums, prices) == Decimal("2.2")
    half = Prices(Decimal(2), Decimal("0.5"), Decimal(8), discount=Decimal("0.5"))
    assert money.cost(sums, half) == Decimal("1.1")


@given(CALLS, CALLS, KNOWN)
def test_the_cost_of_all_is_the_sum_of_the_costs(
    first: list[Usage | None], second: list[Usage | None], prices: Prices
) -> None:
    parts = money.cost(summed(first), prices), money.cost(summed(second), prices)
    assert parts[0] is not None
    assert parts[1] is not None
    assert money.cost(summed(first + second), prices) == parts[0] + parts[1]


@given(CALLS)
def test_no_count_is_below_nought_or_larger_than_what_it_is_part_of(calls: list[Usage | None]) -> None:
    sums = summed(calls)
    assert min(astuple(sums)) >= 0
    assert sums.cached <= sums.input
    assert sums.reasoning <= sums.output
    assert sums.counted <= sums.replies <= sums.calls == len(calls)
    assert sums.fresh + sums.cached == sums.input


@given(CALLS, KNOWN)
def test_what_nobody_told_is_said_and_never_simply_nought(calls: list[Usage | None], prices: Prices) -> None:
    bill = money.bill(summed(calls), prices)
    untold = [call for call in calls if call is None or call.input is None or call.output is None]
    if len(untold) == len(calls) and calls:
        assert (bill.cost, bill.words, bill.reason) == (None, "unknown", "no tokens reported")
    elif untold:
        assert any("reported no tokens" in note for note in bill.notes)
    assert bill.uncounted + bill.failed == len(untold)


@given(USAGES, KNOWN)
def test_reasoning_costs_what_output_costs_and_is_in_it_already(usage: Usage, prices: Prices) -> None:
    without = Usage(usage.input, usage.cached, usage.output, None)
    assert money.cost(Sums.of(usage), prices) == money.cost(Sums.of(without), prices)


@given(st.decimals("0", "100000", places=9))
def test_an_amount_is_shown_to_the_cent_or_with_two_digits_below(amount: Decimal) -> None:
    words = money.dollars(amount)
    shown = Decimal(words.removeprefix("$").replace(",", ""))
    assert (shown == 0) == (amount == 0)
    if amount >= money.CENT:
        assert abs(shown - amount) <= Decimal("0.005")
        assert words[-3] == "."
    else:
        assert abs(shown - amount) <= amount / 20


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        ("0", "$0.00"),
        ("0.01", "$0.01"),
        ("0.0042135", "$0.0042"),
        ("0.00999", "$0.01"),
        ("0.000001", "$0.000001"),
        ("1234567.895", "$1,234,567.90"),
        ("2.005", "$2.01"),
    ],
)
def test_amounts_in_words(amount: str, words: str) -> None:
    assert money.dollars(Decimal(amount)) == words


def test_unknown_prices_leave_the_cost_unknown_and_a_simulated_model_costs_nothing() -> None:
    sums = Sums.of(Usage(input=5, output=5))
    assert money.bill(sums, Prices(Decimal(1), None, None)).reason == "price unknown"
    simulated = money.bill(sums, Prices(), simulated=True)
    assert (simulated.cost, simulated.words, simulated.simulated) == (money.NOTHING, "$0.00", True)


def test_a_partly_told_cost_says_at_least_and_what_is_missing() -> None:
    calls = [Usage(input=1_000_000, output=0), Usage(), None, None]
    bill = money.bill(summed(list(calls)), Prices(Decimal(3), None, Decimal(9)))
    assert bill.words == "at least $3.00"
    assert bill.notes == ("1 reply reported no tokens", "2 calls without a reply reported no tokens")


def test_cached_input_without_its_own_price_is_billed_in_full_and_said() -> None:
    bill = money.bill(Sums.of(Usage(input=10, cached=4, output=1)), Prices(Decimal(1), None, Decimal(1)))
    assert bill.notes == ("cached input at the full price, its own is unknown",)
