"""Photographs, stored upright, RGB and without metadata, found by their hash."""

from django.conf import settings
from django.db import models

from fpco_site.fields import WrittenField, one_of


class Source(models.TextChoices):
    COCO = "coco", "MS COCO"
    OPEN_IMAGES = "open_images", "Open Images"
    OTHER = "other", "other"


class ImageFacts(models.Model):
    """Where a picture comes from and what its licence is; frozen with an item and released with it."""

    original_sha256 = models.CharField(max_length=64, blank=True)
    source = models.CharField(max_length=20, choices=Source, default=Source.OTHER)
    source_id = WrittenField(blank=True)
    author = WrittenField(blank=True)
    license = WrittenField(blank=True)
    license_url = WrittenField(blank=True)
    landing_url = WrittenField(blank=True)

    class Meta:
        abstract = True


class Image(ImageFacts):
    """One photograph. `sha256` is that of the stored bytes, `original_sha256` that of the bytes given.

    The address of a picture carries only its hash: no file name ever reaches an annotator.
    """

    sha256 = models.CharField(max_length=64, unique=True)
    phash = models.CharField(max_length=16, blank=True, db_index=True)
    file = models.FileField(upload_to="images", max_length=200)
    mime = models.CharField(max_length=40, default="image/jpeg")
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    name = WrittenField(blank=True)  # the base name of the file as it was given
    target = WrittenField(blank=True)  # the noun that the image's metadata names
    source_url = WrittenField(blank=True)  # the address of the file itself
    source_record = models.JSONField(default=dict, blank=True)  # the source's own row, as it gave it
    duplicate_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="set_aside"
    )  # the picture that is kept instead of this one
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            one_of("source", Source),
            models.CheckConstraint(
                condition=models.Q(width__gt=0, height__gt=0),
                name="annotate_image_has_pixels",
                violation_error_message="An image needs a width and a height.",
            ),
            models.CheckConstraint(
                condition=models.Q(duplicate_of=None) | ~models.Q(duplicate_of=models.F("id")),
                name="annotate_image_not_its_own_duplicate",
                violation_error_message="An image is no duplicate of itself.",
            ),
        ]
        indexes = [models.Index(fields=["original_sha256"], name="annotate_image_original")]

    def __str__(self) -> str:
        return self.name or self.sha256[:12]
