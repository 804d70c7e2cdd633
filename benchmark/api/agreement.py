"""Agreement over the API: the same frame as the page."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.permissions import person_of
from benchmark import frames_agreement
from benchmark.api.validation import DrawingViewSet, ValidationSetSerializer
from benchmark.models import ValidationSet
from benchmark.services import blindness
from benchmark.views.validation import get_validation_set


class AgreementSerializer(serializers.Serializer[Any]):
    """One pair of raters at one level; null where undefined, with the reason."""

    first = serializers.CharField()
    second = serializers.CharField()
    level = serializers.CharField()
    simulated = serializers.BooleanField()
    n = serializers.IntegerField()
    left_out = serializers.IntegerField()
    both = serializers.IntegerField()
    first_only = serializers.IntegerField()
    second_only = serializers.IntegerField()
    neither = serializers.IntegerField()
    agreement = serializers.FloatField(allow_null=True)
    first_rate = serializers.FloatField(allow_null=True)
    second_rate = serializers.FloatField(allow_null=True)
    kappa = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)


class ValidationSetViewSet(DrawingViewSet):
    """Validation sets and the agreement of their raters."""

    lookup_value_converter = "int"

    @extend_schema(responses=ValidationSetSerializer(many=True))
    def list(self, request: Request) -> Response:
        rows = ValidationSet.objects.select_related("label_set__dataset").order_by("-id")
        return Response(ValidationSetSerializer(rows, many=True).data)

    @extend_schema(
        responses=AgreementSerializer(many=True), parameters=[OpenApiParameter("id", int, OpenApiParameter.PATH)]
    )
    @action(detail=True)
    def agreement(self, request: Request, pk: int) -> Response:
        """Cohen's kappa of each pair, overall and by class; withheld from people who label the dataset."""
        row = get_validation_set(pk)
        page = f"agreement (API): {row.label_set.name}"
        blindness.require_unblinded(user=person_of(request), dataset=row.label_set.dataset, page=page)
        records = frames_agreement.records(frames_agreement.frame(row))
        return Response(AgreementSerializer(records, many=True).data, headers={"Cache-Control": "no-store, private"})
