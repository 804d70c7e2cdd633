"""Whose trouble a call has that the engine won't make again: its row's own, its whole group's, or not yet clear.

A provider that is down, a wrong setting and one bad picture look alike from a single call. They are
told apart by what became of the group's other calls meanwhile, as this worker saw them. What is not
yet clear is set aside: the row goes back, is asked again after all others, and is then judged.
"""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

from fpco_site.llm.engine.advice import is_everybodys
from fpco_site.llm.types import ErrorKind, ProviderError

LOST = "connection"
BREAKS = 3  # each was a call that was paid for


class Fault(StrEnum):
    """What a client does with the row: fail it; give it back; give it back and pause its group."""

    OWN = "own"
    UNCLEAR = "unclear"
    EVERYBODYS = "everybodys"


@dataclass
class Group:
    """What the calls of one group have come to lately; time is counted in answers.

    Only used in the event loop, but for `aside`, which the writer's thread reads: it is replaced, never changed.
    """

    answers: int = 0
    failing: dict[int, ErrorKind] = field(default_factory=dict)  # rows with an error since the last answer
    since: dict[int, int] = field(default_factory=dict)  # answers before the first of a row's errors in a row
    aside: dict[int, int] = field(default_factory=dict)  # answers before a row was set aside
    breaks: Counter[int] = field(default_factory=Counter)  # lanes that a row broke

    def answered(self, row: int) -> None:
        """The provider replied, with text or without."""
        self.answers += 1
        self.failing.clear()
        self.since.pop(row, None)
        self._take_back(row)

    def failed(self, row: int, error: ProviderError) -> None:
        """A try brought no reply."""
        self.since.setdefault(row, self.answers)
        self.failing[row] = error.kind

    def judge(self, row: int, error: ProviderError) -> Fault:
        """Whose trouble the last try of a row had; `failed` was told of it."""
        fault = Fault.EVERYBODYS if is_everybodys(error) else self._weigh(row, error)
        self.since.pop(row, None)
        if fault is Fault.UNCLEAR:
            self.aside = {**self.aside, row: self.answers}
        elif fault is Fault.OWN:
            self._take_back(row)
        else:
            self.failing.clear()
            self.since.clear()
            self.aside = {}
        return fault

    def broke(self, row: int) -> None:
        """A row's lane broke off with nothing stored."""
        self.breaks[row] += 1
        self.aside = {**self.aside, row: self.answers}

    def may_go_on(self, row: int) -> bool:
        """Whether a row whose lane broke off may be asked again."""
        return self.breaks[row] < BREAKS

    def _take_back(self, row: int) -> None:
        if row in self.aside:
            self.aside = {other: answers for other, answers in self.aside.items() if other != row}

    def _weigh(self, row: int, error: ProviderError) -> Fault:
        refused = error.kind is ErrorKind.PERMANENT
        if self.answers > self.since[row]:
            return Fault.OWN
        if any(kind is ErrorKind.PERMANENT or not refused for other, kind in self.failing.items() if other != row):
            return Fault.EVERYBODYS
        if not self.answers and (refused or row in self.aside):
            return Fault.EVERYBODYS
        if row not in self.aside:
            return Fault.UNCLEAR
        lost = error.code == LOST and self.answers == self.aside[row]
        return Fault.EVERYBODYS if lost else Fault.OWN


class Faults:
    """The groups of every kind that this worker asks for."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, int], Group] = {}

    def group(self, kind: str, group: int) -> Group:
        return self._groups.setdefault((kind, group), Group())

    def aside(self, kind: str) -> set[int]:
        """Rows of a kind that are asked again after all others; from any thread."""
        return {row for (name, _), group in list(self._groups.items()) if name == kind for row in group.aside}
