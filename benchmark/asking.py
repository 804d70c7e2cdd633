"""What asking a detector over a dataset would take: which dialogues, how many calls, at what price. Reads only."""

from dataclasses import dataclass

from django.db.models import Count

from annotate.models import Dataset
from benchmark import estimates
from benchmark.models import Detection, DetectionJob, Detector, Dialogue
from benchmark.models.detectors import DetectionState, JobMode
from benchmark.models.runs import ENDED, RunState
from fpco_site.llm import batches, money


@dataclass(frozen=True)
class Plan:
    """One detector over one dataset. `now` dialogues have ended and wait, `later` ones are still being asked.

    `held` are with the detector already, live or in a batch, `labelled` were so before, and `failed` ones are asked
    again only where somebody says so. The estimate is of `now` and `later`; `mode` is how they are asked.
    """

    detector: Detector
    dataset: Dataset
    mode: str
    now: int
    later: int
    held: int
    labelled: int
    failed: int
    estimate: estimates.Estimate

    @property
    def in_batches(self) -> bool:
        return self.mode == JobMode.BATCH

    @property
    def rows(self) -> list[estimates.Estimate]:
        return [self.estimate]

    @property
    def total(self) -> estimates.Total:
        return estimates.total(self.rows)


def plan(*, detector: Detector, dataset: Dataset, mode: str = "") -> Plan:
    """What asking would take. Without a `mode`, as before: by live calls at first."""
    job = DetectionJob.objects.filter(detector=detector, dataset=dataset).first()
    mode = mode or (job.mode if job else JobMode.LIVE)
    dialogues = Dialogue.objects.filter(run__dataset=dataset).exclude(run__state=RunState.DRAFT)
    asked = Detection.objects.filter(detector=detector, dialogue__run__dataset=dataset)
    states = dict(asked.order_by().values_list("state").annotate(n=Count("pk")))
    labelled, failed = (states.get(state, 0) for state in (DetectionState.COMPLETE, DetectionState.FAILED))
    held = states.get(DetectionState.RUNNING, 0) + states.get(DetectionState.BATCHED, 0)
    now = max(0, dialogues.filter(state__in=ENDED).count() - held - labelled - failed)
    later = dialogues.exclude(state__in=ENDED).count()
    off = batches.discount(detector.provider) if mode == JobMode.BATCH and batches.offered(detector.provider) else None
    [found] = estimates.of_detectors(
        detectors=[detector], dataset=dataset, dialogues=now + later, discount=off or money.NOTHING
    )
    return Plan(detector, dataset, mode, now, later, held, labelled, failed, found)
