"""Background work of benchmark beside the engine: one service call each."""

from celery import shared_task

from benchmark.services import releases


@shared_task(name="benchmark.build_releases", ignore_result=True)
def build_releases() -> None:
    """Build the releases that wait; safe to run twice."""
    releases.build_waiting()
