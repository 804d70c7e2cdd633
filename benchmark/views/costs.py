"""What everything cost: one page, its CSV, and the correction of prices that were entered late."""

import csv
from io import StringIO
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from annotate.permissions import author_required, person_of, reader_required
from benchmark import costs, progress
from benchmark.costs import Kind
from benchmark.forms.costs import PriceForm
from benchmark.models import DetectionJob, Run, Spending
from benchmark.services import spending
from benchmark.views.files import as_file
from fpco_site.errors import FpcoError

HEADER = (
    "kind", "name", "over", "id", "state", "simulated", "calls", "replies", "replies_with_tokens", "input_tokens",
    "cached_tokens", "output_tokens", "reasoning_tokens", "cost_usd", "reason", "notes",
)  # fmt: skip


@require_safe
@reader_required
def cost_list(request: HttpRequest) -> HttpResponse:
    lines = costs.lines()
    context = {
        "section": "run_list",
        "lines": lines,
        "all": costs.total("Everything", lines),
        "kinds": [costs.total(name, [line for line in lines if line.kind is kind]) for kind, name in KINDS.items()],
        "models": costs.by_who(lines, Kind.RUN),
        "detectors": costs.by_who(lines, Kind.DETECTOR),
    }
    return render(request, "benchmark/cost_list.html", context)


KINDS = {Kind.RUN: "Runs", Kind.DETECTOR: "Detectors", Kind.DRAFTING: "Drafting", Kind.CHECKS: "Checks of variants"}


@require_safe
@reader_required
def cost_csv(request: HttpRequest) -> HttpResponse:
    """Every line with its exact cost; the lines add up to the page's sums."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for line in costs.lines():
        writer.writerow(_row(line))
    return as_file(text.getvalue(), "costs.csv")


def _row(line: costs.Line) -> tuple[Any, ...]:
    bill = line.bill
    cost = "" if bill.cost is None else f"{bill.cost:f}"
    tokens = (bill.calls, bill.replies, bill.counted, bill.input, bill.cached, bill.output, bill.reasoning)
    what = (line.kind.value, line.who, line.over, line.pk, line.state, bill.simulated)
    return (*what, *tokens, cost, bill.reason, "; ".join(bill.notes))


@author_required
def run_prices(request: HttpRequest, pk: int) -> HttpResponse:
    run = get_object_or_404(Run.objects.select_related("model", "dataset"), pk=pk)
    return _correct(request, run, f"{run.model.name} over {run.dataset.name}", {"bill": progress.spent(run)})


@author_required
def job_prices(request: HttpRequest, pk: int) -> HttpResponse:
    job = get_object_or_404(DetectionJob.objects.select_related("detector", "dataset"), pk=pk)
    bill = progress.spent_by_jobs([job])[job.pk]
    return _correct(request, job, f"{job.detector} over {job.dataset.name}", {"bill": bill})


def _correct(request: HttpRequest, owner: Run | DetectionJob, name: str, context: dict[str, Any]) -> HttpResponse:
    """The prices that are kept, what was corrected before, and the form to correct them."""
    which = {"run": owner} if isinstance(owner, Run) else {"job": owner}
    kept = Spending.objects.filter(**which).order_by("pk")[:1].get()
    form = PriceForm(request.POST or None, initial=PriceForm.initial_of(kept))
    if request.method == "POST" and form.is_valid():
        note, by = form.cleaned_data["note"], person_of(request)
        try:
            spending.correct(owner=owner, prices=form.prices(), note=note, by=by)
        except FpcoError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, "Corrected. Its cost is reckoned by these prices from now on.")
            return redirect("cost_list")
    changes = owner.price_changes.select_related("by")
    context |= {"form": form, "name": name, "kept": kept, "changes": changes, "section": "run_list"}
    return render(request, "benchmark/cost_prices.html", context)
