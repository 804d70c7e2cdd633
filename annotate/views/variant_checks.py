"""Candidate checks: which models check, how far they are, and what one of them answered."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import variant_table
from annotate.forms.variants import CheckersForm
from annotate.models import Drafter, VariantCheck
from annotate.models.variants import CheckState
from annotate.permissions import author_required, person_of
from annotate.services import variant_checks as checks
from fpco_site.errors import Invalid
from fpco_site.llm.variant_checks import QUESTIONS

SECTION = "review_queue"


@require_http_methods(["GET", "HEAD", "POST"])
@author_required
def variant_checks(request: HttpRequest) -> HttpResponse:
    """Who checks, how far they are and what they cost; a POST asks the ticked models about every candidate."""
    if request.method != "POST":
        return render(request, "annotate/variant_checks.html", _context())
    form = CheckersForm(request.POST)
    if not form.is_valid():
        raise Invalid("Choose the models that check from the list.")
    checkers = list(form.cleaned_data["checkers"])
    asked = checks.request(variants=checks.rows_for(), checkers=checkers, by=person_of(request))
    left = f" {asked.incomplete} variants are not complete yet." if asked.incomplete else ""
    messages.success(request, f"{asked.made} checks asked for, {asked.present} were there already.{left}")
    families = len({checker.family for checker in checkers})
    if families < checks.FAMILIES:
        messages.warning(request, f"They are of {families} of the {checks.FAMILIES} families that the study asks for.")
    return redirect("variant_checks")


@require_safe
@author_required
def variant_checks_live(request: HttpRequest) -> HttpResponse:
    return render(request, "annotate/variant_checks.html#live", _context())


@require_POST
@author_required
def variant_checks_stop(request: HttpRequest) -> HttpResponse:
    messages.success(request, f"{checks.stop()} checks stopped; calls in flight end and are kept.")
    return redirect("variant_checks")


@require_POST
@author_required
def variant_checks_continue(request: HttpRequest) -> HttpResponse:
    messages.success(request, f"{checks.go_on()} checks go on.")
    return redirect("variant_checks")


@require_POST
@author_required
def variant_checkers_offline(request: HttpRequest) -> HttpResponse:
    """Add the offline checkers, which need no key."""
    checks.scripted_checkers()
    messages.success(request, "Three offline checkers are in the list; what they say is marked simulated.")
    return redirect("variant_checks")


@require_POST
@author_required
def variant_checker_family(request: HttpRequest, pk: int) -> HttpResponse:
    checker = checks.set_family(checker=get_object_or_404(Drafter, pk=pk), family=request.POST.get("family", ""))
    said = f"is of the family {checker.family}" if checker.family else "has no family"
    messages.success(request, f"{checker} {said}.")
    return redirect("variant_checks")


@require_safe
@author_required
def variant_check(request: HttpRequest, pk: int) -> HttpResponse:
    """One check with its raw request and reply."""
    row = get_object_or_404(VariantCheck.objects.select_related("item__parent", "item__image", "checker"), pk=pk)
    payload = row.payload or {}
    context = {
        "section": SECTION,
        "check": row,
        "item": row.item,
        "answers": [(variant_table.QUESTION_WORDS[name], payload[name]) for name in QUESTIONS if name in payload],
        "sent": (row.request or b"").decode("utf-8", "replace"),
        "reply": (row.reply or b"").decode("utf-8", "replace"),
    }
    return render(request, "annotate/variant_check.html", context)


def _context() -> dict[str, object]:
    spent = checks.spent()
    total = {state: sum(row.states.get(state, 0) for row in spent) for state in CheckState.values}
    table = variant_table.table()
    return {
        "section": SECTION,
        "checkers": checks.checkers(),
        "families": checks.FAMILIES,
        "known_families": len({row.checker.family for row in checks.checkers() if row.checker.family}),
        "spent": spent,
        "total": total,
        "all": sum(total.values()),
        "done": total[CheckState.READY] + total[CheckState.FAILED],
        "open": total[CheckState.WAITING] + total[CheckState.RUNNING],
        "slots": sum(len(row.slots) for row in table.kept),
        "complete": sum(checks.candidate_of(slot.item) is not None for row in table.kept for slot in row.slots),
        "checked": sum(slot.families >= checks.FAMILIES for row in table.kept for slot in row.slots),
        "disputed": [(row, slot) for row in table.kept for slot in row.slots if slot.disputed or slot.objected],
    }
