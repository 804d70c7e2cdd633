"""Releases that were built here, each a folder that others can check."""

from django.conf import settings
from django.db import models

from annotate.models import Dataset
from benchmark.models.claims import Claimable
from fpco_site.fields import one_of


class BuildState(models.TextChoices):
    """Of what a worker builds in the background: a release, a report."""

    WAITING = "waiting", "waiting"
    BUILDING = "building", "building"
    READY = "ready", "ready"
    FAILED = "failed", "failed"


class Release(Claimable):
    """One exported folder of a dataset, found again by the hash of its manifest."""

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=20, choices=BuildState, default=BuildState.WAITING)
    folder = models.CharField(max_length=200, blank=True)  # below DATA_DIR/releases
    manifest_sha256 = models.CharField(max_length=64, blank=True)
    counts = models.JSONField(default=dict)
    built_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [one_of("state", BuildState)]

    def __str__(self) -> str:
        return f"release {self.pk}"

    @property
    def sizes(self) -> list[int]:
        """Rows of items, responses, detector labels and human labels."""
        return [self.counts.get(f"{name}.jsonl", 0) for name in ("items", "responses", "labels", "human_labels")]
