"""Connections: what each model, detector and drafter answered to its newest test, and what is decided about it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotate.models import Drafter
from annotate.permissions import author_required, person_of, reader_required
from benchmark import connections as reads
from benchmark.models import ConnectionCall, ConnectionTest, Detector, EvaluatedModel
from benchmark.services import connections
from benchmark.services.connections import Subject
from fpco_site.llm.connection import sight
from fpco_site.llm.connection.sight import Shown

KINDS: dict[str, Any] = {"model": EvaluatedModel, "detector": Detector, "drafter": Drafter}
HEADINGS = {"model": "Models", "detector": "Detectors", "drafter": "Drafters"}
STEPS = {
    "look": "What the picture shows",
    "recall": "A second turn",
    "plain": "The same without a picture",
    "label": "Two answers to label",
    "again": "The same once more",
}
SHOWN = 20_000  # bytes of a request or reply
ROOM = {"section": "model_list"}


@require_safe
@reader_required
def connection_list(request: HttpRequest) -> HttpResponse:
    return render(request, "benchmark/connection_list.html", _all())


@require_safe
@reader_required
def connection_live(request: HttpRequest) -> HttpResponse:
    """The part of the page that moves; it asks for itself again while a test is open."""
    return render(request, "benchmark/connection_list.html#live", _all())


@require_safe
@reader_required
def connection_detail(request: HttpRequest, pk: int) -> HttpResponse:
    return render(request, "benchmark/connection_detail.html", _one(pk))


@require_safe
@reader_required
def connection_one_live(request: HttpRequest, pk: int) -> HttpResponse:
    """One test as it goes on."""
    return render(request, "benchmark/connection_detail.html#live", _one(pk))


@require_safe
@reader_required
def connection_picture(request: HttpRequest, pk: int) -> HttpResponse:
    """The picture of a test, drawn again."""
    test = get_object_or_404(ConnectionTest, pk=pk)
    return HttpResponse(sight.draw(Shown(**test.shown)), content_type=sight.MIME)


@require_POST
@author_required
def connection_request(request: HttpRequest, kind: str, pk: int) -> HttpResponse:
    """Test one; a second click finds the test of the first."""
    test = connections.request(subject=_subject(kind, pk), by=person_of(request))
    return redirect("connection_detail", test.pk) if "details" in request.POST else redirect("connection_list")


@require_POST
@author_required
def connection_request_all(request: HttpRequest) -> HttpResponse:
    """Test every model, detector and drafter that can be asked."""
    subjects = [subject for rows in reads.testable().values() for subject in rows]
    connections.request_all(subjects=subjects, by=person_of(request))
    return redirect("connection_list")


@require_POST
@author_required
def connection_leave_out(request: HttpRequest, pk: int) -> HttpResponse:
    """Confirm that a setting which a test found refused is no longer sent."""
    test, name = _test(pk), request.POST.get("name", "")
    subject = connections.leave_out(test=test, name=name, by=person_of(request))
    messages.success(request, f"From now on, new runs of {subject} go without it. The reason is kept with each.")
    return redirect("connection_detail", pk)


@require_POST
@author_required
def connection_send_again(request: HttpRequest, kind: str, pk: int) -> HttpResponse:
    """Take back that a setting is left out."""
    subject = _subject(kind, pk)
    connections.send_again(subject=subject, name=request.POST.get("name", ""), by=person_of(request))
    messages.success(request, f"It is sent again with new runs of {subject}. Test it to see whether it is accepted.")
    return redirect("connection_list")


def _subject(kind: str, pk: int) -> Subject:
    found: Subject = get_object_or_404(KINDS[kind], pk=pk)
    return found


def _test(pk: int) -> ConnectionTest:
    rows = ConnectionTest.objects.select_related("model", "detector", "drafter", "requested_by")
    return get_object_or_404(rows, pk=pk)


def _all() -> dict[str, Any]:
    rows = reads.standings(subject for found in reads.testable().values() for subject in found)
    calls, dollars = reads.spent()
    groups = [(kind, words, [row for row in rows if row.kind == kind]) for kind, words in HEADINGS.items()]
    return {
        **ROOM,
        "groups": [group for group in groups if group[2]],
        "count": len(rows),
        "live": any(row.open for row in rows),
        "tested": any(row.test for row in rows),
        "calls_made": calls,
        "dollars": dollars,
    }


def _one(pk: int) -> dict[str, Any]:
    test = _test(pk)
    standing = reads.standing(test.subject)
    newest = standing.test is not None and standing.test.pk == test.pk
    return {
        **ROOM,
        "test": test,
        "row": standing,
        "newest": newest,
        "live": test.state in connections.OPEN,
        "checks": [{**check, "title": reads.WORDS[check["name"]]} for check in test.checks],
        "refused": [(name, reason, name in standing.undecided) for name, reason in test.refused.items()],
        "calls": [_call(call) for call in test.calls.order_by("id")],
    }


def _call(row: ConnectionCall) -> dict[str, Any]:
    """A call with its request and its reply as text."""
    texts = [(data or b"")[:SHOWN].decode("utf-8", "replace") for data in (row.sent, row.raw)]
    return {"row": row, "title": STEPS[row.step], "sent": texts[0], "raw": texts[1]}
