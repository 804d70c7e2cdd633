"""How fast a worker asks and stores, and how much memory it takes, on SQLite and on PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from tests import services
from tests.bench import _asking
from tests.bench._asking import Outcome, Plan
from tests.bench.figures import Figure, Servers

LANES, LATENCY = 128, 0.2
FEW, MANY = 300, 3000


def bench(servers: Servers) -> list[Figure]:
    return [*_share(servers), *_rates(servers), *_memory(servers)]


def _share(servers: Servers) -> list[Figure]:
    """Against a provider that takes a second: what is lost between one answer and the next question."""
    lanes, dialogues = 64, 192
    outcome = run(servers, Plan("openai_compatible", (dialogues,), lanes), latency=1.0)
    (batch,) = outcome.batches
    on = f"latency 1 s, {lanes} lanes, 200 KB pictures, {dialogues * _asking.TURNS:,} requests, SQLite"
    return [
        Figure("answers stored a second", batch.rate, "/s", f"ideal: {lanes}; {on}"),
        Figure("share of the ideal", batch.rate / lanes, "", f"bound: 0.95; {on}"),
        Figure("requests that left no answer", outcome.asked - outcome.stored, "", f"bound: 0; {on}"),
    ]


def _rates(servers: Servers) -> list[Figure]:
    figures = []
    for database, protocol in (("PostgreSQL", "openai_compatible"), ("SQLite", "gemini")):
        outcome = run(servers, Plan(protocol, (FEW,), LANES), latency=LATENCY, postgres=database == "PostgreSQL")
        (batch,) = outcome.batches
        on = f"{protocol}, latency {LATENCY} s, {LANES} lanes, {batch.answers:,} requests, {database}"
        figures += [
            Figure("answers stored a second", batch.rate, "/s", on),
            Figure("processor time of the worker for an answer", 1000 * batch.cpu / batch.answers, "ms", on),
            Figure("requests that left no answer", outcome.asked - outcome.stored, "", f"bound: 0; {on}"),
        ]
    return figures


def _memory(servers: Servers) -> list[Figure]:
    """The same worker after a few dialogues and after ten times as many."""
    outcome = run(servers, Plan("openai_compatible", (FEW, MANY), LANES), latency=LATENCY)
    return [
        Figure(
            "memory of the worker",
            batch.memory,
            "MiB",
            f"bound: 400; after {batch.dialogues:,} dialogues, {LANES} lanes, 200 KB pictures, SQLite",
        )
        for batch in outcome.batches
    ]


def run(servers: Servers, plan: Plan, *, latency: float, postgres: bool = False) -> Outcome:
    """Play a plan in a folder of its own."""
    with services.temporary_folder() as folder, _database(folder, postgres) as database:
        data = folder / "data"
        data.mkdir()
        return _asking.measure(plan, latency=latency, database=database, broker=servers.broker, folder=data)


@contextmanager
def _database(folder: Path, postgres: bool) -> Iterator[str]:
    """A PostgreSQL that keeps what it acknowledged, unlike the suite's own; empty for SQLite."""
    with services.postgres(folder, settings=()) if postgres else nullcontext("") as address:
        yield address
