"""Run the whole suite: `python -m tests.run [NAME ...]`, where NAME picks passes, such as `sqlite`.

Each pass is one pytest. Servers start once, outside of pytest, and always stop. The last line counts
every pass together. With CI=true or FPCO_NO_SKIPS=1, a skipped test and an empty pass are failures.
"""

import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import psycopg

from tests import local_python, services

ROOT = Path(__file__).resolve().parent.parent
NO_TESTS = 5
READY = "fpco_ready"


@dataclass(frozen=True)
class Pass:
    """One pytest: what it selects, on which database, with how many processes.

    `local` is for `tests/local`: it has an environment and a rootdir of its own.
    """

    name: str
    title: str
    marks: str
    postgres: bool = False
    processes: int = 0
    local: bool = False
    env: dict[str, str] = field(default_factory=dict)


PASSES = (
    Pass("sqlite", "SQLite", "not browser and not full_size", processes=2),
    Pass("postgres", "PostgreSQL", "(db or worker) and not browser and not full_size", postgres=True, processes=3),
    Pass("browser", "Browser", "browser", processes=2),
    Pass("browser-postgres", "Browser on PostgreSQL", "browser and db", postgres=True),
    Pass("full-size", "Release of the published size", "full_size"),
    Pass(
        "full-size-postgres",
        "A tenth of it on PostgreSQL",
        "full_size and db",
        postgres=True,
        env={"FPCO_RELEASE_SHARE": "10"},
    ),
    Pass("local", "Local models", "", local=True),
)


@dataclass
class Count:
    """What became of the tests of one or more passes."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def read_count(report: Path, code: int) -> Count:
    """Count a pass from its JUnit report; a pytest that broke off counts as one more failure."""
    count = Count()
    if report.exists():
        for case in ElementTree.parse(report).iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                count.failed += 1
            elif case.find("skipped") is not None:
                count.skipped += 1
            else:
                count.passed += 1
    if code not in {0, NO_TESTS} and not count.failed:
        count.failed += 1
    return count


def run_pass(chosen: Pass, *, folder: Path, database: str, broker: str, ready: dict[str, str], strict: bool) -> Count:
    """Run one pass, its output straight to the terminal."""
    say(f"\n== {chosen.title}")
    report = folder / f"{chosen.name}.xml"
    try:
        command = [*pytest_of(chosen), "-q", "-m", chosen.marks, f"--junitxml={report}"]
    except local_python.CantPrepare as error:
        say(str(error))
        return Count(failed=1)
    if chosen.processes:
        command += ["-n", str(chosen.processes)]
    env = {**os.environ, **chosen.env, **ready, "CELERY_BROKER_URL": broker}
    env.pop("DATABASE_URL", None)
    if chosen.postgres:
        env["DATABASE_URL"] = database
    code = subprocess.run(command, cwd=ROOT, env=env).returncode
    count = read_count(report, code)
    if strict and code == NO_TESTS:
        say(f"No test was found for this pass ({chosen.marks}).")
        count.failed += 1
    return count


def pytest_of(chosen: Pass) -> list[str]:
    """The pytest of a pass and where it looks. Raises CantPrepare where its environment can't be made."""
    if not chosen.local:
        return [sys.executable, "-m", "pytest"]
    folder = str(local_python.TESTS)
    return [str(local_python.prepare()), "-m", "pytest", "-c", f"{folder}/pytest.ini", "--rootdir", folder, folder]


def run(names: list[str], *, strict: bool) -> int:
    """Run the chosen passes (all without names) and sum them up; 0 only when all of it holds."""
    begin = time.monotonic()
    total = Count()
    lines = []
    with services.temporary_folder() as folder, servers(folder) as (database, broker):
        ready = migrated(folder, database)
        for chosen in (one for one in PASSES if not names or one.name in names):
            started = time.monotonic()
            count = run_pass(chosen, folder=folder, database=database, broker=broker, ready=ready, strict=strict)
            total += count
            lines.append(f"{chosen.title:<30} {count} ({time.monotonic() - started:.0f} s)")
    say("\n== Summary\n" + "\n".join(lines) + f"\n{time.monotonic() - begin:.0f} s in all.")
    if strict and total.skipped:
        say("No test may be skipped here: each skip above counts as a failure of the run.")
    say(str(total))
    return 1 if total.failed or not total.passed or (strict and total.skipped) else 0


@contextmanager
def servers(folder: Path) -> Iterator[tuple[str, str]]:
    """PostgreSQL and Valkey for every pass: yields their addresses."""
    with services.valkey(folder) as broker, services.postgres(folder) as database:
        yield database, broker


def migrated(folder: Path, database: str) -> dict[str, str]:
    """Migrate an empty database of each kind once, side by side; every test process begins with a copy.

    Returns what tests/settings.py is told. A migration takes seconds, and there are a dozen processes.
    """
    sqlite = folder / "ready.sqlite3"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {READY}")
    urls = (f"sqlite:///{sqlite}", database.replace("/postgres?", f"/{READY}?"))
    command = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
    env = {**os.environ, "FPCO_DATA_DIR": str(folder / "ready")}
    running = [subprocess.Popen(command, cwd=ROOT, env={**env, "DATABASE_URL": url}) for url in urls]
    codes = [process.wait() for process in running]
    if any(codes):
        raise SystemExit("The migrations failed; nothing was tested.")
    return {"FPCO_READY_SQLITE": str(sqlite), "FPCO_READY_POSTGRES": READY}


def is_strict() -> bool:
    return any(os.environ.get(name, "").lower() in {"1", "true", "yes"} for name in ("CI", "FPCO_NO_SKIPS"))


def end(_signal: int, _frame: FrameType | None) -> None:
    """Turn SIGTERM into an exception, so that the servers stop on the way out."""
    raise KeyboardInterrupt


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main(names: list[str]) -> int:
    unknown = sorted(set(names) - {one.name for one in PASSES})
    if unknown:
        say(f"There is no pass {unknown[0]!r}; there are: {', '.join(one.name for one in PASSES)}.")
        return 2
    signal.signal(signal.SIGTERM, end)
    try:
        return run(names, strict=is_strict())
    except KeyboardInterrupt:
        say("Stopped.")
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
