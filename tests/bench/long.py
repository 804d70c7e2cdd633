"""A run of 20,000 dialogues with a provider that takes no time, while two people label. It takes a quarter of an hour.

Only measured when it is named, or with `--write`.
"""

from tests.bench import asking
from tests.bench._asking import Plan
from tests.bench.figures import Figure, Servers

LONG = True
DIALOGUES, LANES = 20_000, 128
BEFORE = 2_000  # dialogues of a run before it: after a rest, machines are faster for their first minute


def bench(servers: Servers) -> list[Figure]:
    return figures(servers, dialogues=DIALOGUES)


def figures(servers: Servers, *, dialogues: int, postgres: bool = False) -> list[Figure]:
    plan = Plan("openai_compatible", (BEFORE, dialogues), LANES, picture=2_000, labelling=True)
    outcome = asking.run(servers, plan, latency=0.0, postgres=postgres)
    before, batch = outcome.batches
    first, last = batch.tenths[0], batch.tenths[-1]
    labels = outcome.labels
    on = f"{dialogues:,} dialogues, {LANES} lanes, {'PostgreSQL' if postgres else 'SQLite'}"
    people = f"bound: 200 ms; {labels['posts']:,.0f} labels by two people at two a second; {on}"
    return [
        Figure("answers stored a second, in a run before it", before.rate, "/s", f"{BEFORE:,} dialogues"),
        Figure("answers stored a second, first tenth", first, "/s", on),
        Figure("answers stored a second, last tenth", last, "/s", on),
        *(Figure(f"in tenth {number}", rate, "/s", on) for number, rate in enumerate(batch.tenths[1:-1], 2)),
        Figure("last tenth / first tenth", last / first, "", f"bound: 0.9; {on}"),
        Figure("time of the run", batch.seconds, "s", on),
        Figure("requests that left no answer", outcome.asked - outcome.stored, "", f"bound: 0; {on}"),
        Figure("labelling, p95", labels["p95"], "ms", people),
        Figure("labelling, median", labels["median"], "ms", people),
        Figure("labelling, slowest", labels["slowest"], "ms", people),
        Figure("labels that were not stored", labels["lost"], "", f"bound: 0; {on}"),
        Figure("memory of the worker", batch.memory, "MiB", f"bound: 400; {on}"),
    ]
