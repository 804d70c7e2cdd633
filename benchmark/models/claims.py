"""What rows share that a worker works on in the background."""

from django.db import models

from fpco_site.fields import WrittenField


class Claimable(models.Model):
    """Whoever works on such a row names itself in `worker` and bumps `beat`; `tries` counts the workers there were.

    A model has a column `state` beside. `error` says why it failed.
    """

    error = WrittenField(blank=True)
    worker = models.CharField(max_length=36, blank=True)
    beat = models.PositiveIntegerField(default=0)
    tries = models.PositiveSmallIntegerField(default=0)

    class Meta:
        abstract = True
