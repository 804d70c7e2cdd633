"""Placing: pictures without a place one after the other, the 36 cells, and moving an item from one to another."""

from typing import Any

from django.contrib import messages
from django.db.models import TextChoices
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import cells, selectors
from annotate.axes import Category, Cell, Complexity, PremiseClass
from annotate.forms.images import PlaceForm
from annotate.forms.items import ReasonForm
from annotate.models import Image, Item
from annotate.models.items import ItemState
from annotate.permissions import author_required, person_of
from annotate.services import items
from annotate.services import placing as placings
from fpco_site.errors import Conflict, FpcoError, Invalid, require_plain
from fpco_site.forms import whole_number

MEMORY = "placing"  # in the session: the cell chosen last, and the items placed last
REMEMBERED = 100


@require_http_methods(["GET", "HEAD", "POST"])
@author_required
def placing(request: HttpRequest) -> HttpResponse:
    """One picture without a place and the keys for its cell; a POST places it and shows the next."""
    if request.method != "POST":
        return _page(request, cells.candidate(whole_number(request.GET.get("image", ""))))
    image = get_object_or_404(Image, pk=whole_number(request.POST.get("image", "")))
    form = PlaceForm(request.POST)
    if not form.is_valid():
        return _page(request, cells.candidate(image.pk), form=form)
    following = cells.unplaced().filter(pk__gt=image.pk).first()
    try:
        item = placings.place(image=image, **form.cleaned_data, by=person_of(request))
    except Conflict as error:
        messages.error(request, error.message)
    else:
        _remember(request, item)
        messages.success(request, f"{image} is in {', '.join(selectors.cell_words(item.cell))}.")
    return redirect(reverse("placing") + (f"?image={following.pk}" if following else ""))


@require_POST
@author_required
def placing_undo(request: HttpRequest) -> HttpResponse:
    """Take the last placing back and show its picture again."""
    memory = _memory(request)
    item = Item.objects.filter(key=require_plain(request.POST.get("item", ""))).select_related("image").first()
    if item is None:
        messages.info(request, "That placing has been taken back already.")
        return redirect("placing")
    image = item.image
    try:
        placings.take_back(item=item, by=person_of(request))
    except Conflict as error:
        messages.error(request, error.message)
        return redirect("placing")
    _keep(request, memory["cell"], [key for key in memory["items"] if key != item.key])
    messages.success(request, f"{image} has no place again.")
    return redirect(f"{reverse('placing')}?image={image.pk}")


@require_safe
@author_required
def cells_page(request: HttpRequest) -> HttpResponse:
    """What is missing, then the 36 cells with their items in every state."""
    counts = selectors.cell_counts()
    found = cells.gaps(counts)
    shown = found if "all" in request.GET else found[:8]
    context = {
        "gaps": shown,
        "more": len(found) - len(shown),
        "missing": sum(gap.missing for gap in found),
        "unapproved": sum(gap.unapproved for gap in found),
        "unplaced": cells.unplaced().count(),
        "quota": counts[0].quota,
        "total": sum(count.placed for count in counts),
        "section": "image_list",
        **cells.grid(counts),
    }
    return render(request, "annotate/cells.html", context)


@require_safe
@author_required
def cell_page(request: HttpRequest) -> HttpResponse:
    """One cell: its items by state, and the pictures that could join them."""
    cell = cells.named(request.GET.get(name, "") for name in cells.AXES)
    if cell is None:
        return redirect("cells")
    rows = Item.objects.filter(parent=None, **dict(zip(cells.AXES, cell, strict=True))).select_related("image")
    count = next(count for count in selectors.cell_counts() if count.cell == cell)
    context = {
        "gap": cells.Gap(count),
        "count": count,
        "words": selectors.cell_words(cell),
        "groups": _groups(list(rows.order_by("id"))),
        "reserve": cells.reserve(cell)[:12],
        "reserve_count": cells.reserve(cell).count(),
        "section": "image_list",
    }
    return render(request, "annotate/cell.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@author_required
def item_move(request: HttpRequest, key: str) -> HttpResponse:
    """Another cell for an item, with the reason that its history keeps."""
    item = get_object_or_404(Item.objects.select_related("image"), key=key)
    if request.method != "POST":
        return _move_page(request, item)
    form, why = PlaceForm(request.POST), ReasonForm(request.POST)
    try:
        if not form.is_valid() or not why.is_valid():
            raise Invalid("Choose a complexity, a category and a premise class, and say why the item moves.")
        moved = items.move(
            item=item, cell=form.cleaned_data["cell"], reason=why.cleaned_data["reason"], by=person_of(request)
        )
    except FpcoError as error:
        return _move_page(request, item, error=error)
    messages.success(request, f"It is now in {', '.join(selectors.cell_words(moved.cell))}.")
    query = request.GET.urlencode()
    return redirect(reverse("item_review", args=[key]) + (f"?{query}" if query else ""))


def axes(chosen: tuple[str, ...] = ("", "", "")) -> list[dict[str, Any]]:
    """The three axes with a key for each choice: 1-3, 4-7, 8, 9, 0; `chosen` are marked."""
    keys = iter("1234567890")
    named: list[tuple[str, type[TextChoices], str]] = list(
        zip(cells.AXES, (Complexity, Category, PremiseClass), chosen, strict=True)
    )
    return [
        {
            "name": name,
            "label": name.replace("_", " ").capitalize(),
            "choices": [
                {"value": one.value, "label": one.label, "key": next(keys), "on": one.value == on} for one in choices
            ],
        }
        for name, choices, on in named
    ]


def _page(request: HttpRequest, candidate: cells.Candidate | None, *, form: PlaceForm | None = None) -> HttpResponse:
    memory = _memory(request)
    counts = selectors.cell_counts()
    chosen = _chosen(request, memory["cell"])
    context = {
        "candidate": candidate,
        "axes": axes(chosen),
        "errors": form.non_field_errors() if form else [],
        "target": form.data.get("target", "") if form else (candidate.image.target if candidate else ""),
        "last": Item.objects.filter(key__in=memory["items"][-1:]).select_related("image").first(),
        "placed": sum(count.placed for count in counts),
        "wanted": sum(count.quota for count in counts),
        **selectors.cell_grid(counts, href=lambda cell: _choose(candidate, cell)),
    }
    return render(request, "annotate/placing.html", context, status=400 if form else 200)


def _choose(candidate: cells.Candidate | None, cell: Cell) -> str:
    """This page with the same picture and that cell marked."""
    address = selectors.cell_query(reverse("placing"), cell)
    return f"{address}&image={candidate.image.pk}" if candidate else address


def _chosen(request: HttpRequest, former: list[str]) -> tuple[str, ...]:
    """What is marked on each axis: what was just sent, else what the address names, else what was chosen last."""
    given = request.POST if request.method == "POST" else request.GET
    if any(name in given for name in cells.AXES) or request.method == "POST":
        return tuple(given.get(name, "") for name in cells.AXES)
    return (former[0], former[1], former[2]) if len(former) == 3 else ("", "", "")


def _move_page(request: HttpRequest, item: Item, *, error: FpcoError | None = None) -> HttpResponse:
    given = tuple(request.POST.get(name, "") for name in cells.AXES) if error else item.cell
    context = {
        "item": item,
        "axes": axes(given),
        "reason": request.POST.get("reason", ""),
        "error": error,
        "section": "review_queue",
        **selectors.cell_grid(selectors.cell_counts()),
    }
    return render(request, "annotate/item_move.html", context, status=error.status if error else 200)


def _groups(rows: list[Item]) -> list[dict[str, Any]]:
    """The items by state, approved first; states without an item are left out."""
    order = (ItemState.APPROVED, ItemState.IN_REVIEW, ItemState.DRAFT, ItemState.REJECTED)
    groups = [{"state": state, "items": [item for item in rows if item.state == state]} for state in order]
    return [group for group in groups if group["items"]]


def _memory(request: HttpRequest) -> dict[str, list[str]]:
    kept = request.session.get(MEMORY) or {}
    return {"cell": kept.get("cell", []), "items": kept.get("items", [])}


def _keep(request: HttpRequest, cell: "Cell | list[str]", keys: list[str]) -> None:
    request.session[MEMORY] = {"cell": list(cell), "items": keys[-REMEMBERED:]}


def _remember(request: HttpRequest, item: Item) -> None:
    former = [key for key in _memory(request)["items"] if key != item.key]
    _keep(request, item.cell, [*former, item.key])
