"""Models and detectors over the API: readers read, authors add and change."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.models import Dataset
from annotate.permissions import person_of
from benchmark import asking, batching
from benchmark.api._shared import ENDPOINT, ReadersReadAuthorsWrite
from benchmark.api.costs import EstimateSerializer
from benchmark.models import DetectionJob, Detector, EvaluatedModel
from benchmark.models.batches import BatchState
from benchmark.models.detectors import JobMode
from benchmark.services import detectors, models


class ModelSerializer(serializers.ModelSerializer[EvaluatedModel]):
    """A model and how it is asked; `api_key_env` names the variable that holds the key."""

    class Meta:
        model = EvaluatedModel
        fields = ["id", "name", "family", *ENDPOINT, "not_sent", "active", "imported"]
        read_only_fields = ["not_sent", "imported"]


class ModelViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, ReadersReadAuthorsWrite):
    """All models. A change goes with new runs; runs keep the settings they were made with."""

    serializer_class = ModelSerializer
    queryset = EvaluatedModel.objects.order_by("name")
    lookup_value_converter = "int"

    @extend_schema(request=ModelSerializer, responses={201: ModelSerializer})
    def create(self, request: Request) -> Response:
        """Add a model."""
        given = ModelSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        made = models.create(by=person_of(request), **given.validated_data)
        return Response(ModelSerializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=ModelSerializer(partial=True), responses=ModelSerializer)
    def partial_update(self, request: Request, pk: int) -> Response:
        """Change how a model is asked from now on."""
        given = ModelSerializer(self.get_object(), data=request.data, partial=True)
        given.is_valid(raise_exception=True)
        changed = models.update(model=self.get_object(), by=person_of(request), **given.validated_data)
        return Response(ModelSerializer(changed).data)


class DetectorSerializer(serializers.ModelSerializer[Detector]):
    """One version of a detector; a change of model, prompt or settings makes a new one."""

    class Meta:
        model = Detector
        fields = [
            "id",
            "slug",
            "version",
            "name",
            *ENDPOINT,
            "not_sent",
            "prompt_name",
            "prompt_version",
            "prompt_sha256",
            "active",
            "imported",
            "simulated",
            "created_at",
        ]
        read_only_fields = [
            "not_sent",
            "version",
            "prompt_name",
            "prompt_version",
            "prompt_sha256",
            "active",
            "imported",
            "simulated",
        ]
        validators: list[Any] = []  # the version is the service's to give


class AskSerializer(serializers.Serializer[Any]):
    """Over which dataset a detector is asked; with `retry`, failed detections are asked again.

    With `mode`, what is not asked yet goes by live calls or by batches from now on.
    """

    dataset = serializers.PrimaryKeyRelatedField(queryset=Dataset.objects.all())
    retry = serializers.BooleanField(default=False)
    mode = serializers.ChoiceField(choices=JobMode.choices, required=False)


class BatchSerializer(serializers.Serializer[Any]):
    """One batch of a job, its requests in exactly one column each; a cost that isn't known is null with its reason."""

    key = serializers.UUIDField(source="batch.key")
    state = serializers.ChoiceField(source="batch.state", choices=BatchState.choices)
    provider_id = serializers.CharField(source="batch.provider_id")
    provider_status = serializers.CharField(source="batch.provider_status")
    error = serializers.CharField(source="batch.error")
    submitted_at = serializers.DateTimeField(source="batch.submitted_at", allow_null=True)
    ended_at = serializers.DateTimeField(source="batch.ended_at", allow_null=True)
    requests = serializers.IntegerField()
    waiting = serializers.IntegerField()
    labelled = serializers.IntegerField()
    unusable = serializers.IntegerField()
    failed = serializers.IntegerField()
    returned = serializers.IntegerField()
    cost = serializers.DecimalField(max_digits=None, decimal_places=None, allow_null=True)
    reason = serializers.CharField(allow_blank=True)


class WantedLabelsSerializer(serializers.Serializer[Any]):
    """Over which dataset a detector would be asked, and how; without `mode`, as before, live at first."""

    dataset = serializers.PrimaryKeyRelatedField(queryset=Dataset.objects.all())
    mode = serializers.ChoiceField(choices=JobMode.choices, required=False)


class PlanSerializer(serializers.Serializer[Any]):
    """What asking would take: dialogues that wait now, come later, are held by it, were labelled, failed."""

    mode = serializers.ChoiceField(choices=JobMode.choices)
    now = serializers.IntegerField()
    later = serializers.IntegerField()
    held = serializers.IntegerField()
    labelled = serializers.IntegerField()
    failed = serializers.IntegerField()
    estimate = EstimateSerializer()


class JobSerializer(serializers.ModelSerializer[DetectionJob]):
    """One detector over one dataset."""

    class Meta:
        model = DetectionJob
        fields = [
            "id",
            "detector",
            "dataset",
            "state",
            "mode",
            "pause_reason",
            "concurrency",
            "started_at",
            "finished_at",
        ]


class DetectorViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, ReadersReadAuthorsWrite):
    """All versions of all detectors."""

    serializer_class = DetectorSerializer
    queryset = Detector.objects.order_by("slug", "version")
    lookup_value_converter = "int"

    @extend_schema(request=DetectorSerializer, responses={201: DetectorSerializer})
    def create(self, request: Request) -> Response:
        """Add a detector, or a new version of the one of that slug."""
        given = DetectorSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        made = detectors.create(by=person_of(request), **given.validated_data)
        return Response(DetectorSerializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(
        request=AskSerializer,
        responses={202: JobSerializer},
        parameters=[OpenApiParameter("id", int, OpenApiParameter.PATH)],
    )
    @action(detail=True, methods=["post"], url_path="request")
    def ask(self, request: Request, pk: int) -> Response:
        """Have the detector label every answer over a dataset, and those still to come."""
        detector, given = self.get_object(), AskSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        job = detectors.request(detector=detector, by=person_of(request), **given.validated_data)
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(
        parameters=[WantedLabelsSerializer, OpenApiParameter("id", int, OpenApiParameter.PATH)],
        responses=PlanSerializer,
    )
    @action(detail=True)
    def plan(self, request: Request, pk: int) -> Response:
        """What asking would take; nothing is asked."""
        detector, given = self.get_object(), WantedLabelsSerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        return Response(PlanSerializer(asking.plan(detector=detector, **given.validated_data)).data)

    @extend_schema(
        responses=BatchSerializer(many=True), parameters=[OpenApiParameter("id", int, OpenApiParameter.PATH)]
    )
    @action(detail=True)
    def batches(self, request: Request, pk: int) -> Response:
        """The detector's batches, the newest first."""
        found = batching.standings(self.get_object().jobs.select_related("detector"))
        return Response(BatchSerializer(found, many=True).data)
