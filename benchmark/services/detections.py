"""Labels come in here, and only here: read strictly, each once, and only from the worker that holds the detection."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from django.db.models import Exists, OuterRef

from benchmark.models import Detection, DetectionCall, DetectionJob, DetectorLabel, Dialogue, Response, Run
from benchmark.models.detectors import DetectionState, JobState
from benchmark.models.responses import CallOutcome
from benchmark.models.runs import ENDED
from benchmark.services import calls as call_rows
from benchmark.services import detectors, spending
from fpco_site.llm import detection
from fpco_site.llm.engine import Call, Claim, Fault, is_refusal, pause_reason
from fpco_site.llm.models import Leased
from fpco_site.llm.strict_json import ParseError
from fpco_site.llm.types import ProviderError

BAD_REPLIES = 2  # after so many unusable replies the detection has failed
LARGER, LARGEST = 2, 32_768  # a reply that was cut is asked for with twice the cap, up to so many tokens


@dataclass(frozen=True)
class Judgement:
    """What one call asks about one dialogue: the turns with text that have no label yet.

    `responses` maps a turn to its Response's id; `bad` counts unusable replies since it was asked for.
    `batch` and `discount` tell of a call that was part of a batch.
    """

    run: int
    dialogue: int
    detector: int
    system: str
    items: tuple[detection.Item, ...]
    responses: dict[int, int] = field(repr=False)
    bad: int = 0
    batch: int | None = None
    discount: Decimal = Decimal(0)

    @property
    def ids(self) -> tuple[int, ...]:
        return detection.ids_asked(self.items)


Case = Claim[Judgement]


def record(*, calls: Sequence[Call[Judgement]]) -> list[Case | None]:
    """Write how calls ended, inside the caller's transaction; returns the claims to go on with, or None.

    Only a reply with exactly one boolean for each turn asked leaves labels. Any other is asked once
    more, with a larger cap if it was cut; then the detection has failed and its labels are missing. So it
    has where the last error is its own; it is given back where that is not clear or is everybody's, which
    pauses the job.
    """
    keys = [call.claim.id for call in calls]
    rows = Detection.objects.filter(pk__in=keys, lease_token__isnull=False).order_by("pk").select_for_update()
    held = dict(rows.values_list("pk", "lease_token"))
    written = [call for call in calls if held.get(call.claim.id) == call.claim.token]
    claims = [_write(call) if held.get(call.claim.id) == call.claim.token else None for call in calls]
    for job in sorted({call.claim.group for call, claim in zip(calls, claims, strict=True) if claim is None}):
        detectors.finish(job=job)
    spent = (((call.claim.group, call.claim.state.discount), call) for call in written)
    spending.add_to_jobs(sums=spending.added(spent))
    return claims


def close_empty(*, job: int, ids: Collection[int]) -> None:
    """End held detections that have nothing to label: no turn has text, or all have their label."""
    if ids:
        Detection.objects.filter(pk__in=ids).update(state=DetectionState.COMPLETE, **Leased.FREE)
        detectors.finish(job=job)


def _write(call: Call[Judgement]) -> Case | None:
    if call.reply is None:
        _keep(call)
        return _after_error(call, call.error) if call.error else None
    try:
        labels = _read(call)
    except ParseError as error:
        _keep(call, unusable=str(error))
        return _after_bad(call)
    _keep(call)
    _label(call.claim.state, labels)
    return _end(call.claim, DetectionState.WAITING if _more(call.claim.state) else DetectionState.COMPLETE)


def _read(call: Call[Judgement]) -> dict[int, bool]:
    """The label of each turn asked. Raises ParseError."""
    reply = call.reply
    if reply is None or not reply.text:
        raise ParseError("The reply has no text.")
    return detection.parse(reply.text, call.claim.state.ids)


def _label(judgement: Judgement, labels: dict[int, bool]) -> None:
    """Store labels; the run's patterns no longer hold from the same moment on."""
    DetectorLabel.objects.bulk_create(
        DetectorLabel(
            response_id=judgement.responses[turn],
            detector_id=judgement.detector,
            dialogue_id=judgement.dialogue,
            turn=turn,
            detect=detect,
        )
        for turn, detect in sorted(labels.items())
    )
    Run.objects.filter(pk=judgement.run).update(patterns_dirty=True)


def _more(judgement: Judgement) -> bool:
    """Whether the dialogue is asked again or has answers that came meanwhile, which want labels too."""
    if not Dialogue.objects.filter(pk=judgement.dialogue, state__in=ENDED).exists():
        return True
    labels = DetectorLabel.objects.filter(response=OuterRef("pk"), detector=judgement.detector)
    return Response.objects.filter(~Exists(labels), dialogue=judgement.dialogue).exists()


def _keep(call: Call[Judgement], *, unusable: str = "") -> None:
    columns = call_rows.columns(call)
    if unusable and columns["outcome"] not in (CallOutcome.BLOCKED, CallOutcome.EMPTY):
        columns |= {"outcome": CallOutcome.FAILED, "error_class": "unusable", "error": unusable}
    DetectionCall.objects.create(
        detection_id=call.claim.id,
        ids=list(call.claim.state.ids),
        max_output_tokens=call.claim.endpoint.max_output_tokens,
        batch_id=call.claim.state.batch,
        discount=call.claim.state.discount,
        **columns,
    )


def _after_bad(call: Call[Judgement]) -> Case | None:
    """Both counts outlive the worker: a kill after a bad reply gives no further try, nor the smaller cap again."""
    claim, bad = call.claim, call.claim.state.bad + 1
    cap = claim.endpoint.max_output_tokens
    if call.reply is not None and call.reply.capped:
        cap = max(cap, min(cap * LARGER, LARGEST))
    Detection.objects.filter(pk=claim.id).update(bad=bad, cap=cap)
    if bad >= BAD_REPLIES:
        return _end(claim, DetectionState.FAILED)
    endpoint = replace(claim.endpoint, max_output_tokens=cap)
    return _go_on(replace(claim, endpoint=endpoint, state=replace(claim.state, bad=bad)))


def _after_error(call: Call[Judgement], error: ProviderError) -> Case | None:
    claim = call.claim
    if not call.last:
        return _go_on(claim)
    if call.fault not in (Fault.UNCLEAR, Fault.EVERYBODYS) or _again(claim, error):
        return _end(claim, DetectionState.FAILED)
    if call.fault is Fault.EVERYBODYS:
        detectors.pause_by_engine(job=claim.group, reason=pause_reason(error, claim.endpoint))
    return _end(claim, DetectionState.WAITING)


def _again(claim: Case, error: ProviderError) -> bool:
    """Whether this very request was refused before: then it fails, or the job would pause for it for ever."""
    if not is_refusal(error):
        return False
    calls = DetectionCall.objects.filter(detection=claim.id, error_class__startswith=error.kind.value)
    return calls.count() > 1  # this one is kept already


def _go_on(claim: Case) -> Case | None:
    """The claim, where the job still wants labels."""
    if DetectionJob.objects.filter(pk=claim.group, state=JobState.RUNNING).exists():
        return claim
    return _end(claim, DetectionState.WAITING)


def _end(claim: Case, state: str) -> Case | None:
    Detection.objects.filter(pk=claim.id).update(state=state, **Leased.FREE)
    return None
