"""Agreement of the raters of a validation set: the numbers, the answers behind them, CSV and LaTeX."""

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotate.permissions import person_of, reader_required
from benchmark import agreement_answers, frames_agreement, tables_agreement
from benchmark.agreement_page import SetPage, axis_of, level_name, pair_of, premise_of, truth_of
from benchmark.frames_agreement import OVERALL, Frame
from benchmark.models import ValidationSet
from benchmark.printed import FORMS, Printed
from benchmark.services import blindness
from benchmark.views.files import as_file
from benchmark.views.validation import get_validation_set

PER_PAGE = 25
NUMBERS = ("pairs", "groups", "detectors")


@never_cache
@require_safe
@reader_required
def agreement(request: HttpRequest) -> HttpResponse:
    """The newest validation set that is not withheld from this person, and a choice of the others."""
    sets = _sets()
    hidden = blindness.withheld_datasets(person_of(request))
    shown = next((row for row in sets if row.label_set.dataset_id not in hidden), None)
    if shown is not None:
        blindness.note_opened(user=person_of(request), dataset=shown.label_set.dataset, page=_name(shown))
    return _page(request, sets, shown, hidden)


@never_cache
@require_safe
@reader_required
def agreement_set(request: HttpRequest, pk: int) -> HttpResponse:
    """One validation set; withheld from people who label its dataset."""
    row = _open_set(request, pk)
    return _page(request, _sets(), row, blindness.withheld_datasets(person_of(request)))


@never_cache
@require_safe
@reader_required
def agreement_answers_page(request: HttpRequest, pk: int) -> HttpResponse:
    """The answers behind a number, to read: two raters and a cell of their table, or a group that differs."""
    row = get_validation_set(pk)
    dataset = row.label_set.dataset
    blindness.require_open_eyes(user=person_of(request), dataset=dataset, page="answers behind an agreement")
    found = _frame(request, row)
    places, words = _behind(request, found)
    page = Paginator(places, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "shown": row,
        "words": words,
        "page_obj": page,
        "answers": agreement_answers.of_frame(found, list(page.object_list)),
        "section": "agreement",
    }
    return render(request, "benchmark/agreement_answers.html", context)


@never_cache
@require_safe
@reader_required
def agreement_numbers(request: HttpRequest, pk: int, what: str) -> HttpResponse:
    """Every number of a kind along the chosen axis, with every digit, as CSV."""
    found, axis = _frame(request, _open_set(request, pk)), axis_of(request.GET)
    if what == "pairs":
        rows = tables_agreement.records(frames_agreement.pairs(found, axis), axis)
    elif what == "groups":
        rows = tables_agreement.group_records(found, axis)
    elif what == "detectors":
        truth = truth_of(request.GET, found)
        rows = tables_agreement.accuracy_records(found, truth, axis) if truth else []
    else:
        raise Http404
    return as_file(tables_agreement.records_csv(rows), f"agreement_{what}.csv")


@never_cache
@require_safe
@reader_required
def agreement_table(request: HttpRequest, pk: int, form: str) -> HttpResponse:
    """The study's table of pairwise kappas, as CSV or LaTeX."""
    found = _frame(request, _open_set(request, pk))
    return printed_file(tables_agreement.kappa_table(found), form)


def printed_file(table: Printed, form: str) -> HttpResponse:
    """A printed table as a download; 404 for a form that there isn't."""
    if form not in FORMS:
        raise Http404
    return as_file(table.written(form), f"{table.name}.{form}")


def _open_set(request: HttpRequest, pk: int) -> ValidationSet:
    """A set whose labels this person may know of."""
    row = get_validation_set(pk)
    blindness.require_unblinded(user=person_of(request), dataset=row.label_set.dataset, page=_name(row))
    return row


def _frame(request: HttpRequest, row: ValidationSet) -> Frame:
    return frames_agreement.frame(row, premise=premise_of(request.GET))


def _name(row: ValidationSet) -> str:
    return f"agreement: {row.label_set.name}"


def _sets() -> list[ValidationSet]:
    rows = ValidationSet.objects.select_related("label_set__dataset", "result_set")
    return list(rows.order_by("-id"))


def _page(
    request: HttpRequest, sets: list[ValidationSet], shown: ValidationSet | None, hidden: frozenset[int]
) -> HttpResponse:
    context: dict[str, Any] = {
        "sets": [(row, row.label_set.dataset_id in hidden) for row in sets],
        "shown": shown,
        "page": SetPage(_frame(request, shown), request.GET) if shown else None,
        "section": "agreement",
    }
    return render(request, "benchmark/agreement.html", context)


def _behind(request: HttpRequest, found: Frame) -> tuple[list[int], str]:
    """Which answers the address asks for, and in words."""
    axis, cell = axis_of(request.GET), request.GET.get("cell", "")
    levels = found.levels(axis)
    level = request.GET.get("level", OVERALL)
    if (keep := levels.get(level)) is None:
        raise Http404
    group = next((g for g in frames_agreement.groups(found) if g.key == request.GET.get("group")), None)
    if group is not None:
        cell = cell if cell in agreement_answers.GROUP_WORDS else "split"
        words = f"{group.name}: {agreement_answers.GROUP_WORDS[cell]}"
        return agreement_answers.matching_group(group, keep, cell), f"{words}, {level_name(axis, level)}"
    pair = pair_of(request.GET, found.by_key)
    if pair is None:
        raise Http404
    cell = cell if cell in agreement_answers.CELLS else agreement_answers.DIFFER
    words = pair_words(cell, pair[0].name, pair[1].name)
    return agreement_answers.matching(found, *pair, keep, cell), f"{words}, {level_name(axis, level)}"


def pair_words(cell: str, first: str, second: str) -> str:
    """A cell of two raters' table in words."""
    return f"{first} and {second}: {agreement_answers.WORDS[cell].format(first=first, second=second)}"
