"""Kills worker, broker and database at random moments under three runs, then counts what became of every turn.

`python -m tests.kills --dialogues 300 --kills 20 [--postgres] [--seed 7]` prints what held and exits 0 only
where all of it did. Everything is real: the servers, the worker as `make demo` starts it, the providers'
protocols on loopback. The database is its own, so the caller's settings do not matter.
"""

import argparse
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests import services
from tests.stubs import StubServer

if TYPE_CHECKING:
    from benchmark.models import Run
    from tests.worker import Celery

PROVIDERS = ("openai", "openai_compatible", "gemini")
TURNS = 10
LATENCY = 0.1
KEY = "key-of-the-stub"
# US dollars per million tokens: input, cached input, output.
PRICES = (Decimal("2.5"), Decimal("0.25"), Decimal("10"))
PATIENCE = 600.0  # seconds until the runs must have got further


@dataclass
class Report:
    """What was planned, stored and asked. Tokens are (input, cached, output, reasoning)."""

    database: str
    seed: int
    kills: dict[str, int]
    planned: int = 0
    stored: int = 0
    complete: int = 0
    lanes_at_kills: int = 0
    requests: int = 0
    attempts: int = 0
    failed_attempts: int = 0
    asked_again: int = 0
    most_often: int = 0
    held_leases: int = 0
    tokens_stored: list[int] = field(default_factory=lambda: [0] * 4)
    tokens_of_stub: list[int] = field(default_factory=lambda: [0] * 4)
    tokens_lost: list[int] = field(default_factory=lambda: [0] * 4)
    cost: str = ""
    cost_of_stub: str = ""
    seconds: float = 0.0

    def broken(self) -> list[str]:
        """What did not hold, in words."""
        claims = {
            "every turn once": self.stored == self.planned,
            "every run complete": self.complete == len(PROVIDERS),
            "each stored call answers or failed": self.attempts == self.planned + self.failed_attempts,
            "asked again at most what was in flight": 0 <= self.asked_again <= self.lanes_at_kills,
            "no turn asked more often than it was killed or failed": self.most_often
            <= 1 + sum(self.kills.values()) + 5,
            "no lease left": self.held_leases == 0,
            "tokens as the stub counted them": self.tokens_stored == self.tokens_of_stub != [0] * 4,
            "cost as the stub counted it": self.cost == self.cost_of_stub,
        }
        return [words for words, holds in claims.items() if not holds]


class House:
    """The servers, three started runs, and the hand that kills."""

    def __init__(self, folder: Path, *, dialogues: int, postgres: bool, stack: ExitStack) -> None:
        self.stub = stack.enter_context(StubServer(latency=LATENCY, keep=False, plain=True))
        self.broker = services.Valkey(folder)
        self.broker.start()
        stack.callback(self.broker.stop)
        self.postgres = services.Postgres(folder, services.KILLED) if postgres else None
        if self.postgres is not None:
            self.postgres.start()
            stack.callback(self.postgres.stop)
        _set_up(folder, self.postgres.address if self.postgres else f"sqlite:///{folder / 'kills.sqlite3'}")
        self.runs = self._begin(dialogues)
        self.worker = _worker(self.broker.address, folder)
        stack.callback(self.worker.end)

    def _begin(self, dialogues: int) -> "list[Run]":
        from benchmark.services import runs
        from tests import factories

        dataset = factories.dataset(items=dialogues)
        price_input, price_cached, price_output = PRICES
        prices: Any = {"price_input": price_input, "price_cached_input": price_cached, "price_output": price_output}
        started = []
        for provider in PROVIDERS:
            where = {"base_url": self.stub.url(provider), "api_key_env": "STUB_KEY"}
            model = factories.model(provider=provider, model_id="stub", concurrency=8, **where, **prices)
            started.append(runs.start(run=runs.create(model=model, dataset=dataset, by=None), by=None))
        # Troubles of the moment are tried again, also in the middle of everything else.
        self.stub.every(97, "cut_midway")
        self.stub.every(61, 500)
        return started

    def kill(self, victim: str, draw: random.Random) -> int:
        """Kill one and bring it back; returns how many lanes had a call in flight, which only a worker loses."""
        if victim == "worker":
            self.worker.kill()
            held = _patiently(_lanes)
            self.worker.start()
            return held
        server = self.broker if victim == "broker" else self.postgres
        assert server is not None
        server.kill()
        time.sleep(draw.uniform(0, 0.6))
        server.start()
        return 0

    def wait_for(self, answers: int) -> None:
        self._until(lambda: self.stub.counts.answered >= answers)

    def wait_for_end(self) -> None:
        self._until(lambda: _patiently(_all_ended))

    def _until(self, true: Callable[[], bool]) -> None:
        deadline, seen = time.monotonic() + PATIENCE, -1
        while not true():
            if self.stub.counts.answered != seen:
                deadline, seen = time.monotonic() + PATIENCE, self.stub.counts.answered
            if time.monotonic() > deadline:
                raise RuntimeError(f"Nothing goes on after {seen} answers.\n{self.worker.logs()}")
            time.sleep(0.02)


def measure(*, dialogues: int, kills: int, seed: int, postgres: bool) -> Report:
    """Kill so many times over runs of so many dialogues each; the caller's process becomes one of this database."""
    draw = random.Random(seed)
    kinds = ["worker", "broker", *(["postgres"] if postgres else [])]
    victims = [kinds[index % len(kinds)] for index in range(kills)]
    draw.shuffle(victims)
    report = Report("PostgreSQL" if postgres else "SQLite", seed, dict(Counter(victims)))
    report.planned = len(PROVIDERS) * dialogues * TURNS
    begin = time.monotonic()
    with ExitStack() as stack:
        folder = stack.enter_context(services.temporary_folder())
        house = House(folder, dialogues=dialogues, postgres=postgres, stack=stack)
        house.worker.start()
        for number, victim in enumerate(victims):
            house.wait_for(int(report.planned * (number + draw.uniform(0.2, 0.9)) / (kills + 1)))
            time.sleep(draw.uniform(0, LATENCY))
            report.lanes_at_kills += house.kill(victim, draw)
        house.wait_for_end()
        house.worker.terminate()
        _count(report, house)
    report.seconds = round(time.monotonic() - begin, 1)
    return report


def _count(report: Report, house: House) -> None:
    """Compare what is stored with what the stub says that it handed out."""
    from benchmark import progress
    from benchmark.models import Attempt, Dialogue, Response, Run

    counts = house.stub.counts
    dialogues = Dialogue.objects.order_by("pk").values_list("pk", flat=True)
    planned = [(dialogue, turn) for dialogue in dialogues for turn in range(1, TURNS + 1)]
    found = Response.objects.order_by("dialogue", "turn").values_list("dialogue", "turn")
    report.stored = len(planned) if list(found) == planned else -len(found)
    report.complete = Run.objects.filter(state="complete").count()
    report.requests, report.attempts = counts.requests, Attempt.objects.count()
    report.failed_attempts = Attempt.objects.exclude(outcome="answered").count()
    report.asked_again = report.requests - report.attempts
    report.most_often = max(counts.bodies.values())
    report.held_leases = Dialogue.objects.filter(lease_token__isnull=False).count()
    kept = {int(text.rpartition("-")[2].rpartition("_")[2]) for text in _answered_requests()}
    for number, tokens in counts.tokens.items():
        into = report.tokens_of_stub if number in kept else report.tokens_lost
        for index, value in enumerate((tokens.input, tokens.cached, tokens.output, tokens.reasoning)):
            into[index] += value
    spent = [progress.spent(run) for run in house.runs]
    for used in spent:
        for index, value in enumerate((used.input, used.cached, used.output, used.reasoning)):
            report.tokens_stored[index] += value
    report.cost = f"{sum((used.cost or Decimal(0) for used in spent), Decimal(0)):.6f}"
    inputs, cached, output, _ = report.tokens_of_stub
    by_hand = (inputs - cached) * PRICES[0] + cached * PRICES[1] + output * PRICES[2]
    report.cost_of_stub = f"{by_hand / 1_000_000:.6f}"


def _answered_requests() -> list[str]:
    from benchmark.models import Attempt

    return list(Attempt.objects.filter(outcome="answered").values_list("request_id", flat=True))


def _set_up(folder: Path, address: str) -> None:
    """Django on a database of this folder."""
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "fpco_site.settings",
        "DATABASE_URL": address,
        "FPCO_DATA_DIR": str(folder),
        "FPCO_LOG_LEVEL": "WARNING",
        "STUB_KEY": KEY,
    }
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def _worker(broker: str, folder: Path) -> "Celery":
    from tests.worker import Celery

    return Celery(broker, folder, STUB_KEY=KEY)


def _lanes() -> int:
    from benchmark.models import Dialogue

    return Dialogue.objects.filter(state="running").count()


def _all_ended() -> bool:
    from benchmark.models import Run

    return not Run.objects.filter(state="running").exists()


def _patiently[T](look: Callable[[], T]) -> T:
    """Ask the database, which may have been killed since the last time."""
    from django.db import InterfaceError, OperationalError, connection

    deadline = time.monotonic() + 60
    while True:
        try:
            return look()
        except (OperationalError, InterfaceError):
            connection.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--dialogues", type=int, default=300, help="of each of the three runs")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--postgres", action="store_true", help="PostgreSQL, killed too; else SQLite")
    given: Any = parser.parse_args(arguments)
    seed = random.randrange(10**6) if given.seed is None else given.seed
    report = measure(dialogues=given.dialogues, kills=given.kills, seed=seed, postgres=given.postgres)
    broken = report.broken()
    sys.stdout.write(f"{json.dumps({**asdict(report), 'broken': broken}, indent=1)}\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
