"""The engine as Celery tasks. The message is a hint: what there is to do stands in the database.

A worker also looks by itself, in a thread of its own and on its monotonic clock: a message that was
lost, a broker that is away, a clock that jumps delay work by seconds. It asks the models of the places
whose queues it serves: a worker that was started with `--queues local` asks those of its own machine alone.
"""

import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown, worker_shutting_down

from fpco_site.llm.engine import config, hints
from fpco_site.llm.engine import pump as engine
from fpco_site.llm.providers import LOCAL

log = logging.getLogger(__name__)
MARGIN = 3.0  # seconds beyond the engine's own grace
_stop = engine.Stop()


@shared_task(name="fpco_site.llm.pump", acks_late=False, ignore_result=True)
def pump() -> None:
    """Work until nothing is left; at once where this process works already."""
    engine.run(stop=_stop)


@shared_task(name=hints.PUMP_LOCAL, acks_late=False, ignore_result=True)
def pump_local() -> None:
    """The same for models of this machine."""
    engine.run(stop=_stop, process=engine.LOCAL)


@worker_ready.connect
def begin_at_once(sender: Any, **_: Any) -> None:
    """What was left by a worker that died, or asked for while there was none, waits for no message."""
    queues = set(sender.app.amqp.queues.consume_from)
    served = [engine.LOCAL] * (LOCAL in queues) + [engine.ELSEWHERE] * bool(queues - {LOCAL})
    threads = [threading.Thread(target=_look, args=(one,), name="engine", daemon=True) for one in served]
    for thread in threads:
        thread.start()
    worker_shutdown.connect(lambda **_: _leave(threads), weak=False)


def _leave(threads: Sequence[threading.Thread]) -> None:
    """Celery waits for its tasks alone; calls that these threads have in flight are to finish too."""
    _stop.set()
    until = time.monotonic() + config.load().grace + MARGIN
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))


def _look(process: engine.Process) -> None:
    pause = config.load().wake
    while not _stop.is_set():
        try:
            engine.run(stop=_stop, process=process)
        except Exception as error:
            log.warning("The engine could not look for work: %s", error)
        _stop.wait(pause)


@worker_shutting_down.connect
def let_calls_finish(**_: Any) -> None:
    """After SIGTERM the engine claims no more and ends soon."""
    _stop.set()
