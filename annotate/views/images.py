"""Images: import, origin and place."""

import os.path
from pathlib import Path

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.core.paginator import Paginator
from django.db.models import Prefetch, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import image_csv, selectors
from annotate.axes import Category, Complexity, PremiseClass
from annotate.forms.images import FactsForm, FolderForm, PlaceForm, UploadForm
from annotate.models import Image, Item
from annotate.permissions import author_required, person_of
from annotate.services import images, items
from fpco_site.errors import FpcoError, Invalid

PER_PAGE = 60


@require_safe
@author_required
def image_list(request: HttpRequest) -> HttpResponse:
    place, q = request.GET.get("place", ""), request.GET.get("q", "").strip()
    page = Paginator(_found(place, q), PER_PAGE).get_page(request.GET.get("page"))
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
        "unplaced": counts["all"] - counts["placed"],
    }
    return render(request, "annotate/image_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@author_required
def image_import(request: HttpRequest) -> HttpResponse:
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if request.method == "POST" and form.is_valid():
        try:
            table = _table(form.cleaned_data["table"])
            given = _uploaded(form.cleaned_data["photographs"])
            fates = list(images.import_many(given=given, table=table, by=person_of(request)))
        except FpcoError as error:
            form.add_error("table", error.message)
        else:
            return _show_fates(request, fates)
    return render(request, "annotate/image_import.html", {"form": form, "folder_form": FolderForm()})


@require_POST
@author_required
def image_import_folder(request: HttpRequest) -> HttpResponse:
    form = FolderForm(request.POST)
    if form.is_valid():
        try:
            folder = _server_folder(form.cleaned_data["folder"])
            table = _server_table(folder, form.cleaned_data["csv_name"])
            given = images.in_folder(folder)
            fates = list(images.import_many(given=given, table=table, by=person_of(request)))
        except FpcoError as error:
            form.add_error(None, error.message)
        else:
            return _show_fates(request, fates)
    return render(request, "annotate/image_import.html", {"form": UploadForm(), "folder_form": form})


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
        "twins": Image.objects.filter(phash=image.phash).exclude(pk=image.pk)[:6] if image.phash else [],
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


def _found(place: str, q: str) -> QuerySet[Image]:
    rows = Image.objects.order_by("pk").prefetch_related(
        Prefetch("items", Item.objects.filter(parent=None), to_attr="placed_items")
    )
    if place in {"placed", "unplaced"}:
        rows = (
            rows.filter(pk__in=Item.objects.filter(parent=None).values("image"))
            if place == "placed"
            else (rows.exclude(pk__in=Item.objects.filter(parent=None).values("image")))
        )
    if q:
        rows = rows.filter(Q(name__icontains=q) | Q(target__icontains=q) | Q(sha256__startswith=q.lower()))
    return rows


def _uploaded(files: "list[UploadedFile[bytes]]") -> list[images.Given]:
    return [images.Given(str(file.name), int(file.size or 0), file.read) for file in files]


def _table(file: "UploadedFile[bytes] | None") -> image_csv.Table | None:
    return image_csv.parse(file.read(), name=str(file.name)) if file else None


def _server_folder(name: str) -> Path:
    """A folder below the data folder's import/, and nowhere else."""
    top = (Path(settings.DATA_DIR) / "import").resolve()
    folder = (top / name.strip().lstrip("/")).resolve()
    if not folder.is_relative_to(top) or not os.path.isdir(folder):
        raise Invalid(f"There is no folder {name.strip()!r} below import/ in the data folder of the server.")
    return folder


def _server_table(folder: Path, name: str) -> image_csv.Table | None:
    if not name.strip():
        return None
    path = (folder / name.strip()).resolve()
    if not path.is_relative_to(folder) or not os.path.isfile(path):
        raise Invalid(f"There is no file {name.strip()!r} in that folder.")
    return image_csv.parse(path.read_bytes(), name=path.name)


def _show_fates(request: HttpRequest, fates: list[images.Fate]) -> HttpResponse:
    counts = {outcome.value: sum(fate.outcome == outcome for fate in fates) for outcome in images.Outcome}
    return render(request, "annotate/image_fates.html", {"fates": fates, "counts": counts})
