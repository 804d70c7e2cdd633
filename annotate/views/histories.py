"""The history of an item: every version, verdict and comment; an old version's texts can come back."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotate import history
from annotate.forms.items import ReasonForm
from annotate.models import Item
from annotate.permissions import author_required, person_of
from annotate.services import comments, items, reviews, rules
from annotate.views.items import address


@require_safe
@author_required
def item_history(request: HttpRequest, key: str) -> HttpResponse:
    item, person = get_object_or_404(Item.objects.select_related("image"), key=key), person_of(request)
    revisions = item.revisions.select_related("by").order_by("version")
    remarks = comments.visible(item, person, rules.current())
    context = {
        "item": item,
        "entries": history.timeline(revisions, reviews.visible(item, person), remarks),
    }
    return render(request, "annotate/item_history.html", context)


@require_POST
@author_required
def item_restore(request: HttpRequest, key: str, version: int) -> HttpResponse:
    """Make the texts of that version the item's again, as its next version."""
    item = get_object_or_404(Item, key=key)
    former = get_object_or_404(item.revisions, version=version)
    given = ReasonForm(request.POST).named()
    saved = items.restore(item=item, former=former, by=person_of(request), **given)
    if saved.version == given["version"]:
        messages.info(request, "These are the item's texts already.")
    else:
        messages.success(request, f"The texts of version {version} are back, as version {saved.version}.")
    return redirect(address(request, "item_history", key))
