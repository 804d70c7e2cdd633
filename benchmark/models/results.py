"""What counts in a table, the patterns every number derives from, and stored analyses."""

from functools import cached_property

from django.conf import settings
from django.db import models

from annotate.models import Dataset, DatasetItem
from benchmark.models.claims import Claimable
from benchmark.models.detectors import Detector
from benchmark.models.models import EvaluatedModel
from benchmark.models.runs import Run
from fpco_site.fields import one_of


class ResultSet(models.Model):
    """Which run of each model and which detector versions count. A dataset's newest is the default."""

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=100)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "name"],
                name="benchmark_resultset_once",
                violation_error_message="A result set of this name exists already.",
            )
        ]

    def __str__(self) -> str:
        return self.name

    @cached_property
    def held_runs(self) -> list["ResultSetRun"]:
        """The runs that count, with their models, by the models' names: read once, since a set never changes."""
        return list(self.runs.select_related("run", "model").order_by("model__name"))

    @cached_property
    def held_detectors(self) -> list["ResultSetDetector"]:
        """The detectors that count, in their order."""
        return list(self.detectors.select_related("detector").order_by("position"))

    @cached_property
    def primary(self) -> list[Detector]:
        """The detectors that make the mean, in their order."""
        return [row.detector for row in self.held_detectors if row.primary]


class ResultSetRun(models.Model):
    """The run that counts for a model."""

    result_set = models.ForeignKey(ResultSet, on_delete=models.PROTECT, related_name="runs")
    model = models.ForeignKey(EvaluatedModel, on_delete=models.PROTECT, related_name="+")
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["result_set_id", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["result_set", "model"],
                name="benchmark_resultsetrun_once",
                violation_error_message="One run of each model counts.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.result_set_id}: {self.run_id}"


class ResultSetDetector(models.Model):
    """A detector that counts; the *primary* pair makes the mean."""

    result_set = models.ForeignKey(ResultSet, on_delete=models.PROTECT, related_name="detectors")
    detector = models.ForeignKey(Detector, on_delete=models.PROTECT, related_name="+")
    position = models.PositiveSmallIntegerField()
    primary = models.BooleanField(default=True)

    class Meta:
        ordering = ["result_set_id", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["result_set", "detector"],
                name="benchmark_resultsetdetector_once",
                violation_error_message="A detector counts once.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.result_set_id}: {self.detector_id}"


class Pattern(models.Model):
    """One detector's labels of one dialogue as two masks: bit t-1 stands for turn t.

    `labelled` has a bit where there is a label, `correction` where that label is true.
    """

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="patterns", db_index=False)
    item = models.ForeignKey(DatasetItem, on_delete=models.PROTECT, related_name="+")
    detector = models.ForeignKey(Detector, on_delete=models.PROTECT, related_name="+")
    labelled = models.PositiveSmallIntegerField()
    correction = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "detector", "item"],
                name="benchmark_pattern_once",
                violation_error_message="A dialogue has one pattern a detector.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.run_id}/{self.item_id}"


class AnalysisState(models.TextChoices):
    WAITING = "waiting", "waiting"
    RUNNING = "running", "running"
    DONE = "done", "done"
    FAILED = "failed", "failed"


class Analysis(Claimable):
    """A stored result with the hash of its inputs and its seed, so that it can be made again.

    `inputs_sha256` is of what was read, `request_sha256` of that with kind, parameters and seed: the same question
    about the same data is one analysis.
    """

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="+")
    result_set = models.ForeignKey(ResultSet, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=60)
    state = models.CharField(max_length=20, choices=AnalysisState, default=AnalysisState.WAITING)
    inputs_sha256 = models.CharField(max_length=64)
    request_sha256 = models.CharField(max_length=64)
    seed = models.BigIntegerField(null=True, blank=True)
    parameters = models.JSONField(default=dict)
    result = models.JSONField(null=True, blank=True)
    software = models.JSONField(default=dict)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            one_of("state", AnalysisState),
            models.UniqueConstraint(
                fields=["dataset", "request_sha256"],
                name="benchmark_analysis_once",
                violation_error_message="This analysis of the same inputs is stored already.",
            ),
            models.CheckConstraint(
                condition=~models.Q(state=AnalysisState.DONE) | models.Q(result__isnull=False),
                name="benchmark_analysis_done_has_result",
                violation_error_message="An analysis that is done has a result.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.request_sha256[:8]}"

    @property
    def unfinished(self) -> bool:
        return self.state in (AnalysisState.WAITING, AnalysisState.RUNNING)
