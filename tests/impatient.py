"""Settings of a worker under test: its broker gives messages out again after a second, its clock may jump.

FPCO_TEST_JUMP moves the wall clock, in seconds, a moment after the worker has begun; monotonic time goes on.
"""

import os
import threading
from datetime import UTC, datetime, timedelta

import time_machine

from fpco_site.settings import *  # noqa: F403
from fpco_site.settings import CELERY_BROKER_TRANSPORT_OPTIONS, ENGINE

JUMP_AFTER = 1.0

CELERY_BROKER_TRANSPORT_OPTIONS |= {"visibility_timeout": 1, "unacked_restore_interval": 1}
# Acknowledged only when the work is over, so that the broker does believe that the message was lost.
CELERY_TASK_ANNOTATIONS = {"fpco_site.llm.pump": {"acks_late": True}}
ENGINE |= {"idle": 0.0, "wake": 1.0}


def jump(seconds: float) -> None:
    time_machine.travel(datetime.now(UTC) + timedelta(seconds=seconds), tick=True).start()


if _seconds := float(os.environ.get("FPCO_TEST_JUMP", "0")):
    _timer = threading.Timer(JUMP_AFTER, jump, [_seconds])
    _timer.daemon = True
    _timer.start()
