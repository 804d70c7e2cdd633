"""The review queue, and one decision a screen."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotate import drafting, selectors, sheets
from annotate.axes import Category, Complexity, PremiseClass
from annotate.forms.items import DecisionForm, ReasonForm
from annotate.linting import Severity
from annotate.models import Item, Protocol
from annotate.models.items import ItemState
from annotate.models.reviews import Verdict
from annotate.permissions import author_required, person_of
from annotate.services import drafts, items, protocols, reviews
from annotate.services.reviews import Checks
from annotate.views.items import queue_of
from fpco_site.errors import FpcoError, Invalid

PER_PAGE = 30
OPEN = (ItemState.DRAFT, ItemState.IN_REVIEW)
CHECKS = (
    ("grounding", "Grounded", "The description is true of what the picture shows."),
    ("consistency", "One target", "Every question is about the same target and nothing else."),
    ("naturalness", "Natural", "People talk like this; no names, nothing offensive, no guesses about persons."),
    ("single_error", "One error", "The premise is wrong in exactly one way, of the given class."),
)


@require_safe
@author_required
def review_queue(request: HttpRequest) -> HttpResponse:
    queue = queue_of(request)
    page = Paginator(queue.items().prefetch_related("turns"), PER_PAGE).get_page(request.GET.get("page"))
    counts, plan = selectors.state_counts(), protocols.study()
    context = {
        "queue": queue,
        "page_obj": page,
        "rows": [_row(item, plan) for item in page],
        "states": [(state.value, state.label, counts[state.value]) for state in ItemState],
        "total": sum(counts.values()),
        "axes": (
            ("complexity", "Complexity", Complexity.choices, queue.complexity),
            ("category", "Category", Category.choices, queue.category),
            ("premise_class", "Premise class", PremiseClass.choices, queue.premise_class),
        ),
    }
    return render(request, "annotate/review_queue.html", context)


@require_safe
@author_required
def item_review(request: HttpRequest, key: str) -> HttpResponse:
    item = get_object_or_404(Item.objects.select_related("image"), key=key)
    return _page(request, item)


@require_POST
@author_required
def item_decide(request: HttpRequest, key: str) -> HttpResponse:
    """Record the verdict and go to the next item that waits for one."""
    item = get_object_or_404(Item.objects.select_related("image"), key=key)
    form = DecisionForm(request.POST)
    if not form.is_valid():
        raise Invalid("Choose a verdict: approve, send back or reject.")
    given = form.cleaned_data
    try:
        review = reviews.decide(
            item=item,
            version=given["version"],
            verdict=given["verdict"],
            by=person_of(request),
            checks=Checks(**{name: given[name] for name, _, _ in CHECKS}),
            comment=given["comment"],
            accepted=request.POST.getlist("accepted"),
        )
    except FpcoError as error:
        return _page(request, item, error=error, given=request.POST.getlist("accepted"), form=form)
    messages.success(request, f"{item.target_description or item.key}: {review.get_verdict_display()}.")
    return _to_next(request, item)


@require_POST
@author_required
def item_submit(request: HttpRequest, key: str) -> HttpResponse:
    item = get_object_or_404(Item, key=key)
    items.submit(item=item, version=_reason(request)["version"], by=person_of(request))
    messages.success(request, "It is in review.")
    return redirect("item_review", key)


@require_POST
@author_required
def item_reopen(request: HttpRequest, key: str) -> HttpResponse:
    item = get_object_or_404(Item, key=key)
    given = _reason(request)
    items.reopen(item=item, version=given["version"], reason=given["reason"], by=person_of(request))
    messages.success(request, "It is a draft again.")
    return redirect("item_edit", key)


def _row(item: Item, plan: Protocol) -> dict[str, Any]:
    """One line of the queue; the rules are asked only where something is still to be decided."""
    texts = items.texts_of(item)
    findings = sheets.findings_of(texts, premise_class=item.premise_class, plan=plan) if item.state in OPEN else []
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    return {
        "item": item,
        "premise": drafting.split_marks(texts.target_description, texts.modified_target_description)[1],
        "open": item.state in OPEN,
        "errors": errors,
        "warnings": len(findings) - errors,
    }


def _reason(request: HttpRequest) -> dict[str, Any]:
    form = ReasonForm(request.POST)
    if not form.is_valid() or form.cleaned_data["version"] is None:
        raise Invalid("Say which version you mean: open the item again.")
    given: dict[str, Any] = form.cleaned_data
    return given


def _page(
    request: HttpRequest,
    item: Item,
    *,
    error: FpcoError | None = None,
    given: list[str] | None = None,
    form: DecisionForm | None = None,
) -> HttpResponse:
    queue = queue_of(request)
    before, after = queue.neighbours(item)
    context = {
        "item": item,
        "sheet": reviews.sheet_of(item),
        "checks": [
            {"name": name, "label": label, "help": words, "key": str(n), "on": bool(form and form.cleaned_data[name])}
            for n, (name, label, words) in enumerate(CHECKS, 1)
        ],
        "accepted": given or [],
        "comment": form.cleaned_data["comment"] if form else "",
        "error": error,
        "reviews": item.reviews.select_related("reviewer").order_by("-id"),
        "verdicts": Verdict,
        "before": before,
        "after": after,
        **drafts.panel(item),
    }
    return render(request, "annotate/item_review.html", context, status=error.status if error else 200)


def _to_next(request: HttpRequest, item: Item) -> HttpResponse:
    """The next item in review within the filters of the queue; the queue where none is left."""
    queue = queue_of(request)
    waiting = selectors.Queue(
        state=ItemState.IN_REVIEW,
        complexity=queue.complexity,
        category=queue.category,
        premise_class=queue.premise_class,
        q=queue.q,
    )
    following = waiting.next_for(person_of(request), item)
    query = f"?{request.GET.urlencode()}" if request.GET else ""
    if following is None:
        return redirect(reverse("review_queue") + query)
    return redirect(reverse("item_review", args=[following.key]) + query)
