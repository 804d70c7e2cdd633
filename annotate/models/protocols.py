"""How long a dialogue is, which of its turns are false, and how many images a cell wants."""

from typing import Any

from django.conf import settings
from django.db import models

from fpco_site.fields import WrittenField

STUDY: dict[str, Any] = {
    "name": "FPCO-Dialog",
    "turns": 10,
    "false_turns": [4, 5, 6, 7, 8, 9, 10],
    "per_cell": 30,
}
# Two premises for each of three classes on each of 30 images, and only the first false turn is asked.
LEXICAL: dict[str, Any] = {"name": "FPCO-Dialog lexical", "turns": 4, "false_turns": [4], "per_cell": 0}


class Protocol(models.Model):
    """The plan of a study as data; the published study's is the default (paper, section 3)."""

    name = models.CharField(max_length=100, unique=True)
    turns = models.PositiveSmallIntegerField(default=10)
    false_turns = models.JSONField(default=list)
    per_cell = models.PositiveIntegerField(default=30)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(turns__gte=1, turns__lte=15),
                name="annotate_protocol_turns",
                violation_error_message="A dialogue has 1 to 15 turns.",
            )
        ]

    def __str__(self) -> str:
        return self.name

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "turns": self.turns,
            "false_turns": list(self.false_turns),
            "per_cell": self.per_cell,
        }


class StudyChange(models.Model):
    """One setting of the study that somebody changed. Rows are only added."""

    name = models.CharField(max_length=60)  # such as "per_cell" or "second_share"
    before = WrittenField(blank=True)
    after = WrittenField(blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.name}: {self.before} -> {self.after}"
