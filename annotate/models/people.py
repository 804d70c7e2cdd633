"""People and their roles."""

from django.contrib.auth.models import AbstractUser
from django.db import models

from fpco_site.fields import one_of


class Role(models.TextChoices):
    AUTHOR = "author", "author"
    ANNOTATOR = "annotator", "annotator"
    READER = "reader", "reader"


class User(AbstractUser):
    """A person. Authors build and run the study and may label too; annotators only label; readers read.

    An *imported* person stands for an annotator of an imported release: inactive, no password.
    """

    role = models.CharField(max_length=20, choices=Role, default=Role.READER)
    imported = models.BooleanField(default=False)

    class Meta(AbstractUser.Meta):
        constraints = [one_of("role", Role)]

    @property
    def is_author(self) -> bool:
        return self.role == Role.AUTHOR

    @property
    def is_annotator(self) -> bool:
        """Only annotates: sees nothing of what machines did."""
        return self.role == Role.ANNOTATOR

    @property
    def is_reader(self) -> bool:
        return self.role == Role.READER
