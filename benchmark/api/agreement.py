"""Agreement over the API: the same frames as the pages."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.models import Dataset
from annotate.permissions import IsReader, person_of
from benchmark import agreement_page, frames_agreement, frames_detectors, tables_agreement
from benchmark.api._shared import NO_STORE
from benchmark.api.validation import DrawingViewSet, ValidationSetSerializer
from benchmark.frames_agreement import AXES, CORRECT, FALSE, Frame
from benchmark.models import ValidationSet
from benchmark.services import blindness, results
from benchmark.views.validation import get_validation_set

HIDDEN = {"Cache-Control": NO_STORE}
ID = OpenApiParameter("id", int, OpenApiParameter.PATH)
AXIS = OpenApiParameter("axis", str, enum=list(AXES), default=agreement_page.DEFAULT_AXIS)
PREMISE = OpenApiParameter("premise", str, enum=[FALSE, CORRECT], default=FALSE)
TRUTH = OpenApiParameter("truth", str, description="Whose labels are the truth: adjudicated, human-1, human-2, ...")
DATASET = OpenApiParameter("dataset", int, description="By default the newest with results.")


def _number() -> serializers.FloatField:
    return serializers.FloatField(allow_null=True)


def _reasons() -> serializers.DictField:
    return serializers.DictField(child=serializers.CharField())


class AgreementSerializer(serializers.Serializer[Any]):
    """Two raters at one level; null where undefined, with the reason under the coefficient's name."""

    first = serializers.CharField()
    second = serializers.CharField()
    axis = serializers.CharField()
    level = serializers.CharField()
    simulated = serializers.BooleanField()
    n = serializers.IntegerField()
    left_out = serializers.IntegerField()
    first_missing = serializers.IntegerField()
    second_missing = serializers.IntegerField()
    both_missing = serializers.IntegerField()
    images = serializers.IntegerField()
    both = serializers.IntegerField()
    first_only = serializers.IntegerField()
    second_only = serializers.IntegerField()
    neither = serializers.IntegerField()
    first_rate, second_rate = _number(), _number()
    agreement, agreement_low, agreement_high = _number(), _number(), _number()
    kappa, kappa_low, kappa_high = _number(), _number(), _number()
    ac1, ac1_low, ac1_high = _number(), _number(), _number()
    pabak, pabak_low, pabak_high = _number(), _number(), _number()
    positive, positive_low, positive_high = _number(), _number(), _number()
    negative, negative_low, negative_high = _number(), _number(), _number()
    kappa_asymptotic_low, kappa_asymptotic_high = _number(), _number()
    ac1_asymptotic_low, ac1_asymptotic_high = _number(), _number()
    prevalence, bias = _number(), _number()
    reasons = _reasons()


class GroupSerializer(serializers.Serializer[Any]):
    """More than two raters at one level."""

    group = serializers.CharField()
    raters = serializers.ListField(child=serializers.CharField())
    axis = serializers.CharField()
    level = serializers.CharField()
    simulated = serializers.BooleanField()
    labels_wanted = serializers.IntegerField()
    fleiss_n = serializers.IntegerField()
    alpha_n = serializers.IntegerField()
    same = serializers.IntegerField()
    split = serializers.IntegerField()
    fewer_than_two_labels = serializers.IntegerField()
    other_than_wanted = serializers.IntegerField()
    fleiss, fleiss_low, fleiss_high = _number(), _number(), _number()
    alpha, alpha_low, alpha_high = _number(), _number(), _number()
    reasons = _reasons()


class AccuracySerializer(serializers.Serializer[Any]):
    """A detector against a truth at one level."""

    detector = serializers.CharField()
    truth = serializers.CharField()
    axis = serializers.CharField()
    level = serializers.CharField()
    simulated = serializers.BooleanField()
    n = serializers.IntegerField()
    left_out = serializers.IntegerField()
    sensitivity, sensitivity_low, sensitivity_high = _number(), _number(), _number()
    sensitivity_independent_low, sensitivity_independent_high = _number(), _number()
    sensitivity_n = serializers.IntegerField()
    sensitivity_hits = serializers.IntegerField()
    sensitivity_reason = serializers.CharField(allow_blank=True)
    specificity, specificity_low, specificity_high = _number(), _number(), _number()
    specificity_independent_low, specificity_independent_high = _number(), _number()
    specificity_n = serializers.IntegerField()
    specificity_hits = serializers.IntegerField()
    specificity_reason = serializers.CharField(allow_blank=True)


class TableSerializer(serializers.Serializer[Any]):
    """One of the study's tables as it is printed."""

    name = serializers.CharField()
    caption = serializers.CharField()
    rows = serializers.ListField(child=serializers.DictField(child=serializers.CharField(allow_blank=True)))


class ValidationSetViewSet(DrawingViewSet):
    """Validation sets and the agreement of their raters; withheld from people who label the dataset."""

    lookup_value_converter = "int"

    @extend_schema(responses=ValidationSetSerializer(many=True))
    def list(self, request: Request) -> Response:
        rows = ValidationSet.objects.select_related("label_set__dataset").order_by("-id")
        return Response(ValidationSetSerializer(rows, many=True).data)

    @extend_schema(responses=AgreementSerializer(many=True), parameters=[ID, AXIS, PREMISE])
    @action(detail=True)
    def agreement(self, request: Request, pk: int) -> Response:
        """Every coefficient of each pair, overall and by the levels of an axis."""
        found, axis = _frame(request, pk), agreement_page.axis_of(request.query_params)
        rows = tables_agreement.records(frames_agreement.pairs(found, axis), axis)
        return Response(AgreementSerializer(rows, many=True).data, headers=HIDDEN)

    @extend_schema(responses=GroupSerializer(many=True), parameters=[ID, AXIS, PREMISE])
    @action(detail=True)
    def groups(self, request: Request, pk: int) -> Response:
        """Fleiss' kappa and Krippendorff's alpha of more than two raters."""
        rows = tables_agreement.group_records(_frame(request, pk), agreement_page.axis_of(request.query_params))
        return Response(GroupSerializer(rows, many=True).data, headers=HIDDEN)

    @extend_schema(responses=AccuracySerializer(many=True), parameters=[ID, AXIS, PREMISE, TRUTH])
    @action(detail=True)
    def detectors(self, request: Request, pk: int) -> Response:
        """Sensitivity and specificity of each detector against people."""
        found, axis = _frame(request, pk), agreement_page.axis_of(request.query_params)
        truth = agreement_page.truth_of(request.query_params, found)
        rows = tables_agreement.accuracy_records(found, truth, axis) if truth else []
        return Response(AccuracySerializer(rows, many=True).data, headers=HIDDEN)

    @extend_schema(responses=TableSerializer, parameters=[ID, PREMISE])
    @action(detail=True)
    def table(self, request: Request, pk: int) -> Response:
        """The study's table of pairwise kappas as it is printed."""
        printed = tables_agreement.kappa_table(_frame(request, pk))
        return Response(TableSerializer(printed).data, headers=HIDDEN)


class DetectorAgreementViewSet(viewsets.ViewSet):
    """Agreement of detectors over all answers to false-premise turns of a dataset: aggregates alone."""

    permission_classes = [IsAuthenticated, IsReader]

    @extend_schema(responses=AgreementSerializer(many=True), parameters=[DATASET, AXIS])
    def list(self, request: Request) -> Response:
        """Each pair of detectors, overall and by the levels of an axis."""
        given = _DatasetSerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        dataset = given.validated_data.get("dataset") or results.newest_dataset()
        result_set = results.default(dataset) if dataset else None
        if result_set is None:
            return Response([])
        page = "agreement of detectors (API)"
        blindness.note_opened(user=person_of(request), dataset=result_set.dataset, page=page)
        axis = agreement_page.axis_of(request.query_params)
        rows = tables_agreement.records(frames_detectors.pairs(frames_detectors.verdicts(result_set), axis), axis)
        return Response(AgreementSerializer(rows, many=True).data)


class _DatasetSerializer(serializers.Serializer[Any]):
    dataset = serializers.PrimaryKeyRelatedField(queryset=Dataset.objects.all(), required=False)


def _frame(request: Request, pk: int) -> Frame:
    row = get_validation_set(pk)
    page = f"agreement (API): {row.label_set.name}"
    blindness.require_unblinded(user=person_of(request), dataset=row.label_set.dataset, page=page)
    return frames_agreement.frame(row, premise=agreement_page.premise_of(request.query_params))
