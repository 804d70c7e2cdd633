"""Batches: detections that a provider was sent in one file, and how far it is with them."""

import uuid

from django.db import models

from benchmark.models.detectors import Detection, DetectionJob
from fpco_site.fields import WrittenField, one_of


class BatchState(models.TextChoices):
    """Each state is committed before what comes next is done, so that a worker can die between any two.

    In `submitting`, the provider may or may not know of the batch: it is looked for by its key first.
    """

    PREPARED = "prepared", "prepared"
    UPLOADED = "uploaded", "uploaded"
    SUBMITTING = "submitting", "being submitted"
    SUBMITTED = "submitted", "at the provider"
    ENDED = "ended", "answered, to be read"
    COLLECTED = "collected", "collected"
    WITHDRAWN = "withdrawn", "withdrawn"


OPEN_BATCHES = (
    BatchState.PREPARED,
    BatchState.UPLOADED,
    BatchState.SUBMITTING,
    BatchState.SUBMITTED,
    BatchState.ENDED,
)


class BatchJob(models.Model):
    """One file of requests of a detection job.

    `key` is ours: it stands in the provider's metadata, and is the token under which the batch holds its
    detections. `worker` names whoever takes the next step, whose `beat` grows meanwhile. `looks` counts how
    often the provider was asked in vain whether it knows the key; `cancel` is a person's wish.
    """

    job = models.ForeignKey(DetectionJob, on_delete=models.PROTECT, related_name="batches")
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    state = models.CharField(max_length=20, choices=BatchState, default=BatchState.PREPARED, db_index=True)
    cancel = models.BooleanField(default=False)
    discount = models.DecimalField(max_digits=4, decimal_places=3)
    input_file = models.CharField(max_length=200, blank=True)
    provider_id = models.CharField(max_length=200, blank=True)
    provider_status = models.CharField(max_length=60, blank=True)
    result_files = models.JSONField(default=list)
    done = models.PositiveIntegerField(null=True, blank=True)
    looks = models.PositiveSmallIntegerField(default=0)
    error = WrittenField(blank=True)
    worker = models.CharField(max_length=40, blank=True)
    beat = models.PositiveBigIntegerField(default=0)
    prepared_at = models.DateTimeField(auto_now_add=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [one_of("state", BatchState)]

    def __str__(self) -> str:
        return f"batch {self.pk}"


class RequestFate(models.TextChoices):
    """What became of one request of a batch."""

    WAITING = "waiting", "waiting"
    LABELLED = "labelled", "labelled"
    UNUSABLE = "unusable", "unusable"
    FAILED = "failed", "failed"
    RETURNED = "returned", "given back"


class BatchRequest(models.Model):
    """One detection in a batch, with the turns that are asked about."""

    batch = models.ForeignKey(BatchJob, on_delete=models.PROTECT, related_name="requests")
    detection = models.ForeignKey(Detection, on_delete=models.PROTECT, related_name="requests")
    ids = models.JSONField()
    fate = models.CharField(max_length=20, choices=RequestFate, default=RequestFate.WAITING)

    class Meta:
        constraints = [
            one_of("fate", RequestFate),
            models.UniqueConstraint(
                fields=["batch", "detection"],
                name="benchmark_batchrequest_once",
                violation_error_message="A batch asks about a dialogue once.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.batch_id}: {self.detection_id}"
