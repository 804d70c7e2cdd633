"""A person's verdict on one version of an item."""

from django.conf import settings
from django.db import models

from annotate.models.items import Item
from fpco_site.fields import WrittenField, one_of


class ReviewRules(models.Model):
    """How this team reviews: one row, which authors set. The published study asks for neither rule.

    `second_share` is the share of items, from 0 to 1, that two people review independently; which ones
    follows from `seed` and the item's key, so that nobody chooses.
    """

    approver_not_last_editor = models.BooleanField(default=False)
    second_share = models.FloatField(default=0)
    seed = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(id=1),
                name="annotate_reviewrules_one_row",
                violation_error_message="There is one set of review rules.",
            ),
            models.CheckConstraint(
                condition=models.Q(second_share__gte=0, second_share__lte=1),
                name="annotate_reviewrules_share",
                violation_error_message="A share is between 0 and 1.",
            ),
        ]

    def __str__(self) -> str:
        return "review rules"


class Verdict(models.TextChoices):
    APPROVED = "approved", "approved"
    SENT_BACK = "sent_back", "sent back"
    REJECTED = "rejected", "rejected"


class Review(models.Model):
    """The four checks of the study's human review (paper, section 3) and what was decided.

    A check is true where it holds, false where the reviewer named it as failing, null where nothing was
    said of it. An *independent* verdict is one of two that were given without seeing each other. One that
    its reviewer took back stays, with the time at which it was.
    """

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="reviews")
    item_version = models.PositiveIntegerField()
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    verdict = models.CharField(max_length=20, choices=Verdict)
    grounding = models.BooleanField(null=True)
    consistency = models.BooleanField(null=True)
    naturalness = models.BooleanField(null=True)
    single_error = models.BooleanField(null=True)
    comment = WrittenField(blank=True)
    accepted = models.JSONField(default=list, blank=True)  # the warnings that the reviewer ticked
    independent = models.BooleanField(default=False)
    at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            one_of("verdict", Verdict),
            models.UniqueConstraint(
                fields=["item", "item_version", "reviewer"],
                condition=models.Q(withdrawn_at__isnull=True),
                name="annotate_review_once_a_version",
                violation_error_message="You have reviewed this version already.",
            ),
            models.CheckConstraint(
                condition=~models.Q(verdict="approved")
                | models.Q(grounding=True, consistency=True, naturalness=True, single_error=True),
                name="annotate_review_approval_means_four_checks",
                violation_error_message="Approving states that all four checks hold.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} v{self.item_version}: {self.verdict}"

    @property
    def failing(self) -> list[str]:
        """The checks that the reviewer named as failing, in words."""
        names = ("grounding", "consistency", "naturalness", "single_error")
        return [name.replace("_", " ") for name in names if getattr(self, name) is False]
