"""What authors say to each other about an item, or about one line of it."""

from django.conf import settings
from django.db import models

from annotate.models.items import Item
from fpco_site.fields import WrittenField


class LineField(models.TextChoices):
    """The texts that a comment can be about."""

    TARGET_DESCRIPTION = "target_description", "description"
    MODIFIED_TARGET_DESCRIPTION = "modified_target_description", "modified description"
    CONTENT = "content", "question"
    MODIFIED = "modified", "modified question"


class Comment(models.Model):
    """A remark on a version of an item; open until somebody says that it is settled.

    `field` names the text that it is about, `turn` whose question that is; both empty: the whole item.
    """

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="comments")
    version = models.PositiveIntegerField()
    turn = models.PositiveSmallIntegerField(null=True, blank=True)
    field = models.CharField(max_length=40, blank=True, choices=LineField)
    text = WrittenField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(field__in=["", *LineField.values]),
                name="annotate_comment_field",
                violation_error_message="A comment is about the item or about one of its texts.",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    turn__isnull=True, field__in=["", "target_description", "modified_target_description"]
                )
                | models.Q(turn__isnull=False, field__in=["content", "modified"]),
                name="annotate_comment_line",
                violation_error_message="A comment on a question names its turn; any other names none.",
            ),
            models.CheckConstraint(
                condition=~models.Q(text=""),
                name="annotate_comment_text",
                violation_error_message="Say something.",
            ),
            models.CheckConstraint(
                condition=models.Q(resolved_by__isnull=True, resolved_at__isnull=True)
                | models.Q(resolved_by__isnull=False, resolved_at__isnull=False),
                name="annotate_comment_resolved",
                violation_error_message="A settled comment says by whom and when.",
            ),
        ]
        indexes = [
            models.Index(fields=["item"], name="annotate_comment_open", condition=models.Q(resolved_at__isnull=True))
        ]

    def __str__(self) -> str:
        return f"{self.item_id} v{self.version}: {self.line or 'the item'}"

    @property
    def line(self) -> str:
        """The text that it is about, in words; empty for the whole item."""
        words = self.get_field_display() if self.field else ""
        return f"{words} {self.turn}" if self.turn else words
