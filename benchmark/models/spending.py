"""What runs and detection jobs used, and the prices that they are reckoned by."""

from django.conf import settings
from django.db import models

from benchmark.models.detectors import DetectionJob
from benchmark.models.runs import Run
from fpco_site.fields import WrittenField
from fpco_site.llm import money
from fpco_site.llm.models import PriceFields

_OWNER = models.Q(run__isnull=False, job__isnull=True) | models.Q(run__isnull=True, job__isnull=False)


class Spending(PriceFields):
    """Calls and tokens of a run or a detection job, with the prices that it was made with.

    The sums are written in the transaction that writes the calls, so they always agree with the rows; they
    lie beside the run instead of in it, so that adding to them holds up nobody who claims its dialogues.
    A job has a row for each `discount` that its calls were let off: 0 for live calls, more for batch jobs.
    """

    run = models.OneToOneField(Run, null=True, blank=True, on_delete=models.PROTECT, related_name="spending")
    job = models.ForeignKey(DetectionJob, null=True, blank=True, on_delete=models.PROTECT, related_name="spendings")
    discount = models.DecimalField(max_digits=4, decimal_places=3, default=0)
    # US dollars that a call is expected to cost, where a budget is kept by it.
    expected = models.DecimalField(max_digits=16, decimal_places=10, null=True, blank=True)
    calls = models.PositiveBigIntegerField(default=0)
    replies = models.PositiveBigIntegerField(default=0)
    counted = models.PositiveBigIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0)
    cached_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    reasoning_tokens = models.PositiveBigIntegerField(default=0)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=_OWNER,
                name="benchmark_spending_owner",
                violation_error_message="What was spent belongs to one run or one detection job.",
            ),
            models.CheckConstraint(
                condition=models.Q(discount__gte=0, discount__lt=1),
                name="benchmark_spending_discount",
                violation_error_message="A discount is a part of the price, from 0 to less than 1.",
            ),
            models.UniqueConstraint(
                fields=["job", "discount"],
                name="benchmark_spending_job_once",
                violation_error_message="A detection job has one sum for each discount.",
            ),
        ]

    def __str__(self) -> str:
        return f"spent by {self.run or self.job}"

    @property
    def sums(self) -> money.Sums:
        return money.Sums(
            self.calls,
            self.replies,
            self.counted,
            self.input_tokens,
            self.cached_tokens,
            self.output_tokens,
            self.reasoning_tokens,
        )

    @property
    def prices(self) -> money.Prices:
        return money.Prices(self.price_input, self.price_cached_input, self.price_output, self.discount)


class PriceChange(PriceFields):
    """Prices that somebody corrected after the fact: who, when, why, and what stood there before. Only added."""

    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.PROTECT, related_name="price_changes")
    job = models.ForeignKey(DetectionJob, null=True, blank=True, on_delete=models.PROTECT, related_name="price_changes")
    before = models.JSONField()
    note = WrittenField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=_OWNER,
                name="benchmark_pricechange_owner",
                violation_error_message="A corrected price belongs to one run or one detection job.",
            ),
            models.CheckConstraint(
                condition=~models.Q(note=""),
                name="benchmark_pricechange_note",
                violation_error_message="Say why the prices are corrected.",
            ),
        ]

    def __str__(self) -> str:
        return f"prices of {self.run or self.job}"
