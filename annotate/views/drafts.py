"""The drafts panel of an item: ask for a draft, watch it come, put it in."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotate.forms.items import ReasonForm
from annotate.models import Draft, Drafter, Item
from annotate.permissions import author_required, person_of
from annotate.services import drafters, drafts
from fpco_site.forms import whole_number


@require_POST
@author_required
def draft_request(request: HttpRequest, key: str) -> HttpResponse:
    item = get_object_or_404(Item, key=key)
    chosen = whole_number(request.POST.get("drafter", ""))
    drafter = drafters.default() if chosen is None else get_object_or_404(Drafter, pk=chosen)
    drafts.request(
        item=item,
        kind=request.POST.get("kind", ""),
        drafter=drafter,
        by=person_of(request),
        alternatives=whole_number(request.POST.get("alternatives", "")) or 1,
    )
    if request.htmx:  # type: ignore[attr-defined]
        return _panel(request, item)
    messages.info(request, "The draft is being made.")
    return redirect("item_edit", key)


@require_safe
@author_required
def draft_panel(request: HttpRequest, key: str) -> HttpResponse:
    return _panel(request, get_object_or_404(Item, key=key))


@require_POST
@author_required
def draft_apply(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    draft = get_object_or_404(Draft, pk=pk, item__key=key)
    drafts.apply(draft=draft, version=ReasonForm(request.POST).named()["version"], by=person_of(request))
    messages.success(request, "The draft is put in. The former texts are in the history.")
    return redirect("item_edit", key)


def _panel(request: HttpRequest, item: Item) -> HttpResponse:
    """The list of drafts alone: what a person chooses or types beside it is left as it is."""
    return render(request, "annotate/draft_panel.html#list", {"item": item, **drafts.panel(item)})
