"""What the API of machines' work shares."""

from typing import Any

from rest_framework import serializers, viewsets
from rest_framework.permissions import BasePermission, IsAuthenticated

from annotate.permissions import IsAuthor, IsReader
from benchmark.services.models import ENDPOINT_FIELDS

NO_STORE = "no-store, private"
LARGEST = 2**62  # as an id: a column holds it
READS = frozenset({"list", "retrieve", "metadata", "dialogues", "responses", "batches"})


class ReadersReadAuthorsWrite(viewsets.GenericViewSet[Any]):
    """Readers and authors list and retrieve, authors do everything else."""

    def get_permissions(self) -> list[BasePermission]:
        return [IsAuthenticated(), IsReader() if self.action in READS else IsAuthor()]


class NarrowedSerializer(serializers.Serializer[Any]):
    """The dataset to which a list is narrowed."""

    dataset = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST)


class EmptySerializer(serializers.Serializer[Any]):
    """A request without a body."""


ENDPOINT = list(ENDPOINT_FIELDS)
