"""A real Celery worker, as `make demo` starts it, on the test's own database and media."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from fpco_site import processes, supervisor


class Celery:
    """Starts, kills and ends workers, with short intervals; `env` adds to their environment.

    Settings for a worker alone can be named by DJANGO_SETTINGS_MODULE, such as `tests.impatient`.
    """

    def __init__(self, broker: str, folder: Path, **env: str) -> None:
        self._env = {
            "DJANGO_SETTINGS_MODULE": "fpco_site.settings",
            "DATABASE_URL": database_url(),
            "CELERY_BROKER_URL": broker,
            "FPCO_DATA_DIR": str(settings.DATA_DIR),
            "FPCO_ENGINE_BEAT": "0.2",
            "FPCO_ENGINE_STALE": "1.5",
            **env,
        }
        self._folder = folder
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self, **env: str) -> None:
        """One more worker, as `make demo` starts it."""
        self._start(supervisor.worker_command(), env)

    def start_by_hand(self, **env: str) -> None:
        """One more worker, as a person starts it on a server."""
        name = f"worker-{len(self._started)}@%h"
        self._start([sys.executable, "-m", "celery", "-A", "fpco_site", "worker", "-l", "INFO", "-n", name], env)

    def _start(self, command: list[str], env: dict[str, str]) -> None:
        number = len(self._started)
        with open(self._folder / f"worker-{number}.log", "wb") as log:
            self._started.append(processes.start(command, env={**self._env, **env}, log=log.fileno()))

    def kill(self) -> None:
        self._started[-1].send_signal(signal.SIGKILL)
        self._started[-1].wait()

    def terminate(self) -> int:
        self._started[-1].send_signal(signal.SIGTERM)
        return self._started[-1].wait(60)

    def end(self) -> None:
        processes.stop(*self._started, grace=10)

    def logs(self, *, whole: bool = False) -> str:
        """The end of each worker's log, or all of it."""
        texts = {path.name: path.read_text(errors="replace") for path in sorted(self._folder.glob("worker-*.log"))}
        return "\n".join(f"== {name}\n{text if whole else text[-3000:]}" for name, text in texts.items())


def database_url() -> str:
    """The test's own database, as a worker is told of it."""
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    address, _, query = os.environ["DATABASE_URL"].partition("?")
    return f"{address.rsplit('/', 1)[0]}/{name}?{query}"


def until(true: Callable[[], bool], celery: Celery, *, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            pytest.fail(f"It did not come about.\n{celery.logs()}")
        time.sleep(0.05)
