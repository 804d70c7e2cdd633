"""The only link between what annotators label and who answered; and who saw what."""

from django.conf import settings
from django.db import models

from annotate.models import Dataset, LabelSet, LabelTask
from benchmark.models.responses import Response
from benchmark.models.results import ResultSet
from benchmark.models.runs import Dialogue


class ValidationSet(models.Model):
    """How the tasks of a label set were drawn: result set, seed and design, to be repeated exactly.

    `design` holds the plan, the strata with their numbers, what became of answers that name a model, and the
    hash of the draw (`benchmark.designs.record`). `per_cell` is the plan's number. `client` is the id of the page
    on which the draw was asked for: a page draws once.
    """

    label_set = models.OneToOneField(LabelSet, on_delete=models.PROTECT, related_name="+")
    result_set = models.ForeignKey(ResultSet, on_delete=models.PROTECT, related_name="+")
    seed = models.BigIntegerField()
    per_cell = models.PositiveIntegerField()
    design = models.JSONField(default=dict)
    simulated = models.BooleanField(default=False)
    client = models.UUIDField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["client"],
                name="benchmark_validationset_once_a_page",
                violation_error_message="This page has drawn its set already.",
            )
        ]

    def __str__(self) -> str:
        return f"validation {self.pk}"


class ValidationItem(models.Model):
    """Which response a label task shows, and how likely it was to be drawn.

    `inclusion_probability` is exact given the frame of the draw: the number drawn from the stratum by the number
    of answers that could be drawn there, which leaves out those that the naming rule bars.
    """

    validation_set = models.ForeignKey(ValidationSet, on_delete=models.PROTECT, related_name="items")
    task = models.OneToOneField(LabelTask, on_delete=models.PROTECT, related_name="+")
    response = models.ForeignKey(Response, on_delete=models.PROTECT, related_name="+")
    stratum = models.CharField(max_length=200)
    inclusion_probability = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["validation_set", "response"],
                name="benchmark_validationitem_once",
                violation_error_message="A set holds each response once.",
            ),
            models.CheckConstraint(
                condition=models.Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
                name="benchmark_validationitem_probability",
                violation_error_message="An inclusion probability is above 0 and at most 1.",
            ),
        ]

    def __str__(self) -> str:
        return f"validation item {self.pk}"


class Exposure(models.Model):
    """A view of response-level information: by whom, of what, where, when.

    `withheld` marks an attempt that blindness refused. Rows are only added.
    """

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="+")
    dialogue = models.ForeignKey(Dialogue, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    page = models.CharField(max_length=200)
    withheld = models.BooleanField(default=False)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["dataset", "person", "at"], name="benchmark_exposure_who")]

    def __str__(self) -> str:
        return f"{self.person_id} saw {self.page}"


class Opened(models.Model):
    """The first time that a person opened aggregates: results, their tables, agreement.

    Aggregates are withheld from nobody but on agreement pages; a set's report says who knew them, and since when.
    """

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="+")
    page = models.CharField(max_length=200)
    first_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "person", "page"],
                name="benchmark_opened_once",
                violation_error_message="A page is opened for the first time once.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.person_id} opened {self.page}"
