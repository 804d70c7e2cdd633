"""Images over the API, for authors."""

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import mixins, serializers, viewsets
from rest_framework.permissions import IsAuthenticated

from annotate.models import Image
from annotate.permissions import IsAuthor


class ImageSerializer(serializers.ModelSerializer[Image]):
    """Where a picture comes from; `url` serves its bytes."""

    url = serializers.SerializerMethodField()

    class Meta:
        model = Image
        fields = [
            "id",
            "sha256",
            "original_sha256",
            "phash",
            "mime",
            "width",
            "height",
            "name",
            "target",
            "source",
            "source_id",
            "author",
            "license",
            "license_url",
            "landing_url",
            "added_at",
            "url",
        ]

    @extend_schema_field(serializers.CharField())
    def get_url(self, image: Image) -> str:
        return reverse("picture", args=[image.sha256])


class ImageViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Any]):
    """All images, in the order in which they came."""

    permission_classes = [IsAuthenticated, IsAuthor]
    serializer_class = ImageSerializer
    queryset = Image.objects.order_by("id")
    lookup_value_converter = "int"
