"""Case studies: dialogues that people chose to read, and to show, side by side."""

from django.conf import settings
from django.db import models

from annotate.models import Dataset
from benchmark.models.runs import Dialogue
from fpco_site.fields import WrittenField


class CaseStudy(models.Model):
    """A choice of dialogues of one dataset, with a name and what is to be seen in them.

    `version` goes up when name or note change: who edits an older one is told, and loses nothing.
    """

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=100)
    note = WrittenField(blank=True)
    version = models.PositiveIntegerField(default=1)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "name"],
                name="benchmark_casestudy_once",
                violation_error_message="This dataset has a case study of this name already.",
            ),
            models.CheckConstraint(
                condition=~models.Q(name=""),
                name="benchmark_casestudy_named",
                violation_error_message="A case study needs a name.",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class PinnedDialogue(models.Model):
    """A dialogue of a case study. Positions are gapless from 1 and set under a lock of the case study's row."""

    case_study = models.ForeignKey(CaseStudy, on_delete=models.PROTECT, related_name="pins")
    dialogue = models.ForeignKey(Dialogue, on_delete=models.PROTECT, related_name="+")
    position = models.PositiveIntegerField()
    pinned_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    pinned_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["case_study_id", "position", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["case_study", "dialogue"],
                name="benchmark_pinneddialogue_once",
                violation_error_message="This dialogue is pinned already.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.case_study_id}: {self.dialogue_id}"
