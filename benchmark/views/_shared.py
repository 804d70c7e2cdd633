"""What several pages of machines' work share."""

from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest

PER_PAGE = 50


def page_of[M: Model](request: HttpRequest, rows: QuerySet[M], per_page: int = PER_PAGE) -> "Page[M]":
    """The page of rows that the address asks for; a page that isn't there is the last."""
    return Paginator(rows, per_page).get_page(request.GET.get("page"))


def chosen(request: HttpRequest, name: str, allowed: Any) -> str:
    """A filter's value if it is one of the known ones, else empty."""
    value = request.GET.get(name, "")
    return value if value in allowed else ""
