"""Prompts: all of them, the versions of one, one beside another, and the editor that saves a new one."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotate import prompt_pages
from annotate.models import Draft
from annotate.permissions import author_required, person_of
from annotate.prompt_pages import Entry, Version
from annotate.services import prompts
from fpco_site.errors import FpcoError
from fpco_site.forms import whole_number

ROOM = {"section": "review_queue"}


@require_safe
@author_required
def prompt_list(request: HttpRequest) -> HttpResponse:
    return render(request, "annotate/prompt_list.html", {"entries": prompt_pages.entries(), **ROOM})


@require_safe
@author_required
def prompt_detail(request: HttpRequest, name: str) -> HttpResponse:
    """The newest version, and the list of all."""
    entry = _entry(name)
    return _version_page(request, entry, entry.newest)


@require_safe
@author_required
def prompt_version(request: HttpRequest, name: str, version: int) -> HttpResponse:
    """One version, beside another where the address names one."""
    entry = _entry(name)
    return _version_page(request, entry, _version(entry, version))


@require_http_methods(["GET", "HEAD", "POST"])
@author_required
def prompt_new(request: HttpRequest, name: str) -> HttpResponse:
    """The editor. A POST shows the difference, or saves a new version and leaves all others as they are."""
    entry = _entry(name)
    base = _version(entry, whole_number(request.GET.get("from", "")) or entry.newest.prompt.version)
    text, note = request.POST.get("text", base.prompt.text), request.POST.get("note", "")
    error: FpcoError | None = None
    if request.method == "POST" and "save" in request.POST:
        try:
            made = prompts.save(name=name, text=text, note=note, by=person_of(request))
        except FpcoError as refused:
            error = refused
        else:
            messages.success(request, f"Saved as version {made.version}. Nothing that used another one has changed.")
            return redirect("prompt_version", name, made.version)
    rows = prompt_pages.side_by_side(base.prompt.text, text.replace("\r\n", "\n").strip())
    context = {
        "entry": entry,
        "base": base,
        "text": text,
        "note": note,
        "error": error,
        "rows": rows,
        "shown": request.method == "POST",
        **ROOM,
    }
    return render(request, "annotate/prompt_new.html", context, status=error.status if error else 200)


def _version_page(request: HttpRequest, entry: Entry, version: Version) -> HttpResponse:
    other = whole_number(request.GET.get("beside", ""))
    beside = _version(entry, other) if other else None
    rows = prompt_pages.side_by_side(beside.prompt.text, version.prompt.text) if beside else []
    drafts = Draft.objects.filter(prompt_name=entry.name, prompt_sha256=version.prompt.sha256).count()
    context = {"entry": entry, "version": version, "beside": beside, "rows": rows, "drafts": drafts, **ROOM}
    return render(request, "annotate/prompt_detail.html", context)


def _entry(name: str) -> Entry:
    found = prompt_pages.entry(name)
    if found is None:
        raise Http404
    return found


def _version(entry: Entry, number: int) -> Version:
    found = next((version for version in entry.versions if version.prompt.version == number), None)
    if found is None:
        raise Http404
    return found
