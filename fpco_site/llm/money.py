"""Tokens, prices and dollars: exact decimal arithmetic without a database. Rounding happens at display alone.

Prices are in US dollars per million tokens. Counts are as billed: input includes cached, output includes
reasoning (`fpco_site.llm.types.Usage`), whatever a provider calls them; its own class adds them up that way.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from fpco_site.llm.types import Usage

MILLION = Decimal(1_000_000)
CENT = Decimal("0.01")
NOTHING = Decimal(0)


@dataclass(frozen=True)
class Prices:
    """None is unknown, which is not zero. `discount` is the part that a batch job is let off, 0 to 1."""

    input: Decimal | None = None
    cached: Decimal | None = None
    output: Decimal | None = None
    discount: Decimal = NOTHING

    @property
    def known(self) -> bool:
        """Whether a cost can be told at all. Cached input without a price of its own costs what fresh input does."""
        return self.input is not None and self.output is not None


@dataclass(frozen=True)
class Sums:
    """Calls and their tokens, added up.

    `replies` are the calls that brought one; `counted` those of them that told both their input and their
    output tokens. What a call doesn't tell adds nothing here, and is said beside the cost (`gaps`).
    """

    calls: int = 0
    replies: int = 0
    counted: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(*(getattr(self, part.name) + getattr(other, part.name) for part in fields(Sums)))

    def counts(self) -> dict[str, Any]:
        """Each count by its name, whatever else a subclass holds."""
        return {part.name: getattr(self, part.name) for part in fields(Sums)}

    @property
    def uncounted(self) -> int:
        """Replies whose tokens nobody told: they cost something, and nobody knows what."""
        return self.replies - self.counted

    @property
    def failed(self) -> int:
        """Calls without a reply: timeouts, lost connections, errors."""
        return self.calls - self.replies

    @property
    def untold(self) -> int:
        """Calls that reported no tokens, for whatever reason."""
        return self.calls - self.counted

    @property
    def fresh(self) -> int:
        return self.input - self.cached

    @classmethod
    def of(cls, usage: Usage | None) -> "Sums":
        """One call; None where it brought no reply."""
        if usage is None:
            return cls(calls=1)
        told = usage.input is not None and usage.output is not None
        tokens_in, tokens_out = usage.input or 0, usage.output or 0
        return cls(
            calls=1,
            replies=1,
            counted=int(told),
            input=tokens_in,
            cached=min(usage.cached or 0, tokens_in),
            output=tokens_out,
            reasoning=min(usage.reasoning or 0, tokens_out),
        )


def cost(sums: Sums, prices: Prices) -> Decimal | None:
    """US dollars of so many tokens, exactly; None where a price is unknown.

    (fresh x input + cached x cached input + output x output) / 1,000,000 x (1 - discount); reasoning is in output.
    """
    if prices.input is None or prices.output is None:
        return None
    cached = prices.input if prices.cached is None else prices.cached
    full = sums.fresh * prices.input + sums.cached * cached + sums.output * prices.output
    return full * (1 - prices.discount) / MILLION


@dataclass(frozen=True)
class Bill(Sums):
    """What calls used and cost. `cost` is None where it can't be told, and `reason` then says why.

    `notes` say what a cost that is told leaves out or assumes.
    """

    cost: Decimal | None = NOTHING
    reason: str = ""
    notes: tuple[str, ...] = ()
    simulated: bool = False

    @property
    def words(self) -> str:
        """The cost to the cent; "at least" where some replies told no tokens."""
        if self.cost is None:
            return "unknown"
        return f"at least {dollars(self.cost)}" if self.uncounted and not self.simulated else dollars(self.cost)


def bill(sums: Sums, prices: Prices, *, simulated: bool = False) -> Bill:
    """What calls cost by these prices; nothing where a simulated model was asked."""
    used = sums.counts()
    if simulated:
        return Bill(**used, simulated=True)
    if not sums.calls:
        return Bill(**used)
    if not prices.known:
        return Bill(**used, cost=None, reason="price unknown")
    if not sums.counted:
        return Bill(**used, cost=None, reason="no tokens reported")
    return Bill(**used, cost=cost(sums, prices), notes=gaps(sums, prices))


def together(bills: Iterable[Bill]) -> Bill:
    """Several bills as one; where the cost of one is unknown, so is that of all."""
    found = list(bills)
    known = [one.cost for one in found if one.cost is not None]
    return Bill(
        **sum(found, Sums()).counts(),
        cost=sum(known, NOTHING) if len(known) == len(found) else None,
        reason=next((one.reason for one in found if one.cost is None), ""),
        notes=tuple(dict.fromkeys(note for one in found for note in one.notes)),
        simulated=bool(found) and all(one.simulated for one in found),
    )


def gaps(sums: Sums, prices: Prices) -> tuple[str, ...]:
    """What a cost does not hold: calls that told no tokens, and a price that stands in for another."""
    notes = []
    if sums.uncounted:
        notes.append(f"{_calls(sums.uncounted, 'reply', 'replies')} reported no tokens")
    if sums.failed:
        notes.append(f"{_calls(sums.failed, 'call', 'calls')} without a reply reported no tokens")
    if sums.cached and prices.cached is None:
        notes.append("cached input at the full price, its own is unknown")
    if prices.discount:
        notes.append(f"{prices.discount * 100:.0f} % off for batch jobs")
    return tuple(notes)


def dollars(amount: Decimal) -> str:
    """An amount to the cent; below a cent with two digits that count, never a bare nought for what is only small."""
    if amount and abs(amount) < CENT:
        return f"${_two_digits(amount):f}"
    return f"${amount.quantize(CENT, ROUND_HALF_UP):,f}"


def _two_digits(amount: Decimal) -> Decimal:
    step = Decimal(1).scaleb(amount.adjusted() - 1)
    return amount.quantize(step, ROUND_HALF_UP).normalize()


def _calls(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"
