"""The review queue, and one decision a screen."""

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import prefetch_related_objects
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotate import drafting, review_page, selectors, sheets
from annotate.axes import Category, Complexity, PremiseClass
from annotate.forms.items import DecisionForm, ReasonForm
from annotate.linting import Finding, Severity
from annotate.models import Item, Protocol, Review, ReviewRules
from annotate.models.items import ItemState
from annotate.models.reviews import Verdict
from annotate.permissions import author_required, person_of
from annotate.services import items, protocols, reviews, rules, undo
from annotate.services.comments import open_counts
from annotate.views.items import address, json_wanted, queue_of
from fpco_site.errors import FpcoError

PER_PAGE = 30
OPEN = (ItemState.DRAFT, ItemState.IN_REVIEW)


@require_safe
@author_required
def review_queue(request: HttpRequest) -> HttpResponse:
    person, queue, rule = person_of(request), queue_of(request), rules.current()
    page = Paginator(queue.items(), PER_PAGE).get_page(request.GET.get("page"))
    prefetch_related_objects([item for item in page if item.state in OPEN], "turns")  # the rules read these alone
    counts = selectors.state_counts(variants=queue.variants)
    plan = protocols.lexical() if queue.variants else protocols.study()
    remarks = open_counts(page.object_list, person, rule)
    given = reviews.given_by(person, page.object_list)
    context = {
        "queue": queue,
        "page_obj": page,
        "rows": [_row(item, plan) for item in page],
        "remarks": remarks,
        "given": given,
        "own": {item.pk for item in page if rule.approver_not_last_editor and item.edited_by_id == person.pk},
        "twice": _twice(page.object_list, rule),
        "first": queue.waiting_for(person).first(),
        "step": undo.last_step(person),
        "states": [(state.value, state.label, counts[state.value]) for state in ItemState],
        "total": sum(counts.values()),
        **_filters(queue),
    }
    return render(request, "annotate/review_queue.html", context)


@require_safe
@author_required
def item_review(request: HttpRequest, key: str) -> HttpResponse:
    return _page(request, _item(key))


@require_POST
@author_required
def item_decide(request: HttpRequest, key: str) -> HttpResponse:
    """Record the verdict and go to the next item that waits for one."""
    item, person = _item(key), person_of(request)
    form = DecisionForm(request.POST)
    following = queue_of(request, item).next_for(person, item)
    try:
        review = reviews.decide(
            item=item, by=person, accepted=request.POST.getlist("accepted"), **form.decision(request.POST)
        )
    except FpcoError as error:
        if json_wanted(request):
            return JsonResponse({"message": error.message}, status=error.status)
        return _page(request, item, error=error, form=form)
    if note := _note(review):
        messages.info(request, note)
    onward = address(request, "item_review", following.key) if following else _queue_address(request)
    return JsonResponse({"next": onward}) if json_wanted(request) else redirect(onward)


@require_POST
@author_required
def item_undo(request: HttpRequest, key: str) -> HttpResponse:
    """Take one's last decision or edit back, and show the item that it was about."""
    undo.undo(item=_item(key), version=ReasonForm(request.POST).named()["version"], by=person_of(request))
    messages.success(request, "Taken back.")
    return redirect(address(request, "item_review", key))


@require_POST
@author_required
def item_submit(request: HttpRequest, key: str) -> HttpResponse:
    item = get_object_or_404(Item, key=key)
    items.submit(item=item, version=ReasonForm(request.POST).named()["version"], by=person_of(request))
    messages.success(request, "It is in review.")
    return redirect("item_review", key)


@require_POST
@author_required
def item_reopen(request: HttpRequest, key: str) -> HttpResponse:
    item = get_object_or_404(Item, key=key)
    given = ReasonForm(request.POST).named()
    items.reopen(item=item, version=given["version"], reason=given["reason"], by=person_of(request))
    messages.success(request, "It is a draft again.")
    return redirect("item_edit", key)


def _item(key: str) -> Item:
    return get_object_or_404(Item.objects.select_related("image", "edited_by"), key=key)


def _filters(queue: selectors.Queue) -> dict[str, Any]:
    """The choices of the queue's filters, and what is chosen."""
    people = [(name, name) for name in selectors.editors()]
    return {
        "axes": (
            ("complexity", "Complexity", Complexity.choices, queue.complexity),
            ("category", "Category", Category.choices, queue.category),
            ("premise_class", "Premise class", PremiseClass.choices, queue.premise_class),
            ("author", "Author", people, queue.author),
        ),
        "sorts": [(name, words) for name, (words, _) in selectors.SORTS.items()],
    }


def _twice(rows: Iterable[Item], rule: ReviewRules) -> set[int]:
    """The items that two people review, and the drafts that will be."""
    drafts = {item.pk for item in rows if item.state == ItemState.DRAFT and rules.is_chosen(item, rule)}
    return drafts | reviews.pairs_among(rows, rule)


def _row(item: Item, plan: Protocol) -> dict[str, Any]:
    """One line of the queue; the rules are asked only where something is still to be decided."""
    findings: list[Finding] = []
    if item.state in OPEN:
        findings = sheets.findings_of(items.texts_of(item), premise_class=item.premise_class, plan=plan)
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    return {
        "item": item,
        "cell": selectors.cell_words(item.cell),
        "state": ItemState(item.state).label,
        "premise": drafting.split_marks(item.target_description, item.modified_target_description)[1],
        "open": item.state in OPEN,
        "errors": errors,
        "warnings": len(findings) - errors,
    }


def _note(review: Review) -> str:
    """What is said beside the verdict, where there is more to say."""
    if review.independent:
        return reviews.pair_words(review)
    rows = Review.objects.filter(item=review.item_id, item_version=review.item_version, withdrawn_at=None)
    earlier = rows.filter(pk__lt=review.pk, verdict=Verdict.APPROVED).select_related("reviewer").first()
    if earlier and review.verdict == Verdict.APPROVED:
        return f"{earlier.reviewer} approved this version just before you; your approval is recorded beside it."
    return ""


def _queue_address(request: HttpRequest) -> str:
    query = request.GET.urlencode()
    return reverse("review_queue") + (f"?{query}" if query else "")


def _page(
    request: HttpRequest, item: Item, *, error: FpcoError | None = None, form: DecisionForm | None = None
) -> HttpResponse:
    person, queue = person_of(request), queue_of(request, item)
    before, after = queue.neighbours(item)
    context = {
        **review_page.context(item, person),
        "accepted": request.POST.getlist("accepted"),
        "failing": request.POST.getlist("failing"),
        "comment": request.POST.get("comment", ""),
        "error": error,
        "waiting": queue.waiting_for(person).exclude(pk=item.pk).count(),
        "following": queue.next_for(person, item),
        "before": before,
        "after": after,
    }
    return render(request, "annotate/item_review.html", context, status=error.status if error else 200)
