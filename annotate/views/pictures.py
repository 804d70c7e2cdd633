"""Picture files. An address carries only the hash, and only those who may see a picture get it."""

from collections.abc import Callable

from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.views.decorators.http import require_safe

from annotate import selectors
from annotate.models import Image
from annotate.permissions import person_of
from annotate.services import images

# The bytes of a hash never change; private, as who may see them is a matter of the person.
CACHE = "private, max-age=86400"


@require_safe
def picture(request: HttpRequest, digest: str) -> HttpResponseBase:
    image = _visible(request, digest)
    return _answer(request, digest, lambda: FileResponse(_opened(image), content_type=image.mime))


@require_safe
def thumb(request: HttpRequest, digest: str) -> HttpResponseBase:
    image = _visible(request, digest)
    return _answer(request, f"{digest}-thumb", lambda: _thumb(image))


def _visible(request: HttpRequest, digest: str) -> Image:
    image = selectors.visible_picture(user=person_of(request), sha256=digest)
    if image is None:
        raise Http404("There is no such picture.")
    return image


def _answer(request: HttpRequest, tag: str, make: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    etag = quote_etag(tag)
    known = get_conditional_response(request, etag=etag)
    response = known if known is not None else make()
    response["ETag"] = etag
    response["Cache-Control"] = CACHE
    return response


def _opened(image: Image):  # type: ignore[no-untyped-def]
    try:
        return image.file.open("rb")
    except FileNotFoundError as error:
        raise Http404("The file of this picture is missing.") from error


def _thumb(image: Image) -> HttpResponse:
    try:
        data = images.thumbnail(image).read_bytes()
    except FileNotFoundError as error:
        raise Http404("The file of this picture is missing.") from error
    return HttpResponse(data, content_type="image/jpeg")
