"""How an offline model tends to react to a false premise: rates by kind of change, declining as it is repeated."""

from dataclasses import dataclass, fields, replace
from typing import Any

from fpco_site.errors import Invalid


@dataclass(frozen=True)
class Habit:
    """Chances in [0, 1]: to correct a change of each kind, to correct a question that was right.

    `decay` is taken off the chance for each earlier turn that said the same; `steadiness` is the
    share of turns in which the model keeps the inclination it has in this conversation.
    """

    identity: float
    attribute: float
    location: float
    needless: float
    decay: float
    steadiness: float = 0.75

    def rate(self, kind: str, *, repeated: int) -> float:
        rates = {"identity": self.identity, "attribute": self.attribute, "location": self.location}
        return max(0.0, rates[kind] - self.decay * repeated)


HABITS = {
    "skeptic": Habit(identity=0.93, attribute=0.74, location=0.36, needless=0.02, decay=0.015),
    "agreeable": Habit(identity=0.42, attribute=0.24, location=0.08, needless=0.01, decay=0.03),
}


def from_options(options: dict[str, Any]) -> Habit:
    """`{"habit": "skeptic", "identity": 0.9, ...}` as a habit. Raises Invalid."""
    name = options.get("habit", "skeptic")
    if name not in HABITS:
        raise Invalid(f"A scripted model knows no habit {name!r}; it knows {', '.join(sorted(HABITS))}.")
    given = {field.name: options[field.name] for field in fields(Habit) if field.name in options}
    for field, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise Invalid(f"{field!r} of a scripted model is a number from 0 to 1, not {value!r}.")
    return replace(HABITS[name], **given)
