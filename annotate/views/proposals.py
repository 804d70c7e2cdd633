"""Ready drafts, one item a screen: put one in, hand it to review, discard it, or go on."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotate import proposals
from annotate.forms.items import ReasonForm
from annotate.models import Item
from annotate.permissions import author_required, person_of
from annotate.services import drafts
from fpco_site.errors import FpcoError


@require_safe
@author_required
def proposal_queue(request: HttpRequest) -> HttpResponse:
    """The first item whose drafts wait for a decision; where none does, what to do next."""
    first = proposals.queue().first()
    if first is None:
        return render(request, "annotate/proposal_empty.html", {"section": "review_queue"})
    return redirect("proposal", first.key)


@require_safe
@author_required
def proposal(request: HttpRequest, key: str) -> HttpResponse:
    return _page(request, get_object_or_404(Item.objects.select_related("image"), key=key))


@require_POST
@author_required
def proposal_decide(request: HttpRequest, key: str) -> HttpResponse:
    """Put in, put in and hand to review, or discard the drafts that the form names."""
    item = get_object_or_404(Item.objects.select_related("image"), key=key)
    chosen = proposals.named(item, request.POST.get("drafts", ""))
    try:
        if request.POST.get("do") == "discard":
            drafts.discard(drafts=chosen, by=person_of(request))
            messages.info(request, "Discarded. The draft is kept on the item's page.")
            return _onward(request, item)
        submit = request.POST.get("do") == "submit"
        drafts.require_kept(chosen)
        drafts.put_in(drafts=chosen, version=_version(request), by=person_of(request), submit=submit)
    except FpcoError as error:
        return _page(request, item, error=error)
    if not submit:
        messages.success(request, "The draft is put in. The former texts are in the history.")
        return redirect("item_edit", key)
    messages.success(request, f"{item.target or item.key}: put in and handed to review.")
    return _onward(request, item)


def _onward(request: HttpRequest, item: Item) -> HttpResponse:
    """The same item while more is proposed for it, else the next one."""
    if proposals.queue().filter(pk=item.pk).exists():
        return redirect("proposal", item.key)
    following = proposals.next_after(item)
    return redirect("proposal", following.key) if following else redirect("proposals")


def _version(request: HttpRequest) -> int:
    return int(ReasonForm(request.POST).named()["version"])


def _page(request: HttpRequest, item: Item, *, error: FpcoError | None = None) -> HttpResponse:
    item.refresh_from_db()
    queue = proposals.queue()
    context = {
        "item": item,
        "proposals": proposals.of(item),
        "error": error,
        "total": queue.count(),
        "place": queue.filter(pk__lte=item.pk).count(),
        "before": queue.filter(pk__lt=item.pk).order_by("-id").select_related("image").first(),
        "after": queue.filter(pk__gt=item.pk).select_related("image").first(),
        "section": "review_queue",
    }
    return render(request, "annotate/proposal.html", context, status=error.status if error else 200)
