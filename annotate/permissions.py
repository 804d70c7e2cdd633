"""Who may open what. A page or API path that is not for one's role does not exist for one: 404.

`LoginRequiredMiddleware` and DRF's default permission have asked for the sign-in before.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate

from django.http import Http404, HttpRequest, HttpResponseBase
from rest_framework.exceptions import NotAuthenticated, NotFound
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from annotate.models.people import Role, User
from fpco_site.errors import Conflict

type View[**P] = Callable[Concatenate[HttpRequest, P], HttpResponseBase]

AUTHORS = frozenset({Role.AUTHOR})
ANNOTATORS = frozenset({Role.AUTHOR, Role.ANNOTATOR})
READERS = frozenset({Role.AUTHOR, Role.READER})


def person_of(request: HttpRequest | Request) -> User:
    """The person who is signed in; 404 where nobody is."""
    if not isinstance(request.user, User):
        raise Http404
    return request.user


def author_required[**P](view: View[P]) -> View[P]:
    """For authors alone."""
    return _for_roles(AUTHORS, view)


def annotator_required[**P](view: View[P]) -> View[P]:
    """For those who may label: annotators and authors."""
    return _for_roles(ANNOTATORS, view)


def reader_required[**P](view: View[P]) -> View[P]:
    """For those who may read results: readers and authors."""
    return _for_roles(READERS, view)


def _for_roles[**P](roles: frozenset[Role], view: View[P]) -> View[P]:
    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        person = person_of(request)
        if person.role not in roles:
            raise Http404
        _require_same(request, person)
        return view(request, *args, **kwargs)

    return guarded


def _require_same(request: HttpRequest, person: User) -> None:
    """What was typed on one person's page is never stored under the name of another who signed in since."""
    whose = request.POST.get("person", "") if request.method == "POST" else ""
    if whose and whose != person.get_username():
        raise Conflict(f"You are signed in as {person} now; this page is {whose}'s. Sign in as {whose} to go on.")


class _RolePermission(BasePermission):
    roles: frozenset[Role] = frozenset()

    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.user, User):
            raise NotAuthenticated
        if request.user.role not in self.roles:
            raise NotFound
        return True


class IsAuthor(_RolePermission):
    """API paths for authors alone."""

    roles = AUTHORS


class IsAnnotator(_RolePermission):
    """API paths for annotators and authors."""

    roles = ANNOTATORS


class IsReader(_RolePermission):
    """API paths for readers and authors."""

    roles = READERS
