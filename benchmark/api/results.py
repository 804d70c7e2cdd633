"""Results and releases over the API: aggregates, the same numbers as the pages."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.models import Dataset
from annotate.permissions import IsReader, person_of
from benchmark import frames
from benchmark.models import Release, ResultSet
from benchmark.services import blindness, results


class WhichSerializer(serializers.Serializer[Any]):
    """Which table: of a dataset (the newest with results), a measure, broken down along an axis."""

    dataset = serializers.PrimaryKeyRelatedField(queryset=Dataset.objects.all(), required=False)
    measure = serializers.ChoiceField(choices=list(frames.MEASURES), default="corr_tp")
    axis = serializers.ChoiceField(choices=list(frames.BREAKDOWNS), default="premise_class")


class NumberSerializer(serializers.Serializer[Any]):
    """One number of a table; undefined is null with its reason, never 0."""

    model = serializers.CharField()
    family = serializers.CharField(allow_blank=True)
    simulated = serializers.BooleanField()
    measure = serializers.CharField()
    k = serializers.IntegerField()
    axis = serializers.CharField()
    level = serializers.CharField()
    detector = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    corrections = serializers.FloatField()
    planned = serializers.IntegerField()
    value_gaps_as_no = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_blank=True, allow_null=True)
    caution = serializers.CharField(
        allow_blank=True, help_text="Why the interval may cover less than 95 %: few images, or a rate near 0 or 1."
    )


class CoverageRowSerializer(serializers.Serializer[Any]):
    """How many answers of a model a detector labelled: labelled + missing = with_text."""

    model = serializers.CharField()
    family = serializers.CharField(allow_blank=True)
    simulated = serializers.BooleanField()
    detector = serializers.CharField()
    planned = serializers.IntegerField()
    with_text = serializers.IntegerField()
    labelled = serializers.IntegerField()
    missing = serializers.IntegerField()


class ResultViewSet(viewsets.ViewSet):
    """The numbers of a dataset's newest result set."""

    permission_classes = [IsAuthenticated, IsReader]

    @extend_schema(parameters=[WhichSerializer], responses=NumberSerializer(many=True))
    def list(self, request: Request) -> Response:
        asked, result_set = self._asked(request)
        if result_set is None:
            return Response([])
        blindness.note_opened(user=person_of(request), dataset=result_set.dataset, page="results (API)")
        rows = frames.rows(frames.masks(result_set), asked["measure"], asked["axis"])
        return Response(NumberSerializer(rows, many=True).data)

    @extend_schema(parameters=[WhichSerializer], responses=CoverageRowSerializer(many=True))
    @action(detail=False)
    def coverage(self, request: Request) -> Response:
        """What the numbers rest on: how many answers each detector labelled, for each model."""
        _, result_set = self._asked(request)
        if result_set is None:
            return Response([])
        return Response(CoverageRowSerializer(frames.coverage(frames.masks(result_set)), many=True).data)

    def _asked(self, request: Request) -> tuple[dict[str, Any], ResultSet | None]:
        given = WhichSerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        dataset = given.validated_data.get("dataset") or results.newest_dataset()
        return given.validated_data, results.default(dataset) if dataset else None


class ReleaseSerializer(serializers.ModelSerializer[Release]):
    """A release that was built here; `counts` are its rows by file."""

    dataset = serializers.CharField(source="dataset.name")

    class Meta:
        model = Release
        fields = ["id", "dataset", "state", "manifest_sha256", "counts", "created_at", "finished_at"]


class ReleaseViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Any]):
    """Releases, the newest first."""

    permission_classes = [IsAuthenticated, IsReader]
    serializer_class = ReleaseSerializer
    queryset = Release.objects.select_related("dataset").order_by("-id")
