"""What language models proposed. Applying a draft is a person's decision."""

from django.conf import settings
from django.db import models

from annotate.axes import Category, Complexity, PremiseClass
from annotate.models.items import Item
from fpco_site.fields import CompressedField, WrittenField, one_of
from fpco_site.llm.models import EndpointFields, Leased, PriceFields, UsageFields


class Drafter(EndpointFields):
    """A model that drafts questions and premises, or checks variants; `family` tells its makers apart."""

    name = models.CharField(max_length=100, unique=True)
    family = models.CharField(max_length=100, blank=True)
    active = models.BooleanField(default=True)

    def __str__(self) -> str:
        return self.name


class DraftKind(models.TextChoices):
    QUESTIONS = "questions", "questions"
    PREMISE = "premise", "false premise"


class JobKind(models.TextChoices):
    """What a job drafts; *both* drafts a premise on each questions draft as soon as that is ready."""

    QUESTIONS = "questions", "questions"
    PREMISE = "premise", "false premise"
    BOTH = "both", "questions, then false premise"


class DraftScope(models.TextChoices):
    ITEM = "item", "one item"
    CELL = "cell", "a cell"
    WAITING = "waiting", "all that wait"
    VARIANTS = "variants", "all variants that wait"


class DraftJobState(models.TextChoices):
    RUNNING = "running", "running"
    STOPPED = "stopped", "stopped"
    COMPLETE = "complete", "complete"


class DraftJob(PriceFields):
    """The wish that one drafter draft for some items. Blank prompt versions: the job drafts nothing of that kind."""

    drafter = models.ForeignKey(Drafter, on_delete=models.PROTECT, related_name="jobs")
    kind = models.CharField(max_length=20, choices=JobKind)
    scope = models.CharField(max_length=20, choices=DraftScope)
    item = models.ForeignKey(Item, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    complexity = models.CharField(max_length=20, choices=Complexity, blank=True)
    category = models.CharField(max_length=20, choices=Category, blank=True)
    premise_class = models.CharField(max_length=20, choices=PremiseClass, blank=True)
    alternatives = models.PositiveSmallIntegerField(default=1)
    questions_version = models.CharField(max_length=20, blank=True)
    premise_version = models.CharField(max_length=20, blank=True)
    state = models.CharField(max_length=20, choices=DraftJobState, default=DraftJobState.RUNNING, db_index=True)
    stop_reason = WrittenField(blank=True)
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            one_of("kind", JobKind),
            one_of("scope", DraftScope),
            one_of("state", DraftJobState),
            models.CheckConstraint(
                condition=models.Q(alternatives__gte=1, alternatives__lte=3),
                name="annotate_draftjob_alternatives",
                violation_error_message="One, two or three drafts can be made side by side.",
            ),
        ]

    def __str__(self) -> str:
        return f"drafting job {self.pk}"


class DraftState(models.TextChoices):
    """`dropped`: it waited when its item was rejected, or in a stopped job when somebody else asked for the same."""

    WAITING = "waiting", "waiting"
    RUNNING = "running", "running"
    READY = "ready", "ready"
    FAILED = "failed", "failed"
    DROPPED = "dropped", "dropped"


OPEN = (DraftState.WAITING, DraftState.RUNNING)


class Draft(Leased, UsageFields):
    """One proposal with all that made it: prompt, and the last call's request, reply and what could be read from it.

    `alternative` counts drafts of one item and kind that a job makes side by side. A premise draft that is
    `based_on` a questions draft was made for that draft's own texts.
    """

    job = models.ForeignKey(DraftJob, on_delete=models.PROTECT, related_name="drafts")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="drafts")
    drafter = models.ForeignKey(Drafter, on_delete=models.PROTECT, related_name="drafts")
    kind = models.CharField(max_length=20, choices=DraftKind)
    alternative = models.PositiveSmallIntegerField(default=1)
    based_on = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="premises")
    state = models.CharField(max_length=20, choices=DraftState, default=DraftState.WAITING, db_index=True)
    prompt_name = models.CharField(max_length=60)
    prompt_version = models.CharField(max_length=20)
    prompt_sha256 = models.CharField(max_length=64)
    model_asked = models.CharField(max_length=200)
    model_answered = WrittenField(blank=True)
    request = CompressedField(null=True, blank=True)
    reply = CompressedField(null=True, blank=True)
    payload = models.JSONField(null=True, blank=True)
    error = WrittenField(blank=True)
    tries = models.PositiveSmallIntegerField(default=0)
    request_id = models.CharField(max_length=200, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    simulated = models.BooleanField(default=False)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    requested_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    applied_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    applied_at = models.DateTimeField(null=True, blank=True)
    discarded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    discarded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            one_of("kind", DraftKind),
            one_of("state", DraftState),
            models.UniqueConstraint(
                fields=["item", "kind", "drafter", "alternative"],
                condition=models.Q(state__in=["waiting", "running"]),
                name="annotate_draft_one_at_a_time",
                violation_error_message="This draft is already being made.",
            ),
        ]
        indexes = [models.Index(fields=["job", "state"], name="annotate_draft_job_state")]

    def __str__(self) -> str:
        return f"{self.kind} for {self.item_id}"

    @property
    def description(self) -> str:
        """The description that it proposes, true or modified; empty where nothing could be read."""
        payload = self.payload or {}
        return str(payload.get("target_description") or payload.get("modified_target_description") or "")

    @property
    def undecided(self) -> bool:
        """Whether it waits for a person to put it in or to discard it."""
        return self.state == DraftState.READY and self.applied_at is None and self.discarded_at is None


class CallVerdict(models.TextChoices):
    """What a call brought. After an unreadable, empty or rule-breaking reply the draft is asked for once more."""

    USABLE = "usable", "usable"
    UNREADABLE = "unreadable", "not readable"
    EMPTY = "empty", "without text"
    BREAKS_RULES = "breaks_rules", "breaks a rule"
    FAILED = "failed", "failed"


BAD_REPLIES = (CallVerdict.UNREADABLE, CallVerdict.EMPTY, CallVerdict.BREAKS_RULES)


class DraftCall(UsageFields):
    """Every call for a draft, as sent and as it came back. Rows are only added.

    `text` is what the model said, `reply` the body it came in; `findings` are the rules' words about a readable
    one: code, severity, message, turn. After a call that is `last` the engine does not ask again by itself.
    """

    draft = models.ForeignKey(Draft, on_delete=models.PROTECT, related_name="calls")
    number = models.PositiveSmallIntegerField()
    verdict = models.CharField(max_length=20, choices=CallVerdict)
    request = CompressedField(null=True, blank=True)
    reply = CompressedField(null=True, blank=True)
    text = WrittenField(blank=True)
    last = models.BooleanField(default=True)
    model_answered = WrittenField(blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    error_class = models.CharField(max_length=100, blank=True)
    error = WrittenField(blank=True)
    findings = models.JSONField(default=list, blank=True)
    request_id = models.CharField(max_length=200, blank=True)
    started_at = models.DateTimeField()
    seconds = models.FloatField()

    class Meta:
        ordering = ["draft_id", "number"]
        constraints = [
            one_of("verdict", CallVerdict),
            models.UniqueConstraint(
                fields=["draft", "number"],
                name="annotate_draftcall_once",
                violation_error_message="This call is kept already.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.draft_id}/{self.number}: {self.verdict}"
