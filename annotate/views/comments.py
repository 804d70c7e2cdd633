"""Comments on an item or one line of it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from annotate.forms.items import CommentForm, require_valid
from annotate.models import Comment, Item
from annotate.permissions import author_required, person_of
from annotate.services import comments, rules
from annotate.views.items import address
from fpco_site.errors import Invalid


@require_POST
@author_required
def comment_add(request: HttpRequest, key: str) -> HttpResponse:
    item = get_object_or_404(Item, key=key)
    form = CommentForm(request.POST)
    if not request.POST.get("text", "").strip():
        raise Invalid("Say something.")
    require_valid(form)
    given = form.cleaned_data
    comments.add(item=item, version=given["version"], text=given["text"], by=person_of(request), **form.about())
    return redirect(address(request, "item_review", key) + "#comments")


@require_POST
@author_required
def comment_resolve(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    comments.resolve(comment=_comment(request, key, pk), by=person_of(request))
    return redirect(address(request, "item_review", key) + "#comments")


@require_POST
@author_required
def comment_open(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    comments.open_again(comment=_comment(request, key, pk), by=person_of(request))
    return redirect(address(request, "item_review", key) + "#comments")


def _comment(request: HttpRequest, key: str, pk: int) -> Comment:
    """A comment that this person may see."""
    item = get_object_or_404(Item, key=key)
    shown = comments.visible(item, person_of(request), rules.current())
    return get_object_or_404(item.comments, pk__in=[row.pk for row in shown if row.pk == pk])
