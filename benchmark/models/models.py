"""The vision-language models under evaluation."""

from django.db import models

from fpco_site.llm.models import EndpointFields


class EvaluatedModel(EndpointFields):
    """A model and how it is asked. An *imported* one is known from a release only and is inactive."""

    name = models.CharField(max_length=100, unique=True)
    family = models.CharField(max_length=60, blank=True)
    active = models.BooleanField(default=True)
    imported = models.BooleanField(default=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
