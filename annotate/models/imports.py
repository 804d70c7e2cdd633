"""Imports of pictures: what was given, and what became of each file."""

from django.conf import settings
from django.db import models

from annotate.models.images import Image
from fpco_site.fields import WrittenField, one_of


class BatchKind(models.TextChoices):
    DROP = "drop", "from a browser"
    FOLDER = "folder", "from a folder"
    ZIP = "zip", "from a zip"


class BatchState(models.TextChoices):
    RUNNING = "running", "running"
    STOPPED = "stopped", "stopped"
    COMPLETE = "complete", "complete"


class Outcome(models.TextChoices):
    WAITING = "waiting", "waiting"
    ADDED = "added", "added"
    PRESENT = "present", "already there"
    REFUSED = "refused", "refused"
    MISSING = "missing", "missing"


class ImportBatch(models.Model):
    """One import. `origin` is the folder on the server, or the name of a zip in the storage; blank for a browser's.

    `worker` is the token of who works on it, and `beat` goes up with each group of files: whoever sees it stand
    still may take the batch over.
    """

    kind = models.CharField(max_length=10, choices=BatchKind)
    name = WrittenField()
    origin = WrittenField(blank=True)
    state = models.CharField(max_length=10, choices=BatchState, default=BatchState.RUNNING)
    note = WrittenField(blank=True)  # what holds it up, in a sentence
    worker = models.CharField(max_length=36, blank=True)
    beat = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [one_of("kind", BatchKind), one_of("state", BatchState)]

    def __str__(self) -> str:
        return self.name


class ImportedFile(models.Model):
    """One file of an import: `path` is below the folder, with slashes; `row` is what the table says of it."""

    batch = models.ForeignKey(ImportBatch, on_delete=models.CASCADE, related_name="files")
    path = WrittenField()
    size = models.PositiveBigIntegerField(default=0)
    row = models.JSONField(default=dict, blank=True)
    outcome = models.CharField(max_length=10, choices=Outcome, default=Outcome.WAITING)
    sentence = WrittenField(blank=True)
    image = models.ForeignKey(Image, null=True, blank=True, on_delete=models.PROTECT, related_name="imported_files")

    class Meta:
        ordering = ["id"]
        constraints = [
            one_of("outcome", Outcome),
            models.UniqueConstraint(
                fields=["batch", "path"],
                name="annotate_importedfile_once",
                violation_error_message="An import names each file once.",
            ),
            models.CheckConstraint(
                condition=models.Q(outcome__in=[Outcome.ADDED, Outcome.PRESENT], image__isnull=False)
                | models.Q(outcome__in=[Outcome.WAITING, Outcome.REFUSED, Outcome.MISSING], image=None),
                name="annotate_importedfile_image_where_kept",
                violation_error_message="A file that was kept has an image; any other has none.",
            ),
        ]
        indexes = [models.Index(fields=["batch", "outcome"], name="annotate_importedfile_outcome")]

    def __str__(self) -> str:
        return self.path
