"""Images: import, origin and place."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Prefetch, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotate import image_csv, licences, selectors
from annotate.axes import Category, Complexity, PremiseClass
from annotate.forms.images import FactsForm, PlaceForm
from annotate.models import Image, ImagePair, Item
from annotate.permissions import author_required, person_of
from annotate.services import images, items
from fpco_site.errors import FpcoError

PER_PAGE = 60


@require_safe
@author_required
def image_list(request: HttpRequest) -> HttpResponse:
    place, q = request.GET.get("place", ""), request.GET.get("q", "").strip()
    licence = request.GET.get("licence", "")
    found = _found(place, q).filter(selectors.licence_needs_a_look()) if licence == "look" else _found(place, q)
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    counts = {
        "all": Image.objects.count(),
        "placed": Image.objects.filter(items__parent=None, items__isnull=False).distinct().count(),
    }
    context = {
        "page_obj": page,
        "place": place,
        "q": q,
        "total": counts["all"],
        "placed": counts["placed"],
        "unplaced": Image.objects.filter(duplicate_of=None).exclude(pk__in=_placed()).count(),
        "licence": licence,
        "look": Image.objects.filter(selectors.licence_needs_a_look()).count(),
        "pairs": selectors.open_pairs().count(),
    }
    return render(request, "annotate/image_list.html", context)


@require_safe
@author_required
def image_detail(request: HttpRequest, pk: int) -> HttpResponse:
    return _detail(request, get_object_or_404(Image, pk=pk))


@require_POST
@author_required
def image_place(request: HttpRequest, pk: int) -> HttpResponse:
    image = get_object_or_404(Image, pk=pk)
    form = PlaceForm(request.POST)
    if not form.is_valid():
        return _detail(request, image, place_form=form)
    item = items.place(
        image=image, cell=form.cleaned_data["cell"], target=form.cleaned_data["target"], by=person_of(request)
    )
    messages.success(request, f"{image} is placed in {', '.join(selectors.cell_words(item.cell))}.")
    if "next" in request.POST:
        following = _found("unplaced", "").filter(pk__gt=pk).first() or _found("unplaced", "").first()
        return redirect("image_detail", following.pk) if following else redirect("image_list")
    return redirect("item_edit", item.key)


@require_POST
@author_required
def image_facts(request: HttpRequest, pk: int) -> HttpResponse:
    image = get_object_or_404(Image, pk=pk)
    form = FactsForm(request.POST)
    if form.is_valid():
        try:
            images.update_facts(image=image, facts=form.cleaned_data, by=person_of(request))
        except FpcoError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, "Saved.")
            return redirect("image_detail", pk)
    return _detail(request, image, facts_form=form)


def _detail(
    request: HttpRequest, image: Image, *, place_form: PlaceForm | None = None, facts_form: FactsForm | None = None
) -> HttpResponse:
    """The page of one image; a form that was refused comes back with what was typed."""
    rows = Image.objects.order_by("pk")
    context = {
        "image": image,
        "item": image.items.filter(parent=None).first(),
        "place_form": place_form or PlaceForm(),
        "facts_form": facts_form or FactsForm(initial={name: getattr(image, name) for name in image_csv.FACTS}),
        "facts_open": facts_form is not None,
        "axes": _axes(),
        "record": images.unescaped(image.source_record),
        "licence_note": licences.sentence(image.license, image.license_url),
        "pairs": ImagePair.objects.filter(Q(first=image) | Q(second=image)).select_related("first", "second")[:6],
        "before": rows.filter(pk__lt=image.pk).last(),
        "after": rows.filter(pk__gt=image.pk).first(),
        **selectors.cell_grid(selectors.cell_counts()),
    }
    status = 400 if place_form or facts_form else 200
    return render(request, "annotate/image_detail.html", context, status=status)


def _axes() -> list[dict[str, object]]:
    """The three axes with a key for each choice: 1-3, 4-7, 8, 9, 0."""
    keys = iter("1234567890")
    named = (("complexity", Complexity), ("category", Category), ("premise_class", PremiseClass))
    return [
        {
            "name": name,
            "label": name.replace("_", " ").capitalize(),
            "choices": [{"value": choice.value, "label": choice.label, "key": next(keys)} for choice in choices],
        }
        for name, choices in named
    ]


def _placed() -> QuerySet[Item, Any]:
    return Item.objects.filter(parent=None).values("image")


def _found(place: str, q: str) -> QuerySet[Image]:
    rows = Image.objects.order_by("pk").prefetch_related(
        Prefetch("items", Item.objects.filter(parent=None), to_attr="placed_items")
    )
    if place in {"placed", "unplaced"}:
        rows = (
            rows.filter(pk__in=_placed())
            if place == "placed"
            else (rows.exclude(pk__in=_placed()).filter(duplicate_of=None))
        )
    if q:
        rows = rows.filter(Q(name__icontains=q) | Q(target__icontains=q) | Q(sha256__startswith=q.lower()))
    return rows
