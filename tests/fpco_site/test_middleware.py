"""Our own errors answer with their sentence and status, as a page or as JSON."""

from collections.abc import Callable

import pytest
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path

from annotate.models import User
from fpco_site.errors import Withheld


def refuse(request: HttpRequest) -> HttpResponse:
    raise Withheld("Hidden <b>until</b> you submit.")


def lose(request: HttpRequest) -> HttpResponse:
    raise Http404


def collide(request: HttpRequest) -> HttpResponse:
    raise IntegrityError("UNIQUE constraint failed: secret_table.secret_column")


urlpatterns = [
    path("refuse/", refuse),
    path("collide/", collide),
    path("lose/", lose),
    path("", include("annotate.urls")),
]
pytestmark = pytest.mark.urls(__name__)


def test_a_refusal_is_a_page_with_its_sentence_as_text(ada: User, as_: Callable[[User], Client]) -> None:
    reply = as_(ada).get("/refuse/", headers={"accept": "text/html"})
    assert reply.status_code == 403
    assert "Hidden &lt;b&gt;until&lt;/b&gt; you submit." in reply.text
    assert reply["Cache-Control"] == "no-store"


def test_a_script_that_asks_for_json_gets_the_sentence(ada: User, as_: Callable[[User], Client]) -> None:
    reply = as_(ada).get("/refuse/", headers={"accept": "application/json"})
    assert (reply.status_code, reply.json()) == (403, {"detail": "Hidden <b>until</b> you submit."})


def test_what_is_not_found_stays_not_found(ada: User, as_: Callable[[User], Client]) -> None:
    assert as_(ada).get("/lose/").status_code == 404


def test_two_requests_that_met_in_the_database_are_a_conflict(ada: User, as_: Callable[[User], Client]) -> None:
    reply = as_(ada).get("/collide/", headers={"accept": "text/html"})
    assert reply.status_code == 409
    assert "Nothing was stored twice" in reply.text
    assert "secret" not in reply.text
