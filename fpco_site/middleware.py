"""Our own errors as pages: one clear sentence with the right status."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from fpco_site.errors import FpcoError


class Refusals:
    """Turns an `FpcoError` that a view raises into a page, or into JSON for a script that asked for it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, FpcoError):
            return None
        answer = _as_json(error) if _wants_json(request) else _as_page(request, error)
        answer["Cache-Control"] = "no-store"
        return answer


def _wants_json(request: HttpRequest) -> bool:
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"


def _as_json(error: FpcoError) -> HttpResponse:
    return JsonResponse({"detail": error.message}, status=error.status)


def _as_page(request: HttpRequest, error: FpcoError) -> HttpResponse:
    return render(request, "refused.html", {"message": error.message, "status": error.status}, status=error.status)
