"""Have a detector label a dataset's responses."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Count

from benchmark.management import waiting
from benchmark.management.finding import dataset_named, detector_named
from benchmark.management.waiting import Standing
from benchmark.models import DetectionJob, Run
from benchmark.models.detectors import DetectionState, JobMode, JobState
from benchmark.models.runs import ENDED, RunState
from benchmark.services import batch_steps, detectors
from fpco_site.errors import FpcoError


class Command(BaseCommand):
    help = (
        "Have a detector label every dialogue of a dataset's runs; labels that exist stay, what failed is asked again. "
        "With --wait: show progress and exit 0 only when every answer has its label."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("detector", metavar="DETECTOR", help="a detector's slug, or slug@version")
        parser.add_argument("dataset", metavar="DATASET", help="a dataset's name")
        how = parser.add_mutually_exclusive_group()
        how.add_argument(
            "--batch",
            dest="mode",
            action="store_const",
            const="batch",
            help="in batches at half the price, within a day",
        )
        how.add_argument("--live", dest="mode", action="store_const", const="live", help="by live calls, as at first")
        parser.add_argument("--wait", action="store_true", help="until it ends; works here where no worker does")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            detector, dataset = detector_named(options["detector"]), dataset_named(options["dataset"])
            job = detectors.request(detector=detector, dataset=dataset, by=None, retry=True, mode=options["mode"])
        except FpcoError as error:
            raise CommandError(error.message) from error
        title = f"{detector} over {dataset}"
        if not options["wait"]:
            self.stdout.write(f"{title}: {job.get_state_display()}.")
            return
        try:
            waiting.wait(title, lambda: _standing(job), asked=[detector.provider])
        except KeyboardInterrupt:
            raise CommandError("Left the detections as they are; the same command goes on with them.") from None
        self._conclude(job)

    def _conclude(self, job: DetectionJob) -> None:
        job.refresh_from_db()
        if job.state == JobState.COMPLETE:
            self.stdout.write("Every answer has its label.")
            return
        if job.state == JobState.PAUSED:
            raise CommandError(f"Detecting is paused. {job.pause_reason}")
        paused = Run.objects.filter(dataset=job.dataset_id, state=RunState.PAUSED).select_related("model").first()
        if job.state == JobState.RUNNING and paused is not None:
            raise CommandError(f"Run {paused.pk} of {paused.model} is paused, so its dialogues can't be labelled yet.")
        failed = job.detections.filter(state=DetectionState.FAILED).count()
        raise CommandError(f"{failed} dialogues have no labels: the detector gave no usable reply.")


def _standing(job: DetectionJob) -> Standing:
    """Over when the job has ended, or when all that is left waits for runs that are paused.

    Batches are taken further here too: a worker that does so meanwhile is in nobody's way.
    """
    if job.mode == JobMode.BATCH:
        batch_steps.work()
    job.refresh_from_db(fields=["state", "pause_reason"])
    states: dict[str, int] = dict(job.detections.order_by().values_list("state").annotate(n=Count("pk")))
    held = states.get(DetectionState.RUNNING, 0) + states.get(DetectionState.BATCHED, 0)
    left = states.get(DetectionState.WAITING, 0) + held
    over = job.state != JobState.RUNNING or (not _can_go_on(job) and not held)
    total = sum(states.values())
    note = (
        f"dialogues, {states[DetectionState.BATCHED]:,} in batches" if DetectionState.BATCHED in states else "dialogues"
    )
    return Standing(total - left, total, note=note, over=over)


def _can_go_on(job: DetectionJob) -> bool:
    waiting_now = job.detections.filter(state=DetectionState.WAITING, dialogue__state__in=ENDED)
    return waiting_now.exists() or Run.objects.filter(dataset=job.dataset_id, state=RunState.RUNNING).exists()
