"""What a person has typed and not saved yet."""

from django.conf import settings
from django.db import models

from annotate.models.items import Item


class EditDraft(models.Model):
    """One person's unsaved texts of one item, kept on the server; never an item's text.

    `version` is the one they were typed over. `client` and `sequence` tell a message that was overtaken by a
    later one of the same window. Once the texts are saved or discarded `texts` is null: the row stays,
    so that a message which comes late can not bring them back.
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="edit_drafts")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    version = models.PositiveIntegerField()
    texts = models.JSONField(null=True)
    client = models.UUIDField(null=True)
    sequence = models.PositiveIntegerField(default=0)
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["item", "person"],
                name="annotate_editdraft_one_a_person",
                violation_error_message="A person has one unsaved text of an item.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.item_id} v{self.version}, unsaved"
