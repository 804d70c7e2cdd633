"""Blind labelling. Nothing here can name a model, a run, a detector or a verdict of one."""

import uuid
from datetime import timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone

from annotate.axes import PremiseClass
from annotate.models.datasets import Dataset
from annotate.models.images import Image
from annotate.models.people import User
from fpco_site.fields import WrittenField, one_of


class Mode(models.TextChoices):
    CROSSED = "crossed", "crossed: every annotator labels every task"
    POOL = "pool", "pool: each task gets so many labels"


class LabelSetState(models.TextChoices):
    OPEN = "open", "open"
    CLOSED = "closed", "closed"


class LabelSet(models.Model):
    """Tasks for a group of annotators. Once closed, a set never reopens."""

    name = models.CharField(max_length=100, unique=True)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="label_sets")
    mode = models.CharField(max_length=20, choices=Mode, default=Mode.CROSSED)
    labels_per_task = models.PositiveSmallIntegerField(default=2)
    show_picture = models.BooleanField(default=False)
    state = models.CharField(max_length=20, choices=LabelSetState, default=LabelSetState.OPEN)
    opened_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    opened_at = models.DateTimeField()
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            one_of("mode", Mode),
            one_of("state", LabelSetState),
            models.CheckConstraint(
                condition=models.Q(state="open", closed_at__isnull=True)
                | models.Q(state="closed", closed_at__isnull=False),
                name="annotate_labelset_closed_has_time",
                violation_error_message="A closed set says when it was closed.",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Guideline(models.Model):
    """One version of a set's guidelines; each label says which one it was made under."""

    label_set = models.ForeignKey(LabelSet, on_delete=models.PROTECT, related_name="guidelines")
    version = models.PositiveSmallIntegerField(default=1)
    text = WrittenField()
    change = WrittenField(blank=True)  # what is new, in words for those who label
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["label_set_id", "version"]
        constraints = [
            models.UniqueConstraint(
                fields=["label_set", "version"],
                name="annotate_guideline_once",
                violation_error_message="This version of the guidelines exists already.",
            )
        ]

    def __str__(self) -> str:
        return f"v{self.version}"


class LabelTask(models.Model):
    """Exactly what an annotator may see, and nothing else.

    All tasks of a set share one creation time and are inserted in shuffled order, so that neither
    ids nor times tell where an answer comes from.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    label_set = models.ForeignKey(LabelSet, on_delete=models.PROTECT, related_name="tasks")
    created_at = models.DateTimeField()
    premise_class = models.CharField(max_length=20, choices=PremiseClass)
    content = WrittenField()
    modified = WrittenField(blank=True)
    response = WrittenField()
    image = models.ForeignKey(Image, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [one_of("premise_class", PremiseClass)]

    def __str__(self) -> str:
        return str(self.id)


class AssignmentState(models.TextChoices):
    OPEN = "open", "open"
    SUBMITTED = "submitted", "submitted"


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    """Assignments, which keep a person blind while they are open."""

    def open_of(self, person: User) -> "AssignmentQuerySet":
        """This person's that are not locked: neither submitted nor of a closed set."""
        return self.filter(person=person, state=AssignmentState.OPEN, label_set__state=LabelSetState.OPEN)


class Assignment(models.Model):
    """One person's work on one set, in an order of their own (HMAC of secret, set and person).

    `pseudonym` (H1, H2, ...) stands for the person in tables and releases.
    """

    label_set = models.ForeignKey(LabelSet, on_delete=models.PROTECT, related_name="assignments")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="assignments")
    pseudonym = models.CharField(max_length=60)
    order_key = models.CharField(max_length=64)
    state = models.CharField(max_length=20, choices=AssignmentState, default=AssignmentState.OPEN)
    submitted_at = models.DateTimeField(null=True, blank=True)
    practised_at = models.DateTimeField(null=True, blank=True)
    guideline_read = models.ForeignKey(Guideline, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    auto_advance = models.BooleanField(default=True)  # a saved label brings the next answer by itself

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            one_of("state", AssignmentState),
            models.UniqueConstraint(
                fields=["label_set", "person"],
                name="annotate_assignment_once",
                violation_error_message="This person is assigned to the set already.",
            ),
            models.UniqueConstraint(
                fields=["label_set", "pseudonym"],
                name="annotate_assignment_pseudonym_once",
                violation_error_message="A pseudonym stands for one person of the set.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label_set_id}: {self.pseudonym}"

    @property
    def is_locked(self) -> bool:
        """Whether this person's labels are final: submitted, or the set closed."""
        return self.state == AssignmentState.SUBMITTED or self.label_set.state == LabelSetState.CLOSED


class LabelQuerySet(models.QuerySet["Label"]):
    """Labels, of which only the latest of a person on a task counts."""

    def current(self) -> "LabelQuerySet":
        """The labels that count: the latest row of each person on each task."""
        same = Label.objects.filter(task=models.OuterRef("task"), assignment=models.OuterRef("assignment"))
        return self.alias(latest=models.Subquery(same.order_by("-id").values("id")[:1])).filter(pk=models.F("latest"))


class Label(models.Model):
    """One answer of one person; a change is a new row and the latest counts.

    `client` and `sequence` come from the page: the same pair twice is stored once, and a sequence
    lower than one already stored for that task and client is stale and ignored.
    """

    task = models.ForeignKey(LabelTask, on_delete=models.PROTECT, related_name="labels")
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="labels")
    detect = models.BooleanField()
    unsure = models.BooleanField(default=False)
    comment = WrittenField(blank=True)
    seconds = models.FloatField(null=True, blank=True)
    guideline = models.ForeignKey(Guideline, null=True, on_delete=models.PROTECT, related_name="+")
    client = models.UUIDField()
    sequence = models.PositiveIntegerField()
    simulated = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = LabelQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "assignment", "client", "sequence"],
                name="annotate_label_once_a_press",
                violation_error_message="This label is stored already.",
            )
        ]
        indexes = [models.Index(fields=["assignment", "task", "-id"], name="annotate_label_latest")]

    def __str__(self) -> str:
        return f"{self.task_id}: {self.detect}"

    @property
    def imported(self) -> bool:
        """Whether it came from a file: a page makes its id at random, an import derives it from the file."""
        return self.client.version == 5


class LabelClaimQuerySet(models.QuerySet["LabelClaim"]):
    """Claims, which end by themselves: somebody who went for lunch keeps no task from others."""

    def live(self) -> "LabelClaimQuerySet":
        """Those that were taken within the last ten minutes."""
        return self.filter(taken_at__gt=timezone.now() - LabelClaim.LASTS)


class LabelClaim(models.Model):
    """A task of a pool that one person has on screen: until it is labelled, left or lapses, nobody gets its place."""

    LASTS = timedelta(minutes=10)

    task = models.ForeignKey(LabelTask, on_delete=models.PROTECT, related_name="claims")
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="claims")
    taken_at = models.DateTimeField()

    objects = LabelClaimQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["task", "assignment"],
                name="annotate_labelclaim_once",
                violation_error_message="This task is yours already.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.task_id}: {self.assignment_id}"


class TaskMark(models.Model):
    """What one person noted on a task apart from a label: a flag to come back to."""

    task = models.ForeignKey(LabelTask, on_delete=models.PROTECT, related_name="marks")
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="marks")
    flagged = models.BooleanField(default=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["task", "assignment"],
                name="annotate_taskmark_once",
                violation_error_message="A person has one mark on a task.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.task_id}: {self.flagged}"


class AdjudicationQuerySet(models.QuerySet["Adjudication"]):
    """Decisions, of which only the latest of a task counts."""

    def current(self) -> "AdjudicationQuerySet":
        same = Adjudication.objects.filter(task=models.OuterRef("task"))
        return self.alias(latest=models.Subquery(same.order_by("-id").values("id")[:1])).filter(pk=models.F("latest"))


class Adjudication(models.Model):
    """What was decided on a task of a closed set whose annotators disagree, and why.

    Stands beside the labels, which stay as they are. A change is a new row and the latest counts. `together`:
    the annotators decided at one table, with `decided_by` at the keys; otherwise a third person did.
    """

    task = models.ForeignKey(LabelTask, on_delete=models.PROTECT, related_name="adjudications")
    detect = models.BooleanField()
    reason = WrittenField()
    together = models.BooleanField(default=False)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AdjudicationQuerySet.as_manager()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.task_id}: {self.detect}"
