"""Figures over the API: the numbers that the page draws, and the spec that draws them."""

from typing import Any

from django.http import Http404, QueryDict
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.models import Dataset
from annotate.permissions import IsReader, person_of
from benchmark import figure_choice, figures, frames
from benchmark.figures import REGISTER, Figure
from benchmark.frames import MEASURES
from benchmark.models import ResultSet
from benchmark.services import blindness, results
from fpco_site.errors import FpcoError

NOTHING_RAN = "Nothing has run over this dataset yet."
_ASKED = [
    OpenApiParameter("key", str, OpenApiParameter.PATH, description="A figure of the list."),
    OpenApiParameter("dataset", int, description="Default: the newest with results."),
    OpenApiParameter("model", str, many=True, description="These models alone; default: the figure's own choice."),
    OpenApiParameter("detector", str, description="A detector's slug, or avg (default where there is a pair)."),
    OpenApiParameter("k", int, description="The cutoff of a figure that shows one; default: the last measured turn."),
    OpenApiParameter("published", str, many=True, description="Models of the paper to lay beside."),
    OpenApiParameter("colour", str, many=True, description="`NAME:blue` pins blue to the model of that name."),
]


class DatasetSerializer(serializers.Serializer[Any]):
    """Which dataset's newest result set; by default that of the newest dataset over which something has run."""

    dataset = serializers.PrimaryKeyRelatedField(queryset=Dataset.objects.all(), required=False)


class FigureSerializer(serializers.Serializer[Any]):
    """A figure that can be drawn of any dataset."""

    key = serializers.CharField(source="slug")
    title = serializers.CharField(source="name")
    words = serializers.CharField()
    measure = serializers.ChoiceField(choices=list(MEASURES))


class DrawnSerializer(FigureSerializer):
    """A figure of a dataset: `rows` as in its CSV file, one a number, and the Vega-Lite `spec` that shows them.

    An undefined value is null with its `reason`. Where the figure can't be drawn, `spec` is null and `reason` says why.
    """

    dataset = serializers.IntegerField()
    result_set = serializers.CharField()
    models = serializers.ListField(child=serializers.CharField())
    detector = serializers.CharField(allow_null=True)
    k = serializers.IntegerField(allow_null=True)
    published = serializers.ListField(child=serializers.CharField())
    rows = serializers.ListField(child=serializers.DictField())
    spec = serializers.DictField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)


class FigureViewSet(viewsets.ViewSet):
    """The study's figures and more, of a dataset's newest result set: aggregates alone."""

    permission_classes = [IsAuthenticated, IsReader]
    lookup_url_kwarg = "key"
    lookup_value_converter = "slug"

    @extend_schema(responses=FigureSerializer(many=True))
    def list(self, request: Request) -> Response:
        return Response(FigureSerializer(figures.FIGURES, many=True).data)

    @extend_schema(responses=DrawnSerializer, parameters=_ASKED)
    def retrieve(self, request: Request, key: str) -> Response:
        """One figure with its data."""
        given = DatasetSerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        dataset = given.validated_data.get("dataset") or results.newest_dataset()
        if key not in REGISTER or dataset is None:
            raise Http404
        result_set = results.default(dataset)
        if result_set is not None:
            blindness.note_opened(user=person_of(request), dataset=dataset, page=f"figures (API): {key}")
        made = _drawn(REGISTER[key], result_set, request.query_params)
        return Response(DrawnSerializer({**made, "dataset": dataset.pk}).data)


def _drawn(figure: Figure, result_set: ResultSet | None, given: QueryDict) -> dict[str, Any]:
    """What `DrawnSerializer` says of a figure but for the dataset."""
    named = {name: getattr(figure, name) for name in ("slug", "name", "words", "measure")}
    empty: dict[str, Any] = {"models": [], "detector": None, "k": None, "published": [], "rows": [], "spec": None}
    if result_set is None:
        return {**named, **empty, "result_set": "", "reason": NOTHING_RAN}
    named["result_set"] = result_set.name
    try:
        made = figure.made(frames.masks(result_set), figure_choice.read(given))
    except FpcoError as error:
        return {**named, **empty, "reason": error.message}
    settled = made.options
    return {
        **named,
        "name": made.title,
        "models": settled.models,
        "detector": settled.column,
        "k": settled.k if figure.one_k else None,
        "published": settled.published,
        "rows": made.rows,
        "spec": figure.draw(made.rows, settled),
        "reason": "",
    }
