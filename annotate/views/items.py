"""Editing one item: its texts, what is typed and not saved yet, computed rewrites."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotate import drafting, selectors, sheets
from annotate.forms.items import MessageForm, TextsForm, require_valid
from annotate.models import EditDraft, Item
from annotate.permissions import author_required, person_of
from annotate.services import drafts, edit_drafts, items, protocols, undo, variants
from annotate.services.items import EditConflict, Texts
from fpco_site.errors import FpcoError


@require_http_methods(["GET", "HEAD", "POST"])
@author_required
def item_edit(request: HttpRequest, key: str) -> HttpResponse:
    """The form; a POST saves it."""
    item, person = get_object_or_404(Item, key=key), person_of(request)
    if request.method != "POST":
        return _opened(request, item)
    form = _posted(request, item)
    texts, version = form.texts(items.texts_of(item)), form.cleaned_data["version"]
    message = MessageForm(request.POST).message()
    try:
        saved = edit_drafts.save(item=item, version=version, texts=texts, by=person, message=message)
    except EditConflict as conflict:
        return _conflict(request, conflict)
    except FpcoError as error:
        return _page(request, item, texts, version=version, error=error)
    messages.success(request, "Saved." if saved.version != item.version else "Nothing was changed.")
    return redirect(address(request, "item_review" if "done" in request.POST else "item_edit", key))


@require_POST
@author_required
def item_autosave(request: HttpRequest, key: str) -> HttpResponse:
    """Keep what is typed as this person's draft; says when, and whether the item moved on meanwhile."""
    item, person = get_object_or_404(Item, key=key), person_of(request)
    form, message = _posted(request, item), MessageForm(request.POST).message()
    version, texts = form.cleaned_data["version"], form.texts(items.texts_of(item))
    try:
        draft = edit_drafts.keep(item=item, version=version, texts=texts, by=person, message=message)
    except edit_drafts.OtherWindow as error:
        return JsonResponse({"message": error.message, "other_window": True}, status=error.status)
    if message and not edit_drafts.holds(draft, texts, items.texts_of(item)):
        return JsonResponse({"message": "A later text of this window is kept.", "overtaken": True}, status=409)
    item.refresh_from_db()
    moved = item.version != version and draft.texts is not None
    return JsonResponse({"at": f"{draft.at:%H:%M}", "kept": draft.texts is not None, "moved_on": moved})


@require_POST
@author_required
def item_discard(request: HttpRequest, key: str) -> HttpResponse:
    """Forget what this person typed and did not save."""
    item = get_object_or_404(Item, key=key)
    edit_drafts.discard(item=item, by=person_of(request), message=MessageForm(request.POST).message())
    messages.info(request, "Your unsaved text is gone; this is what is saved.")
    return redirect(address(request, "item_edit", key))


@require_POST
@author_required
def item_compute(request: HttpRequest, key: str) -> HttpResponse:
    """The same form with the rewrites computed; nothing is saved."""
    item = get_object_or_404(Item, key=key)
    form = _posted(request, item)
    texts = _recomputed(form, item)
    if texts != form.texts(items.texts_of(item)):
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


def queue_of(request: HttpRequest, item: Item | None = None) -> selectors.Queue:
    """The filters and the order of the review queue that the address carries; a variant is among variants."""
    names = ("state", "complexity", "category", "premise_class", "q", "author", "sort")
    variants_only = item.parent_id is not None if item else "variants" in request.GET
    return selectors.Queue(**{name: request.GET.get(name, "").strip() for name in names}, variants=variants_only)


def address(request: HttpRequest, name: str, key: str) -> str:
    """The page of that name of an item, with the queue that the address carries."""
    query = request.GET.urlencode()
    return reverse(name, args=[key]) + (f"?{query}" if query else "")


def json_wanted(request: HttpRequest) -> bool:
    """Whether a script asks, which shows the answer itself."""
    return request.headers.get("Accept", "").startswith("application/json")


def _opened(request: HttpRequest, item: Item) -> HttpResponse:
    """The form as this person left it: with what they typed and did not save; both texts where the item moved on."""
    now, draft = items.texts_of(item), edit_drafts.of(item, person_of(request))
    typed = edit_drafts.texts_of(draft, now) if draft else now
    if draft is None or typed == now:
        return _page(request, item, now, version=item.version)
    if draft.version == item.version:
        return _page(request, item, typed, version=item.version, draft=draft)
    words = (
        f"You typed this over version {draft.version} and did not save it; the item is at version {item.version} now."
    )
    return _conflict(request, EditConflict(item=item, mine=typed, theirs=now, by="", words=words), status=200)


def _posted(request: HttpRequest, item: Item) -> TextsForm:
    plan = protocols.of(item)
    form = TextsForm(request.POST, plan=plan, numbers=[turn.number for turn in item.turns.all()])
    require_valid(form)
    return form


def _recomputed(form: TextsForm, item: Item) -> Texts:
    before = item.modified_target_description
    return sheets.recompute(
        form.texts(items.texts_of(item)), machine=form.machine(), before=before, plan=protocols.of(item)
    )


def _page(
    request: HttpRequest,
    item: Item,
    texts: Texts,
    *,
    version: int,
    error: FpcoError | None = None,
    draft: EditDraft | None = None,
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
    before, after = queue_of(request, item).neighbours(item)
    context = {
        "item": item,
        "form": form,
        "sheet": sheet,
        "rows": _rows(form, sheet),
        "error": error,
        "unsaved": texts != items.texts_of(item),
        "draft": draft,
        "step": undo.last_step(person_of(request)),
        "before": before,
        "after": after,
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


def _conflict(request: HttpRequest, conflict: EditConflict, *, status: int = 409) -> HttpResponse:
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
    return render(request, "annotate/item_conflict.html", context, status=status)


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
