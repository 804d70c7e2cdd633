"""LLM detectors and the labels they gave; a label is a real verdict or it isn't there."""

from django.conf import settings
from django.db import models

from annotate.models import Dataset
from benchmark.models.responses import CallFields, CallOutcome, Response
from benchmark.models.runs import Dialogue
from fpco_site.fields import WrittenField, one_of
from fpco_site.llm.models import EndpointFields, Leased


class Detector(EndpointFields):
    """One version of a detector: model, prompt and settings. A change of any makes a new version."""

    slug = models.SlugField(max_length=40)
    version = models.PositiveSmallIntegerField(default=1)
    name = models.CharField(max_length=100)
    prompt_name = models.CharField(max_length=60, blank=True)
    prompt_version = models.CharField(max_length=20, blank=True)
    prompt_sha256 = models.CharField(max_length=64, blank=True)
    active = models.BooleanField(default=True)
    imported = models.BooleanField(default=False)
    simulated = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug", "version"]
        constraints = [
            models.UniqueConstraint(
                fields=["slug", "version"],
                name="benchmark_detector_version_once",
                violation_error_message="This version of the detector exists already.",
            )
        ]

    def __str__(self) -> str:
        return self.name if self.version == 1 else f"{self.name} (v{self.version})"


class JobState(models.TextChoices):
    RUNNING = "running", "running"
    PAUSED = "paused", "paused"
    COMPLETE = "complete", "complete"
    INCOMPLETE = "incomplete", "incomplete"


class JobMode(models.TextChoices):
    LIVE = "live", "live calls"
    BATCH = "batch", "batches"


class DetectionJob(models.Model):
    """One detector over one dataset: the wish that every ended dialogue of it be labelled."""

    detector = models.ForeignKey(Detector, on_delete=models.PROTECT, related_name="jobs")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=20, choices=JobState, default=JobState.RUNNING, db_index=True)
    mode = models.CharField(max_length=20, choices=JobMode, default=JobMode.LIVE)
    pause_reason = WrittenField(blank=True)
    concurrency = models.PositiveIntegerField(default=4)
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            one_of("state", JobState),
            one_of("mode", JobMode),
            models.UniqueConstraint(
                fields=["detector", "dataset"],
                name="benchmark_detectionjob_once",
                violation_error_message="This detector already works on this dataset.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.detector_id} over {self.dataset_id}"


class DetectionState(models.TextChoices):
    WAITING = "waiting", "waiting"
    RUNNING = "running", "running"
    BATCHED = "batched", "in a batch"
    COMPLETE = "complete", "complete"
    FAILED = "failed", "failed"


UNENDED = (DetectionState.WAITING, DetectionState.RUNNING, DetectionState.BATCHED)


class Detection(Leased):
    """One detector over one dialogue: claimed once the dialogue has ended.

    `bad` counts unusable replies since it was last asked for; `cap` is the output tokens of the next
    call where an earlier one was cut off at the detector's own. One that is in a batch is held under
    the batch's key; `live` says that it is asked live even where its job works in batches.
    """

    job = models.ForeignKey(DetectionJob, on_delete=models.PROTECT, related_name="detections")
    detector = models.ForeignKey(Detector, on_delete=models.PROTECT, related_name="detections")
    dialogue = models.ForeignKey(Dialogue, on_delete=models.PROTECT, related_name="detections")
    state = models.CharField(max_length=20, choices=DetectionState, default=DetectionState.WAITING)
    bad = models.PositiveSmallIntegerField(default=0)
    cap = models.PositiveIntegerField(null=True, blank=True)
    live = models.BooleanField(default=False)

    class Meta:
        ordering = ["id"]
        constraints = [
            one_of("state", DetectionState),
            models.UniqueConstraint(
                fields=["detector", "dialogue"],
                name="benchmark_detection_once",
                violation_error_message="A detector has one detection a dialogue.",
            ),
        ]
        indexes = [models.Index(fields=["job", "state"], name="benchmark_detection_state")]

    def __str__(self) -> str:
        return f"detection {self.pk}"


class DetectionCall(CallFields):
    """Every call of a detection: the ids asked, the cap sent and the reply as it came. Rows are only added.

    `discount` is the part of the price that the call was spared: a half in a batch.
    """

    detection = models.ForeignKey(Detection, on_delete=models.PROTECT, related_name="calls")
    ids = models.JSONField(default=list)
    max_output_tokens = models.PositiveIntegerField(null=True, blank=True)
    batch = models.ForeignKey("BatchJob", null=True, blank=True, on_delete=models.PROTECT, related_name="calls")
    discount = models.DecimalField(max_digits=4, decimal_places=3, default=0)
    outcome = models.CharField(max_length=20, choices=CallOutcome)

    class Meta:
        ordering = ["id"]
        constraints = [one_of("outcome", CallOutcome)]

    def __str__(self) -> str:
        return f"{self.detection_id}: {self.outcome}"


class DetectorLabel(models.Model):
    """True: the detector sees a correction (on turns 1-3: a needless one). Never a guess."""

    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="labels", db_index=False)
    detector = models.ForeignKey(Detector, on_delete=models.PROTECT, related_name="labels", db_index=False)
    dialogue = models.ForeignKey(Dialogue, on_delete=models.PROTECT, related_name="labels")
    turn = models.PositiveSmallIntegerField()
    detect = models.BooleanField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["response", "detector"],
                name="benchmark_detectorlabel_once",
                violation_error_message="A detector labels a response once.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.response_id}: {self.detect}"
