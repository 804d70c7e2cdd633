"""Imports: from a browser, a folder or a zip; what became of each file."""

import os.path
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import archives, image_csv, image_tables, selectors
from annotate.forms.imports import AnnounceForm, FolderForm, SendForm, UploadForm, ZipForm
from annotate.models import ImportBatch
from annotate.models.imports import BatchKind, BatchState, Outcome
from annotate.permissions import author_required, person_of
from annotate.pictures import SUFFIXES
from annotate.services import imports
from annotate.services.imports import Announced
from fpco_site.errors import FpcoError, Invalid

PER_PAGE, BATCHES_PER_PAGE = 100, 50


@require_http_methods(["GET", "HEAD", "POST"])
@author_required
def image_import(request: HttpRequest) -> HttpResponse:
    """The page of all ways in; without scripts its form sends the files all at once."""
    form = UploadForm(request.POST, request.FILES) if request.method == "POST" else UploadForm()
    if request.method == "POST" and form.is_valid():
        return _begun(request, lambda: _import_at_once(request, form), form=form)
    return _page(request, form=form)


@require_POST
@author_required
def image_import_folder(request: HttpRequest) -> HttpResponse:
    form = FolderForm(request.POST)
    if not form.is_valid():
        return _page(request, folder_form=form)
    return _begun(request, lambda: _begin_on_server(request, form.cleaned_data), folder_form=form)


@require_POST
@author_required
def image_import_zip(request: HttpRequest) -> HttpResponse:
    form = ZipForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, zip_form=form)
    file, table = form.cleaned_data["zip_file"], form.cleaned_data["table"]
    by = person_of(request)
    return _begun(
        request,
        lambda: imports.begin_uploaded_zip(file=file, name=str(file.name), table=table, by=by),
        zip_form=form,
    )


@require_safe
@author_required
def import_list(request: HttpRequest) -> HttpResponse:
    page = Paginator(selectors.import_batches(), BATCHES_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "annotate/import_list.html", {"page_obj": page})


@require_safe
@author_required
def import_detail(request: HttpRequest, pk: int) -> HttpResponse:
    batch = get_object_or_404(selectors.import_batches(), pk=pk)
    outcome = request.GET.get("outcome", "")
    files = batch.files.select_related("image")
    if outcome in Outcome.values:
        files = files.filter(outcome=outcome)
    context = {
        "batch": batch,
        "outcome": outcome,
        "page_obj": Paginator(files, PER_PAGE).get_page(request.GET.get("page")),
        "suffixes": " ".join(sorted(SUFFIXES)),
        **_progress(batch),
    }
    return render(request, "annotate/import_detail.html", context)


@require_safe
@author_required
def import_progress(request: HttpRequest, pk: int) -> HttpResponse:
    batch = get_object_or_404(selectors.import_batches(), pk=pk)
    response = render(request, "annotate/import_detail.html#progress", {"batch": batch, **_progress(batch)})
    if batch.state != BatchState.RUNNING and request.htmx:  # type: ignore[attr-defined]
        response["HX-Refresh"] = "true"  # the list of files below is older than the end
    return response


@require_POST
@author_required
def import_stop(request: HttpRequest, pk: int) -> HttpResponse:
    imports.stop(batch=get_object_or_404(ImportBatch, pk=pk))
    return redirect("import_detail", pk)


@require_POST
@author_required
def import_resume(request: HttpRequest, pk: int) -> HttpResponse:
    imports.resume(batch=get_object_or_404(ImportBatch, pk=pk))
    return redirect("import_detail", pk)


@require_POST
@author_required
def import_announce(request: HttpRequest, pk: int | None = None) -> HttpResponse:
    """Name the files that a browser will send; answers with those that are waited for."""
    known = None if pk is None else get_object_or_404(ImportBatch, pk=pk)
    given = _valid(AnnounceForm(request.POST, request.FILES))
    if known is not None:
        batch = imports.announce(batch=known, files=given["listing"])
    else:
        batch = imports.begin_drop(
            files=given["listing"], table=given["table"], by=person_of(request), new=bool(given["new"])
        )
    waiting = batch.files.filter(outcome=Outcome.WAITING).values_list("path", flat=True)
    return JsonResponse(
        {
            "url": reverse("import_detail", args=[batch.pk]),
            "send": reverse("import_send", args=[batch.pk]),
            "waiting": list(waiting),
        }
    )


@require_POST
@author_required
def import_send(request: HttpRequest, pk: int) -> HttpResponse:
    """Import one announced file; answers with its fate."""
    batch = get_object_or_404(ImportBatch, pk=pk)
    given = _valid(SendForm(request.POST, request.FILES))
    file = imports.receive(batch=batch, path=given["path"], data=given["file"].read(), by=person_of(request))
    return JsonResponse({"path": file.path, "outcome": file.outcome, "sentence": file.sentence})


def _begun(request: HttpRequest, begin: Callable[[], ImportBatch], **shown: forms.Form) -> HttpResponse:
    """To the page of the import, or back to the form that was shown, with the sentence that refuses it."""
    try:
        return redirect("import_detail", begin().pk)
    except FpcoError as error:
        for form in shown.values():
            form.add_error(None, error.message)
    return _page(request, **shown)


def _page(request: HttpRequest, **shown: forms.Form) -> HttpResponse:
    context: dict[str, Any] = {
        "form": UploadForm(),
        "folder_form": FolderForm(),
        "zip_form": ZipForm(),
        "columns": image_csv.COLUMNS,
        "suffixes": " ".join(sorted(SUFFIXES)),
        "unfinished": selectors.import_batches().exclude(state=BatchState.COMPLETE)[:5],
    }
    return render(request, "annotate/image_import.html", {**context, **shown})


def _valid(form: forms.Form) -> dict[str, Any]:
    """The cleaned data of a form that a script sends."""
    if form.is_valid():
        return form.cleaned_data
    raise Invalid(" ".join(str(error) for errors in form.errors.values() for error in errors))


def _progress(batch: ImportBatch) -> dict[str, Any]:
    counts = dict(batch.files.order_by().values_list("outcome").annotate(n=Count("id")))
    shown = {outcome.value: counts.get(outcome.value, 0) for outcome in Outcome}
    total = sum(shown.values())
    return {
        "counts": shown,
        "outcomes": [(choice.value, choice.label, shown[choice.value]) for choice in Outcome],
        "total": total,
        "done": total - shown[Outcome.WAITING],
        "live": batch.state == BatchState.RUNNING and batch.kind != BatchKind.DROP,
    }


def _import_at_once(request: HttpRequest, form: UploadForm) -> ImportBatch:
    by, uploads = person_of(request), _named_once(form.cleaned_data["photographs"])
    files = [Announced(path, int(file.size or 0)) for path, file in uploads.items()]
    batch = imports.begin_drop(files=files, table=form.cleaned_data["table"], by=by, new=True)
    for path, file in uploads.items():
        imports.receive(batch=batch, path=path, data=file.read(), by=by)
    return batch


def _named_once(files: "list[UploadedFile[bytes]]") -> "dict[str, UploadedFile[bytes]]":
    """Files by name; a browser without scripts sends no folders, so a name that comes again gets a number."""
    named: dict[str, UploadedFile[bytes]] = {}
    for file in files:
        named[archives.numbered(str(file.name), named)] = file
    return named


def _begin_on_server(request: HttpRequest, given: dict[str, str]) -> ImportBatch:
    source = _on_server(given["folder"])
    table = _server_table(source if source.is_dir() else source.parent, given["csv_name"])
    if source.is_dir():
        return imports.begin_folder(folder=source, table=table, by=person_of(request))
    return imports.begin_zip(path=source, table=table, by=person_of(request))


def _on_server(name: str) -> Path:
    """A folder or a zip below the data folder's import/, and nowhere else."""
    top = (Path(settings.DATA_DIR) / "import").resolve()
    found = (top / name.strip().lstrip("/")).resolve()
    is_zip = found.suffix.lower() == ".zip" and os.path.isfile(found)
    if not found.is_relative_to(top) or not (is_zip or os.path.isdir(found)):
        raise Invalid(f"There is no folder or zip {name.strip()!r} below import/ in the data folder of the server.")
    return found


def _server_table(folder: Path, name: str) -> image_csv.Table | None:
    if not name.strip():
        return None
    path = (folder / name.strip()).resolve()
    if not path.is_relative_to(folder) or not os.path.isfile(path):
        raise Invalid(f"There is no file {name.strip()!r} in that folder.")
    return image_tables.parse(path.read_bytes(), name=path.name)
