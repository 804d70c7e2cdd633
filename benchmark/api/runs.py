"""Runs over the API: readers read their progress, authors make and control them."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import mixins, serializers, status
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.permissions import person_of
from benchmark import progress
from benchmark.api._shared import NO_STORE, EmptySerializer, ReadersReadAuthorsWrite
from benchmark.api.costs import BillSerializer
from benchmark.api.dialogues import ResponseSerializer
from benchmark.models import Dialogue, Run
from benchmark.models import Response as Answer
from benchmark.models.runs import RunState
from benchmark.services import blindness, runs

_PATH = [OpenApiParameter("id", int, OpenApiParameter.PATH)]


class OverridesSerializer(serializers.Serializer[Any]):
    """Settings that a new run has of its own; what is left out is as the model has it."""

    max_output_tokens = serializers.IntegerField(required=False, min_value=1, max_value=1_000_000)
    temperature = serializers.FloatField(required=False, min_value=0, max_value=2)
    top_p = serializers.FloatField(required=False, min_value=0, max_value=1)


LARGEST_ID = 2**63 - 1  # of both databases
_CHOSEN = {"model", "dataset", "concurrency", "budget", "overrides"}


class RunSerializer(serializers.ModelSerializer[Run]):
    """One model over one dataset, with its settings, prompt and software as they were sent."""

    model_name = serializers.CharField(source="model.name", read_only=True)
    dataset_name = serializers.CharField(source="dataset.name", read_only=True)
    overrides = OverridesSerializer(write_only=True, required=False)

    class Meta:
        model = Run
        fields = [
            "id",
            "model",
            "model_name",
            "dataset",
            "dataset_name",
            "state",
            "pause_reason",
            "concurrency",
            "budget",
            "settings",
            "prompt_name",
            "prompt_version",
            "prompt_sha256",
            "software",
            "simulated",
            "imported",
            "created_at",
            "started_at",
            "finished_at",
            "overrides",
        ]
        read_only_fields = [name for name in fields if name not in _CHOSEN]
        extra_kwargs = {"concurrency": {"required": False, "min_value": 1, "max_value": 1024}}
        validators: list[Any] = []  # that only one run is open is the service's to say


class TurnCountsSerializer(serializers.Serializer[Any]):
    """Every planned turn in exactly one column."""

    planned = serializers.IntegerField()
    answered = serializers.IntegerField()
    cut = serializers.IntegerField()
    refused = serializers.IntegerField()
    blocked = serializers.IntegerField()
    empty = serializers.IntegerField()
    failed = serializers.IntegerField()
    not_asked = serializers.IntegerField()


class CoverageSerializer(serializers.Serializer[Any]):
    """One detector's labels of a run: labelled + missing = answered + cut + refused."""

    detector = serializers.CharField(source="detector.slug")
    version = serializers.IntegerField(source="detector.version")
    labelled = serializers.IntegerField()
    missing = serializers.IntegerField()


class RunDetailSerializer(RunSerializer):
    """A run with its progress in counts."""

    turns = serializers.SerializerMethodField()
    spent = serializers.SerializerMethodField()
    coverage = serializers.SerializerMethodField()

    class Meta(RunSerializer.Meta):
        fields = [*RunSerializer.Meta.fields, "turns", "spent", "coverage"]

    @extend_schema_field(TurnCountsSerializer)
    def get_turns(self, run: Run) -> dict[str, int]:
        counts = progress.turn_counts(run)
        return {"planned": counts.planned, **asdict(counts)}

    @extend_schema_field(BillSerializer)
    def get_spent(self, run: Run) -> Any:
        return BillSerializer(progress.spent(run)).data

    @extend_schema_field(CoverageSerializer(many=True))
    def get_coverage(self, run: Run) -> Any:
        with_text = progress.turn_counts(run).with_text
        return CoverageSerializer(progress.coverage(run, with_text), many=True).data


class DialogueRowSerializer(serializers.ModelSerializer[Dialogue]):
    """A dialogue and its state; what was said in it is under `dialogues/`."""

    item = serializers.CharField(source="item.key")

    class Meta:
        model = Dialogue
        fields = ["id", "item", "state"]


class RetrySerializer(serializers.Serializer[Any]):
    outcomes = serializers.MultipleChoiceField(choices=list(runs.RETRIABLE), allow_empty=False)


class RetriedSerializer(serializers.Serializer[Any]):
    dialogues = serializers.IntegerField()


class FilterSerializer(serializers.Serializer[Any]):
    """What a list of runs is narrowed to."""

    dataset = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST_ID)
    model = serializers.IntegerField(required=False, min_value=1, max_value=LARGEST_ID)
    state = serializers.ChoiceField(choices=RunState.choices, required=False)


class RunViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, ReadersReadAuthorsWrite):
    """Runs, the newest first."""

    queryset = Run.objects.select_related("model", "dataset").order_by("-id")
    lookup_value_converter = "int"

    def get_serializer_class(self) -> type[RunSerializer]:
        return RunSerializer if self.action == "list" else RunDetailSerializer

    @extend_schema(parameters=[FilterSerializer])
    def list(self, request: Request) -> Response:
        given = FilterSerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        page = self.paginate_queryset(self.get_queryset().filter(**given.validated_data)) or []
        return self.get_paginated_response(RunSerializer(page, many=True).data)

    @extend_schema(request=RunSerializer, responses={201: RunDetailSerializer})
    def create(self, request: Request) -> Response:
        """Make a draft run; `start` lets it ask."""
        given = RunSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        made = runs.create(by=person_of(request), **given.validated_data)
        return Response(RunDetailSerializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=EmptySerializer, responses=RunDetailSerializer, parameters=_PATH)
    @action(detail=True, methods=["post"])
    def start(self, request: Request, pk: int) -> Response:
        """Start a draft run."""
        return self._answer(runs.start(run=self.get_object(), by=person_of(request)))

    @extend_schema(request=EmptySerializer, responses=RunDetailSerializer, parameters=_PATH)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: int) -> Response:
        """Ask nothing more for now; calls in flight finish and are kept."""
        return self._answer(runs.pause(run=self.get_object(), by=person_of(request)))

    @extend_schema(request=EmptySerializer, responses=RunDetailSerializer, parameters=_PATH)
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: int) -> Response:
        """Go on with a paused run."""
        return self._answer(runs.resume(run=self.get_object(), by=person_of(request)))

    @extend_schema(request=EmptySerializer, responses=RunDetailSerializer, parameters=_PATH)
    @action(detail=True, methods=["post"])
    def stop(self, request: Request, pk: int) -> Response:
        """End a run: what was not asked is not asked."""
        return self._answer(runs.stop(run=self.get_object(), by=person_of(request)))

    @extend_schema(request=RetrySerializer, responses=RetriedSerializer, parameters=_PATH)
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, pk: int) -> Response:
        """Ask again where dialogues ended without text."""
        run, given = self.get_object(), RetrySerializer(data=request.data)
        given.is_valid(raise_exception=True)
        outcomes = sorted(given.validated_data["outcomes"])
        return Response({"dialogues": runs.retry(run=run, outcomes=outcomes, by=person_of(request))})

    @extend_schema(responses=DialogueRowSerializer(many=True), parameters=_PATH)
    @action(detail=True)
    def dialogues(self, request: Request, pk: int) -> Response:
        """The dialogues of a run and their states."""
        rows = self.get_object().dialogues.select_related("item").order_by("id")
        page = self.paginate_queryset(rows) or []
        return self.get_paginated_response(DialogueRowSerializer(page, many=True).data)

    @extend_schema(responses=ResponseSerializer(many=True), parameters=_PATH)
    @action(detail=True)
    def responses(self, request: Request, pk: int) -> Response:
        """All answers of a run, as `responses.jsonl` has them; withheld from people who label its dataset."""
        run = self.get_object()
        blindness.require_open_eyes(user=person_of(request), dataset=run.dataset, page="api responses")
        rows = Answer.objects.filter(dialogue__run=run).defer("raw").select_related("dialogue__item")
        page = self.paginate_queryset(rows.order_by("dialogue_id", "turn")) or []
        reply = self.get_paginated_response(ResponseSerializer(page, many=True).data)
        reply["Cache-Control"] = NO_STORE
        return reply

    def _answer(self, run: Run) -> Response:
        return Response(RunDetailSerializer(run).data)
