"""Detections as work for the engine: one call a dialogue, once it has ended."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from uuid import UUID, uuid4

from django.db.models import Q, QuerySet

from annotate.models import DatasetTurn
from benchmark.models import Detection, DetectionJob, Detector, DetectorLabel, Response
from benchmark.models.detectors import DetectionState, JobMode, JobState
from benchmark.models.runs import ENDED
from benchmark.services import detections, detectors
from benchmark.services.detections import Case, Judgement
from fpco_site.errors import Invalid
from fpco_site.llm import detection, engine, prompts
from fpco_site.llm.engine import Call
from fpco_site.llm.types import Request


class DetectionWork(engine.LeasedWork[Judgement]):
    """A group is a job."""

    kind = "detections"
    model = Detection

    def pending(self) -> bool:
        waiting = Detection.objects.filter(
            self.here("job__detector__provider"),
            state=DetectionState.WAITING,
            job__state=JobState.RUNNING,
            dialogue__state__in=ENDED,
        ).filter(Q(job__mode=JobMode.LIVE) | Q(live=True))
        return waiting.exists() or Detection.objects.filter(state=DetectionState.RUNNING).exists()

    def claim(self, *, room: int, worker: UUID) -> list[Case]:
        running = DetectionJob.objects.filter(self.here("detector__provider"), state=JobState.RUNNING).order_by("pk")
        jobs = list(running.select_related("detector").select_for_update(skip_locked=True, of=("self",)))
        wanted = {job.pk: self._room(job) for job in jobs}
        given = engine.share(room, wanted)
        claims: list[Case] = []
        for job in jobs:
            try:
                system = system_of(job.detector)
            except Invalid as error:
                detectors.pause_by_engine(job=job.pk, reason=f"{error.message} Put the file back, then resume.")
                continue
            token = uuid4()
            rows = _live(job).filter(dialogue__state__in=ENDED).order_by("pk")
            ids = self.take(rows, room=given[job.pk], worker=worker, token=token)
            found = list(cases(job, ids, token, system))
            detections.close_empty(job=job.pk, ids=set(ids) - {claim.id for claim in found})
            claims += found
        return claims

    def request(self, claim: Case) -> Request:
        return detection.request(system=claim.state.system, items=claim.state.items)

    def record(self, calls: Sequence[Call[Judgement]]) -> list[Case | None]:
        return detections.record(calls=calls)

    def open_groups(self, groups: Collection[int]) -> set[int]:
        return set(DetectionJob.objects.filter(pk__in=groups, state=JobState.RUNNING).values_list("pk", flat=True))

    def _room(self, job: DetectionJob) -> int:
        held = _live(job).filter(state=DetectionState.RUNNING).count()
        waiting = self.bounded(_live(job), most=job.concurrency - held)
        if not waiting and not held:
            detectors.finish(job=job.pk)
        return waiting


def _live(job: DetectionJob) -> QuerySet[Detection]:
    """What lanes may ask: in a job that works in batches, only what is marked for it."""
    return job.detections.filter(live=True) if job.mode == JobMode.BATCH else job.detections.all()


def system_of(detector: Detector) -> str:
    """The prompt that this version of the detector is. Raises Invalid where the file has changed since."""
    prompt = prompts.load(detector.prompt_name, int(detector.prompt_version))
    if prompt.sha256 != detector.prompt_sha256:
        raise Invalid(f"The prompt {prompt.name}.v{prompt.version} is no longer the one that {detector} was made with.")
    return prompt.text


def cases(job: DetectionJob, ids: Sequence[int], token: UUID, system: str) -> Iterable[Case]:
    """Claims of the detections whose dialogue has text without a label of this detector."""
    if not ids:
        return
    rows = list(Detection.objects.filter(pk__in=ids).select_related("dialogue__item").order_by("pk"))
    unlabelled = _unlabelled([row.dialogue_id for row in rows], job.detector_id)
    turns = _turns([row.dialogue.item_id for row in rows])
    endpoint = job.detector.endpoint()
    for row in rows:
        answers = unlabelled[row.dialogue_id]
        if not answers:
            continue
        judgement = Judgement(
            run=row.dialogue.run_id,
            dialogue=row.dialogue_id,
            detector=job.detector_id,
            system=system,
            items=tuple(
                _item(turn, row.dialogue.item.premise_class, answers[turn.number].text)
                for turn in turns[row.dialogue.item_id]
                if turn.number in answers
            ),
            responses={number: answer.pk for number, answer in answers.items()},
            bad=row.bad,
        )
        asked = replace(endpoint, max_output_tokens=row.cap or endpoint.max_output_tokens)
        yield Case(id=row.pk, token=token, group=job.pk, endpoint=asked, state=judgement)


def _unlabelled(dialogues: Collection[int], detector: int) -> dict[int, dict[int, Response]]:
    """Responses without a label of the detector, by dialogue and turn."""
    labelled = DetectorLabel.objects.filter(dialogue__in=dialogues, detector=detector).values("response")
    found: dict[int, dict[int, Response]] = defaultdict(dict)
    for row in Response.objects.filter(dialogue__in=dialogues).exclude(pk__in=labelled).defer("raw"):
        found[row.dialogue_id][row.turn] = row
    return found


def _turns(items: Collection[int]) -> dict[int, list[DatasetTurn]]:
    found: dict[int, list[DatasetTurn]] = defaultdict(list)
    for turn in DatasetTurn.objects.filter(item__in=items).order_by("item", "number"):
        found[turn.item_id].append(turn)
    return found


def _item(turn: DatasetTurn, premise_class: str, text: str) -> detection.Item:
    return detection.Item(
        id=turn.number,
        false_class=premise_class,
        false_premise=turn.false_premise,
        content=turn.content,
        modified=turn.modified if turn.false_premise else None,
        response=text,
    )
