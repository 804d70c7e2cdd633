"""The engine as a Celery task. The message is a hint: what there is to do stands in the database."""

from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down

from fpco_site.llm.engine import hints
from fpco_site.llm.engine import pump as engine

_stop = engine.Stop()


@shared_task(name="fpco_site.llm.pump", acks_late=False, ignore_result=True)
def pump() -> None:
    """Work until nothing is left; at once where this process works already."""
    engine.run(stop=_stop)


@worker_ready.connect
def begin_at_once(**_: Any) -> None:
    """What was left by a worker that died, or asked for while there was none, doesn't wait for the clock."""
    hints.send()


@worker_shutting_down.connect
def let_calls_finish(**_: Any) -> None:
    """Celery waits for running tasks after SIGTERM; the engine claims no more and ends soon."""
    _stop.set()
