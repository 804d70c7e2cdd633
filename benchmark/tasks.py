"""Background work of benchmark beside the engine: one service call each."""

from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down

from benchmark.services import analyses, batch_steps, detectors, releases, reports
from fpco_site.llm.engine import hints
from fpco_site.llm.engine.takeovers import Stop

_stop = Stop()


@shared_task(name=releases.TASK, ignore_result=True)
def build_releases() -> None:
    """Build the releases that wait, and those whose worker died; safe to run twice."""
    releases.build_waiting(stop=_stop)


@shared_task(name=analyses.TASK, ignore_result=True)
def run_analyses() -> None:
    """Run the analyses that wait, and those whose worker died; safe to run twice."""
    analyses.run_waiting(stop=_stop)


@shared_task(name=reports.TASK, ignore_result=True)
def build_reports() -> None:
    """Build the reports that wait, and those whose worker died; safe to run twice."""
    reports.build_waiting(stop=_stop)


@shared_task(name=detectors.BATCHES, ignore_result=True)
def work_batches() -> None:
    """Take batches of detections further; safe to run twice, and at once where another works on them."""
    batch_steps.work(stop=_stop)


@worker_ready.connect
def look_at_once(**_: Any) -> None:
    """What a worker that died left in the middle of a step doesn't wait for the clock."""
    for task in (detectors.BATCHES, analyses.TASK, releases.TASK, reports.TASK):
        hints.send(task)


@worker_shutting_down.connect
def end_after_this_step(**_: Any) -> None:
    """Celery waits for running tasks after SIGTERM; the next worker goes on with what is open."""
    _stop.set()
