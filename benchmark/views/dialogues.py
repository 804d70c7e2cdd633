"""What models answered, one dialogue at a time. All of it is response-level, so eyes must be open."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotate.permissions import person_of, reader_required
from benchmark import progress, reader
from benchmark.models import Attempt, Dialogue, Response, Run
from benchmark.services import blindness


@never_cache
@require_safe
@reader_required
def dialogue_detail(request: HttpRequest, pk: int) -> HttpResponse:
    dialogue = _dialogue(request, pk, "dialogue")
    previous, following = reader.neighbours(dialogue)
    context = {
        "section": "run_list",
        "dialogue": dialogue,
        "run": dialogue.run,
        "item": dialogue.item,
        "turns": reader.turns(dialogue),
        "previous": previous,
        "following": following,
    }
    return render(request, "benchmark/dialogue_detail.html", context)


@never_cache
@require_safe
@reader_required
def response_raw(request: HttpRequest, pk: int, turn: int) -> HttpResponse:
    """The reply to a turn as it came, as text."""
    dialogue = _dialogue(request, pk, "raw reply")
    response = get_object_or_404(Response, dialogue=dialogue, turn=turn)
    return _as_text(response.raw)


@never_cache
@require_safe
@reader_required
def attempt_raw(request: HttpRequest, pk: int) -> HttpResponse:
    """What one call brought, as it came, as text."""
    attempt = get_object_or_404(Attempt, pk=pk)
    _dialogue(request, attempt.dialogue_id, "raw reply")
    return _as_text(attempt.raw)


@never_cache
@require_safe
@reader_required
def run_errors(request: HttpRequest, pk: int) -> HttpResponse:
    """A run's calls without text, grouped, with the words of one example each."""
    run = get_object_or_404(Run.objects.select_related("model", "dataset"), pk=pk)
    blindness.require_open_eyes(user=person_of(request), dataset=run.dataset, page="errors of a run")
    groups = progress.troubles(run)
    examples = Attempt.objects.defer("raw").in_bulk([group.example for group in groups])
    rows = [(group, examples[group.example]) for group in groups]
    return render(request, "benchmark/run_errors.html", {"run": run, "rows": rows})


def _dialogue(request: HttpRequest, pk: int, page: str) -> Dialogue:
    """The dialogue, if this person's eyes are open to its dataset; the look is recorded."""
    rows = Dialogue.objects.select_related("run__model", "run__dataset", "item__image")
    dialogue = get_object_or_404(rows, pk=pk)
    blindness.require_open_eyes(user=person_of(request), dataset=dialogue.run.dataset, page=page, dialogue=dialogue)
    return dialogue


def _as_text(raw: bytes | None) -> HttpResponse:
    if raw is None:
        raise Http404("No raw reply is kept.")
    return HttpResponse(raw.decode("utf-8", "replace"), content_type="text/plain; charset=utf-8")
