"""Where a dataset comes from: what changed since another version, and the way of each item from its picture."""

from collections.abc import Callable, Iterator
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from annotate import differences, history, provenance
from annotate.models import Dataset, DatasetItem, Item
from annotate.permissions import reader_required
from fpco_site.forms import whole_number

PER_PAGE = 15


@require_safe
@reader_required
def dataset_differences(request: HttpRequest, pk: int) -> HttpResponse:
    """From another dataset, `from` in the address, to this one."""
    dataset = get_object_or_404(Dataset, pk=pk)
    others = list(Dataset.objects.exclude(pk=pk))
    chosen = whole_number(request.GET.get("from", ""))
    former = next((other for other in others if other.pk == chosen), None)
    context: dict[str, Any] = {"dataset": dataset, "others": others, "former": former, "section": "dataset_list"}
    if former is not None:
        found = differences.between(former, dataset)
        page = Paginator(found.changed, PER_PAGE).get_page(request.GET.get("page"))
        context |= {"found": found, "page_obj": page, "changes": found.details(page.object_list)}
        context |= {"added": _named(dataset, found.added), "removed": _named(former, found.removed)}
    return render(request, "annotate/dataset_differences.html", context)


@require_safe
@reader_required
def item_provenance(request: HttpRequest, pk: int, item: int) -> HttpResponse:
    row = get_object_or_404(
        DatasetItem.objects.select_related("dataset__created_by", "image__added_by", "source_item"), pk=item, dataset=pk
    )
    [record] = provenance.records([row])
    context = {
        "dataset": row.dataset,
        "item": row,
        "record": record,
        "entries": _versions(row.source_item)[::-1],
        "unknown": provenance.UNKNOWN,
        "section": "dataset_list",
    }
    return render(request, "annotate/item_provenance.html", context)


@require_safe
@reader_required
def provenance_jsonl(request: HttpRequest, pk: int) -> HttpResponseBase:
    return _download(pk, provenance.json_lines, "jsonl", "application/jsonl")


@require_safe
@reader_required
def provenance_csv(request: HttpRequest, pk: int) -> HttpResponseBase:
    return _download(pk, provenance.csv_lines, "csv", "text/csv")


def _download(pk: int, lines: Callable[[Dataset], Iterator[str]], suffix: str, kind: str) -> HttpResponseBase:
    dataset = get_object_or_404(Dataset, pk=pk)
    body = (line.encode("utf-8", "backslashreplace") for line in lines(dataset))
    name = f"{slugify(dataset.name) or 'dataset'}-provenance.{suffix}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(body, content_type=f"{kind}; charset=utf-8", headers=headers)


def _named(dataset: Dataset, keys: list[str]) -> list[DatasetItem]:
    """The first of these items, to be shown with their picture."""
    return list(dataset.items.filter(key__in=keys[:PER_PAGE]).select_related("image").order_by("key"))


def _versions(item: Item | None) -> list[dict[str, Any]]:
    """Each version of the item with what it changed, the newest first."""
    return history.entries(item.revisions.select_related("by").order_by("version")) if item else []
