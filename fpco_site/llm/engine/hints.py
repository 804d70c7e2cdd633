"""Telling a worker that there is something to do. A hint that is lost costs seconds: beat sends one every ten."""

import logging
import threading

from django.db import transaction

log = logging.getLogger(__name__)
LONGEST = 0.5  # seconds that a caller waits for the broker
_sending = threading.Lock()


def hint() -> None:
    """Send a worker a message after the current transaction commits.

    Never raises, and waits half a second at most: without a broker the work is still found.
    """
    transaction.on_commit(_send_briefly, robust=True)


def _send_briefly() -> None:
    if not _sending.acquire(blocking=False):
        return  # another hint is on its way, or stuck; one is enough
    thread = threading.Thread(target=_send, name="hint", daemon=True)
    thread.start()
    thread.join(LONGEST)


def _send() -> None:
    try:
        from fpco_site.llm.tasks import pump

        pump.apply_async(retry=False, ignore_result=True, expires=60)
    except Exception as error:
        log.info("No hint could be sent to the workers: %s", error)
    finally:
        _sending.release()
