"""Our own errors as pages: one clear sentence with the right status; and addresses that no database can look up."""

import logging
from collections.abc import Callable
from urllib.parse import urlsplit

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme

from fpco_site.errors import Conflict, FpcoError

log = logging.getLogger(__name__)


class SignInFirst(LoginRequiredMiddleware):
    """Sends who is signed out to sign in, and then back to a page: to the one that a form was sent from."""

    def handle_no_permission(
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseRedirect:
        if request.method in {"GET", "HEAD"}:
            return super().handle_no_permission(request, view_func)
        came = request.headers.get("Referer", "")
        ours = url_has_allowed_host_and_scheme(came, {request.get_host()}, require_https=request.is_secure())
        page = urlsplit(came)._replace(scheme="", netloc="", fragment="").geturl() if ours else ""
        return redirect_to_login(page or "/", self.get_login_url(view_func))


class Refusals:
    """Turns an `FpcoError` that a view raises into a page, or into JSON for a script that asked for it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # PostgreSQL takes no NUL: nothing can be looked up by it, so nothing is there.
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            raise Http404
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        refused = refusal(error)
        if refused is None:
            return None
        answer = _as_json(refused) if _wants_json(request) else _as_page(request, refused)
        answer["Cache-Control"] = "no-store"
        return answer


def refusal(error: Exception) -> FpcoError | None:
    """What to tell a person of an error; None where it is not for a person.

    Two requests that check at the same moment meet in the database, whose constraint lets one through.
    The other is rolled back whole, so it is a conflict and not a failure of the site.
    """
    if isinstance(error, FpcoError):
        return error
    if isinstance(error, IntegrityError):
        log.warning("A constraint refused what a service had let through.", exc_info=error)
        return Conflict(
            "Somebody else, or a second click, has just done this. Nothing was stored twice; reload the page."
        )
    return None


def _wants_json(request: HttpRequest) -> bool:
    return request.get_preferred_type(["text/html", "application/json"]) == "application/json"


def _as_json(error: FpcoError) -> HttpResponse:
    return JsonResponse({"detail": error.message}, status=error.status)


def _as_page(request: HttpRequest, error: FpcoError) -> HttpResponse:
    return render(request, "refused.html", {"message": error.message, "status": error.status}, status=error.status)
