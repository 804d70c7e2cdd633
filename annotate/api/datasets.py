"""Datasets over the API, for readers and authors: the rows of `items.jsonl`."""

from typing import Any

from django.db.models import Count
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import records
from annotate.models import Dataset, DatasetItem
from annotate.permissions import IsReader


class ProtocolSerializer(serializers.Serializer[Any]):
    """The plan of the dataset as it was when the set was frozen."""

    name = serializers.CharField()
    turns = serializers.IntegerField()
    false_turns = serializers.ListField(child=serializers.IntegerField())
    per_cell = serializers.IntegerField()


class DatasetSerializer(serializers.ModelSerializer[Dataset]):
    items = serializers.IntegerField(source="item_count")
    protocol = ProtocolSerializer()

    class Meta:
        model = Dataset
        fields = ["id", "name", "origin", "protocol", "dataset_hash", "created_at", "items"]


class RecordTurnSerializer(serializers.Serializer[Any]):
    turn = serializers.IntegerField()
    false_premise = serializers.BooleanField()
    content = serializers.CharField()
    modified = serializers.CharField(allow_null=True)


class RecordSerializer(serializers.Serializer[Any]):
    """One row of `items.jsonl`, as a release has it."""

    item = serializers.CharField()
    image = serializers.CharField(allow_null=True)
    sha256 = serializers.CharField(allow_null=True)
    original_sha256 = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]
    source_id = serializers.CharField()
    author = serializers.CharField()
    license = serializers.CharField()
    license_url = serializers.CharField()
    landing_url = serializers.CharField()
    complexity = serializers.CharField()
    category = serializers.CharField()
    premise_class = serializers.CharField()
    target = serializers.CharField()
    target_description = serializers.CharField()
    modified_target_description = serializers.CharField()
    parent = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    variant = serializers.CharField(allow_null=True)
    turns = RecordTurnSerializer(many=True)


class DatasetViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Any]):
    """Frozen and imported datasets, the newest first."""

    permission_classes = [IsAuthenticated, IsReader]
    serializer_class = DatasetSerializer
    queryset = Dataset.objects.annotate(item_count=Count("items")).order_by("-id")
    lookup_value_converter = "int"

    @extend_schema(
        responses=RecordSerializer(many=True), parameters=[OpenApiParameter("id", int, OpenApiParameter.PATH)]
    )
    @action(detail=True)
    def items(self, request: Request, pk: int) -> Response:
        """The items in the order of their names."""
        rows = DatasetItem.objects.filter(dataset=self.get_object()).prefetch_related("turns").order_by("key")
        page = self.paginate_queryset(rows) or []
        return self.get_paginated_response([records.item_record(item) for item in page])
