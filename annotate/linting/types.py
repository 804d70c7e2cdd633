"""What the rules read and what they say."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

Span = tuple[int, int]


class Severity(StrEnum):
    """An error blocks approval; a warning needs a tick."""

    ERROR = "error"
    WARNING = "warning"


class Plan(Protocol):
    """How many turns a dialogue has and which of them are false, counted from 1."""

    @property
    def turns(self) -> int: ...

    @property
    def false_turns(self) -> Sequence[int]: ...


@dataclass(frozen=True)
class StudyPlan:
    """The study's plan: ten turns, the last seven false."""

    turns: int = 10
    false_turns: tuple[int, ...] = (4, 5, 6, 7, 8, 9, 10)


STUDY_PLAN = StudyPlan()


@dataclass(frozen=True)
class PlainTurn:
    """One question; `modified` is empty where there is no rewritten one."""

    number: int
    content: str
    modified: str = ""


@dataclass(frozen=True)
class PlainItem:
    """An item's texts. `premise_class` is identity, attribute or location."""

    premise_class: str
    target_description: str
    modified_target_description: str
    turns: tuple[PlainTurn, ...]


@dataclass(frozen=True)
class Finding:
    """One thing to mend or to look at.

    Attributes
    ----------
    code : str
        Lasting name of the rule.
    severity : Severity
    message : str
        One sentence for the person who edits.
    turn : int or None
        The turn it is about; None for the descriptions or the whole item.
    span : tuple of int or None
        Start and end in the text named by `field`.
    field : str
        `target_description`, `modified_target_description`, `content`, `modified`, or empty.
    """

    code: str
    severity: Severity
    message: str
    turn: int | None = None
    span: Span | None = None
    field: str = ""


def error(code: str, message: str, *, turn: int | None = None, span: Span | None = None, field: str = "") -> Finding:
    """A finding that blocks approval."""
    return Finding(code, Severity.ERROR, message, turn, span, field)


def warning(code: str, message: str, *, turn: int | None = None, span: Span | None = None, field: str = "") -> Finding:
    """A finding that needs a tick."""
    return Finding(code, Severity.WARNING, message, turn, span, field)
