"""Labelling over the API: one's own sets, tasks and labels, through the same service as the page."""

import uuid
from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import worklist
from annotate.models import Assignment, LabelTask, User
from annotate.permissions import IsAnnotator, person_of
from annotate.services import claims, labels
from annotate.worklist import Worklist

_SET_ID = OpenApiParameter("id", int, OpenApiParameter.PATH)
_TASK_ID = OpenApiParameter("id", uuid.UUID, OpenApiParameter.PATH)
NO_STORE = {"Cache-Control": "no-store, private"}


class ShareSerializer(serializers.Serializer[Any]):
    """One's own part in a label set."""

    id = serializers.IntegerField(source="assignment.label_set_id")
    name = serializers.CharField(source="assignment.label_set.name")
    state = serializers.CharField(source="assignment.label_set.state")
    own_state = serializers.CharField(source="assignment.state")
    total = serializers.IntegerField()
    done = serializers.IntegerField()


class LabelSerializer(serializers.Serializer[Any]):
    """The label that counts."""

    detect = serializers.BooleanField()
    unsure = serializers.BooleanField()
    comment = serializers.CharField()


class PressSerializer(serializers.Serializer[Any]):
    """One press: the answer, and which press of which client it is."""

    detect = serializers.BooleanField()
    unsure = serializers.BooleanField(default=False)
    comment = serializers.CharField(default="", allow_blank=True, max_length=4000)
    client = serializers.UUIDField()
    sequence = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    seconds = serializers.FloatField(default=None, allow_null=True)


class TaskSerializer(serializers.Serializer[Any]):
    """Exactly what an annotator may see. A field added here is seen by people who must stay blind."""

    id = serializers.UUIDField()
    premise_class = serializers.CharField()
    content = serializers.CharField()
    modified = serializers.CharField()
    response = serializers.CharField()
    image = serializers.CharField(source="image.sha256", default=None, allow_null=True)
    own_label = serializers.SerializerMethodField()

    @extend_schema_field(LabelSerializer(allow_null=True))
    def get_own_label(self, task: LabelTask) -> dict[str, Any] | None:
        mine = self.context["labels"].get(task.pk)
        return dict(LabelSerializer(mine).data) if mine else None


class LabelSetViewSet(viewsets.ViewSet):
    """Label sets in which one takes part."""

    permission_classes = [IsAuthenticated, IsAnnotator]
    lookup_value_converter = "int"

    @extend_schema(responses=ShareSerializer(many=True))
    def list(self, request: Request) -> Response:
        shares = worklist.shares_of(person_of(request))
        return Response(ShareSerializer(shares, many=True).data, headers=NO_STORE)

    @extend_schema(responses=TaskSerializer(many=True), parameters=[_SET_ID])
    @action(detail=True)
    def tasks(self, request: Request, pk: int) -> Response:
        """All tasks of the set in one's own order, with one's own labels."""
        work = _worklist_for(person_of(request), label_set__pk=pk)
        rows = TaskSerializer(work.tasks, many=True, context={"labels": work.labels})
        return Response(rows.data, headers=NO_STORE)

    @extend_schema(request=None, responses={200: TaskSerializer, 204: None}, parameters=[_SET_ID])
    @action(detail=True, methods=["post"])
    def next(self, request: Request, pk: int) -> Response:
        """The next task to label; in a pool it is then kept for oneself. No content when there is none."""
        work = _worklist_for(person_of(request), label_set__pk=pk)
        following = claims.hand_out(work=work)
        if following is None:
            return Response(status=status.HTTP_204_NO_CONTENT, headers=NO_STORE)
        task = LabelTask.objects.select_related("image").get(pk=following)
        return Response(TaskSerializer(task, context={"labels": {}}).data, headers=NO_STORE)

    @extend_schema(request=None, responses=ShareSerializer, parameters=[_SET_ID])
    @action(detail=True, methods=["post"])
    def submit(self, request: Request, pk: int) -> Response:
        """Lock one's labels, for ever."""
        work = _worklist_for(person_of(request), label_set__pk=pk)
        labels.submit(assignment=work.assignment)
        share = worklist.shares(Assignment.objects.filter(pk=work.assignment.pk))[0]
        return Response(ShareSerializer(share).data, headers=NO_STORE)


class LabelTaskViewSet(viewsets.ViewSet):
    """Tasks of one's own label sets."""

    permission_classes = [IsAuthenticated, IsAnnotator]
    lookup_value_converter = "uuid"

    @extend_schema(responses=TaskSerializer, parameters=[_TASK_ID])
    def retrieve(self, request: Request, pk: uuid.UUID) -> Response:
        work, task = _task_for(person_of(request), pk)
        return Response(TaskSerializer(task, context={"labels": work.labels}).data, headers=NO_STORE)

    @extend_schema(request=PressSerializer, responses=LabelSerializer, parameters=[_TASK_ID])
    @action(detail=True, methods=["post"])
    def label(self, request: Request, pk: uuid.UUID) -> Response:
        """Store one press; the same press twice is stored once. Answers with the label that counts."""
        work, task = _task_for(person_of(request), pk)
        press = PressSerializer(data=request.data)
        press.is_valid(raise_exception=True)
        made = labels.record(assignment=work.assignment, task=task, **press.validated_data)
        return Response(LabelSerializer(made).data, headers=NO_STORE)


def _worklist_for(user: User, **of: Any) -> Worklist:
    assignment = Assignment.objects.select_related("label_set").filter(person=user, **of).first()
    if assignment is None:
        raise Http404
    return Worklist(assignment)


def _task_for(user: User, pk: uuid.UUID) -> tuple[Worklist, LabelTask]:
    work = _worklist_for(user, label_set__tasks=pk)
    return work, LabelTask.objects.select_related("image").get(pk=pk)
