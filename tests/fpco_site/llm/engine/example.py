"""The smallest client of the engine, over drafts: one call a row, and the text is all that is kept."""

from collections.abc import Sequence
from uuid import UUID, uuid4

from annotate.models import Draft
from annotate.models.drafts import DraftState
from fpco_site.llm.engine import Call, Claim, LeasedWork
from fpco_site.llm.types import Message, Request


class ExampleWork(LeasedWork[str]):
    kind = "example"
    model = Draft

    def pending(self) -> bool:
        return Draft.objects.filter(state__in=[DraftState.WAITING, DraftState.RUNNING]).exists()

    def claim(self, *, room: int, worker: UUID) -> list[Claim[str]]:
        token = uuid4()
        ids = self.take(Draft.objects.order_by("pk"), room=room, worker=worker, token=token)
        rows = Draft.objects.filter(pk__in=ids).select_related("drafter")
        return [Claim(row.pk, token, row.drafter_id, row.drafter.endpoint(), f"draft {row.pk}") for row in rows]

    def request(self, claim: Claim[str]) -> Request:
        return Request(system="", messages=(Message("user", claim.state),))

    def record(self, calls: Sequence[Call[str]]) -> list[Claim[str] | None]:
        held = self.held([call.claim for call in calls])
        return [self._record(call) if held.get(call.claim.id) == call.claim.token else None for call in calls]

    def _record(self, call: Call[str]) -> Claim[str] | None:
        row = Draft.objects.filter(pk=call.claim.id)
        row.update(tries=row.get().tries + 1, error=call.error.message if call.error else "")
        if not call.last:
            return call.claim
        text = call.reply.text if call.reply else None
        state = DraftState.READY if text else DraftState.FAILED
        row.update(state=state, payload={"text": text}, **Draft.FREE)
        return None
