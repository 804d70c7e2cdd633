"""Answers, written once, and every call that was made to get them."""

from django.db import models

from benchmark.models.runs import Dialogue
from fpco_site.fields import CompressedField, WrittenField
from fpco_site.llm.models import UsageFields


class CallOutcome(models.TextChoices):
    """How a call ended; only the first three have text (design section 4)."""

    ANSWERED = "answered", "answered"
    CUT = "cut", "cut off at the token cap"
    REFUSED = "refused", "refused"
    BLOCKED = "blocked", "blocked by a filter"
    EMPTY = "empty", "empty"
    FAILED = "failed", "failed"


class Response(UsageFields):
    """The one answer to a turn. It exists only where the provider returned text, and never changes."""

    dialogue = models.ForeignKey(Dialogue, on_delete=models.PROTECT, related_name="responses", db_index=False)
    turn = models.PositiveSmallIntegerField()
    text = WrittenField()
    cut = models.BooleanField(default=False)
    refusal = models.BooleanField(default=False)
    finish_reason = models.CharField(max_length=60, blank=True)
    model_answered = models.CharField(max_length=200, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    raw = CompressedField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["dialogue_id", "turn"]
        constraints = [
            models.UniqueConstraint(
                fields=["dialogue", "turn"],
                name="benchmark_response_once",
                violation_error_message="This turn has been answered already.",
            ),
            models.CheckConstraint(
                condition=~models.Q(text=""),
                name="benchmark_response_has_text",
                violation_error_message="A response has text; a call without text is an attempt.",
            ),
        ]
        indexes = [  # few rows, so that a page that is watched counts them without reading all answers
            models.Index(
                fields=["dialogue"], condition=models.Q(cut=True, refusal=False), name="benchmark_response_cut"
            ),
            models.Index(fields=["dialogue"], condition=models.Q(refusal=True), name="benchmark_response_refusal"),
        ]

    def __str__(self) -> str:
        return f"{self.dialogue_id}/{self.turn}"

    @property
    def outcome(self) -> str:
        return CallOutcome.REFUSED if self.refusal else CallOutcome.CUT if self.cut else CallOutcome.ANSWERED


class Software(models.Model):
    """Versions of what asks, by name: one row for each set of them, named by the calls that it made."""

    sha256 = models.CharField(max_length=64, unique=True)
    versions = models.JSONField(default=dict)

    def __str__(self) -> str:
        return ", ".join(f"{name} {version}" for name, version in sorted(self.versions.items()))

    @property
    def short(self) -> str:
        """How a release's rows name it."""
        return self.sha256[:12]


class CallFields(UsageFields):
    """What is known of one call to a provider."""

    started_at = models.DateTimeField()
    seconds = models.FloatField(default=0)
    request_id = models.CharField(max_length=200, blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    error_class = models.CharField(max_length=100, blank=True)
    error = WrittenField(blank=True)
    raw = CompressedField(null=True, blank=True)

    class Meta:
        abstract = True


class Attempt(CallFields):
    """Every call for a turn, answered or not. Rows are only added.

    `image_sha256` is of the picture's bytes as they were sent; `request_sha256` of the body, with the picture by
    its hash; `software` made the call. They are empty where nothing was sent, or where an import doesn't say.
    """

    dialogue = models.ForeignKey(Dialogue, on_delete=models.PROTECT, related_name="attempts", db_index=False)
    turn = models.PositiveSmallIntegerField()
    outcome = models.CharField(max_length=20, choices=CallOutcome)
    reason = WrittenField(blank=True)
    settings = models.JSONField(default=dict)
    image_sha256 = models.CharField(max_length=64, blank=True)
    request_sha256 = models.CharField(max_length=64, blank=True)
    software = models.ForeignKey(
        Software, null=True, blank=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(outcome__in=CallOutcome.values),
                name="benchmark_attempt_outcome_known",
                violation_error_message="An attempt ends in one of the known outcomes.",
            )
        ]
        indexes = [
            models.Index(fields=["dialogue", "turn", "-id"], name="benchmark_attempt_latest"),
            models.Index(fields=["outcome", "dialogue"], name="benchmark_attempt_outcome"),
        ]

    def __str__(self) -> str:
        return f"{self.dialogue_id}/{self.turn}: {self.outcome}"
