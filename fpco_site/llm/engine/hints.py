"""Telling a worker that there is something to do. A hint that is lost costs seconds: workers look every ten."""

import logging
import threading
from collections import defaultdict
from functools import partial

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from fpco_site.llm import providers

log = logging.getLogger(__name__)
LONGEST = 0.5  # seconds that a caller waits for the broker
PUMP = "fpco_site.llm.pump"
PUMP_LOCAL = "fpco_site.llm.pump_local"
_sending: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)


def hint(task: str = PUMP) -> None:
    """Send a worker a message after the current transaction commits.

    Never raises, and waits half a second at most: without a broker the work is still found.
    """
    transaction.on_commit(partial(send, task), robust=True)


def hint_for(provider: str) -> None:
    """Tell the workers of the place where this provider is asked."""
    hint(PUMP_LOCAL if providers.place_of(provider) == providers.LOCAL else PUMP)


def send(task: str = PUMP) -> None:
    """Send the message now, as `hint` does after a commit."""
    if not _sending[task].acquire(blocking=False):
        return  # another hint is on its way, or stuck; one is enough
    thread = threading.Thread(target=_send, args=(task,), name="hint", daemon=True)
    thread.start()
    thread.join(LONGEST)


def _send(task: str) -> None:
    try:
        # Named in the settings: a web server that never loaded the app would send to nobody's broker.
        app = import_string(settings.TASKS_APP)
        app.send_task(task, retry=False, ignore_result=True)
    except Exception as error:
        log.info("No hint could be sent to the workers: %s", error)
    finally:
        _sending[task].release()
