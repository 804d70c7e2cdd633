"""The leaderboard over the API: the rows of the page, with every digit."""

from collections.abc import Sequence
from typing import Any, cast

from django.http import HttpRequest
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.permissions import IsReader
from benchmark import leaderboard_choice, leaderboard_page
from benchmark.frames import LEVELS, MEASURES
from benchmark.views.leaderboard import board_of

VERDICTS = ("matches", "differs", "unknown")


class EntrySerializer(serializers.Serializer[Any]):
    """A row: a rate of one model with what it rests on. Undefined is null with its reason, never 0."""

    rank = serializers.IntegerField(allow_null=True)
    model = serializers.CharField()
    family = serializers.CharField(allow_blank=True)
    published = serializers.BooleanField()
    simulated = serializers.BooleanField()
    imported = serializers.BooleanField()
    run = serializers.IntegerField(allow_null=True)
    measure = serializers.ChoiceField(choices=list(MEASURES))
    k = serializers.IntegerField()
    detector = serializers.CharField()
    premise_class = serializers.CharField(allow_blank=True)
    complexity = serializers.CharField(allow_blank=True)
    category = serializers.CharField(allow_blank=True)
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    corrections = serializers.FloatField(allow_null=True)
    planned = serializers.IntegerField()
    value_gaps_as_no = serializers.FloatField(allow_null=True)
    low_gaps_as_no = serializers.FloatField(allow_null=True)
    high_gaps_as_no = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    caution = serializers.CharField(allow_blank=True)
    value_identity = serializers.FloatField(allow_null=True)
    value_attribute = serializers.FloatField(allow_null=True)
    value_location = serializers.FloatField(allow_null=True)
    labelled = serializers.IntegerField(allow_null=True)
    with_text = serializers.IntegerField(allow_null=True)
    answered = serializers.IntegerField(allow_null=True)
    cut = serializers.IntegerField(allow_null=True)
    refused = serializers.IntegerField(allow_null=True)
    blocked = serializers.IntegerField(allow_null=True)
    empty = serializers.IntegerField(allow_null=True)
    failed = serializers.IntegerField(allow_null=True)
    not_asked = serializers.IntegerField(allow_null=True)
    protocol = serializers.ChoiceField(choices=VERDICTS)
    prompts = serializers.ChoiceField(choices=VERDICTS)
    settings = serializers.ChoiceField(choices=VERDICTS)
    detectors = serializers.ChoiceField(choices=VERDICTS)
    protocol_why = serializers.CharField()
    prompts_why = serializers.CharField()
    settings_why = serializers.CharField()
    detectors_why = serializers.CharField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


def _asked(name: str, about: str, values: Sequence[str] = (), *, many: bool = False) -> OpenApiParameter:
    return OpenApiParameter(name, str, description=about, enum=values or None, many=many)


class LeaderboardViewSet(viewsets.ViewSet):
    """Models ranked by one number, own runs beside the paper's rates."""

    permission_classes = [IsAuthenticated, IsReader]

    @extend_schema(
        parameters=[
            OpenApiParameter("dataset", int, description="Default: the newest with results."),
            _asked("measure", "Default: corr_tp.", list(MEASURES)),
            OpenApiParameter("k", int, description="The cutoff; default: the last measured turn."),
            _asked("column", "A detector's slug, or avg (default where there is a pair)."),
            *(_asked(axis, "Items of this level alone.", list(levels)) for axis, levels in LEVELS.items()),
            _asked("gaps", "How missing labels count for the rank.", list(leaderboard_choice.GAPS)),
            _asked("who", "Own or published rows alone.", ["own", "published"]),
            _asked("family", "These families alone.", many=True),
            _asked("q", "Words within a model's name or family."),
            _asked("sort", "A column, with a minus the other way round.", list(leaderboard_choice.SORTS)),
        ],
        responses=EntrySerializer(many=True),
    )
    def list(self, request: Request) -> Response:
        made, _, _ = board_of(cast(HttpRequest, request), page="leaderboard (API)")
        return Response(EntrySerializer(leaderboard_page.records(made), many=True).data)
