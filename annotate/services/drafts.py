"""Asking a model for drafts, and applying one: the model proposes, a person decides."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotate import drafting
from annotate.models import Draft, Drafter, Item, User
from annotate.models.drafts import DraftKind, DraftState
from annotate.models.items import ItemState
from annotate.services import items, protocols
from annotate.services.items import Question, Texts
from fpco_site.errors import Conflict, Invalid
from fpco_site.llm import drafts as wire
from fpco_site.llm import engine, prompts, providers

SCRIPTED = "Scripted drafter (simulated)"
PROMPTS = {DraftKind.QUESTIONS: wire.QUESTIONS, DraftKind.PREMISE: wire.PREMISE}
SHOWN = 6


@dataclass(frozen=True)
class Shown:
    """A draft as a page shows it: what it would put where, differences to the questions marked."""

    draft: Draft
    description: str
    rows: list[tuple[int, list[drafting.Segment]]]
    reply: str


def default_drafter() -> Drafter:
    """The offline drafter, which is always there; its drafts are marked simulated."""
    drafter, _ = Drafter.objects.get_or_create(
        name=SCRIPTED, defaults={"provider": "drafter", "model_id": "scripted-drafter", "max_output_tokens": 4096}
    )
    return drafter


def ensure_drafter(*, name: str, **values: Any) -> Literal["created", "updated", "unchanged"]:
    """Keep a drafter as the catalogue describes it. Drafts made before say themselves what they were made with."""
    known = Drafter.objects.filter(name=name).first()
    if known is None:
        Drafter.objects.create(name=name, **values)
        return "created"
    if all(getattr(known, field) == value for field, value in values.items()):
        return "unchanged"
    Drafter.objects.filter(pk=known.pk).update(**values)
    return "updated"


@transaction.atomic
def request(*, item: Item, kind: str, drafter: Drafter, by: User) -> Draft:
    """Have a draft made in the background. Raises where one can't be made or is being made already."""
    item = items.locked(item)
    _check_request(item, kind, drafter)
    prompt = prompts.load(PROMPTS[DraftKind(kind)])
    try:
        with transaction.atomic():
            draft = Draft.objects.create(
                item=item,
                drafter=drafter,
                kind=kind,
                prompt_name=prompt.name,
                prompt_version=str(prompt.version),
                prompt_sha256=prompt.sha256,
                model_asked=drafter.model_id,
                simulated=providers.is_simulated(drafter.provider),
                requested_by=by,
            )
    except IntegrityError as error:
        raise Conflict("This draft is already being made.") from error
    engine.hint()
    return draft


@transaction.atomic
def apply(*, draft: Draft, version: int, by: User) -> Item:
    """Put a draft's texts into the item as its next version; the former texts stay in its history."""
    draft = Draft.objects.select_for_update().get(pk=draft.pk)
    if draft.state != DraftState.READY:
        raise Conflict(f"This draft is {draft.get_state_display()}, so there is nothing to put in.")
    item = items.at_version(draft.item, version)
    texts = merged(items.texts_of(item), draft)
    saved = items.edit(
        item=item, version=version, texts=texts, by=by, reason=f"draft {draft.pk} by {draft.drafter} put in"
    )
    draft.applied_by, draft.applied_at = by, timezone.now()
    draft.save(update_fields=["applied_by", "applied_at"])
    return saved


def merged(texts: Texts, draft: Draft) -> Texts:
    """The item's texts with what the draft proposes in their place."""
    payload = draft.payload or {}
    proposed = {int(number): text for number, text in payload.get("questions", {}).items()}
    questions = dict(texts.questions)
    for number in proposed.keys() & questions.keys():
        questions[number] = _with(questions[number], draft.kind, proposed[number])
    if draft.kind == DraftKind.QUESTIONS:
        return replace(texts, target_description=payload["target_description"], questions=questions)
    return replace(texts, modified_target_description=payload["modified_target_description"], questions=questions)


def panel(item: Item) -> dict[str, Any]:
    """What the drafts panel of an item's page shows."""
    rows = list(item.drafts.select_related("drafter", "requested_by", "applied_by")[:SHOWN])
    texts = items.texts_of(item)
    return {
        "drafts": [shown(draft, texts.questions) for draft in rows],
        "drafting": any(draft.state in {DraftState.WAITING, DraftState.RUNNING} for draft in rows),
        "drafters": Drafter.objects.filter(active=True).order_by("id"),
        "premise_ready": not _missing_for_premise(item),
        "kinds": DraftKind,
    }


def shown(draft: Draft, questions: Mapping[int, Question]) -> Shown:
    payload = draft.payload or {}
    description = payload.get("target_description") or payload.get("modified_target_description") or ""
    rows = []
    for number, text in sorted((int(number), text) for number, text in payload.get("questions", {}).items()):
        now = questions.get(number, Question()).content
        against = now if draft.kind == DraftKind.PREMISE else text
        rows.append((number, drafting.split_marks(against, text)[1]))
    raw = (draft.reply or b"").decode("utf-8", "replace") if draft.state == DraftState.FAILED else ""
    return Shown(draft=draft, description=description, rows=rows, reply=raw)


def _check_request(item: Item, kind: str, drafter: Drafter) -> None:
    if kind not in DraftKind.values:
        raise Invalid(f"A draft is of {' or '.join(DraftKind.values)}, not of {kind!r}.")
    if not drafter.active:
        raise Conflict(f"{drafter} is not in use any more.")
    providers.check(drafter.endpoint())
    if item.state == ItemState.REJECTED:
        raise Conflict("This item is rejected; reopen it before having a draft made.")
    if not item.target:
        raise Invalid("Name the target first: the drafting model is told what the picture's target is.")
    if kind == DraftKind.PREMISE and (missing := _missing_for_premise(item)):
        raise Invalid(f"A false premise is drafted from the description and the questions; {missing} is missing.")


def _missing_for_premise(item: Item) -> str:
    texts = items.texts_of(item)
    if not texts.target_description:
        return "the description"
    empty = [n for n in protocols.of(item).false_turns if not texts.questions.get(n, Question()).content]
    return f"question {empty[0]}" if empty else ""


def _with(question: Question, kind: str, text: str) -> Question:
    return replace(question, content=text) if kind == DraftKind.QUESTIONS else replace(question, modified=text)
