"""Background work of annotate beside the engine: one service call each. What there is to do stands in the database."""

from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down

from annotate.services import imports
from fpco_site.llm.engine.takeovers import Stop

_stop = Stop()


@shared_task(name=imports.TASK, ignore_result=True)
def import_images() -> None:
    """Work on the folders and zips that wait; safe to run twice, and at once where another works on them."""
    imports.run_waiting(stop=_stop)


@worker_shutting_down.connect
def end_after_this_group(**_: Any) -> None:
    """Celery waits for running tasks after SIGTERM; what waits is gone on with by the next worker."""
    _stop.set()
