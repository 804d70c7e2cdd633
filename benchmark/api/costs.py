"""Costs over the API: what was spent, line by line as the page shows it, and what would be."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, viewsets
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.models import Dataset
from annotate.permissions import IsAuthor, IsReader
from benchmark import costs, estimates
from benchmark.models import Detector, EvaluatedModel


class BillSerializer(serializers.Serializer[Any]):
    """Calls, tokens and US dollars; a cost that can't be told is null with its reason."""

    calls = serializers.IntegerField()
    replies = serializers.IntegerField()
    counted = serializers.IntegerField(help_text="Replies that told their tokens.")
    input = serializers.IntegerField()
    cached = serializers.IntegerField(help_text="A part of input.")
    output = serializers.IntegerField()
    reasoning = serializers.IntegerField(help_text="A part of output.")
    cost = serializers.DecimalField(max_digits=None, decimal_places=None, allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    notes = serializers.ListField(child=serializers.CharField())
    simulated = serializers.BooleanField()


class CostSerializer(serializers.Serializer[Any]):
    """One run, one detector over a dataset, or all that a drafter drafted or a checker checked."""

    kind = serializers.ChoiceField(choices=[kind.value for kind in costs.Kind])
    who = serializers.CharField()
    over = serializers.CharField()
    id = serializers.IntegerField(source="pk", allow_null=True)
    state = serializers.CharField(allow_blank=True)
    budget = serializers.DecimalField(max_digits=12, decimal_places=4, allow_null=True)
    bill = BillSerializer()


class WantedSerializer(serializers.Serializer[Any]):
    """Whom to ask over which dataset."""

    dataset = serializers.PrimaryKeyRelatedField(queryset=Dataset.objects.all())
    models = serializers.PrimaryKeyRelatedField(queryset=EvaluatedModel.objects.all(), many=True, required=False)
    detectors = serializers.PrimaryKeyRelatedField(queryset=Detector.objects.all(), many=True, required=False)
    concurrency = serializers.IntegerField(required=False, min_value=1, max_value=1024)
    discount = serializers.DecimalField(
        required=False, max_digits=4, decimal_places=3, min_value=0, max_value=1, help_text="Of detectors' batches."
    )


class EstimateSerializer(serializers.Serializer[Any]):
    """A range: at its low end texts are short and history is cached, at its high end neither."""

    name = serializers.CharField()
    dialogues = serializers.IntegerField()
    calls = serializers.IntegerField()
    low = BillSerializer()
    high = BillSerializer()
    seconds = serializers.ListField(child=serializers.IntegerField(), min_length=2, max_length=2)
    basis = serializers.ListField(child=serializers.CharField())


class CostViewSet(viewsets.ViewSet):
    """What was spent. Aggregates alone."""

    permission_classes: list[type[BasePermission]] = [IsAuthenticated, IsReader]

    @extend_schema(responses=CostSerializer(many=True))
    def list(self, request: Request) -> Response:
        """Every line of the page Costs."""
        return Response(CostSerializer(costs.lines(), many=True).data)


class EstimateViewSet(viewsets.ViewSet):
    """What models and detectors would cost."""

    permission_classes: list[type[BasePermission]] = [IsAuthenticated, IsAuthor]

    @extend_schema(parameters=[WantedSerializer], responses=EstimateSerializer(many=True))
    def list(self, request: Request) -> Response:
        """A run of each model, and each detector over one answer of every dialogue."""
        given = WantedSerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        wanted = given.validated_data
        dataset, detectors = wanted["dataset"], wanted.get("detectors", [])
        rows = estimates.of_models(
            models=wanted.get("models", []), dataset=dataset, concurrency=wanted.get("concurrency")
        )
        more = {"discount": wanted["discount"]} if "discount" in wanted else {}
        rows += estimates.of_detectors(detectors=detectors, dataset=dataset, **more)
        return Response(EstimateSerializer(rows, many=True).data)
