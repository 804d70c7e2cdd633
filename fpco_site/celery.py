"""The Celery application: background work for drafting, running and detecting."""

import os
from typing import Any

from celery import Celery, signals

from fpco_site import broker, processes

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fpco_site.settings")
# Django's checks load every page; a worker shows none, and would start seconds later.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("fpco_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.worker_init.connect
def bring_broker(**_: Any) -> None:
    """A worker on a laptop brings the embedded broker along, unless it is up; it ends with the worker."""
    from django.conf import settings

    if settings.BROKER_IS_EMBEDDED:
        child = broker.ensure(settings.BROKER_SOCKET)
        signals.worker_shutdown.connect(lambda **_: broker.stop(child, settings.BROKER_SOCKET), weak=False)


@signals.beat_embedded_init.connect
def end_beat_with_worker(**_: Any) -> None:
    """The clock runs in a child of its worker (`--beat`), and must not go on when the worker is killed."""
    processes.end_with_parent()
