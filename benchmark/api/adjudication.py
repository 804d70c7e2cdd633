"""Disagreements over the API: those of closed sets, and decisions on them, through the same service as the pages."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.labels import NO_STORE
from annotate.models import Adjudication, LabelSet, LabelTask
from annotate.models.labels import LabelSetState
from annotate.permissions import IsAnnotator, person_of
from annotate.services import adjudication
from annotate.services.adjudication import LONGEST_REASON, Docket
from annotate.views.adjudication import get_disagreement_for, get_docket_for
from benchmark.services import blindness

_SET_ID = OpenApiParameter("id", int, OpenApiParameter.PATH)


class DocketSerializer(serializers.Serializer[Any]):
    """A closed set with disagreements."""

    id = serializers.IntegerField(source="label_set.pk")
    name = serializers.CharField(source="label_set.name")
    dataset = serializers.CharField(source="label_set.dataset.name")
    total = serializers.IntegerField()
    done = serializers.IntegerField()


class DecisionSerializer(serializers.ModelSerializer[Adjudication]):
    """The decision that counts; `id` is what `seen` refers to."""

    class Meta:
        model = Adjudication
        fields = ["id", "detect", "reason", "together", "created_at"]


class DisagreementSerializer(serializers.ModelSerializer[LabelTask]):
    """An answer on which those who labelled differ: what they saw, and nothing of who said what."""

    decision = serializers.SerializerMethodField()

    class Meta:
        model = LabelTask
        fields = ["id", "premise_class", "content", "modified", "response", "decision"]

    @extend_schema(responses=DecisionSerializer)
    def get_decision(self, task: LabelTask) -> dict[str, Any] | None:
        made = self.context["docket"].decisions.get(task.pk)
        return dict(DecisionSerializer(made).data) if made else None


class VerdictSerializer(serializers.Serializer[Any]):
    """A decision: `seen` is the id of the one that stood when it was made, null where there was none."""

    task = serializers.UUIDField()
    detect = serializers.BooleanField()
    reason = serializers.CharField(max_length=LONGEST_REASON)
    together = serializers.BooleanField(default=False)
    seen = serializers.IntegerField(default=None, allow_null=True)


class AdjudicationViewSet(viewsets.ViewSet):
    """Disagreements of closed sets."""

    permission_classes = [IsAuthenticated, IsAnnotator]
    lookup_value_converter = "int"

    @extend_schema(responses=DocketSerializer(many=True))
    def list(self, request: Request) -> Response:
        """The closed sets whose disagreements one may decide."""
        found = adjudication.dockets_for(person_of(request))
        return Response(DocketSerializer(found, many=True).data, headers=NO_STORE)

    @extend_schema(
        operation_id="adjudications_of_set", responses=DisagreementSerializer(many=True), parameters=[_SET_ID]
    )
    def retrieve(self, request: Request, pk: int) -> Response:
        """The disagreements of one set, without names, in an order that says nothing."""
        found = self._docket(request, pk)
        tasks = LabelTask.objects.in_bulk(found.order)
        rows = DisagreementSerializer([tasks[task] for task in found.order], many=True, context={"docket": found})
        return Response(rows.data, headers=NO_STORE)

    @extend_schema(request=VerdictSerializer, responses=DecisionSerializer, parameters=[_SET_ID])
    @action(detail=True, methods=["post"])
    def decide(self, request: Request, pk: int) -> Response:
        """Decide one disagreement; the same decision twice is stored once."""
        found = self._docket(request, pk)
        asked = VerdictSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        values = dict(asked.validated_data)
        task = get_disagreement_for(found, values.pop("task"))
        made = adjudication.decide(task=task, by=person_of(request), **values)
        return Response(DecisionSerializer(made).data, headers=NO_STORE)

    def _docket(self, request: Request, pk: int) -> Docket:
        label_set = get_object_or_404(LabelSet.objects.select_related("dataset"), pk=pk)
        if label_set.state == LabelSetState.CLOSED:
            page = f"decisions of {label_set.name} (API)"
            blindness.note_decisions(user=person_of(request), label_set=label_set, page=page)
        return get_docket_for(person_of(request), pk)
