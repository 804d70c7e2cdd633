"""Frozen datasets: full texts that nothing changes any more."""

from django.conf import settings
from django.db import models

from annotate.axes import Category, Complexity, PremiseClass
from annotate.models.images import Image, ImageFacts, Source
from annotate.models.items import Item, PlaceFields
from fpco_site.fields import WrittenField, one_of


class Origin(models.TextChoices):
    FROZEN = "frozen", "frozen here"
    IMPORTED = "imported", "imported"


class Dataset(models.Model):
    """A frozen or imported set of dialogues; the two are the same rows to everything downstream.

    `dataset_hash` is the sha256 over the items, sorted by key, as canonical JSON. `protocol` is
    the plan as it was when the set was frozen. Database triggers refuse to update frozen columns.
    """

    name = models.CharField(max_length=100, unique=True)
    origin = models.CharField(max_length=20, choices=Origin)
    protocol = models.JSONField()
    dataset_hash = models.CharField(max_length=64)
    manifest = models.JSONField(null=True, blank=True)  # of the imported release
    checks = models.JSONField(null=True, blank=True)  # what the check list said when it was frozen
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [one_of("origin", Origin)]

    def __str__(self) -> str:
        return self.name

    @property
    def turns(self) -> int:
        return int(self.protocol["turns"])

    @property
    def false_turns(self) -> list[int]:
        return [int(turn) for turn in self.protocol["false_turns"]]


class DatasetItem(ImageFacts, PlaceFields):
    """One frozen dialogue. `image` may be attached later by its hash; nothing else changes."""

    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="items")
    key = models.CharField(max_length=100)
    source_item = models.ForeignKey(Item, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    image = models.ForeignKey(Image, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    image_name = WrittenField(blank=True)  # the file under images/ in a release; empty without pixels
    sha256 = models.CharField(max_length=64, blank=True)
    target = WrittenField(blank=True)
    target_description = WrittenField()
    modified_target_description = WrittenField()
    parent = models.CharField(max_length=100, blank=True)
    variant = models.CharField(max_length=10, blank=True)

    class Meta:
        ordering = ["dataset_id", "key"]
        constraints = [
            one_of("complexity", Complexity),
            one_of("category", Category),
            one_of("premise_class", PremiseClass),
            one_of("source", Source),
            models.UniqueConstraint(
                fields=["dataset", "key"],
                name="annotate_datasetitem_once",
                violation_error_message="A dataset holds each item once.",
            ),
        ]

    def __str__(self) -> str:
        return self.key


class DatasetTurn(models.Model):
    """One frozen question. `modified` is what is asked on a false-premise turn."""

    item = models.ForeignKey(DatasetItem, on_delete=models.PROTECT, related_name="turns")
    number = models.PositiveSmallIntegerField()
    false_premise = models.BooleanField()
    content = WrittenField()
    modified = WrittenField(blank=True)

    class Meta:
        ordering = ["item_id", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["item", "number"],
                name="annotate_datasetturn_once",
                violation_error_message="A dialogue has each turn once.",
            ),
            models.CheckConstraint(
                condition=models.Q(false_premise=False, modified="")
                | (models.Q(false_premise=True) & ~models.Q(modified="")),
                name="annotate_datasetturn_modified_where_false",
                violation_error_message="A false-premise turn has a modified question; any other turn has none.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item_id}/{self.number}"

    @property
    def asked(self) -> str:
        """The question that a model gets."""
        return self.modified if self.false_premise else self.content
