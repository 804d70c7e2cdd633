"""Editing one item: texts, computed rewrites, place, history."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import drafting, history, selectors, sheets
from annotate.axes import Category, Complexity, PremiseClass
from annotate.forms.items import TextsForm
from annotate.models import Item
from annotate.permissions import author_required, person_of
from annotate.services import drafts, items, protocols, variants
from annotate.services.items import EditConflict, Texts
from fpco_site.errors import FpcoError, Invalid


@require_http_methods(["GET", "HEAD", "POST"])
@author_required
def item_edit(request: HttpRequest, key: str) -> HttpResponse:
    """The form; a POST saves it."""
    item = get_object_or_404(Item, key=key)
    if request.method != "POST":
        return _page(request, item, items.texts_of(item), version=item.version)
    form = _posted(request, item)
    texts = form.texts()
    try:
        saved = items.edit(item=item, version=form.cleaned_data["version"], texts=texts, by=person_of(request))
    except EditConflict as conflict:
        return _conflict(request, conflict)
    except FpcoError as error:
        return _page(request, item, texts, version=form.cleaned_data["version"], error=error)
    messages.success(request, "Saved." if saved.version != item.version else "Nothing was changed.")
    return redirect(_with_queue(request, "item_review" if "done" in request.POST else "item_edit", key))


@require_POST
@author_required
def item_compute(request: HttpRequest, key: str) -> HttpResponse:
    """The same form with the rewrites computed; nothing is saved."""
    item = get_object_or_404(Item, key=key)
    form = _posted(request, item)
    texts = _recomputed(form, item)
    if texts != form.texts():
        messages.info(request, "The rewrites are computed; save to keep them.")
    return _page(request, item, texts, version=form.cleaned_data["version"])


@require_POST
@author_required
def item_check(request: HttpRequest, key: str) -> HttpResponse:
    """What the rules say about the texts as typed, as pieces for the page; nothing is saved."""
    item = get_object_or_404(Item, key=key)
    texts = _recomputed(_posted(request, item), item)
    more = variants.findings_of(item, texts)
    sheet = sheets.sheet(texts, premise_class=item.premise_class, plan=protocols.of(item), more=more)
    return render(request, "annotate/item_edit.html#checked", {"item": item, "sheet": sheet, "live": True})


@require_safe
@author_required
def item_history(request: HttpRequest, key: str) -> HttpResponse:
    item = get_object_or_404(Item.objects.select_related("image"), key=key)
    context = {
        "item": item,
        "entries": history.entries(item.revisions.select_related("by").order_by("version")),
        "reviews": item.reviews.select_related("reviewer").order_by("-id"),
    }
    return render(request, "annotate/item_history.html", context)


def queue_of(request: HttpRequest) -> selectors.Queue:
    """The filters of the review queue that the address carries."""
    names = ("state", "complexity", "category", "premise_class", "q")
    return selectors.Queue(**{name: request.GET.get(name, "").strip() for name in names})


def _with_queue(request: HttpRequest, name: str, key: str) -> str:
    query = request.GET.urlencode()
    return reverse(name, args=[key]) + (f"?{query}" if query else "")


def _posted(request: HttpRequest, item: Item) -> TextsForm:
    plan = protocols.of(item)
    form = TextsForm(request.POST, plan=plan, numbers=[turn.number for turn in item.turns.all()])
    if not form.is_valid():
        field, problems = next(iter(form.errors.items()))
        raise Invalid(f"{form.fields[field].label or field}: {problems[0]}")
    return form


def _recomputed(form: TextsForm, item: Item) -> Texts:
    before = item.modified_target_description
    return sheets.recompute(form.texts(), machine=form.machine(), before=before, plan=protocols.of(item))


def _page(
    request: HttpRequest, item: Item, texts: Texts, *, version: int, error: FpcoError | None = None
) -> HttpResponse:
    plan = protocols.of(item)
    more = variants.findings_of(item, texts)
    sheet = sheets.sheet(texts, premise_class=item.premise_class, plan=plan, more=more)
    machine = {line.number: line.machine for line in sheet.lines if line.false_premise}
    form = TextsForm(
        plan=plan,
        numbers=sorted(texts.questions),
        own_premise_only=item.parent_id is not None,
        initial=TextsForm.initial_of(texts, version=version, machine=machine),
    )
    before, after = queue_of(request).neighbours(item)
    context = {
        "item": item,
        "form": form,
        "sheet": sheet,
        "rows": _rows(form, sheet),
        "error": error,
        "unsaved": texts != items.texts_of(item),
        "before": before,
        "after": after,
        "axes": _axes(),
        **drafts.panel(item),
    }
    return render(request, "annotate/item_edit.html", context, status=error.status if error else 200)


def _rows(form: TextsForm, sheet: sheets.Sheet) -> list[dict[str, object]]:
    """Each line of the sheet with its fields."""
    return [
        {
            "line": line,
            "content": form[f"content_{line.number}"],
            "modified": form[f"modified_{line.number}"] if line.false_premise else None,
            "machine": form[f"machine_{line.number}"] if line.false_premise else None,
        }
        for line in sheet.lines
    ]


def _axes() -> list[dict[str, object]]:
    named = (("complexity", Complexity), ("category", Category), ("premise_class", PremiseClass))
    return [{"name": name, "label": name.replace("_", " ").capitalize(), "choices": c.choices} for name, c in named]


def _conflict(request: HttpRequest, conflict: EditConflict) -> HttpResponse:
    """Both texts side by side: nothing was saved, nothing is lost."""
    mine, theirs = _fields(conflict.mine), _fields(conflict.theirs)
    rows = []
    for name, text in mine.items():
        if text != theirs[name]:
            theirs_marked, mine_marked = drafting.split_marks(theirs[name], text)
            rows.append({"name": name, "mine": mine_marked, "theirs": theirs_marked})
    context = {
        "item": conflict.item,
        "error": conflict,
        "rows": rows,
        "mine": TextsForm.initial_of(conflict.mine, version=conflict.item.version, machine={}),
    }
    return render(request, "annotate/item_conflict.html", context, status=conflict.status)


def _fields(texts: Texts) -> dict[str, str]:
    """All texts by the words that name them on a page."""
    named = {
        "Target": texts.target,
        "Description": texts.target_description,
        "Modified description": texts.modified_target_description,
    }
    for number, question in sorted(texts.questions.items()):
        named[f"Question {number}"] = question.content
        named[f"Modified question {number}"] = question.modified
    return named
