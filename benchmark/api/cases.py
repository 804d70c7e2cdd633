"""Case studies over the API. All but the list is response-level, so eyes must be open."""

from typing import Any

from django.db.models import Count
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.permissions import IsReader, person_of
from annotate.services.adjudication import LABELLING
from benchmark import cases
from benchmark.api._shared import NO_STORE, NarrowedSerializer
from benchmark.api.dialogues import LabelSerializer, SpokenSerializer
from benchmark.cases import Group
from benchmark.models import CaseStudy
from benchmark.services import blindness

_PATH = [OpenApiParameter("id", int, OpenApiParameter.PATH)]


class CaseSerializer(serializers.Serializer[Any]):
    """A case study; name, note and number of dialogues are null where it is withheld, with the reason."""

    id = serializers.IntegerField()
    dataset = serializers.IntegerField(source="dataset_id")
    name = serializers.CharField(allow_null=True)
    note = serializers.CharField(allow_null=True)
    dialogues = serializers.IntegerField(allow_null=True)
    created_by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField(allow_null=True)
    reason = serializers.CharField(allow_blank=True, default="")


class SaidSerializer(SpokenSerializer):
    """One turn: what was asked, what came back (null without text, `outcome` says why), and its labels."""

    labels = LabelSerializer(many=True)


class SideSerializer(serializers.Serializer[Any]):
    """A pinned dialogue with its turns."""

    dialogue = serializers.IntegerField()
    run = serializers.IntegerField()
    model = serializers.CharField()
    simulated = serializers.BooleanField()
    state = serializers.CharField()
    turns = SaidSerializer(many=True)


class CaseItemSerializer(serializers.Serializer[Any]):
    """An item with its pinned dialogues side by side."""

    item = serializers.CharField(source="item.key")
    premise_class = serializers.CharField(source="item.premise_class")
    complexity = serializers.CharField(source="item.complexity")
    category = serializers.CharField(source="item.category")
    target_description = serializers.CharField(source="item.target_description")
    modified_target_description = serializers.CharField(source="item.modified_target_description")
    sides = serializers.SerializerMethodField()

    def get_sides(self, group: Group) -> list[dict[str, Any]]:
        return [
            dict(
                SideSerializer(
                    {
                        "dialogue": side.pk,
                        "run": side.run_id,
                        "model": side.run.model.name,
                        "simulated": side.run.simulated,
                        "state": side.state,
                        "turns": [line.cells[at] for line in group.lines],
                    }
                ).data
            )
            for at, side in enumerate(group.sides)
        ]


class CaseDetailSerializer(CaseSerializer):
    """A case study with the dialogues that are pinned to it, in their order."""

    items = CaseItemSerializer(many=True)


class CaseViewSet(viewsets.GenericViewSet[Any]):
    """Case studies, the newest first; withheld from people who label their dataset."""

    permission_classes = [IsAuthenticated, IsReader]
    queryset = CaseStudy.objects.select_related("created_by").annotate(dialogues=Count("pins")).order_by("-id")
    lookup_value_converter = "int"
    serializer_class = CaseSerializer

    @extend_schema(parameters=[NarrowedSerializer])
    def list(self, request: Request) -> Response:
        """All of them; of a dataset that this person labels not even the name, which may quote an answer."""
        given = NarrowedSerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        page = self.paginate_queryset(self.get_queryset().filter(**given.validated_data)) or []
        withheld = blindness.withheld_datasets(person_of(request))
        rows = [_closed(row) if row.dataset_id in withheld else row for row in page]
        return self.get_paginated_response(CaseSerializer(rows, many=True).data)

    @extend_schema(responses=CaseDetailSerializer, parameters=_PATH)
    def retrieve(self, request: Request, pk: int) -> Response:
        """One with all that was asked and answered in its dialogues."""
        row = get_object_or_404(self.get_queryset().select_related("dataset"), pk=pk)
        blindness.require_open_eyes(user=person_of(request), dataset=row.dataset, page="case study (API)")
        row.items = cases.groups(cases.pinned(row))
        return Response(CaseDetailSerializer(row).data, headers={"Cache-Control": NO_STORE})


def _closed(row: CaseStudy) -> dict[str, Any]:
    """What a person may know of a case study whose dataset they label."""
    nothing = dict.fromkeys(("name", "note", "dialogues", "created_by", "created_at"))
    return {"id": row.pk, "dataset_id": row.dataset_id, **nothing, "reason": LABELLING}
