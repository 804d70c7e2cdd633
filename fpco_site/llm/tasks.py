"""The engine as a Celery task. The message is a hint: what there is to do stands in the database.

A worker also looks by itself, in a thread of its own and on its monotonic clock: a message that was
lost, a broker that is away, a clock that jumps delay work by seconds.
"""

import logging
import threading
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown, worker_shutting_down

from fpco_site.llm.engine import config
from fpco_site.llm.engine import pump as engine

log = logging.getLogger(__name__)
MARGIN = 3.0  # seconds beyond the engine's own grace
_stop = engine.Stop()


@shared_task(name="fpco_site.llm.pump", acks_late=False, ignore_result=True)
def pump() -> None:
    """Work until nothing is left; at once where this process works already."""
    engine.run(stop=_stop)


@worker_ready.connect
def begin_at_once(**_: Any) -> None:
    """What was left by a worker that died, or asked for while there was none, waits for no message."""
    thread = threading.Thread(target=_look, name="engine", daemon=True)
    thread.start()
    worker_shutdown.connect(lambda **_: _leave(thread), weak=False)


def _leave(thread: threading.Thread) -> None:
    """Celery waits for its tasks alone; calls that this thread has in flight are to finish too."""
    _stop.set()
    thread.join(config.load().grace + MARGIN)


def _look() -> None:
    pause = config.load().wake
    while not _stop.is_set():
        try:
            engine.run(stop=_stop)
        except Exception as error:
            log.warning("The engine could not look for work: %s", error)
        _stop.wait(pause)


@worker_shutting_down.connect
def let_calls_finish(**_: Any) -> None:
    """After SIGTERM the engine claims no more and ends soon."""
    _stop.set()
