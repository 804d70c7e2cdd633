"""Runs: one model over one dataset, a dialogue at a time."""

from dataclasses import replace
from typing import Any

from django.db import models

from annotate.models import Dataset, DatasetItem, User
from benchmark.models.models import EvaluatedModel
from fpco_site.fields import WrittenField, one_of
from fpco_site.llm import settings_rules
from fpco_site.llm.models import Leased
from fpco_site.llm.types import Endpoint


class RunState(models.TextChoices):
    DRAFT = "draft", "draft"
    RUNNING = "running", "running"
    PAUSED = "paused", "paused"
    STOPPED = "stopped", "stopped"
    COMPLETE = "complete", "complete"
    INCOMPLETE = "incomplete", "incomplete"


class Run(models.Model):
    """One model over one dataset, with its settings, prompt and software as they were sent.

    `patterns_dirty` is set in the transaction that writes this run's labels; patterns are rebuilt
    from labels where it is true.
    """

    model = models.ForeignKey(EvaluatedModel, on_delete=models.PROTECT, related_name="runs")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=20, choices=RunState, default=RunState.DRAFT, db_index=True)
    pause_reason = WrittenField(blank=True)
    concurrency = models.PositiveIntegerField(default=4)
    budget = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    settings = models.JSONField(default=dict)
    prompt_name = models.CharField(max_length=60, blank=True)
    prompt_version = models.CharField(max_length=20, blank=True)
    prompt_sha256 = models.CharField(max_length=64, blank=True)
    software = models.JSONField(default=dict)
    simulated = models.BooleanField(default=False)
    imported = models.BooleanField(default=False)
    patterns_dirty = models.BooleanField(default=False)
    started_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            one_of("state", RunState),
            models.UniqueConstraint(
                fields=["model", "dataset"],
                condition=models.Q(state__in=["draft", "running", "paused"]),
                name="benchmark_run_one_open",
                violation_error_message="This model already has an open run over this dataset.",
            ),
            models.CheckConstraint(
                condition=models.Q(concurrency__gte=1, concurrency__lte=1024),
                name="benchmark_run_concurrency",
                violation_error_message="A run asks 1 to 1,024 dialogues at once.",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"

    def asked_by(self) -> dict[str, Any]:
        """How each call of this run is asked, the prompt's version and hash included."""
        prompt = {"prompt": f"{self.prompt_name}.v{self.prompt_version}", "sha256": self.prompt_sha256}
        return {**self.settings, **(prompt if self.prompt_name else {})}

    def endpoint(self) -> Endpoint:
        """The endpoint as it was when the run was made, whatever the model says today."""
        return endpoint_of(self.settings)


def endpoint_of(kept: dict[str, Any]) -> Endpoint:
    """The endpoint from settings kept with a row (see `EndpointFields.settings`)."""
    made = Endpoint(**kept)
    return replace(made, timeout=settings_rules.timeout(made.provider, made.timeout))


class DialogueState(models.TextChoices):
    """`stopped`: a turn brought no text (blocked, empty); `failed`: a call failed for good."""

    WAITING = "waiting", "waiting"
    RUNNING = "running", "running"
    COMPLETE = "complete", "complete"
    STOPPED = "stopped", "stopped"
    FAILED = "failed", "failed"


ENDED = (DialogueState.COMPLETE, DialogueState.STOPPED, DialogueState.FAILED)
UNENDED = (DialogueState.WAITING, DialogueState.RUNNING)


class Dialogue(Leased):
    """One conversation about one image; claimed, asked and committed turn by turn, in order."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="dialogues", db_index=False)
    item = models.ForeignKey(DatasetItem, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=20, choices=DialogueState, default=DialogueState.WAITING)

    class Meta:
        ordering = ["id"]
        constraints = [
            one_of("state", DialogueState),
            models.UniqueConstraint(
                fields=["run", "item"],
                name="benchmark_dialogue_once",
                violation_error_message="A run has one dialogue an item.",
            ),
        ]
        # With the id, the next waiting ones are found in order without a look at those that have ended.
        indexes = [models.Index(fields=["run", "state", "id"], name="benchmark_dialogue_next")]

    def __str__(self) -> str:
        return f"dialogue {self.pk}"
