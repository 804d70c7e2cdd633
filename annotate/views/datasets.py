"""Datasets: the list, freezing, contents, one frozen item."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import drafting, selectors
from annotate.forms.datasets import FreezeForm
from annotate.models import Dataset, DatasetItem
from annotate.permissions import author_required, person_of, reader_required
from annotate.services import datasets, freezing
from annotate.services.freezing import Level
from fpco_site.errors import FpcoError

PER_PAGE = 60


@require_safe
@reader_required
def dataset_list(request: HttpRequest) -> HttpResponse:
    rows = Dataset.objects.annotate(item_count=Count("items")).select_related("created_by")
    return render(request, "annotate/dataset_list.html", {"datasets": rows})


@require_http_methods(["GET", "HEAD", "POST"])
@author_required
def dataset_freeze(request: HttpRequest) -> HttpResponse:
    form = FreezeForm(request.POST) if request.method == "POST" else FreezeForm()
    ticked = request.POST.getlist("accepted")
    if request.method == "POST" and form.is_valid():
        try:
            dataset = freezing.freeze(name=form.cleaned_data["name"], by=person_of(request), accepted=ticked)
        except FpcoError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, f"{dataset} is frozen.")
            return redirect("dataset_detail", dataset.pk)
    rows = freezing.checks(read_files=request.method == "POST" or "files" in request.GET)
    context = {
        "form": form,
        "rows": [{"check": row, "href": _meant(row), "on": row.ticket in ticked} for row in rows],
        "approved": next(row.count for row in rows if row.code == "approved"),
        "stops": sum(row.level is Level.STOPS for row in rows),
        "warnings": sum(row.level is Level.WARN for row in rows),
    }
    return render(request, "annotate/dataset_freeze.html", context, status=400 if form.errors else 200)


def _meant(row: freezing.Check) -> str:
    """Where the things are that a row of the check list means."""
    queue, images = reverse("review_queue"), reverse("image_list")
    places = {
        "approved": f"{queue}?state=in_review" if row.level is Level.STOPS else f"{queue}?state=approved",
        "unfinished": f"{queue}?state=in_review",
        "quotas": reverse("cells"),
        "licences": images,
        "files": f"{reverse('dataset_freeze')}?files=1" if row.level is Level.LATER else "",
    }
    return places.get(row.code, "")


@require_safe
@reader_required
def dataset_detail(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_object_or_404(Dataset.objects.select_related("created_by"), pk=pk)
    cell = tuple(request.GET.get(name, "") for name in ("complexity", "category", "premise_class"))
    here, checks = reverse("dataset_detail", args=[pk]), freezing.as_rows(dataset.checks)
    rows = dataset.items.select_related("image").order_by("key")
    if all(cell):
        rows = rows.filter(complexity=cell[0], category=cell[1], premise_class=cell[2])
    context = {
        "dataset": dataset,
        "page_obj": Paginator(rows, PER_PAGE).get_page(request.GET.get("page")),
        "chosen": selectors.known_cell_words(cell),
        "total": dataset.items.count(),
        "bare": dataset.items.filter(image=None).count(),
        "runs_url": _url_of("dataset_runs", pk),
        "checks": checks,
        "accepted": sum(check.level is Level.WARN for check in checks),
        **selectors.cell_grid(selectors.frozen_counts(dataset), href=lambda cell: selectors.cell_query(here, cell)),
    }
    return render(request, "annotate/dataset_detail.html", context)


@require_POST
@author_required
def dataset_attach(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_object_or_404(Dataset, pk=pk)
    found = datasets.attach_images(dataset=dataset)
    left = dataset.items.filter(image=None).count()
    messages.info(request, f"{found} pictures were found by their hash; {left} items still have none.")
    return redirect("dataset_detail", pk)


@require_safe
@reader_required
def dataset_item(request: HttpRequest, pk: int, item: int) -> HttpResponse:
    row = get_object_or_404(
        DatasetItem.objects.select_related("dataset", "image", "source_item"), pk=item, dataset__pk=pk
    )
    same = DatasetItem.objects.filter(dataset=pk).order_by("key")
    turns = [
        {"turn": turn, "content": content, "modified": modified if turn.false_premise else []}
        for turn in row.turns.all()
        for content, modified in [
            drafting.split_marks(turn.content, turn.modified if turn.false_premise else turn.content)
        ]
    ]
    description, modified_description = drafting.split_marks(row.target_description, row.modified_target_description)
    context = {
        "dataset": row.dataset,
        "item": row,
        "turns": turns,
        "description": description,
        "modified_description": modified_description,
        "before": same.filter(key__lt=row.key).last(),
        "after": same.filter(key__gt=row.key).first(),
    }
    return render(request, "annotate/dataset_item.html", context)


def _url_of(name: str, pk: int) -> str:
    """The address of a page of the layer above, which may not be served; empty where it is not."""
    try:
        return reverse(name, args=[pk])
    except NoReverseMatch:
        return ""
