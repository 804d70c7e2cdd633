"""A real worker on a real database that asks the fast stub: shared by the benchmarks of the engine.

`measure` starts the stub and a process for the database, the dataset and the worker; that process is this
module run by itself, and reports as JSON.
"""

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fpco_site import processes, supervisor

ROOT = Path(__file__).resolve().parents[2]
TURNS = 10
PICTURES = 300  # files that dialogues share where there are more of them
WARM = 16
LONGEST = 3600.0  # seconds that a run may take


@dataclass(frozen=True)
class Plan:
    """`batches` are dialogues a run, one run after the other in one worker; `picture` is in bytes."""

    provider: str
    batches: tuple[int, ...]
    lanes: int
    picture: int = 200_000
    labelling: bool = False
    say: str = ""  # a file that gets the dialogues, for somebody else to ask


@dataclass(frozen=True)
class Batch:
    """One run as it went. `memory` and `cpu` are the worker's, in MiB after it and in seconds for it."""

    dialogues: int
    seconds: float
    answers: int
    attempts: int
    memory: float
    cpu: float
    tenths: tuple[float, ...] = ()

    @property
    def rate(self) -> float:
        """Answers stored a second, from the start of the run to its end."""
        return self.answers / self.seconds


@dataclass(frozen=True)
class Outcome:
    """`asked` is the stub's own count, the dialogues of warming up included."""

    batches: tuple[Batch, ...]
    warm: int
    asked: int
    labels: dict[str, float] = field(default_factory=dict)

    @property
    def stored(self) -> int:
        return self.warm + sum(batch.answers for batch in self.batches)


@contextmanager
def stub(latency: float) -> Iterator[str]:
    """The fast stub in a process of its own; yields its address."""
    command = [sys.executable, "-m", "tests.stubs", "--fast", "--latency", str(latency)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def counts(address: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{address}stub/counts", timeout=10) as response:
        found: dict[str, int] = json.load(response)
    return found


def measure(plan: Plan, *, latency: float, database: str, broker: str, folder: Path) -> Outcome:
    """Ask every dialogue of the plan. `database` empty is SQLite, as a laptop has it."""
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "fpco_site.settings", "FPCO_DATA_DIR": str(folder)}
    env |= {"DATABASE_URL": database or f"sqlite:///{folder}/bench.sqlite3", "CELERY_BROKER_URL": broker}
    env |= {"FPCO_ENGINE_LANES": str(plan.lanes), "STUB_KEY": "key-of-the-stub", "FPCO_LOG_LEVEL": "WARNING"}
    with stub(latency) as address:
        command = [sys.executable, "-m", "tests.bench._asking", json.dumps(asdict(plan)), address]
        said = subprocess.run(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, check=True, text=True).stdout
        found = json.loads(said)
        return Outcome(
            batches=tuple(Batch(**batch) for batch in found["batches"]),
            warm=found["warm"],
            asked=counts(address)["answered"],
            labels=found["labels"],
        )


def main(plan: Plan, address: str) -> None:
    """Everything below the parent: migrate, make the datasets, start the worker, ask, count."""
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    from tests.bench import _stage

    sys.stdout.write(json.dumps(_stage.play(plan, address)))


@contextmanager
def worker(log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A worker as the demo starts it."""
    with open(log, "wb") as file:
        process = processes.start(supervisor.worker_command(), log=file.fileno())
    try:
        yield process
    finally:
        processes.stop(process, grace=30)


def memory(pid: int) -> float:
    """Resident memory of a process in MiB."""
    said = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True).stdout
    return int(said) / 1024


def cpu(pid: int) -> float:
    """Processor time of a process in seconds; 0 where the system doesn't say (only Linux does)."""
    path = Path(f"/proc/{pid}/stat")
    if not path.exists():
        return 0.0
    words = path.read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def wait_for(done: Any, *, process: subprocess.Popen[bytes], log: Path, seconds: float = LONGEST) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"The run did not end:\n{log.read_text(errors='replace')[-3000:]}")
        time.sleep(0.2)


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    main(Plan(**{**given, "batches": tuple(given["batches"])}), sys.argv[2])
