"""Telling a worker that there is something to do. A hint that is lost costs seconds: beat sends one every ten."""

import logging
import threading
from functools import partial

from celery import current_app
from django.db import transaction

log = logging.getLogger(__name__)
LONGEST = 0.5  # seconds that a caller waits for the broker
_sending = threading.Lock()


PUMP = "fpco_site.llm.pump"


def hint(task: str = PUMP) -> None:
    """Send a worker a message after the current transaction commits.

    Never raises, and waits half a second at most: without a broker the work is still found.
    """
    transaction.on_commit(partial(_send_briefly, task), robust=True)


def _send_briefly(task: str) -> None:
    if not _sending.acquire(blocking=False):
        return  # another hint is on its way, or stuck; one is enough
    thread = threading.Thread(target=_send, args=(task,), name="hint", daemon=True)
    thread.start()
    thread.join(LONGEST)


def _send(task: str) -> None:
    try:
        current_app.send_task(task, retry=False, ignore_result=True, expires=60)
    except Exception as error:
        log.info("No hint could be sent to the workers: %s", error)
    finally:
        _sending.release()
