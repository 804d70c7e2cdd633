"""Variants of items: how their images were drawn, and what models said about a candidate."""

from django.conf import settings
from django.db import models

from annotate.models.drafts import Drafter
from annotate.models.items import Item
from fpco_site.fields import CompressedField, WrittenField, one_of
from fpco_site.llm.models import Leased, PriceFields, UsageFields


class VariantDraw(models.Model):
    """A draw of images for the lexical-sensitivity study, with all that repeats it.

    `frame_size` and `frame_sha256` say from which approved items it was made; `keys` are in the order
    of the draw, `taken` are the images that had been chosen before.
    """

    seed = models.PositiveIntegerField()
    wanted = models.PositiveSmallIntegerField()
    frame_size = models.PositiveIntegerField()
    frame_sha256 = models.CharField(max_length=64)
    taken = models.JSONField(default=list)
    keys = models.JSONField()
    drawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    drawn_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{len(self.keys)} images by seed {self.seed}"


class CheckState(models.TextChoices):
    WAITING = "waiting", "waiting"
    RUNNING = "running", "running"
    STOPPED = "stopped", "stopped"
    READY = "ready", "ready"
    FAILED = "failed", "failed"


class VariantCheck(Leased, UsageFields, PriceFields):
    """What one model says about one wording of a variant: advice for a person, never a verdict by itself.

    The model sees the picture and `asked`, and nothing that any evaluated model said. `asked_sha256`
    names that wording, so that a check is seen to be of a former one. `payload` holds a boolean for
    each question and the reason; `unusable` counts replies that could not be read.
    """

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="checks")
    item_version = models.PositiveIntegerField()
    checker = models.ForeignKey(Drafter, on_delete=models.PROTECT, related_name="checks")
    family = models.CharField(max_length=100)
    state = models.CharField(max_length=20, choices=CheckState, default=CheckState.WAITING, db_index=True)
    prompt_name = models.CharField(max_length=60)
    prompt_version = models.CharField(max_length=20)
    prompt_sha256 = models.CharField(max_length=64)
    asked = models.JSONField()
    asked_sha256 = models.CharField(max_length=64)
    model_asked = models.CharField(max_length=200)
    model_answered = WrittenField(blank=True)
    request = CompressedField(null=True, blank=True)
    reply = CompressedField(null=True, blank=True)
    payload = models.JSONField(null=True, blank=True)
    error = WrittenField(blank=True)
    unusable = models.PositiveSmallIntegerField(default=0)
    tries = models.PositiveSmallIntegerField(default=0)
    request_id = models.CharField(max_length=200, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    simulated = models.BooleanField(default=False)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    requested_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            one_of("state", CheckState),
            models.UniqueConstraint(
                fields=["item", "checker", "asked_sha256"],
                condition=~models.Q(state="failed"),
                name="annotate_variantcheck_once",
                violation_error_message="This model has this wording to check already.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.checker_id} on {self.item_id} v{self.item_version}"
