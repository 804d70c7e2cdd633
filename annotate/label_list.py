"""A person's own labels of a set in lists: all, missing, flagged, unsure. Reads only."""

from dataclasses import dataclass
from functools import cached_property

from annotate.models import Label, LabelTask
from annotate.models.labels import Mode
from annotate.standing import Standing
from annotate.worklist import Worklist


@dataclass(frozen=True)
class Row:
    """One answer in a list: its place in the person's order, their label if there is one, and their flag."""

    place: int
    task: LabelTask
    label: Label | None
    flagged: bool


@dataclass(frozen=True)
class Listing:
    """The list that was asked for by name; any other name is `labelled`."""

    work: Worklist
    asked: str = ""

    @cached_property
    def rows_of(self) -> dict[str, list[Row]]:
        """Every list by its name; in a pool others label what is missing, so it lists none of it."""
        marks = self.standing.flags
        given = self.work.labels
        rows = [Row(place, task, given.get(task.pk), task.pk in marks) for place, task in enumerate(self.work.tasks, 1)]
        missing = [] if self.is_pool else [row for row in rows if row.label is None]
        return {
            "labelled": [row for row in rows if row.label],
            "missing": missing,
            "flagged": [row for row in rows if row.flagged],
            "unsure": [row for row in rows if row.label and row.label.unsure],
        }

    @property
    def is_pool(self) -> bool:
        return self.work.assignment.label_set.mode == Mode.POOL

    @property
    def name(self) -> str:
        return self.asked if self.asked in self.rows_of else "labelled"

    @property
    def rows(self) -> list[Row]:
        return self.rows_of[self.name]

    @property
    def counts(self) -> list[tuple[str, int]]:
        """Each list's name and length; a pool has no list of what is missing."""
        return [(name, len(rows)) for name, rows in self.rows_of.items() if not (self.is_pool and name == "missing")]

    @cached_property
    def standing(self) -> Standing:
        return Standing(self.work)
