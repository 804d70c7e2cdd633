"""Runs the web server, a worker and the embedded broker together, on one machine, until told to stop."""

import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from fpco_site import processes
from fpco_site.errors import NotConfigured
from fpco_site.llm import providers
from fpco_site.llm.providers.transformers import is_installed

HOST = "127.0.0.1"
START_SECONDS = 60.0
WATCH_SECONDS = 0.2
WEB_THREADS = 8
REVIVALS = 5  # of a child that can be started again without losing anything
Revive = Callable[[], subprocess.Popen[bytes] | None]


@dataclass
class Supervisor:
    """The children of one start, by name, each with its log in `logs`; they have `grace` seconds to end."""

    logs: Path
    env: dict[str, str]
    grace: float = 10.0
    children: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    revivals: dict[str, list[Revive]] = field(default_factory=dict)

    def start(self, name: str, command: Sequence[str]) -> None:
        self.logs.mkdir(parents=True, exist_ok=True)
        with open(self.log(name), "wb") as log:
            self.children[name] = processes.start(command, env=self.env, log=log.fileno())

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def adopt(self, name: str, child: subprocess.Popen[bytes] | None, *, revive: Revive | None = None) -> None:
        """Watch and stop a child that was started elsewhere; `revive` starts it again, a few times, when it ends."""
        if child is not None:
            self.children[name] = child
            self.revivals[name] = [revive] * REVIVALS if revive else []

    def check(self) -> None:
        """Raise, naming it, when a child has ended that can't be revived."""
        for name, child in list(self.children.items()):
            code = child.poll()
            if code is None:
                continue
            if self.revivals.get(name):
                self._adopt_again(name, self.revivals[name].pop())
            else:
                raise NotConfigured(f"The {name} ended {how(code)}, so everything was stopped.{self._last(name)}")

    def _adopt_again(self, name: str, revive: Revive) -> None:
        """Start a child again; without one, somebody else has done so."""
        child = revive()
        if child is None:
            del self.children[name]
        else:
            self.children[name] = child

    def watch(self) -> None:
        """Wait until a child ends (which raises) or a signal comes (KeyboardInterrupt)."""
        while True:
            self.check()
            time.sleep(WATCH_SECONDS)

    def wait_for(self, url: str) -> None:
        """Wait until the web server answers there."""
        deadline = time.monotonic() + START_SECONDS
        while not answers(url):
            self.check()
            if time.monotonic() > deadline:
                raise NotConfigured(
                    f"The web server did not answer in {START_SECONDS:.0f} s.{self._last('web server')}"
                )
            time.sleep(0.05)

    def stop(self) -> list[str]:
        """End all children, the last started first; a second Ctrl-C kills. Names those that had to be killed."""
        names = {child.pid: name for name, child in self.children.items()}
        workers = [child for name, child in reversed(self.children.items()) if name != "broker"]
        brokers = [child for name, child in self.children.items() if name == "broker"]
        try:
            killed = processes.stop(*workers, grace=self.grace) + processes.stop(*brokers, grace=self.grace)
        except KeyboardInterrupt:
            killed = processes.stop(*workers, *brokers, grace=0.0)
        return [names[child.pid] for child in killed]

    def _last(self, name: str) -> str:
        path = self.log(name)
        if not path.exists():
            return ""
        lines = path.read_text(errors="replace").strip().splitlines()[-5:]
        return f" Its log, {path}, ends:\n" + "\n".join(lines)


def web_command(port: int) -> list[str]:
    """The web server on loopback: one process, so that SQLite has few writers, and threads in it."""
    options = ["--bind", f"{HOST}:{port}", "--worker-class", "gthread", "--threads", str(WEB_THREADS)]
    options += ["--no-control-socket", "--graceful-timeout", "5"]
    return [sys.executable, "-m", "gunicorn", "fpco_site.wsgi", *options]


def worker_command() -> list[str]:
    """A worker that also sends the clock's messages; on a server exactly one worker has `--beat`.

    It serves models of this machine too where what they need is installed.
    """
    queues = ["--queues", f"celery,{providers.LOCAL}"] if is_installed() else []
    options = [*queues, "--pool", "threads", "--concurrency", "8", "--beat", "--without-gossip", "--without-mingle"]
    return [sys.executable, "-m", "celery", "-A", "fpco_site", "worker", "--loglevel", "INFO", *options]


def stop_on_signals() -> None:
    """Ctrl-C, SIGTERM and a closed terminal stop everything, also where a shell had them ignored."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def check_port(port: int) -> None:
    """Refuse a port that somebody listens on already."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            raise NotConfigured(
                f"Port {port} can't be used ({getattr(error, 'strerror', None) or error}): "
                "stop what listens there, or choose another with `make demo PORT=8001`."
            ) from error


def answers(url: str) -> bool:
    """Whether a web server answers there, whatever it says except that it is broken."""
    try:
        with urllib.request.urlopen(url, timeout=START_SECONDS):
            return True
    except urllib.error.HTTPError as error:
        return error.code < 500
    except OSError:
        return False


def how(code: int) -> str:
    return f"with signal {-code}" if code < 0 else f"with exit code {code}"
