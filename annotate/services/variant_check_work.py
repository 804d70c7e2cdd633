"""Checks of variants as the engine makes them: one call a candidate, read strictly, kept with the raw reply."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotate.models import Drafter, VariantCheck
from annotate.models.variants import CheckState
from annotate.services import variant_checks
from fpco_site.errors import Invalid
from fpco_site.fields import escape
from fpco_site.llm import engine, prompts
from fpco_site.llm import variant_checks as wire
from fpco_site.llm.engine import Call, Claim
from fpco_site.llm.models import usage_columns
from fpco_site.llm.strict_json import ParseError
from fpco_site.llm.types import Picture, ProviderError, Reply, Request

BAD_REPLIES = 2  # after so many unreadable replies the check has failed


@dataclass(frozen=True)
class Case:
    """One candidate and its picture; `unusable` counts replies that could not be read."""

    system: str
    asked: dict[str, str]
    path: str
    mime: str
    sha256: str
    unusable: int = 0
    picture: Picture | None = None


class VariantCheckWork(engine.LeasedWork[Case]):
    """A group is a checker, whose concurrency holds over all workers."""

    kind = "variant_checks"
    model = VariantCheck

    def pending(self) -> bool:
        waiting = VariantCheck.objects.filter(self.here("checker__provider"), state=CheckState.WAITING)
        return waiting.exists() or VariantCheck.objects.filter(state=CheckState.RUNNING).exists()

    def claim(self, *, room: int, worker: UUID) -> list[Claim[Case]]:
        claims: list[Claim[Case]] = []
        waiting = VariantCheck.objects.filter(state=CheckState.WAITING).values("checker")
        checkers = Drafter.objects.filter(self.here("provider"), pk__in=waiting).order_by("pk")
        for checker in checkers.select_for_update(skip_locked=True):
            held = checker.checks.filter(state=CheckState.RUNNING).count()
            free = min(room - len(claims), checker.concurrency - held)
            if free > 0:
                claims += self._claims_of(checker, room=free, worker=worker)
        return claims

    def open(self, claim: Claim[Case]) -> Claim[Case]:
        picture = engine.stored_picture(claim.state.path, claim.state.mime)
        return replace(claim, state=replace(claim.state, picture=picture))

    def request(self, claim: Claim[Case]) -> Request:
        case = claim.state
        if case.picture is None:
            raise ValueError("A claim is opened before its request is made.")
        return wire.request(system=case.system, candidate=case.asked, picture=case.picture)

    def record(self, calls: Sequence[Call[Case]]) -> list[Claim[Case] | None]:
        held = self.held([call.claim for call in calls])
        return [self._record(call) if held.get(call.claim.id) == call.claim.token else None for call in calls]

    def open_groups(self, groups: Collection[int]) -> set[int]:
        asked = VariantCheck.objects.filter(checker__in=groups, state=CheckState.RUNNING)
        return set(asked.values_list("checker", flat=True))

    def give_back(self, rows: QuerySet[Any]) -> int:
        """A check that was stopped while its call was in flight stays stopped, and nobody holds it any more."""
        rows.filter(state=CheckState.STOPPED).update(**VariantCheck.FREE)
        return super().give_back(rows)

    def _claims_of(self, checker: Drafter, *, room: int, worker: UUID) -> list[Claim[Case]]:
        token = uuid4()
        ids = self.take(checker.checks.order_by("pk"), room=room, worker=worker, token=token)
        rows = VariantCheck.objects.filter(pk__in=ids).select_related("item__image").order_by("pk")
        endpoint = checker.endpoint()
        try:
            return [Claim(row.pk, token, checker.pk, endpoint, case_of(row)) for row in rows]
        except Invalid as error:
            self.give_back(VariantCheck.objects.filter(pk__in=ids))
            variant_checks.stop_by_engine(checker=checker.pk, reason=f"{error.message} Put it back, then continue.")
            return []

    def _record(self, call: Call[Case]) -> Claim[Case] | None:
        row = VariantCheck.objects.filter(pk=call.claim.id)
        changed: dict[str, Any] = {
            "tries": F("tries") + 1,
            "seconds": call.seconds,
            "request": call.sent(picture_sha256=call.claim.state.sha256),
        }
        if call.reply is not None:
            return self._after_reply(call, call.reply, changed)
        if call.error is not None:
            changed |= {"error": call.error.message, "request_id": call.error.request_id, "reply": call.error.raw}
            if call.fault in (engine.Fault.UNCLEAR, engine.Fault.EVERYBODYS) and not engine.is_refusal(call.error):
                row.update(**changed)
                self._give_back(call, call.error)
                return None
        if not call.last:
            row.update(**changed)
            return _go_on(call.claim)
        row.update(**changed, state=CheckState.FAILED, finished_at=timezone.now(), **VariantCheck.FREE)
        return None

    def _give_back(self, call: Call[Case], error: ProviderError) -> None:
        """The check waits again; where no other would fare better, all of its checker's are stopped."""
        self.release([call.claim])
        if call.fault is engine.Fault.EVERYBODYS:
            reason = engine.pause_reason(error, call.claim.endpoint, go_on="continue")
            variant_checks.stop_by_engine(checker=call.claim.group, reason=reason)

    def _after_reply(self, call: Call[Case], reply: Reply, changed: dict[str, Any]) -> Claim[Case] | None:
        """A verdict ends the check; a reply that can't be read is asked for once more, then it has failed."""
        row = VariantCheck.objects.filter(pk=call.claim.id)
        changed |= used(reply)
        try:
            changed |= {"payload": verdict(reply), "error": "", "state": CheckState.READY}
        except ParseError as error:
            unusable = call.claim.state.unusable + 1
            changed |= {"error": str(error), "unusable": unusable}
            if unusable < BAD_REPLIES:
                row.update(**changed)
                return _go_on(replace(call.claim, state=replace(call.claim.state, unusable=unusable)))
            changed["state"] = CheckState.FAILED
        row.update(**changed, finished_at=timezone.now(), **VariantCheck.FREE)
        return None


def _go_on(claim: Claim[Case]) -> Claim[Case] | None:
    """The claim, unless its check was stopped meanwhile."""
    row = VariantCheck.objects.filter(pk=claim.id)
    return None if row.filter(state=CheckState.STOPPED).update(**VariantCheck.FREE) else claim


def case_of(row: VariantCheck) -> Case:
    """What is asked: the wording that was there when the check was requested. Raises Invalid for a lost prompt."""
    image = row.item.image
    return Case(
        system=prompts.load_exact(row.prompt_name, int(row.prompt_version), row.prompt_sha256).text,
        asked=row.asked,
        path=str(image.file.name),
        mime=image.mime,
        sha256=image.sha256,
        unusable=row.unusable,
    )


def verdict(reply: Reply) -> dict[str, Any]:
    """The verdict as it is stored. Raises ParseError."""
    if not reply.text:
        raise ParseError(f"The model gave no text ({reply.reason or reply.finish_reason or reply.outcome}).")
    found = wire.parse(reply.text)
    if escape(found.reason) != found.reason:
        raise ParseError("The reply holds control characters that no reason has.")
    return {**found.answers, "reason": found.reason}


def used(reply: Reply) -> dict[str, Any]:
    """The columns that any reply fills; tokens add up over the calls of a check."""
    tokens = usage_columns(reply.usage)
    return {
        "reply": reply.raw or (reply.text or "").encode("utf-8", "surrogatepass"),
        "model_answered": reply.model,
        "request_id": reply.request_id,
        **{name: Coalesce(F(name), 0) + count for name, count in tokens.items() if count is not None},
    }
