"""The variants of the lexical-sensitivity study: choosing images, and the six premises of each side by side."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import selectors, variant_table
from annotate.forms.datasets import FreezeForm
from annotate.forms.items import ReasonForm
from annotate.forms.variants import DrawForm, PremiseForm
from annotate.models import Draft, Drafter, Item
from annotate.models.drafts import DraftScope, JobKind
from annotate.models.items import ItemState
from annotate.permissions import author_required, person_of
from annotate.services import draft_jobs, drafters, drafts, variant_freezing, variants
from annotate.services.draft_jobs import Wish
from annotate.services.freezing import Level
from annotate.variant_table import Row, Slot
from fpco_site.errors import FpcoError, Invalid, require_plain
from fpco_site.forms import whole_number

PER_PAGE = 60
SECTION = "review_queue"


@require_safe
@author_required
def variant_list(request: HttpRequest) -> HttpResponse:
    table = variant_table.table()
    context = {
        "section": SECTION,
        "table": table,
        "draw_form": DrawForm(),
        "eligible": (eligible := variants.eligible().count()),
        "to_draw": min(table.lacking, eligible),
        "images": variants.IMAGES,
        "drafters": Drafter.objects.filter(active=True).order_by("id"),
        "next_review": _in_review(),
    }
    return render(request, "annotate/variant_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@author_required
def variant_choose(request: HttpRequest) -> HttpResponse:
    """Approved items to choose from; a POST makes the variants of those that were ticked."""
    if request.method == "POST":
        chosen = list(Item.objects.filter(key__in=request.POST.getlist("item"), parent=None).order_by("key"))
        if not chosen:
            raise Invalid("Tick the images that get variants.")
        for item in chosen:
            variants.choose(parent=item, by=person_of(request))
        messages.success(request, f"{len(chosen)} chosen; each has six variants to write.")
        return redirect("variant_list")
    cell = tuple(request.GET.get(name, "") for name in ("complexity", "category", "premise_class"))
    page = Paginator(variant_table.candidates(cell), PER_PAGE).get_page(request.GET.get("page"))
    table = variant_table.table()
    context = {
        "section": SECTION,
        "page_obj": page,
        "chosen": selectors.known_cell_words(cell),
        "any_chosen": bool(table.kept),
        **variant_table.chosen_grid(table),
    }
    return render(request, "annotate/variant_choose.html", context)


@require_POST
@author_required
def variant_draw(request: HttpRequest) -> HttpResponse:
    form = DrawForm(request.POST)
    if not form.is_valid():
        raise Invalid("A draw needs a seed: a whole number from 0 to 2,000,000,000.")
    drawn = variants.draw(seed=form.cleaned_data["seed"], by=person_of(request))
    messages.success(request, f"{len(drawn.keys)} images drawn by seed {drawn.seed} from {drawn.frame_size}.")
    return redirect("variant_list")


@require_POST
@author_required
def variant_adopt(request: HttpRequest) -> HttpResponse:
    """Put each parent's own premise into its empty variant A; of one parent where the address names it."""
    rows = variants.parents()
    if key := require_plain(request.POST.get("parent", "")):
        rows = rows.filter(key=key)
    taken = variants.adopt_all(parents=rows, by=person_of(request))
    messages.success(request, f"{taken} taken from the parents.")
    return redirect("variant_parent", key) if key else redirect("variant_list")


@require_POST
@author_required
def variant_draft(request: HttpRequest) -> HttpResponse:
    """Have premises drafted for all variants that have none, as one job."""
    chosen = whole_number(request.POST.get("drafter", ""))
    drafter = drafters.default() if chosen is None else get_object_or_404(Drafter, pk=chosen)
    wish = Wish(kind=JobKind.PREMISE, scope=DraftScope.VARIANTS)
    job = draft_jobs.start(wish=wish, drafter=drafter, by=person_of(request))
    messages.success(request, f"{job.drafts.count()} premises are being drafted.")
    return redirect("variant_list")


@require_http_methods(["GET", "HEAD", "POST"])
@author_required
def variant_freeze(request: HttpRequest) -> HttpResponse:
    """The check list of the variants; a POST freezes those of whole images."""
    form = FreezeForm(request.POST) if request.method == "POST" else FreezeForm()
    ticked = request.POST.getlist("accepted")
    if request.method == "POST" and form.is_valid():
        try:
            dataset = variant_freezing.freeze(**form.cleaned_data, by=person_of(request), accepted=ticked)
        except FpcoError as error:
            form.add_error(None, error.message)
        else:
            messages.success(request, f"{dataset} is frozen: run models over it as over any other.")
            return redirect("dataset_detail", dataset.pk)
    rows = variant_freezing.checks()
    context = {
        "section": SECTION,
        "form": form,
        "rows": [{"check": row, "on": row.ticket in ticked} for row in rows],
        "whole": variant_freezing.whole(),
        "stops": sum(row.level is Level.STOPS for row in rows),
    }
    return render(request, "annotate/variant_freeze.html", context, status=400 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@author_required
def variant_parent(request: HttpRequest, key: str) -> HttpResponse:
    """The six of one image side by side; a POST saves what was changed, each by itself."""
    row = variant_table.row(_parent(key))
    if request.method != "POST":
        return _page(request, row, [(slot, PremiseForm.of(slot), "") for slot in row.slots])
    filled = [(slot, PremiseForm.of(slot, request.POST), _save(request, slot)) for slot in row.slots]
    if any(problem for _, _, problem in filled):
        return _page(request, variant_table.row(row.parent), filled, status=409)
    messages.success(request, "Saved." if any(form.is_touched for _, form, _ in filled) else "Nothing was changed.")
    return redirect("variant_parent", key)


@require_POST
@author_required
def variant_sync(request: HttpRequest, key: str) -> HttpResponse:
    changed = variants.sync(parent=_parent(key), by=person_of(request))
    messages.success(request, f"{changed} variants took over what changed; approvals of theirs are taken back.")
    return redirect("variant_parent", key)


@require_POST
@author_required
def variant_submit(request: HttpRequest, key: str) -> HttpResponse:
    done = variants.submit(parent=_parent(key), by=person_of(request))
    messages.success(request, f"{done} in review now." if done else "No draft here is complete yet.")
    return redirect("variant_parent", key)


@require_POST
@author_required
def variant_use(request: HttpRequest, key: str, pk: int) -> HttpResponse:
    """Put a drafted premise into its variant."""
    draft = get_object_or_404(Draft, pk=pk, item__parent__key=key)
    version = whole_number(request.POST.get("version", ""))
    if version is None:
        raise Invalid("Say which version you mean: open the image again.")
    drafts.apply(draft=draft, version=version, by=person_of(request))
    messages.success(request, f"Put into {variants.name_of(draft.item)}. The former texts are in its history.")
    return redirect("variant_parent", key)


@require_POST
@author_required
def variant_aside(request: HttpRequest, key: str) -> HttpResponse:
    """Take an image out of the study, or back into it."""
    parent, form = _parent(key), ReasonForm(request.POST)
    if "back" in request.POST:
        variants.take_back(parent=parent, by=person_of(request))
        messages.success(request, "It is back; its variants are drafts.")
    else:
        reason = form.cleaned_data["reason"] if form.is_valid() else ""
        variants.set_aside(parent=parent, reason=reason, by=person_of(request))
        messages.success(request, "It is set aside; its variants stay on record.")
    return redirect("variant_parent", key)


def _parent(key: str) -> Item:
    return get_object_or_404(variants.parents(), key=key)


def _save(request: HttpRequest, slot: Slot) -> str:
    """Save one variant as typed; what went wrong in a sentence, empty where nothing did."""
    form = PremiseForm.of(slot, request.POST)
    if not form.is_valid():
        name, problems = next(iter(form.errors.items()))
        return f"{form.fields[name].label or name}: {problems[0]}"
    if not form.is_touched:
        return ""
    try:
        variants.save(move=form.move(slot), by=person_of(request))
    except FpcoError as error:
        return error.message
    return ""


def _page(
    request: HttpRequest, row: Row, filled: list[tuple[Slot, PremiseForm, str]], *, status: int = 200
) -> HttpResponse:
    fresh = {slot.field: slot for slot in row.slots}
    cards = [_card(fresh[slot.field], form, problem) for slot, form, problem in filled]
    rows = variant_table.table().rows
    keys = [other.parent.key for other in rows]
    here = keys.index(row.parent.key)
    context = {
        "section": SECTION,
        "row": row,
        "item": row.parent,
        "classes": [cards[start : start + 2] for start in range(0, len(cards), 2)],
        "before": keys[here - 1] if here else "",
        "after": keys[here + 1] if here + 1 < len(keys) else "",
        "prefix": row.slots[0].sheet.lines,
        "drafting": any(draft.state in {"waiting", "running"} for slot in row.slots for draft in slot.drafts),
    }
    return render(request, "annotate/variant_parent.html", context, status=status)


def _card(slot: Slot, form: PremiseForm, problem: str) -> dict[str, Any]:
    """One variant with its form: what could not be saved stays as typed, beside what is saved now."""
    return {"slot": slot, "form": form.again(slot) if problem else PremiseForm.of(slot), "problem": problem}


def _in_review() -> str:
    """Where the first variant that waits for a verdict is reviewed; empty where none waits."""
    first = Item.objects.filter(parent__isnull=False, state=ItemState.IN_REVIEW).order_by("pk").first()
    return f"{reverse('item_review', args=[first.key])}?variants=1" if first else ""
