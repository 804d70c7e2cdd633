"""Analyses over the API: readers read what is stored, authors have them run."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.models import Dataset
from annotate.permissions import IsReader, person_of
from benchmark import analysis_page
from benchmark.analyses import KINDS
from benchmark.api._shared import NO_STORE, NarrowedSerializer, ReadersReadAuthorsWrite
from benchmark.models import Analysis
from benchmark.services import analyses, blindness, results
from benchmark.views.analyses import get_analysis_for

_PATH = [OpenApiParameter("id", int, OpenApiParameter.PATH)]


class AskedSerializer(serializers.Serializer[Any]):
    """Which kind, over which dataset's newest result set (by default of the newest dataset), with what."""

    kind = serializers.ChoiceField(choices=list(KINDS))
    dataset = serializers.PrimaryKeyRelatedField(queryset=Dataset.objects.all(), required=False)
    parameters = serializers.DictField(required=False)
    seed = serializers.IntegerField(required=False, min_value=0, max_value=analyses.MOST)


class NarrowedAnalysesSerializer(NarrowedSerializer):
    """What a list of analyses is narrowed to."""

    kind = serializers.ChoiceField(choices=list(KINDS), required=False)


class AnalysisSerializer(serializers.ModelSerializer[Analysis]):
    """A stored analysis without its result."""

    result_set = serializers.CharField(source="result_set.name")

    class Meta:
        model = Analysis
        fields = [
            "id",
            "kind",
            "dataset",
            "result_set",
            "state",
            "error",
            "parameters",
            "seed",
            "inputs_sha256",
            "request_sha256",
            "software",
            "created_at",
            "finished_at",
        ]


class AnalysisDetailSerializer(AnalysisSerializer):
    """A stored analysis; undefined numbers of its result are null, with a reason beside them."""

    result = serializers.JSONField(allow_null=True)

    class Meta(AnalysisSerializer.Meta):
        fields = [*AnalysisSerializer.Meta.fields, "result"]


class KindSerializer(serializers.Serializer[Any]):
    """A kind of analysis, with its parameters and their defaults."""

    slug = serializers.CharField()
    title = serializers.CharField()
    question = serializers.CharField()
    method = serializers.CharField()
    defaults = serializers.DictField()
    random = serializers.BooleanField()
    long = serializers.BooleanField()
    version = serializers.IntegerField()


class AnalysisViewSet(ReadersReadAuthorsWrite):
    """Analyses, the newest first."""

    queryset = Analysis.objects.defer("result").select_related("result_set").order_by("-id")
    lookup_value_converter = "int"
    serializer_class = AnalysisSerializer

    def get_permissions(self) -> list[BasePermission]:
        return [IsAuthenticated(), IsReader()] if self.action == "kinds" else super().get_permissions()

    @extend_schema(parameters=[NarrowedAnalysesSerializer])
    def list(self, request: Request) -> Response:
        given = NarrowedAnalysesSerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        page = self.paginate_queryset(self.get_queryset().filter(**given.validated_data, kind__in=KINDS)) or []
        return self.get_paginated_response(AnalysisSerializer(page, many=True).data)

    @extend_schema(responses=AnalysisDetailSerializer, parameters=_PATH)
    def retrieve(self, request: Request, pk: int) -> Response:
        """One analysis with its result."""
        row = get_analysis_for(person_of(request), pk, way=" (API)")
        headers = {"Cache-Control": NO_STORE} if analysis_page.kind_of(row).unblinded else {}
        return Response(AnalysisDetailSerializer(row).data, headers=headers)

    @extend_schema(request=AskedSerializer, responses={201: AnalysisSerializer})
    def create(self, request: Request) -> Response:
        """Run an analysis, or find it stored; one that takes long is run by a worker."""
        given = AskedSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        asked = given.validated_data
        dataset = asked.pop("dataset", None) or results.newest_dataset()
        result_set = results.default(dataset) if dataset else None
        if result_set is None:
            raise Http404
        if KINDS[asked["kind"]].unblinded:
            page = f"analysis (API): {asked['kind']}"
            blindness.require_unblinded(user=person_of(request), dataset=result_set.dataset, page=page)
        row = analyses.request(result_set=result_set, by=person_of(request), **asked)
        return Response(AnalysisSerializer(row).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses=KindSerializer(many=True))
    @action(detail=False, pagination_class=None)
    def kinds(self, request: Request) -> Response:
        """The kinds there are."""
        return Response(KindSerializer(list(KINDS.values()), many=True).data)
