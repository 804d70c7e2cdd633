"""Items over the API, for authors: read them, and edit one over the version that was read."""

from dataclasses import replace
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.models import Item, Turn
from annotate.permissions import IsAuthor, person_of
from annotate.services import items
from annotate.services.items import Question, Texts


class TurnSerializer(serializers.ModelSerializer[Turn]):
    """One question; `modified` is blank on premise-correct turns."""

    turn = serializers.IntegerField(source="number")

    class Meta:
        model = Turn
        fields = ["turn", "content", "modified"]


class ItemSerializer(serializers.ModelSerializer[Item]):
    """An item as it is now; `version` grows by one at every change."""

    image = serializers.CharField(source="image.sha256")
    variant_of = serializers.CharField(source="parent.key", default="")  # the item that a variant was made of
    turns = TurnSerializer(many=True)

    class Meta:
        model = Item
        fields = [
            "key",
            "image",
            "complexity",
            "category",
            "premise_class",
            "state",
            "version",
            "target",
            "target_description",
            "modified_target_description",
            "variant_of",
            "variant",
            "turns",
        ]


class TurnEditSerializer(serializers.Serializer[Any]):
    """What is left out stays as it is."""

    turn = serializers.IntegerField(min_value=1)
    content = serializers.CharField(required=False, allow_blank=True, max_length=2000)
    modified = serializers.CharField(required=False, allow_blank=True, max_length=2000)


class ItemEditSerializer(serializers.Serializer[Any]):
    """New texts over `version`; what is left out stays as it is."""

    version = serializers.IntegerField(min_value=1)
    target = serializers.CharField(required=False, allow_blank=True, max_length=200)
    target_description = serializers.CharField(required=False, allow_blank=True, max_length=500)
    modified_target_description = serializers.CharField(required=False, allow_blank=True, max_length=500)
    turns = TurnEditSerializer(many=True, required=False)


class ItemViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Any]):
    """All items with their questions; variants are no items of the study, and listed with `?variants=1` alone."""

    permission_classes = [IsAuthenticated, IsAuthor]
    serializer_class = ItemSerializer
    queryset = Item.objects.select_related("image", "parent").prefetch_related("turns").order_by("id")
    lookup_field = "key"
    lookup_value_converter = "slug"

    def get_queryset(self) -> QuerySet[Item]:
        rows = super().get_queryset()
        return (
            rows.filter(parent__isnull="variants" not in self.request.query_params) if self.action == "list" else rows
        )

    @extend_schema(parameters=[OpenApiParameter("variants", bool, description="The variants instead of the items.")])
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().list(request, *args, **kwargs)

    @extend_schema(request=ItemEditSerializer, responses=ItemSerializer)
    def partial_update(self, request: Request, key: str) -> Response:
        """Edit the item. Over an older version: 409, and nothing is changed."""
        item = self.get_object()
        given = ItemEditSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        texts = _over(items.texts_of(item), given.validated_data)
        items.edit(item=item, version=given.validated_data["version"], texts=texts, by=person_of(request))
        return Response(ItemSerializer(self.get_object()).data)


def _over(texts: Texts, given: dict[str, Any]) -> Texts:
    names = ("target", "target_description", "modified_target_description")
    questions = dict(texts.questions)
    for turn in given.get("turns", []):
        was = questions.get(turn["turn"], Question())
        questions[turn["turn"]] = replace(was, **{name: turn[name] for name in ("content", "modified") if name in turn})
    return replace(texts, questions=questions, **{name: given[name] for name in names if name in given})
