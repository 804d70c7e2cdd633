"""Run the whole suite: `python -m tests.run [NAME ...]`, where NAME picks passes, such as `sqlite`.

Each pass is one pytest. Servers start once, outside of pytest, and always stop. The last line counts
every pass together. With CI=true or FPCO_NO_SKIPS=1, a skipped test and an empty pass are failures.
"""

import os
import re
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import psycopg

from fpco_site import processes
from tests import services

AT_ONCE = 4  # test processes side by side: they keep two cores busy, and a fifth gained nothing
ROOT = Path(__file__).resolve().parent.parent
BROWSER, FULL_SIZE = "tests/browser", "tests/benchmark/test_full_size.py"
NO_TESTS = 5
READY = "fpco_ready"


@dataclass(frozen=True)
class Pass:
    """One pytest: what it selects, on which database, with how many processes.

    `local` is for `tests/local`: it has an environment and a rootdir of its own. `where` narrows what is looked
    through: to import all tests takes a process many seconds.
    """

    name: str
    title: str
    marks: str
    where: tuple[str, ...] = ()
    postgres: bool = False
    processes: int = 0
    local: bool = False
    env: dict[str, str] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """How many test processes it is."""
        return self.processes or 1


PASSES = (
    Pass(
        "sqlite",
        "SQLite",
        "not browser and not full_size and not postgres",
        where=("--ignore=tests/browser",),
        processes=2,
        env={"FPCO_KILLS": "2"},
    ),
    Pass(
        "postgres",
        "PostgreSQL",
        "(db or worker or postgres) and not browser and not full_size",
        where=("--ignore=tests/browser",),
        postgres=True,
        processes=2,
        env={"FPCO_KILLS": "2"},
    ),
    Pass("browser", "Browser", "browser", where=(BROWSER,), processes=2),
    Pass("browser-postgres", "Browser on PostgreSQL", "browser and db", where=(BROWSER,), postgres=True),
    Pass("full-size", "Release of the published size", "full_size", where=(FULL_SIZE,)),
    Pass(
        "full-size-postgres",
        "A tenth of it on PostgreSQL",
        "full_size and db",
        where=(FULL_SIZE,),
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


@dataclass(frozen=True)
class Stage:
    """What all passes share: a folder, the servers' addresses, and what tests/settings.py is told of ready ones."""

    folder: Path
    database: str
    broker: str
    ready: dict[str, str]


@dataclass
class Running:
    """A pass that has begun; its output goes to `log`, or straight to the terminal."""

    chosen: Pass
    process: subprocess.Popen[bytes]
    report: Path
    log: Path | None
    begun: float = field(default_factory=time.monotonic)

    def progress(self) -> str:
        """How far it is, as its output says."""
        shares = re.findall(r"\d+%", self.log.read_text(errors="replace")) if self.log else []
        return " ".join([self.chosen.title, *shares[-1:]])

    def finish(self, *, strict: bool) -> tuple[Count, str]:
        """What became of it once its process has ended, and a line that says so."""
        took = time.monotonic() - self.begun
        if self.log is not None:
            say(f"\n== {self.chosen.title}\n{self.log.read_text(errors='replace')}")
        count = read_count(self.report, self.process.returncode)
        if strict and self.process.returncode == NO_TESTS:
            say(f"No test was found for this pass ({self.chosen.marks}).")
            count.failed += 1
        return count, f"{self.chosen.title:<30} {count} ({took:.0f} s)"


def begin(chosen: Pass, stage: Stage, *, quiet: bool) -> Running:
    """Start one pass, on databases of its own."""
    report = stage.folder / f"{chosen.name}.xml"
    command = [*pytest_of(chosen), *chosen.where, "-q", "--durations=15", "-m", chosen.marks, f"--junitxml={report}"]
    if chosen.processes:
        command += ["-n", str(chosen.processes)]
    env = {**os.environ, **chosen.env, **stage.ready, "FPCO_TEST_PASS": chosen.name}
    env |= {"CELERY_BROKER_URL": stage.broker, "FPCO_TEST_BROKER": str(first_broker(chosen))}
    if not chosen.processes:
        env["CELERY_BROKER_URL"] += f"?virtual_host={first_broker(chosen)}"
    env.pop("DATABASE_URL", None)
    if chosen.postgres:
        env["DATABASE_URL"] = stage.database
    log = stage.folder / f"{chosen.name}.log" if quiet else None
    if log is None:
        say(f"\n== {chosen.title}")
        return Running(chosen, subprocess.Popen(command, cwd=ROOT, env=env), report, None)
    with open(log, "wb") as file:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=file, stderr=subprocess.STDOUT)
    return Running(chosen, process, report, log)


def first_broker(chosen: Pass) -> int:
    """The first database of Valkey that a pass takes: each of its processes has one of its own."""
    return 1 + sum(one.weight for one in PASSES[: PASSES.index(chosen)])


def pytest_of(chosen: Pass) -> list[str]:
    """The pytest of a pass and where it looks; that of local models makes its environment first."""
    return [sys.executable, "-m", "tests.local_python" if chosen.local else "pytest"]


def run_passes(passes: Sequence[Pass], stage: Stage, *, strict: bool) -> tuple[Count, list[str]]:
    """Passes in their order, side by side as far as `AT_ONCE` goes; one alone goes straight to the terminal."""
    total, lines = Count(), []
    waiting, running = list(passes), list[Running]()
    told = time.monotonic()
    try:
        while waiting or running:
            while waiting and sum(one.chosen.weight for one in running) + waiting[0].weight <= AT_ONCE:
                running.append(begin(waiting.pop(0), stage, quiet=len(passes) > 1))
            for ended in [one for one in running if one.process.poll() is not None]:
                running.remove(ended)
                count, line = ended.finish(strict=strict)
                total += count
                lines.append(line)
            if time.monotonic() - told > 60:
                told = time.monotonic()
                say(" · ".join(one.progress() for one in running))
            time.sleep(0.1)
    finally:
        processes.stop(*(one.process for one in running))
    return total, lines


def run(names: list[str], *, strict: bool) -> int:
    """Run the chosen passes (all without names) and sum them up; 0 only when all of it holds."""
    begun = time.monotonic()
    chosen = [one for one in PASSES if not names or one.name in names]
    with services.temporary_folder() as folder, servers(folder) as (database, broker):
        stage = Stage(folder, database, broker, migrated(folder, database))
        total, lines = run_passes(chosen, stage, strict=strict)
    say("\n== Summary\n" + "\n".join(lines) + f"\n{time.monotonic() - begun:.0f} s in all.")
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
    # Dozens of processes start, and without it each compiles thousands of files anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        return run(names, strict=is_strict())
    except KeyboardInterrupt:
        say("Stopped.")
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
