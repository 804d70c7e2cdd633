"""How long the demo takes to answer: the first start, which loads the study, and a second one."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

from tests import services
from tests.bench.figures import Figure, Servers

ROOT = Path(__file__).resolve().parents[2]


def bench(servers: Servers) -> list[Figure]:
    with services.temporary_folder() as folder:
        first, second = start(folder), start(folder)
    return [
        Figure("first start of the demo", first, "s", "loads the study"),
        Figure("second start of the demo", second, "s", "bound: 5"),
    ]


def start(folder: Path) -> float:
    """Start the demo, read how long it says it took, and stop it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "manage.py", "demo", "--port", str(port)]
    env = {key: value for key, value in os.environ.items() if key not in {"DATABASE_URL", "CELERY_BROKER_URL"}}
    env["FPCO_DATA_DIR"] = str(folder)
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as demo:
        assert demo.stdout is not None
        seconds = None
        for line in demo.stdout:
            if said := re.search(r"started in ([\d.]+) s", line):
                seconds = float(said[1])
                demo.send_signal(signal.SIGINT)
    if seconds is None:
        raise RuntimeError(f"The demo did not start; its logs are in {folder / 'log'}.")
    return seconds
