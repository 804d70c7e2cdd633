"""Reports that were asked for, each two files."""

from django.conf import settings
from django.db import models

from benchmark.models.claims import Claimable
from benchmark.models.releases import BuildState
from benchmark.models.results import ResultSet
from fpco_site.fields import one_of


class Report(Claimable):
    """What was chosen of a result set, and the HTML and PDF that were made of it (by the hash of their bytes).

    `unblinded` ones tell how far people's labels fit those of others.
    """

    result_set = models.ForeignKey(ResultSet, on_delete=models.PROTECT, related_name="+")
    choice = models.JSONField(default=dict)
    unblinded = models.BooleanField(default=False)
    state = models.CharField(max_length=20, choices=BuildState, default=BuildState.WAITING)
    html_sha256 = models.CharField(max_length=64, blank=True)
    pdf_sha256 = models.CharField(max_length=64, blank=True)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [one_of("state", BuildState)]

    def __str__(self) -> str:
        return f"report {self.pk}"

    @property
    def unfinished(self) -> bool:
        return self.state in (BuildState.WAITING, BuildState.BUILDING)
