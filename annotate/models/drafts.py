"""What language models proposed. Applying a draft is a person's decision."""

from django.conf import settings
from django.db import models

from annotate.models.items import Item
from fpco_site.fields import CompressedField, WrittenField, one_of
from fpco_site.llm.models import EndpointFields, Leased, UsageFields


class Drafter(EndpointFields):
    """A model that drafts questions and premises, or checks variants; `family` tells its makers apart."""

    name = models.CharField(max_length=100, unique=True)
    family = models.CharField(max_length=100, blank=True)
    active = models.BooleanField(default=True)

    def __str__(self) -> str:
        return self.name


class DraftKind(models.TextChoices):
    QUESTIONS = "questions", "questions"
    PREMISE = "premise", "false premise"


class DraftState(models.TextChoices):
    WAITING = "waiting", "waiting"
    RUNNING = "running", "running"
    READY = "ready", "ready"
    FAILED = "failed", "failed"


class Draft(Leased, UsageFields):
    """One proposal with all that made it: prompt, request, reply, and what could be read from it."""

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="drafts")
    drafter = models.ForeignKey(Drafter, on_delete=models.PROTECT, related_name="drafts")
    kind = models.CharField(max_length=20, choices=DraftKind)
    state = models.CharField(max_length=20, choices=DraftState, default=DraftState.WAITING, db_index=True)
    prompt_name = models.CharField(max_length=60)
    prompt_version = models.CharField(max_length=20)
    prompt_sha256 = models.CharField(max_length=64)
    model_asked = models.CharField(max_length=200)
    model_answered = WrittenField(blank=True)
    request = CompressedField(null=True, blank=True)
    reply = CompressedField(null=True, blank=True)
    payload = models.JSONField(null=True, blank=True)
    error = WrittenField(blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    request_id = models.CharField(max_length=200, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    simulated = models.BooleanField(default=False)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    requested_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    applied_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    applied_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            one_of("kind", DraftKind),
            one_of("state", DraftState),
            models.UniqueConstraint(
                fields=["item", "kind", "drafter"],
                condition=models.Q(state__in=["waiting", "running"]),
                name="annotate_draft_one_at_a_time",
                violation_error_message="This draft is already being made.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} for {self.item_id}"
