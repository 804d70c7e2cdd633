"""What calls will use, before they are made: the arithmetic of dialogues that resend their history. Pure.

Tokens are decimals, for they are means over a sample; money is made of them without a float.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from fpco_site.llm import money

# Characters a token: English prose has about four; what a tokenizer makes of it lies between.
CHARACTERS_LOW, CHARACTERS_HIGH = Decimal("4.7"), Decimal("3.6")
OVERHEAD = 4  # tokens that mark each message
CACHED_FROM, CACHED_STEP = 1024, 128  # the shortest prefix that is cached, and how it grows (OpenAI; others are alike)
LATENCY = (Decimal(2), Decimal(12))  # seconds a call, where nothing was measured


@dataclass(frozen=True)
class Side:
    """One end of the range: tokens of a number of calls."""

    calls: Decimal = Decimal(0)
    input: Decimal = Decimal(0)
    cached: Decimal = Decimal(0)
    output: Decimal = Decimal(0)

    def __add__(self, other: "Side") -> "Side":
        return Side(
            self.calls + other.calls,
            self.input + other.input,
            self.cached + other.cached,
            self.output + other.output,
        )

    def times(self, factor: Decimal) -> "Side":
        return Side(self.calls * factor, self.input * factor, self.cached * factor, self.output * factor)

    def rounded(self) -> money.Sums:
        """Whole tokens, rather too many than too few."""
        calls, input_, output = (_up(value) for value in (self.calls, self.input, self.output))
        return money.Sums(calls, calls, calls, input_, min(input_, int(self.cached)), output)


def inputs(
    *, system: Decimal, picture: Decimal, questions: Sequence[Decimal], answers: Sequence[Decimal], overhead: int = 0
) -> list[Decimal]:
    """Input tokens of each turn, in order: turn t resends system prompt, picture, questions 1..t and answers 1..t-1.

    `overhead` counts for each of the 2t messages of turn t (the system prompt, t questions, t - 1 answers).

    >>> inputs(system=Decimal(10), picture=Decimal(100), questions=[Decimal(5)] * 3, answers=[Decimal(7)] * 3)
    [Decimal('115'), Decimal('127'), Decimal('139')]
    """
    found, history = [], system + picture
    for turn, question in enumerate(questions, 1):
        history += question
        found.append(history + overhead * 2 * turn)
        history += answers[turn - 1]
    return found


def dialogue(
    *,
    system: Decimal,
    picture: Decimal,
    questions: Sequence[Decimal],
    answers: Sequence[Decimal],
    output: Decimal,
    cached: bool,
    first: int = 1,
) -> Side:
    """The calls of one dialogue from turn `first` on.

    `answers` are the texts that stand in the history, `output` is what a call is billed (reasoning included).
    With `cached`, what the turn before sent is read from the cache, in whole steps, where it is long enough.
    """
    sent = inputs(system=system, picture=picture, questions=questions, answers=answers, overhead=OVERHEAD)
    asked = range(first, len(questions) + 1)
    from_cache = (_cached(sent[turn - 2]) for turn in asked if turn > first) if cached else ()
    return Side(
        Decimal(len(asked)),
        sum((sent[turn - 1] for turn in asked), Decimal(0)),
        sum(from_cache, Decimal(0)),
        output * len(asked),
    )


def seconds(*, dialogues: int, turns: Decimal, concurrency: int, latency: Decimal) -> int:
    """Wall time where `concurrency` dialogues go on at once, each of so many calls in a row."""
    if not dialogues:
        return 0
    rounds = Decimal(dialogues) / min(concurrency, dialogues)
    return _up(rounds * turns * latency)


def _cached(tokens: Decimal) -> Decimal:
    return Decimal(int(tokens) // CACHED_STEP * CACHED_STEP) if tokens >= CACHED_FROM else Decimal(0)


def _up(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_CEILING))
