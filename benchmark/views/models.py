"""Models under evaluation: the list, one model, new, edit, and the catalogue."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from annotate.permissions import author_required, person_of, reader_required
from benchmark import catalogue, connections, progress
from benchmark.forms.models import CatalogueForm, ModelForm
from benchmark.models import EvaluatedModel, Run
from benchmark.services import models
from fpco_site.errors import FpcoError


@require_safe
@reader_required
def model_list(request: HttpRequest) -> HttpResponse:
    entries = catalogue.model_entries(EvaluatedModel.objects.order_by("family", "name"))
    return render(request, "benchmark/model_list.html", {"entries": entries})


@require_safe
@reader_required
def model_detail(request: HttpRequest, pk: int) -> HttpResponse:
    model = get_object_or_404(EvaluatedModel, pk=pk)
    runs = list(Run.objects.filter(model=model).select_related("model", "dataset")[:100])
    counts = progress.dialogue_counts(runs)
    context = {
        "model": model,
        "entry": catalogue.model_entries([model])[0],
        "standing": connections.standing(model),
        "rows": [(run, counts[run.pk]) for run in runs],
    }
    return render(request, "benchmark/model_detail.html", context)


@author_required
def model_new(request: HttpRequest) -> HttpResponse:
    form = ModelForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            model = models.create(by=person_of(request), **form.values())
        except FpcoError as error:
            form.add_error(None, error.message)
        else:
            return redirect("model_detail", model.pk)
    return render(request, "benchmark/model_form.html", {"form": form})


@author_required
def model_edit(request: HttpRequest, pk: int) -> HttpResponse:
    model = get_object_or_404(EvaluatedModel, pk=pk)
    form = ModelForm(request.POST or None, instance=get_object_or_404(EvaluatedModel, pk=pk))
    if request.method == "POST" and form.is_valid():
        try:
            models.update(model=model, by=person_of(request), **form.values())
        except FpcoError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, "Saved. Runs that exist keep the settings they were made with.")
            return redirect("model_detail", pk)
    return render(request, "benchmark/model_form.html", {"form": form, "model": model})


@author_required
def model_load(request: HttpRequest) -> HttpResponse:
    """Load a models.toml, or the catalogue that ships."""
    shipped = request.method == "POST" and "shipped" in request.POST
    data = {"text": catalogue.shipped()} if shipped else request.POST or None
    form = CatalogueForm(data, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        try:
            loaded = models.load_catalogue(text=form.cleaned_data["text"], by=person_of(request))
        except FpcoError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, f"Loaded {loaded}.")
            return redirect("model_list")
    return render(request, "benchmark/model_load.html", {"form": form})
