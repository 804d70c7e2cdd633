"""Drafts as the engine makes them: one call a draft, read strictly, kept with the raw reply."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

from django.db.models import F
from django.utils import timezone

from annotate.axes import Category
from annotate.models import Draft, Drafter
from annotate.models.drafts import DraftKind, DraftState
from annotate.services import items, protocols
from fpco_site.fields import escape
from fpco_site.llm import drafts as wire
from fpco_site.llm import prompts
from fpco_site.llm.engine import Call, Claim, LeasedWork
from fpco_site.llm.strict_json import ParseError
from fpco_site.llm.types import Picture, Reply, Request


@dataclass(frozen=True)
class Job:
    """All that a draft's request is made of; `picture` is read by `open`."""

    kind: str
    system: str
    metadata: wire.Metadata
    premise_class: str
    target_description: str
    questions: dict[int, str]
    turns: int
    path: str
    mime: str
    sha256: str
    picture: Picture | None = None

    @property
    def ids(self) -> list[int]:
        """The questions that the reply must have."""
        return list(range(1, self.turns + 1)) if self.kind == DraftKind.QUESTIONS else sorted(self.questions)


class DraftWork(LeasedWork[Job]):
    kind = "drafts"
    model = Draft

    def pending(self) -> bool:
        return Draft.objects.filter(state__in=[DraftState.WAITING, DraftState.RUNNING]).exists()

    def claim(self, *, room: int, worker: UUID) -> list[Claim[Job]]:
        claims: list[Claim[Job]] = []
        waiting = Draft.objects.filter(state=DraftState.WAITING).values("drafter")
        for drafter in Drafter.objects.filter(pk__in=waiting).order_by("pk").select_for_update(skip_locked=True):
            held = drafter.drafts.filter(state=DraftState.RUNNING).count()
            free = min(room - len(claims), drafter.concurrency - held)
            if free > 0:
                claims += self._claim_of(drafter, room=free, worker=worker)
        return claims

    def open(self, claim: Claim[Job]) -> Claim[Job]:
        from django.core.files.storage import default_storage

        with default_storage.open(claim.state.path, "rb") as file:
            picture = Picture(file.read(), claim.state.mime)
        return replace(claim, state=replace(claim.state, picture=picture))

    def request(self, claim: Claim[Job]) -> Request:
        job = claim.state
        if job.kind == DraftKind.PREMISE:
            return wire.premise_request(
                system=job.system,
                metadata=job.metadata,
                target_description=job.target_description,
                questions=job.questions,
                premise_class=job.premise_class,
                picture=job.picture,
            )
        if job.picture is None:
            raise ValueError("A claim is opened before its request is made.")
        return wire.questions_request(system=job.system, metadata=job.metadata, picture=job.picture)

    def record(self, calls: Sequence[Call[Job]]) -> list[Claim[Job] | None]:
        held = self.held([call.claim for call in calls])
        return [self._record(call) if held.get(call.claim.id) == call.claim.token else None for call in calls]

    def _claim_of(self, drafter: Drafter, *, room: int, worker: UUID) -> list[Claim[Job]]:
        token = uuid4()
        ids = self.take(drafter.drafts.order_by("pk"), room=room, worker=worker, token=token)
        rows = Draft.objects.filter(pk__in=ids).select_related("item__image").prefetch_related("item__turns")
        endpoint = drafter.endpoint()
        return [Claim(row.pk, token, drafter.pk, endpoint, job_of(row)) for row in rows.order_by("pk")]

    def _record(self, call: Call[Job]) -> Claim[Job] | None:
        row = Draft.objects.filter(pk=call.claim.id)
        changed: dict[str, Any] = {"tries": F("tries") + 1, "seconds": call.seconds, "request": sent(call)}
        if call.error is not None:
            changed |= {"error": call.error.message, "request_id": call.error.request_id, "reply": call.error.raw}
        elif call.reply is not None:
            changed |= answered(call.reply, call.claim.state)
        if not call.last:
            row.update(**changed)
            return call.claim
        changed.setdefault("state", DraftState.FAILED)
        row.update(**changed, finished_at=timezone.now(), **Draft.FREE)
        return None


def job_of(draft: Draft) -> Job:
    """What is asked for a draft, from the item as it is now."""
    item, plan = draft.item, protocols.of(draft.item)
    questions = items.texts_of(item).questions
    return Job(
        kind=draft.kind,
        system=prompts.load(draft.prompt_name, int(draft.prompt_version)).text,
        metadata=wire.Metadata(item.target, Category(item.category).number, item.complexity),
        premise_class=item.premise_class,
        target_description=item.target_description,
        questions={number: questions[number].content for number in plan.false_turns if number in questions},
        turns=plan.turns,
        path=str(item.image.file.name),
        mime=item.image.mime,
        sha256=item.image.sha256,
    )


def sent(call: Call[Job]) -> bytes | None:
    """The request as it was asked, with the picture by its hash instead of its bytes."""
    if call.request is None:
        return None
    endpoint = call.claim.endpoint
    asked = {
        "provider": endpoint.provider,
        "model": endpoint.model_id,
        "max_output_tokens": endpoint.max_output_tokens,
        "temperature": endpoint.temperature,
        "top_p": endpoint.top_p,
        "system": call.request.system,
        "messages": [{"role": message.role, "text": message.text} for message in call.request.messages],
        "picture_sha256": call.claim.state.sha256,
        "schema": call.request.schema,
    }
    return json.dumps(asked).encode()


def answered(reply: Reply, job: Job) -> dict[str, Any]:
    """The columns that a reply fills; one that can't be read is a failed draft with its raw reply."""
    changed: dict[str, Any] = {
        "reply": reply.raw or (reply.text or "").encode("utf-8", "surrogatepass"),
        "model_answered": reply.model,
        "request_id": reply.request_id,
        "input_tokens": reply.usage.input,
        "cached_tokens": reply.usage.cached,
        "output_tokens": reply.usage.output,
        "reasoning_tokens": reply.usage.reasoning,
    }
    if not reply.text:
        return changed | {"error": f"The model gave no text ({reply.reason or reply.finish_reason or reply.outcome})."}
    try:
        payload = parsed(reply.text, job)
    except ParseError as error:
        return changed | {"error": str(error)}
    return changed | {"payload": payload, "error": "", "state": DraftState.READY}


def parsed(text: str, job: Job) -> dict[str, Any]:
    """The proposal as plain values. Raises ParseError."""
    if job.kind == DraftKind.QUESTIONS:
        questions = wire.parse_questions(text, job.ids)
        key, description, texts = "target_description", questions.target_description, questions.questions
    else:
        premise = wire.parse_premise(text, job.ids)
        key, description = "modified_target_description", premise.modified_target_description
        texts = premise.questions
    if any(escape(part) != part for part in (description, *texts.values())):
        raise ParseError("The reply holds control characters that no question has.")
    return {key: description, "questions": texts}
