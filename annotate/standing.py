"""How far a person is in a set and how fast: their labels as the worklist has them, one query over their flags."""

import uuid
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from annotate.services import task_marks
from annotate.worklist import Worklist

RECENT = 50  # labels that the pace is taken from
FEWEST = 5  # with fewer, a pace says nothing


@dataclass(frozen=True)
class Standing:
    """Counts for one person's worklist."""

    work: Worklist

    @property
    def done(self) -> int:
        return len(self.work.latest)

    @property
    def missing(self) -> int:
        return max(0, self.work.total - self.done)

    @property
    def unsure(self) -> int:
        return sum(unsure for unsure, _ in self.work.latest.values())

    @cached_property
    def flags(self) -> set[uuid.UUID]:
        """The ids of the tasks that are flagged."""
        return task_marks.flagged(self.work.assignment)

    @property
    def flagged(self) -> int:
        return len(self.flags)

    @cached_property
    def seconds(self) -> float | None:
        """The median time of the newest labels that have one; None while they are few."""
        known = [seconds for _, seconds in self.work.latest.values() if seconds is not None][:RECENT]
        return median(known) if len(known) >= FEWEST else None

    @property
    def pace(self) -> str:
        """How long a label takes, and the rest of the set at that pace, in words; empty while it is not known."""
        if self.seconds is None:
            return ""
        each = f"{max(1, round(self.seconds))} s each, {round(3600 / max(self.seconds, 1))} an hour"
        return f"{each}, about {in_words(self.seconds * self.missing)} left" if self.missing else each


def in_words(seconds: float) -> str:
    """A time to come, no more exact than a guess is.

    Examples
    --------
    >>> [in_words(each) for each in (20, 100, 3500, 4000, 7200)]
    ['1 min', '2 min', '58 min', '1 h 7 min', '2 h']
    """
    minutes = max(1, round(seconds / 60))
    hours, rest = divmod(minutes, 60)
    return " ".join(part for part in (f"{hours} h" if hours else "", f"{rest} min" if rest else "") if part)
