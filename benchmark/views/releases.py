"""Releases: what was built, building another, and taking one away as a zip."""

from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotate.models import Dataset
from annotate.permissions import author_required, person_of, reader_required
from benchmark.models import Release
from benchmark.models.releases import BuildState
from benchmark.services import releases
from benchmark.services.blindness import require_open_eyes
from fpco_site.forms import whole_number

_UNFINISHED = (BuildState.WAITING, BuildState.BUILDING)


@reader_required
@require_GET
def release_list(request: HttpRequest) -> HttpResponse:
    built = Release.objects.select_related("dataset", "built_by")
    context = {
        "releases": built,
        "building": any(row.state in _UNFINISHED for row in built),
        "datasets": Dataset.objects.order_by("-id"),
    }
    template = "benchmark/release_list.html"
    return render(request, f"{template}#table" if request.headers.get("HX-Request") else template, context)


@author_required
@require_POST
def release_new(request: HttpRequest) -> HttpResponse:
    dataset = get_object_or_404(Dataset, pk=whole_number(request.POST.get("dataset", "")))
    releases.request(dataset=dataset, by=person_of(request))
    messages.success(request, f"A release of {dataset.name} is being built.")
    return redirect("release_list")


@author_required
@require_POST
def release_again(request: HttpRequest, pk: int) -> HttpResponse:
    releases.again(release=get_object_or_404(Release, pk=pk))
    return redirect("release_list")


@reader_required
@require_GET
def release_detail(request: HttpRequest, pk: int) -> HttpResponse:
    release = get_object_or_404(Release.objects.select_related("dataset", "built_by"), pk=pk)
    manifest = releases.manifest_of(release) if release.state == BuildState.READY else None
    return render(request, "benchmark/release_detail.html", {"release": release, "manifest": manifest})


@reader_required
@require_GET
def release_download(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The release as a zip; it holds answers and labels, so it is withheld from people who label."""
    release = get_object_or_404(Release.objects.select_related("dataset"), pk=pk, state=BuildState.READY)
    require_open_eyes(user=person_of(request), dataset=release.dataset, page="release_download")
    folder = releases.path_of(release)
    path = folder.with_name(f"{folder.name}.zip")
    if not path.is_file():
        raise Http404
    return FileResponse(path.open("rb"), as_attachment=True, filename=path.name)
