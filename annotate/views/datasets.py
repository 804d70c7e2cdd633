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
from annotate.services import datasets
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
    if request.method == "POST" and form.is_valid():
        try:
            dataset = datasets.freeze(**form.cleaned_data, by=person_of(request))
        except FpcoError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, f"{dataset} is frozen.")
            return redirect("dataset_detail", dataset.pk)
    counts = selectors.cell_counts()
    context = {
        "form": form,
        "ready": datasets.readiness(),
        "full": sum(count.approved >= count.quota for count in counts),
        "cells": len(counts),
        "quota": counts[0].quota,
    }
    return render(request, "annotate/dataset_freeze.html", context, status=400 if form.errors else 200)


@require_safe
@reader_required
def dataset_detail(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_object_or_404(Dataset.objects.select_related("created_by"), pk=pk)
    cell = tuple(request.GET.get(name, "") for name in ("complexity", "category", "premise_class"))
    here = reverse("dataset_detail", args=[pk])
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
