"""Near duplicates, side by side for a decision."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotate import selectors
from annotate.models import ImagePair
from annotate.permissions import author_required, person_of
from annotate.services import duplicates
from fpco_site.errors import Invalid

PER_PAGE = 50
DECIDED = "decided"


@require_safe
@author_required
def duplicate_list(request: HttpRequest) -> HttpResponse:
    """The first open pair, large; or the pairs that were decided."""
    decided = request.GET.get("show") == DECIDED
    pairs = selectors.decided_pairs() if decided else selectors.open_pairs_with_items()
    page = Paginator(pairs, PER_PAGE if decided else 1).get_page(request.GET.get("page"))
    pair = None if decided or not page.object_list else page.object_list[0]
    context = {
        "page_obj": page,
        "decided": decided,
        "pair": pair,
        "sides": selectors.sides(pair) if pair else [],
        "open_count": selectors.open_pairs().count(),
        "decided_count": selectors.decided_pairs().count(),
        "near": duplicates.NEAR,
    }
    return render(request, "annotate/duplicate_list.html", context)


@require_POST
@author_required
def duplicate_decide(request: HttpRequest, pk: int) -> HttpResponse:
    pair = get_object_or_404(ImagePair.objects.select_related("first", "second"), pk=pk)
    kept = {"different": None, "first": pair.first, "second": pair.second}
    choice = request.POST.get("keep", "")
    if choice not in kept:
        raise Invalid("Choose whether the two are different, or which of them to keep.")
    duplicates.decide(pair=pair, keep=kept[choice], by=person_of(request))
    said = "both are kept" if kept[choice] is None else f"{kept[choice]} is kept, the other set aside"
    messages.success(request, f"{pair.first} and {pair.second}: {said}.")
    return redirect("duplicate_list")


@require_POST
@author_required
def duplicate_undo(request: HttpRequest, pk: int) -> HttpResponse:
    pair = duplicates.undo(pair=get_object_or_404(ImagePair, pk=pk))
    messages.success(request, f"{pair.first} and {pair.second} are to be decided again.")
    return redirect("duplicate_list")
