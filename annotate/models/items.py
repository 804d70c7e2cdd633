"""Items: an image in a cell with its descriptions and questions, and every state they were in."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from annotate.axes import Category, Complexity, PremiseClass
from annotate.models.images import Image
from fpco_site.fields import WrittenField, one_of


class PlaceFields(models.Model):
    """A cell of the benchmark: complexity, category and false-premise class."""

    complexity = models.CharField(max_length=20, choices=Complexity)
    category = models.CharField(max_length=20, choices=Category)
    premise_class = models.CharField(max_length=20, choices=PremiseClass)

    class Meta:
        abstract = True

    @property
    def cell(self) -> tuple[str, str, str]:
        return (self.complexity, self.category, self.premise_class)


class ItemState(models.TextChoices):
    DRAFT = "draft", "draft"
    IN_REVIEW = "in_review", "in review"
    APPROVED = "approved", "approved"
    REJECTED = "rejected", "rejected"


class Item(PlaceFields):
    """One future dialogue. `version` is an optimistic lock: it grows by one at every change.

    A *variant* has a parent, a letter and its own class; quotas count items without a parent.
    `key` names the item in exports, for ever. `edited_by` is who last wrote its texts, and who placed it
    while it has none; `state_since` is when it came into its state.
    """

    key = models.CharField(max_length=60, unique=True)
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="items")
    target = WrittenField(blank=True)
    target_description = WrittenField(blank=True)
    modified_target_description = WrittenField(blank=True)
    state = models.CharField(max_length=20, choices=ItemState, default=ItemState.DRAFT, db_index=True)
    state_since = models.DateTimeField(default=timezone.now)
    version = models.PositiveIntegerField(default=1)
    edited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="variants")
    variant = models.CharField(max_length=10, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            one_of("complexity", Complexity),
            one_of("category", Category),
            one_of("premise_class", PremiseClass),
            one_of("state", ItemState),
            models.UniqueConstraint(
                fields=["image"],
                condition=models.Q(parent__isnull=True),
                name="annotate_item_one_per_image",
                violation_error_message="This image is already placed.",
            ),
            models.UniqueConstraint(
                fields=["parent", "premise_class", "variant"],
                condition=models.Q(parent__isnull=False),
                name="annotate_item_one_per_variant",
                violation_error_message="This variant exists already.",
            ),
            models.CheckConstraint(
                condition=models.Q(parent__isnull=True, variant="")
                | (models.Q(parent__isnull=False) & ~models.Q(variant="")),
                name="annotate_item_variant_has_letter",
                violation_error_message="A variant has a parent and a letter; any other item has neither.",
            ),
        ]
        indexes = [
            models.Index(fields=["complexity", "category", "premise_class", "state"], name="annotate_item_cell"),
            models.Index(fields=["state_since", "id"], name="annotate_item_waiting"),
        ]

    def __str__(self) -> str:
        return self.key


class Turn(models.Model):
    """One question: `content` with the true description; `modified` only on false-premise turns."""

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="turns")
    number = models.PositiveSmallIntegerField()
    content = WrittenField(blank=True)
    modified = WrittenField(blank=True)

    class Meta:
        ordering = ["item_id", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["item", "number"],
                name="annotate_turn_once",
                violation_error_message="An item has each turn once.",
            ),
            models.CheckConstraint(
                condition=models.Q(number__gte=1),
                name="annotate_turn_from_one",
                violation_error_message="Turns are counted from 1.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item_id}/{self.number}"


class Revision(models.Model):
    """A full snapshot of an item after a change. Rows are only added."""

    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="revisions")
    version = models.PositiveIntegerField()
    snapshot = models.JSONField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    reason = WrittenField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["item_id", "version"]
        constraints = [
            models.UniqueConstraint(
                fields=["item", "version"],
                name="annotate_revision_once",
                violation_error_message="The item was changed by somebody else meanwhile.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.item_id} v{self.version}"


class TakenBack(PlaceFields):
    """A placing that was taken back before anybody worked on the item: the item is gone, this stays."""

    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    key = models.CharField(max_length=40)
    target = WrittenField(blank=True)
    placed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    placed_at = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            one_of("complexity", Complexity),
            one_of("category", Category),
            one_of("premise_class", PremiseClass),
        ]

    def __str__(self) -> str:
        return self.key
