"""Pictures that look nearly the same, and what a person decided about them."""

from django.conf import settings
from django.db import models

from annotate.models.images import Image
from fpco_site.fields import one_of


class PairState(models.TextChoices):
    OPEN = "open", "open"
    DIFFERENT = "different", "different pictures"
    SAME = "same", "the same picture"


class ImagePair(models.Model):
    """Two pictures whose perceptual hashes are `distance` bits apart; once for the two, the older first."""

    first = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="pairs_as_first")
    second = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="pairs_as_second")
    distance = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=10, choices=PairState, default=PairState.OPEN)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            one_of("state", PairState),
            models.UniqueConstraint(
                fields=["first", "second"],
                name="annotate_imagepair_once",
                violation_error_message="Two images are compared once.",
            ),
            models.CheckConstraint(
                condition=models.Q(first__lt=models.F("second")),
                name="annotate_imagepair_ordered",
                violation_error_message="The first image of a pair is the older one.",
            ),
            models.CheckConstraint(
                condition=models.Q(state=PairState.OPEN, decided_at=None)
                | (~models.Q(state=PairState.OPEN) & models.Q(decided_at__isnull=False)),
                name="annotate_imagepair_decided",
                violation_error_message="A pair is open, or was decided at some time.",
            ),
        ]
        indexes = [models.Index(fields=["state"], name="annotate_imagepair_state")]

    def __str__(self) -> str:
        return f"{self.first_id} and {self.second_id}"
