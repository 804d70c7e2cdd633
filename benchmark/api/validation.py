"""Drawing validation sets over the API: the same plan, preview and draw as the pages."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.models import Dataset, User
from annotate.models.labels import Mode
from annotate.permissions import IsAuthor, IsReader, person_of
from benchmark import designs, strata
from benchmark.designs import MOST, Kind, Naming
from benchmark.models import ResultSet
from benchmark.services import validation
from benchmark.services.validation import MOST_LABELS, Prepared


class StratumSerializer(serializers.Serializer[Any]):
    """One stratum: how many answers it holds, name a model, are wanted and drawn, and with which probability."""

    stratum = serializers.ListField(child=serializers.CharField())
    size = serializers.IntegerField()
    named = serializers.IntegerField()
    wanted = serializers.IntegerField()
    drawn = serializers.IntegerField()
    probability = serializers.FloatField()


class NamingSerializer(serializers.Serializer[Any]):
    """What became of answers that name a model: found in the frame, passed over by the draw, in the set."""

    rule = serializers.CharField()
    found = serializers.IntegerField()
    replaced = serializers.IntegerField()
    drawn = serializers.IntegerField()


class ValidationSetSerializer(serializers.Serializer[Any]):
    """A validation set without its seed, which stays hidden from people who label; null where an import is silent."""

    id = serializers.IntegerField()
    name = serializers.CharField(source="label_set.name")
    dataset = serializers.CharField(source="label_set.dataset.name")
    state = serializers.CharField(source="label_set.state")
    mode = serializers.CharField(source="label_set.mode")
    labels_per_task = serializers.IntegerField(source="label_set.labels_per_task")
    per_cell = serializers.IntegerField()
    design = serializers.CharField(source="design.kind", allow_null=True)
    frame = serializers.IntegerField(source="design.frame", allow_null=True)
    drawn = serializers.IntegerField(source="design.drawn", allow_null=True)
    naming = NamingSerializer(source="design.naming", allow_null=True)
    strata = StratumSerializer(source="design.cells", many=True, allow_null=True)
    simulated = serializers.BooleanField()


class DrawPlanSerializer(serializers.Serializer[Any]):
    """From what is drawn, and how; numbers of other designs than the chosen one are not read."""

    dataset = serializers.PrimaryKeyRelatedField(queryset=Dataset.objects.all())
    result_set = serializers.PrimaryKeyRelatedField(queryset=ResultSet.objects.all(), required=False, allow_null=True)
    design = serializers.ChoiceField(choices=[str(kind) for kind in Kind], default=str(Kind.MODEL_CLASS))
    per_cell = serializers.IntegerField(min_value=1, max_value=MOST, default=designs.STUDY_NUMBER)
    total = serializers.IntegerField(min_value=1, max_value=MOST, default=designs.TOTAL)
    per_label = serializers.IntegerField(min_value=1, max_value=MOST, default=designs.OF_EACH_LABEL)
    each_detector = serializers.BooleanField(default=False)
    disagreeing = serializers.IntegerField(min_value=0, max_value=MOST, default=designs.OF_EACH_SIDE)
    agreeing = serializers.IntegerField(min_value=0, max_value=MOST, default=designs.OF_EACH_SIDE)
    correct = serializers.IntegerField(min_value=0, max_value=MOST, default=0)
    naming = serializers.ChoiceField(choices=[str(rule) for rule in Naming], default=str(Naming.LEAVE))
    show_picture = serializers.BooleanField(default=False)

    def source_of_draw(self) -> dict[str, Any]:
        """What `validation.prepare` needs."""
        given = self.validated_data
        return {
            "dataset": given["dataset"],
            "result_set": given.get("result_set"),
            "plan": designs.stated(given),
            "show_picture": given["show_picture"],
        }


class DrawSerializer(DrawPlanSerializer):
    """A plan, and who labels. `client` is an id of your own: sent twice, it opens one set."""

    annotators = serializers.PrimaryKeyRelatedField(queryset=User.objects.all(), many=True)
    seed = serializers.IntegerField(required=False, allow_null=True, min_value=0, max_value=2**62)
    mode = serializers.ChoiceField(choices=Mode.choices, default=Mode.CROSSED)
    labels_per_task = serializers.IntegerField(min_value=1, max_value=MOST_LABELS, default=2)
    name = serializers.CharField(max_length=100, allow_blank=True, default="")
    client = serializers.UUIDField(required=False, allow_null=True)

    def opening(self) -> dict[str, Any]:
        """What `validation.open` needs."""
        given = self.validated_data
        names = ("annotators", "mode", "labels_per_task", "name")
        chosen = {name: given.get(name) for name in ("seed", "client")}
        return {**self.source_of_draw(), **chosen, **{name: given[name] for name in names}}


class DrawSurveySerializer(serializers.Serializer[Any]):
    """What a plan would draw from: numbers alone."""

    result_set = serializers.CharField(source="result_set.name")
    frame = serializers.IntegerField(source="survey.frame")
    left_out = serializers.IntegerField(source="survey.left_out")
    named = serializers.IntegerField(source="survey.found")
    drawn = serializers.IntegerField(source="survey.drawn")
    strata = serializers.SerializerMethodField()

    def get_strata(self, prepared: Prepared) -> list[dict[str, Any]]:
        return list(StratumSerializer(strata.of_survey(prepared.survey), many=True).data)


class DrawingViewSet(viewsets.ViewSet):
    """What authors do with a plan: look at its numbers, and draw."""

    def get_permissions(self) -> list[BasePermission]:
        return [IsAuthenticated(), IsAuthor() if self.action in {"create", "preview"} else IsReader()]

    @extend_schema(request=DrawSerializer, responses={201: ValidationSetSerializer})
    def create(self, request: Request) -> Response:
        """Draw answers by a plan and open them for blind labelling; what was drawn is not told."""
        given = DrawSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        made = validation.open(by=person_of(request), **given.opening())
        return Response(ValidationSetSerializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=DrawPlanSerializer, responses=DrawSurveySerializer)
    @action(detail=False, methods=["post"])
    def preview(self, request: Request) -> Response:
        """What a plan would draw from: frame, strata, shortfall, answers that name a model. Nothing is drawn."""
        given = DrawPlanSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        return Response(DrawSurveySerializer(validation.prepare(**given.source_of_draw())).data)
