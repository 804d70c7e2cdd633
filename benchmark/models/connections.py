"""Connection tests: whether a model, detector or drafter can really be asked, and every call that was made for it."""

from django.db import models

from annotate.models import Drafter, User
from benchmark.models.detectors import Detector
from benchmark.models.models import EvaluatedModel
from benchmark.models.responses import CallFields, CallOutcome
from fpco_site.fields import CompressedField, WrittenField, one_of
from fpco_site.llm.connection.steps import Step
from fpco_site.llm.models import Leased, UsageFields


class TestState(models.TextChoices):
    WAITING = "waiting", "waiting"
    RUNNING = "running", "running"
    DONE = "done", "done"


class Verdict(models.TextChoices):
    """`passed` may still have refused settings, which an author decides on."""

    PASSED = "passed", "passed"
    FAILED = "failed", "failed"
    SIMULATED = "simulated", "simulated"


SUBJECTS = ("model", "detector", "drafter")


class ConnectionTests(models.QuerySet["ConnectionTest"]):
    def newest_of(self, subject: str) -> "dict[int, ConnectionTest]":
        """The newest of these tests of each model, detector or drafter, as `subject` says, by its id. One query."""
        newest = self.order_by().values(subject).annotate(newest=models.Max("pk")).values("newest")
        rows = self.model.objects.filter(pk__in=newest).select_related("requested_by")
        return {getattr(row, f"{subject}_id"): row for row in rows}


class ConnectionTest(UsageFields, Leased):
    """One test of one endpoint as `settings` had it. Tokens, `seconds` and `cost` are sums over its `answered` calls.

    `shown` is what its picture shows, `checks` its rows, `refused` the settings that were refused and left
    out to go on, each with the reason; `cost` is in US dollars by the prices of that day, null where unknown.
    """

    model = models.ForeignKey(EvaluatedModel, null=True, blank=True, on_delete=models.PROTECT, related_name="tests")
    detector = models.ForeignKey(Detector, null=True, blank=True, on_delete=models.PROTECT, related_name="tests")
    drafter = models.ForeignKey(Drafter, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=20, choices=TestState, default=TestState.WAITING, db_index=True)
    verdict = models.CharField(max_length=20, choices=Verdict, blank=True)
    settings = models.JSONField(default=dict)
    shown = models.JSONField(default=dict)
    checks = models.JSONField(default=list)
    refused = models.JSONField(default=dict)
    model_answered = models.CharField(max_length=200, blank=True)
    calls_made = models.PositiveSmallIntegerField(default=0)
    answered = models.PositiveSmallIntegerField(default=0)
    seconds = models.FloatField(null=True, blank=True)
    cost = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    requested_by = models.ForeignKey(User, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    requested_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = ConnectionTests.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            one_of("state", TestState),
            models.CheckConstraint(
                condition=models.Q(model__isnull=False, detector=None, drafter=None)
                | models.Q(model=None, detector__isnull=False, drafter=None)
                | models.Q(model=None, detector=None, drafter__isnull=False),
                name="benchmark_connectiontest_one_subject",
                violation_error_message="A test is of one model, one detector or one drafter.",
            ),
            *(
                models.UniqueConstraint(
                    fields=[subject],
                    condition=models.Q(state__in=["waiting", "running"]),
                    name=f"benchmark_connectiontest_open_{subject}",
                    violation_error_message=f"This {subject} is being tested already.",
                )
                for subject in SUBJECTS
            ),
        ]

    def __str__(self) -> str:
        return f"connection test {self.pk}"

    @property
    def seconds_each(self) -> float | None:
        """Seconds that an answer took, on average; None where there is none."""
        return self.seconds / self.answered if self.seconds is not None and self.answered else None

    @property
    def kind(self) -> str:
        """model, detector or drafter."""
        return next(subject for subject in SUBJECTS if getattr(self, f"{subject}_id") is not None)

    @property
    def subject(self) -> EvaluatedModel | Detector | Drafter:
        """Whose endpoint is tested."""
        found: EvaluatedModel | Detector | Drafter = getattr(self, self.kind)
        return found


class ConnectionCall(CallFields):
    """One call of a test: the request without the picture's bytes, the reply as it came. Rows are only added.

    `refused` names the setting that the reply refuses, where it does.
    """

    test = models.ForeignKey(ConnectionTest, on_delete=models.PROTECT, related_name="calls")
    step = models.CharField(max_length=20, choices=[(step.value, step.value) for step in Step])
    outcome = models.CharField(max_length=20, choices=CallOutcome)
    reason = WrittenField(blank=True)
    text = WrittenField(blank=True)
    model_answered = models.CharField(max_length=200, blank=True)
    refused = models.CharField(max_length=200, blank=True)
    sent = CompressedField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [one_of("outcome", CallOutcome)]

    def __str__(self) -> str:
        return f"{self.test_id}: {self.step} {self.outcome}"
