"""Reports over the API: what each holds, and where its files are."""

from typing import Any

from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.permissions import IsReader
from benchmark.api._shared import NarrowedSerializer
from benchmark.models import Report
from benchmark.models.releases import BuildState

_PATH = [OpenApiParameter("id", int, OpenApiParameter.PATH)]


class ChoiceSerializer(serializers.Serializer[Any]):
    """What was chosen for a report: figures and tables by slug, validation sets and analyses by id."""

    figures = serializers.ListField(child=serializers.CharField())
    tables = serializers.ListField(child=serializers.CharField())
    sets = serializers.ListField(child=serializers.IntegerField())
    analyses = serializers.ListField(child=serializers.IntegerField())
    settings = serializers.BooleanField()
    coverage = serializers.BooleanField()
    rounding = serializers.CharField()


class ReportSerializer(serializers.ModelSerializer[Report]):
    """A report; the addresses of its files are null before it is ready.

    Files of an `unblinded` one are withheld from who labels its dataset.
    """

    dataset = serializers.IntegerField(source="result_set.dataset_id")
    result_set = serializers.CharField(source="result_set.name")
    choice = ChoiceSerializer()
    asked_by = serializers.CharField(source="asked_by.username", default=None, allow_null=True)
    html = serializers.SerializerMethodField()
    pdf = serializers.SerializerMethodField()

    class Meta:
        model = Report
        fields = [
            "id",
            "dataset",
            "result_set",
            "state",
            "error",
            "choice",
            "unblinded",
            "html_sha256",
            "pdf_sha256",
            "html",
            "pdf",
            "asked_by",
            "created_at",
            "finished_at",
        ]

    def get_html(self, report: Report) -> str | None:
        return _file(report, "html")

    def get_pdf(self, report: Report) -> str | None:
        return _file(report, "pdf")


class ReportViewSet(viewsets.GenericViewSet[Any]):
    """Reports that were asked for, the newest first."""

    permission_classes = [IsAuthenticated, IsReader]
    queryset = Report.objects.select_related("result_set", "asked_by").order_by("-id")
    lookup_value_converter = "int"
    serializer_class = ReportSerializer

    @extend_schema(parameters=[NarrowedSerializer])
    def list(self, request: Request) -> Response:
        given = NarrowedSerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        asked = {f"result_set__{name}": value for name, value in given.validated_data.items()}
        page = self.paginate_queryset(self.get_queryset().filter(**asked)) or []
        return self.get_paginated_response(ReportSerializer(page, many=True).data)

    @extend_schema(parameters=_PATH)
    def retrieve(self, request: Request, pk: int) -> Response:
        return Response(ReportSerializer(get_object_or_404(self.get_queryset(), pk=pk)).data)


def _file(report: Report, form: str) -> str | None:
    return reverse("report_file", args=[report.pk, form]) if report.state == BuildState.READY else None
