"""Connection tests over the API: readers read, authors ask for one."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.models import Drafter
from annotate.permissions import person_of
from benchmark.api._shared import ReadersReadAuthorsWrite
from benchmark.models import ConnectionTest, Detector, EvaluatedModel
from benchmark.services import connections


class ConnectionSerializer(serializers.ModelSerializer[ConnectionTest]):
    """One test: `checks` are its rows, `refused` the settings that the model refuses, with the reason of each."""

    class Meta:
        model = ConnectionTest
        fields = [
            "id",
            "model",
            "detector",
            "drafter",
            "state",
            "verdict",
            "settings",
            "checks",
            "refused",
            "model_answered",
            "calls_made",
            "answered",
            "input_tokens",
            "cached_tokens",
            "output_tokens",
            "reasoning_tokens",
            "seconds",
            "cost",
            "requested_at",
            "finished_at",
        ]


class SubjectSerializer(serializers.Serializer[Any]):
    """Whose connection is tested: exactly one of the three."""

    model = serializers.PrimaryKeyRelatedField(queryset=EvaluatedModel.objects.all(), required=False)
    detector = serializers.PrimaryKeyRelatedField(queryset=Detector.objects.all(), required=False)
    drafter = serializers.PrimaryKeyRelatedField(queryset=Drafter.objects.all(), required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1:
            raise serializers.ValidationError("Name one model, one detector or one drafter.")
        return attrs


class ConnectionViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, ReadersReadAuthorsWrite):
    """Connection tests, the newest first."""

    serializer_class = ConnectionSerializer
    queryset = ConnectionTest.objects.order_by("-id")
    lookup_value_converter = "int"

    @extend_schema(request=SubjectSerializer, responses={202: ConnectionSerializer})
    def create(self, request: Request) -> Response:
        """Ask for a test; the one that is open already where there is one."""
        given = SubjectSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        (subject,) = given.validated_data.values()
        test = connections.request(subject=subject, by=person_of(request))
        return Response(ConnectionSerializer(test).data, status=status.HTTP_202_ACCEPTED)
