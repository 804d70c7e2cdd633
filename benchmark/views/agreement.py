"""Agreement: Cohen's kappa of each pair of raters, overall and by class."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotate.permissions import person_of, reader_required
from benchmark import frames_agreement
from benchmark.models import ValidationSet
from benchmark.services import blindness
from benchmark.views.validation import get_validation_set


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


@require_safe
@reader_required
def agreement_set(request: HttpRequest, pk: int) -> HttpResponse:
    """One validation set; withheld from people who label its dataset."""
    row = get_validation_set(pk)
    person = person_of(request)
    blindness.require_unblinded(user=person, dataset=row.label_set.dataset, page=_name(row))
    return _page(request, _sets(), row, blindness.withheld_datasets(person))


def _name(row: ValidationSet) -> str:
    return f"agreement: {row.label_set.name}"


def _sets() -> list[ValidationSet]:
    rows = ValidationSet.objects.select_related("label_set__dataset", "result_set")
    return list(rows.order_by("-id"))


def _page(
    request: HttpRequest, sets: list[ValidationSet], shown: ValidationSet | None, hidden: frozenset[int]
) -> HttpResponse:
    found = frames_agreement.frame(shown) if shown else None
    context = {
        "sets": [(row, row.label_set.dataset_id in hidden) for row in sets],
        "shown": shown,
        "found": found,
        "levels": list(found.levels()) if found else [],
        "pairs": frames_agreement.pairs(found) if found else [],
        "matrix": frames_agreement.matrix(found) if found else [],
        "section": "agreement",
    }
    return render(request, "benchmark/agreement.html", context)
