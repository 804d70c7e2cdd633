"""What models answered, a run or a dialogue at a time. All of it is response-level, so eyes must be open."""

from typing import Any

from django.core.paginator import Paginator
from django.core.signing import BadSignature, TimestampSigner
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotate.permissions import person_of, reader_required
from benchmark import finding, progress, reader, rebuilt
from benchmark.finding import Filters
from benchmark.models import Attempt, Dialogue, Response, Run
from benchmark.services import blindness, runs
from benchmark.views.cases import pinning

PER_PAGE = 50
WATCHED_FOR = 12 * 60 * 60  # seconds that an opened page of answers may refresh itself


@never_cache
@require_safe
@reader_required
def run_dialogues(request: HttpRequest, pk: int) -> HttpResponse:
    """The dialogues of a run that fit the filters, each a link into the reader."""
    run = _run(pk)
    blindness.require_open_eyes(user=person_of(request), dataset=run.dataset, page="dialogues of a run")
    filters = Filters.read(request.GET)
    ids = finding.matching(run, filters)
    page = Paginator(ids, PER_PAGE).get_page(request.GET.get("page"))
    rows = reader.rows(run, list(page.object_list))
    context = {"run": run, "page_obj": page, "rows": rows, "first": next(iter(ids), None), **_filtering(filters)}
    return render(request, "benchmark/run_dialogues.html", {**context, "section": "run_list"})


@never_cache
@require_safe
@reader_required
def dialogue_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One dialogue, among those that fit the filters that one came with."""
    dialogue = _dialogue(request, pk, "dialogue")
    filters = Filters.read(request.GET)
    turns = reader.turns(dialogue)
    context = {
        "section": "run_list",
        "dialogue": dialogue,
        "run": dialogue.run,
        "item": dialogue.item,
        "turns": turns,
        "sent": reader.sent(turns),
        "ate_cap": (ate_cap := reader.ate_cap(turns)),
        "larger_cap": runs.larger_cap(ate_cap.settings.get("max_output_tokens", 1)) if ate_cap else None,
        "place": finding.place(finding.matching(dialogue.run, filters), dialogue.pk),
        **pinning(request, dialogue.run.dataset),
        **_filtering(filters),
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
def attempt_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One call whole: the request built again, the reply as it came, and how it was asked."""
    attempt = get_object_or_404(Attempt.objects.select_related("software"), pk=pk)
    attempt.dialogue = dialogue = _dialogue(request, attempt.dialogue_id, "request and reply")
    context = {
        "section": "run_list",
        "attempt": attempt,
        "dialogue": dialogue,
        "run": dialogue.run,
        "answer": dialogue.responses.filter(turn=attempt.turn).defer("raw").first(),
        "asked": rebuilt.request_of(attempt),
        "reply": rebuilt.pretty(attempt.raw),
        "facts": reader.provenance(attempt),
        "back": Filters.read(request.GET).query,
    }
    return render(request, "benchmark/attempt_detail.html", context)


@never_cache
@require_safe
@reader_required
def run_answers(request: HttpRequest, pk: int) -> HttpResponse:
    """The newest answers of a run. Opening it is a look that is recorded; its refreshes are part of that look."""
    run, person = _run(pk), person_of(request)
    opened = f"{person.pk}.{run.pk}"
    if _was_opened(opened, request.GET.get("opened", "")):
        blindness.refuse_blind(user=person, dataset=run.dataset)
    else:
        blindness.require_open_eyes(user=person, dataset=run.dataset, page="newest answers of a run")
    context = {
        "section": "run_list",
        "run": run,
        "answers": reader.newest(run),
        "live": progress.is_live(run),
        "opened": TimestampSigner().sign(opened),
    }
    name = "benchmark/run_answers.html#answers" if request.headers.get("HX-Request") else "benchmark/run_answers.html"
    return render(request, name, context)


@never_cache
@require_safe
@reader_required
def run_errors(request: HttpRequest, pk: int) -> HttpResponse:
    """A run's calls without text, grouped, with the words of one example each."""
    run = _run(pk)
    blindness.require_open_eyes(user=person_of(request), dataset=run.dataset, page="errors of a run")
    groups = progress.troubles(run)
    examples = Attempt.objects.defer("raw").in_bulk([group.example for group in groups])
    rows = [(group, examples[group.example]) for group in groups]
    return render(request, "benchmark/run_errors.html", {"run": run, "rows": rows})


def _run(pk: int) -> Run:
    return get_object_or_404(Run.objects.select_related("model", "dataset"), pk=pk)


def _dialogue(request: HttpRequest, pk: int, page: str) -> Dialogue:
    """The dialogue, if this person's eyes are open to its dataset; the look is recorded."""
    rows = Dialogue.objects.select_related("run__model", "run__dataset", "item__image")
    dialogue = get_object_or_404(rows, pk=pk)
    blindness.require_open_eyes(user=person_of(request), dataset=dialogue.run.dataset, page=page, dialogue=dialogue)
    return dialogue


def _filtering(filters: Filters) -> dict[str, Any]:
    """The filters as their form shows them."""
    fields = [
        (name, finding.TITLES[name], choices, getattr(filters, name)) for name, choices in finding.CHOICES.items()
    ]
    return {"filters": filters, "filter_fields": fields}


def _was_opened(what: str, token: str) -> bool:
    """Whether this page of this person was opened, and so recorded, a while ago."""
    try:
        return TimestampSigner().unsign(token, max_age=WATCHED_FOR) == what
    except BadSignature:
        return False


def _as_text(raw: bytes | None) -> HttpResponse:
    if raw is None:
        raise Http404("No raw reply is kept.")
    return HttpResponse(raw.decode("utf-8", "replace"), content_type="text/plain; charset=utf-8")
