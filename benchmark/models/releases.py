"""Releases that were built here, each a folder that others can check."""

from django.conf import settings
from django.db import models

from annotate.models import Dataset
from fpco_site.fields import WrittenField, one_of


class ReleaseState(models.TextChoices):
    BUILDING = "building", "building"
    READY = "ready", "ready"
    FAILED = "failed", "failed"


class Release(models.Model):
    """One exported folder of a dataset, found again by the hash of its manifest."""

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=20, choices=ReleaseState, default=ReleaseState.BUILDING)
    folder = models.CharField(max_length=500, blank=True)  # below DATA_DIR/releases
    manifest_sha256 = models.CharField(max_length=64, blank=True)
    counts = models.JSONField(default=dict)
    error = WrittenField(blank=True)
    built_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [one_of("state", ReleaseState)]

    def __str__(self) -> str:
        return f"release {self.pk}"
