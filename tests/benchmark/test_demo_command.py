"""`manage.py demo` starts on loopback, refuses with a sentence, and leaves nothing running."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from django.conf import settings as project_settings
from django.core.management import CommandError, call_command

from benchmark.management.commands import demo
from benchmark.services import demo_house
from tests import services

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder():
    """The data folder of a demo whose study is loaded already, as a second start finds it."""
    with services.temporary_folder() as folder:
        (folder / "demo").write_text(demo_house.LOADED)
        if project_settings.READY_SQLITE:
            shutil.copyfile(project_settings.READY_SQLITE, folder / "fpco.sqlite3")
        yield folder


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def start(folder, port):
    """Starts a demo on that folder: the process, its output piped."""
    started = []

    def run() -> subprocess.Popen[str]:
        env = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "CELERY_BROKER_URL"}}
        env |= {"FPCO_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "fpco_site.settings"}
        command = [sys.executable, "manage.py", "demo", "--port", str(port)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        started.append(subprocess.Popen(command, cwd=ROOT, env=env, text=True, **pipes))
        return started[-1]

    yield run
    for process in started:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=60)


def read_until(process: subprocess.Popen[str], pattern: str) -> str:
    said = ""
    for line in process.stdout:
        said += line
        if re.search(pattern, line):
            return said
    raise AssertionError(f"it ended without saying {pattern!r}: {said}")


def processes_on(folder: Path) -> list[int]:
    """Processes whose environment or command names that folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            text = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if os.fsencode(folder) in text:
            found.append(int(entry.name))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the processes of a folder under /proc")
def test_it_serves_until_it_is_interrupted_and_leaves_no_process(start, folder, port):
    process = start()
    said = read_until(process, "Ctrl-C stops everything")
    assert f"http://127.0.0.1:{port}" in said
    for name, _, _ in demo_house.PEOPLE:
        assert re.search(rf"^  {name} ", said, re.MULTILINE)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/account/sign-in/") as page:
        assert page.status == 200
    assert len(processes_on(folder)) >= 4

    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0, rest
    assert processes_on(folder) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the processes of a folder under /proc")
def test_when_the_worker_dies_it_says_so_and_stops_the_rest(start, folder):
    process = start()
    read_until(process, "Ctrl-C stops everything")
    workers = [pid for pid in processes_on(folder) if b"celery" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    os.kill(min(workers), signal.SIGKILL)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "The worker ended with signal 9, so everything was stopped." in said
    assert processes_on(folder) == []


def test_a_second_demo_on_the_same_folder_is_refused(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    with demo.alone(), pytest.raises(demo.Invalid, match="A demo already runs on"), demo.alone():
        pass


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1", ""])
def test_a_port_that_is_none_is_refused(port):
    with pytest.raises(demo.Invalid, match="PORT must be a number from 1 to 65535"):
        demo.parse_port(port)


def test_the_command_says_it_in_one_sentence(settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(demo.supervisor, "stop_on_signals", lambda: None)
    with pytest.raises(CommandError, match=r"^PORT must be a number from 1 to 65535, not 'eighty'\.$"):
        call_command("demo", port="eighty")
