"""Labels of a validation set as files: taking them away, and bringing in what was labelled elsewhere."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import interchange
from annotate.permissions import author_required, person_of
from annotate.services import interchange as files
from annotate.services.interchange import Batch, Entry, Outcome
from annotate.views.label_files import attachment
from annotate.views.labels import no_store
from benchmark.forms.label_files import LabelFileForm
from benchmark.models import ValidationSet
from benchmark.services import label_files
from benchmark.views.validation import get_validation_set
from fpco_site.errors import FpcoError, Invalid

_SALT = "labels of a file"
_LONGEST = 2_000_000  # of what a form carries from the look to the storing
_AGE = 60 * 60 * 24


@require_safe
@author_required
@no_store
def validation_export(request: HttpRequest, pk: int, kind: str) -> HttpResponse:
    """Everybody's labels to open eyes, one's own to somebody blind; detectors only after closing."""
    if kind not in interchange.FORMATS:
        raise Http404
    row = get_validation_set(pk)
    text = label_files.export(validation_set=row, kind=kind, user=person_of(request), page="validation_export")
    return attachment(text, kind)


@require_http_methods(["GET", "HEAD", "POST"])
@author_required
@no_store
def validation_import(request: HttpRequest, pk: int) -> HttpResponse:
    """A file to bring labels in from; a POST says what it would do and stores nothing."""
    row = get_validation_set(pk)
    only = label_files.may_import(validation_set=row, user=person_of(request))
    form = LabelFileForm(request.POST or None, request.FILES or None, label_set=row.label_set)
    if request.method != "POST" or not form.is_valid():
        return _page(request, row, form)
    file, whose, who = (form.cleaned_data[name] for name in ("file", "whose", "who"))
    try:
        batch = files.read(
            label_set=row.label_set, data=file.read(), name=str(file.name), who=who, whose=whose, only=only
        )
    except FpcoError as error:
        form.add_error("file", error.message)
        return _page(request, row, form)
    outcome = files.look(label_set=row.label_set, batch=batch)
    return _page(request, row, form, outcome=outcome, ticket=_sign(request, row, batch))


@require_POST
@author_required
@no_store
def validation_store(request: HttpRequest, pk: int) -> HttpResponse:
    """Store what was looked at."""
    row = get_validation_set(pk)
    only = label_files.may_import(validation_set=row, user=person_of(request))
    batch = _signed(request, row)
    if only and any(entry.assignment != only.pk for entry in batch.entries):
        raise Invalid("While you label here, you can bring in your own labels alone.")
    outcome = files.store(label_set=row.label_set, batch=batch, replace="replace" in request.POST)
    messages.success(request, f"{outcome.stored} labels stored." if outcome.stored else "Nothing was new.")
    return redirect("validation_detail", pk)


def _page(
    request: HttpRequest, row: ValidationSet, form: LabelFileForm, *, outcome: Outcome | None = None, ticket: str = ""
) -> HttpResponse:
    context = {"row": row, "form": form, "outcome": outcome, "ticket": ticket, "section": "agreement"}
    status = 400 if form.is_bound and form.errors else 200
    return render(request, "benchmark/validation_import.html", context, status=status)


def _sign(request: HttpRequest, row: ValidationSet, batch: Batch) -> str:
    """What was read, for the form that stores it: signed, so that it is what was looked at, by the same person."""
    rows = [[*_plain(entry)] for entry in batch.entries]
    told = {"set": row.pk, "person": person_of(request).pk, "digest": batch.digest, "rows": rows}
    ticket = signing.dumps(told, salt=_SALT, compress=True)
    if len(ticket) > _LONGEST:
        raise Invalid("These are too many labels for a page: bring them in with the command import_labels.")
    return ticket


def _plain(entry: Entry) -> list[Any]:
    return [str(value) if isinstance(value, UUID) else value for value in vars(entry).values()]


def _signed(request: HttpRequest, row: ValidationSet) -> Batch:
    try:
        told = signing.loads(request.POST.get("ticket", ""), salt=_SALT, max_age=_AGE)
    except signing.BadSignature as error:
        raise Invalid("This page is too old, or not ours: look at the file again.") from error
    if (told["set"], told["person"]) != (row.pk, person_of(request).pk):
        raise Invalid("This was looked at for another set, or by somebody else: look at the file again.")
    return Batch(told["digest"], [Entry(UUID(task), *rest) for task, *rest in told["rows"]])
