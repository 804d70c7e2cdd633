"""Case studies and dialogues side by side. All but the list is response-level, so eyes must be open."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotate.models import Dataset, DatasetItem
from annotate.permissions import author_required, person_of, reader_required
from benchmark import case_export, cases, frames
from benchmark.cases import Listed
from benchmark.forms.cases import CaseForm, ItemFilter, NewCaseForm
from benchmark.models import CaseStudy, Dialogue
from benchmark.services import blindness, results
from benchmark.services import cases as service
from benchmark.views._results import dataset_of, datasets
from fpco_site.errors import Conflict, FpcoError, Invalid
from fpco_site.forms import whole_number

PER_PAGE = 50
WAYS = ("left", "right", "up", "down")


@require_safe
@reader_required
def case_list(request: HttpRequest) -> HttpResponse:
    """All case studies; of a dataset that this person labels not even the name, which may quote an answer."""
    person = person_of(request)
    rows = CaseStudy.objects.select_related("dataset", "created_by").annotate(dialogues=Count("pins"))
    context = {
        "section": "results",
        "rows": rows,
        "withheld": blindness.withheld_datasets(person),
        "dataset": dataset_of(request),
        "form": NewCaseForm(initial={"dataset": dataset_of(request)}) if person.is_author else None,
    }
    return render(request, "benchmark/cases.html", context)


@require_POST
@author_required
def case_new(request: HttpRequest) -> HttpResponse:
    form = NewCaseForm(request.POST)
    if not form.is_valid():
        raise Invalid(" ".join(str(error) for errors in form.errors.values() for error in errors))
    dataset = form.cleaned_data["dataset"]
    blindness.refuse_blind(user=person_of(request), dataset=dataset)
    made = service.create(dataset=dataset, name=form.cleaned_data["name"], by=person_of(request))
    return redirect("case_detail", made.pk)


@never_cache
@require_safe
@reader_required
def case_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """The pinned dialogues side by side."""
    case = _seen(request, pk, "case study")
    false_only = request.GET.get("turns") == "false"
    groups = cases.groups(cases.pinned(case), false_only=false_only)
    context = {
        "section": "results",
        "case": case,
        "dataset": case.dataset,
        "groups": groups,
        "false_only": false_only,
        "editable": person_of(request).is_author,
    }
    return render(request, "benchmark/case_detail.html", context)


@never_cache
@require_safe
@reader_required
def case_file(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """The case study to take away: one HTML file or Markdown, pictures in it where their licences allow that."""
    case = _seen(request, pk, "export of a case study")
    groups = cases.groups(cases.pinned(case), false_only=request.GET.get("turns") == "false")
    made = case_export.as_html(case, groups) if form == "html" else case_export.as_markdown(case, groups)
    answer = HttpResponse(made, content_type=f"text/{'html' if form == 'html' else 'markdown'}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="case-study-{case.pk}.{form}"'
    return answer


@never_cache
@author_required
def case_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Name and note; what somebody else saved meanwhile is shown beside, and nothing typed is lost."""
    case = _seen(request, pk, "case study") if request.method != "POST" else _changed(request, pk)
    now = {"name": case.name, "note": case.note, "version": case.version}
    form = CaseForm(request.POST or None, initial=now)
    theirs = None
    if request.method == "POST" and form.is_valid():
        try:
            service.describe(case=case, **form.cleaned_data)
            return redirect("case_detail", pk)
        except Conflict as error:
            theirs = CaseStudy.objects.get(pk=pk)
            form = CaseForm({**form.cleaned_data, "version": theirs.version})
            form.add_error(None, error.message)
        except FpcoError as error:
            form.add_error("name", error.message)
    context = {"section": "results", "case": case, "dataset": case.dataset, "form": form, "theirs": theirs}
    return render(request, "benchmark/case_edit.html", context)


@require_POST
@author_required
def case_pin(request: HttpRequest) -> HttpResponse:
    """Pin dialogues to a case study, or begin one with them."""
    ids = [number for text in request.POST.getlist("dialogue") if (number := whole_number(text)) is not None]
    dialogues = list(Dialogue.objects.select_related("run__dataset").filter(pk__in=ids))
    dialogues.sort(key=lambda dialogue: ids.index(dialogue.pk))
    if not dialogues:
        raise Invalid("Choose at least one dialogue to pin.")
    dataset, person = dialogues[0].run.dataset, person_of(request)
    blindness.refuse_blind(user=person, dataset=dataset)
    if chosen := request.POST.get("case", ""):
        case = get_object_or_404(CaseStudy, pk=whole_number(chosen))
        new = service.pin(case=case, dialogues=dialogues, by=person)
    else:
        case = service.create(dataset=dataset, name=request.POST.get("name", ""), dialogues=dialogues, by=person)
        new = len(dialogues)
    messages.success(request, f"Pinned {new} dialogue{'s' if new != 1 else ''} to {case.name}.")
    return redirect("case_detail", case.pk)


@require_POST
@author_required
def case_unpin(request: HttpRequest, pk: int) -> HttpResponse:
    service.unpin(case=_changed(request, pk), dialogue=_posted_dialogue(request))
    return redirect("case_detail", pk)


@require_POST
@author_required
def case_move(request: HttpRequest, pk: int) -> HttpResponse:
    case, way = _changed(request, pk), request.POST.get("way", "")
    if way not in WAYS:
        raise Invalid("A dialogue moves left or right, its item up or down.")
    service.move(case=case, dialogue=_posted_dialogue(request), way=way)  # type: ignore[arg-type]
    return redirect("case_detail", pk)


@require_POST
@author_required
def case_delete(request: HttpRequest, pk: int) -> HttpResponse:
    service.delete(case=_changed(request, pk))
    messages.success(request, "The case study is deleted.")
    return redirect("case_list")


@never_cache
@require_safe
@reader_required
def side_items(request: HttpRequest) -> HttpResponse:
    """Items to read: by place, by words, by how much the models correct and the detectors differ on them."""
    dataset = dataset_of(request)
    if dataset is None:
        return redirect("case_list")
    blindness.require_open_eyes(user=person_of(request), dataset=dataset, page="items by their answers")
    result_set = results.default(dataset)
    form = ItemFilter(request.GET)
    rows = _matching(cases.listed(frames.masks(result_set) if result_set else None, dataset), form.said())
    context = {
        "section": "results",
        "dataset": dataset,
        "datasets": datasets(),
        "form": form,
        "page_obj": Paginator(rows, PER_PAGE).get_page(request.GET.get("page")),
        "case": _case_in_address(request, dataset),
    }
    return render(request, "benchmark/side_items.html", context)


@never_cache
@require_safe
@reader_required
def item_sides(request: HttpRequest, pk: int) -> HttpResponse:
    """What every model of the results answered on one item."""
    item = get_object_or_404(DatasetItem.objects.select_related("dataset", "image"), pk=pk)
    blindness.require_open_eyes(user=person_of(request), dataset=item.dataset, page="all models on an item")
    false_only = request.GET.get("turns") == "false"
    groups = cases.groups(cases.over_item(item, results.default(item.dataset)), false_only=false_only)
    context = {
        "section": "results",
        "item": item,
        "dataset": item.dataset,
        "group": groups[0] if groups else None,
        "false_only": false_only,
        "case": _case_in_address(request, item.dataset),
        **pinning(request, item.dataset),
    }
    return render(request, "benchmark/item_sides.html", context)


def pinning(request: HttpRequest, dataset: Dataset) -> dict[str, Any]:
    """The case studies that a page offers to pin to; only authors pin."""
    own = person_of(request).is_author
    return {"choosing": own, "cases": CaseStudy.objects.filter(dataset=dataset) if own else ()}


def _seen(request: HttpRequest, pk: int, page: str) -> CaseStudy:
    """The case study, if this person's eyes are open to its dataset; the look is recorded."""
    case = get_object_or_404(CaseStudy.objects.select_related("dataset", "created_by"), pk=pk)
    blindness.require_open_eyes(user=person_of(request), dataset=case.dataset, page=page)
    return case


def _changed(request: HttpRequest, pk: int) -> CaseStudy:
    """The case study that a form changes; not for who is blind to its dataset."""
    case = get_object_or_404(CaseStudy.objects.select_related("dataset", "created_by"), pk=pk)
    blindness.refuse_blind(user=person_of(request), dataset=case.dataset)
    return case


def _posted_dialogue(request: HttpRequest) -> Dialogue:
    return get_object_or_404(Dialogue, pk=whole_number(request.POST.get("dialogue", "")))


def _case_in_address(request: HttpRequest, dataset: Dataset) -> CaseStudy | None:
    """The case study that a picker was opened for."""
    number = whole_number(request.GET.get("case", ""))
    return CaseStudy.objects.filter(pk=number, dataset=dataset).first() if number is not None else None


def _matching(rows: list[Listed], said: dict[str, Any]) -> list[Listed]:
    words = said.get("find", "").casefold()
    kept = [
        row
        for row in rows
        if all(getattr(row.item, axis) == said.get(axis, getattr(row.item, axis)) for axis in frames.BREAKDOWNS)
        and words in f"{row.item.key} {row.item.target_description} {row.item.modified_target_description}".casefold()
    ]
    orders = {
        "share": lambda row: -1.0 if row.share is None else -row.share,
        "least": lambda row: 2.0 if row.share is None else row.share,
        "differ": lambda row: -row.differ,
    }
    order = orders.get(said.get("sort", ""))
    return sorted(kept, key=order) if order else kept
