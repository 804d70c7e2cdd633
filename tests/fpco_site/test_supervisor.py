"""Nothing that a start brought up is left when it ends, and what ended by itself is named."""

import os
import socket
import sys
import time
from pathlib import Path

import pytest

from fpco_site import processes, supervisor
from fpco_site.errors import NotConfigured

STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(60)"
)
PARENT = "import subprocess, sys, time; print(subprocess.Popen(['sleep', '60']).pid, flush=True); time.sleep(60)"


@pytest.fixture
def house(tmp_path: Path):
    house = supervisor.Supervisor(logs=tmp_path / "log", env={})
    yield house
    processes.stop(*house.children.values(), grace=0.0)


def wait_for_text(path: Path) -> str:
    for _ in range(1000):
        if path.exists() and path.read_text().strip():
            return path.read_text().strip()
        time.sleep(0.01)
    raise AssertionError(f"{path} stayed empty")


def is_alive(pid: int) -> bool:
    """A killed grandchild may stay a zombie until its new parent looks."""
    try:
        os.kill(pid, 0)
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_a_child_that_ends_is_named_with_its_exit_code_and_the_end_of_its_log(house):
    house.start("worker", [sys.executable, "-c", "print('no such table'); raise SystemExit(3)"])
    with pytest.raises(NotConfigured, match="The worker ended with exit code 3") as refusal:
        house.watch()
    assert "no such table" in refusal.value.message


def test_a_broker_that_is_killed_is_started_again_and_gives_up_when_it_keeps_ending(house):
    begun = []

    def bring():
        begun.append(processes.start(["sleep", "60"]))
        return begun[-1]

    house.adopt("broker", bring(), revive=bring)
    for _ in range(supervisor.REVIVALS):
        begun[-1].kill()
        begun[-1].wait()
        house.check()
        assert house.children["broker"] is begun[-1]
    begun[-1].kill()
    begun[-1].wait()
    with pytest.raises(NotConfigured, match="The broker ended with signal 9"):
        house.check()


def test_stopping_ends_the_children_of_children_too(house):
    house.start("web server", [sys.executable, "-c", PARENT])
    grandchild = int(wait_for_text(house.log("web server")))
    assert is_alive(grandchild)
    assert house.stop() == []
    for _ in range(500):
        if not is_alive(grandchild):
            break
        time.sleep(0.01)
    assert not is_alive(grandchild)


def test_a_child_that_does_not_listen_is_killed_and_named(house):
    house.grace = 0.1
    house.start("worker", [sys.executable, "-c", STUBBORN])
    wait_for_text(house.log("worker"))
    assert house.stop() == ["worker"]
    assert house.children["worker"].returncode == -9


def test_a_taken_port_is_refused_with_a_way_out():
    with socket.socket() as taken:
        taken.bind((supervisor.HOST, 0))
        taken.listen()
        with pytest.raises(NotConfigured, match="choose another with `make demo PORT=8001`"):
            supervisor.check_port(taken.getsockname()[1])


def test_the_web_server_listens_on_loopback_only():
    command = supervisor.web_command(8000)
    assert command[command.index("--bind") + 1] == "127.0.0.1:8000"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
def test_a_child_ends_when_its_parent_is_killed(house):
    script = (
        "import sys, time; from fpco_site import processes;"
        "print(processes.start(['sleep', '60']).pid, flush=True); time.sleep(60)"
    )
    house.start("parent", [sys.executable, "-c", script])
    orphan = int(wait_for_text(house.log("parent")))
    os.kill(house.children["parent"].pid, 9)
    for _ in range(500):
        if not is_alive(orphan):
            break
        time.sleep(0.01)
    assert not is_alive(orphan)
