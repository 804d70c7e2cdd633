"""What models answered, over the API. All of it is response-level, so eyes must be open."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import mixins, serializers, viewsets
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response as Reply

from annotate.permissions import IsReader, person_of
from benchmark import reader
from benchmark.api._shared import NO_STORE
from benchmark.models import Attempt, Dialogue, Response
from benchmark.services import blindness


class LabelSerializer(serializers.Serializer[Any]):
    detector = serializers.CharField(source="detector.slug")
    version = serializers.IntegerField(source="detector.version")
    detect = serializers.BooleanField()
    simulated = serializers.BooleanField(source="detector.simulated")


class TokensSerializer(serializers.Serializer[Any]):
    input_tokens = serializers.IntegerField(allow_null=True)
    cached_tokens = serializers.IntegerField(allow_null=True)
    output_tokens = serializers.IntegerField(allow_null=True)
    reasoning_tokens = serializers.IntegerField(allow_null=True)


class ProvenanceSerializer(serializers.Serializer[Any]):
    """How a call was asked: `not_sent` names the settings that were asked for and left out, with the reason."""

    model_asked = serializers.CharField()
    settings = serializers.DictField()
    not_sent = serializers.DictField(child=serializers.CharField())
    prompt = serializers.CharField()
    prompt_sha256 = serializers.CharField()
    image_sha256 = serializers.CharField()
    software = serializers.DictField(child=serializers.CharField())


class AttemptSerializer(TokensSerializer):
    """One call, answered or not, and how it was asked."""

    id = serializers.IntegerField()
    outcome = serializers.CharField()
    reason = serializers.CharField()
    error = serializers.CharField()
    error_class = serializers.CharField()
    status = serializers.IntegerField(allow_null=True)
    request_id = serializers.CharField()
    request_sha256 = serializers.CharField()
    started_at = serializers.DateTimeField()
    seconds = serializers.FloatField()
    provenance = serializers.SerializerMethodField()

    @extend_schema_field(ProvenanceSerializer)
    def get_provenance(self, attempt: Attempt) -> Any:
        return reader.provenance(attempt)


class SpokenSerializer(serializers.Serializer[Any]):
    """What was asked at a turn, and what came back: null without text, `outcome` says why."""

    turn = serializers.IntegerField(source="number")
    false_premise = serializers.BooleanField(source="question.false_premise")
    asked = serializers.CharField(source="question.asked")
    content = serializers.CharField(source="question.content")
    outcome = serializers.CharField()
    response = serializers.CharField(source="response.text", default=None, allow_null=True)


class TurnSerializer(SpokenSerializer):
    """One turn: what was asked, what came back (null without text), and its labels."""

    finish_reason = serializers.CharField(source="response.finish_reason", default=None, allow_null=True)
    model_answered = serializers.CharField(source="response.model_answered", default=None, allow_null=True)
    seconds = serializers.FloatField(source="response.seconds", default=None, allow_null=True)
    tokens = TokensSerializer(source="response", allow_null=True)
    attempts = AttemptSerializer(many=True)
    labels = LabelSerializer(many=True)


class DialogueSerializer(serializers.Serializer[Any]):
    """A dialogue, turn by turn."""

    id = serializers.IntegerField()
    run = serializers.IntegerField(source="run_id")
    item = serializers.CharField(source="item.key")
    state = serializers.CharField()
    simulated = serializers.BooleanField(source="run.simulated")
    turns = serializers.SerializerMethodField()

    def get_turns(self, dialogue: Dialogue) -> list[dict[str, Any]]:
        return [dict(TurnSerializer(turn).data) for turn in reader.turns(dialogue)]


class DialogueViewSet(mixins.RetrieveModelMixin, viewsets.GenericViewSet[Any]):
    """One dialogue with all its turns; withheld from people who label its dataset."""

    permission_classes = [IsAuthenticated, IsReader]
    serializer_class = DialogueSerializer
    queryset = Dialogue.objects.select_related("run__dataset", "item")
    lookup_value_converter = "int"

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Reply:
        dialogue: Dialogue = self.get_object()
        blindness.require_open_eyes(
            user=person_of(request), dataset=dialogue.run.dataset, page="api dialogue", dialogue=dialogue
        )
        return Reply(DialogueSerializer(dialogue).data, headers={"Cache-Control": NO_STORE})


class ResponseSerializer(serializers.ModelSerializer[Response]):
    """One answer, as a row of `responses.jsonl` has it."""

    item = serializers.CharField(source="dialogue.item.key")
    outcome = serializers.CharField()
    response = serializers.CharField(source="text")

    class Meta:
        model = Response
        fields = [
            "id",
            "dialogue",
            "item",
            "turn",
            "outcome",
            "response",
            "finish_reason",
            "model_answered",
            "seconds",
            "input_tokens",
            "cached_tokens",
            "output_tokens",
            "reasoning_tokens",
        ]
