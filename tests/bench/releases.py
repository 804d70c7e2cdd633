"""Importing a release of the published size, against a bare insert of the same rows with the same indexes."""

import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests import published_release, services
from tests.bench.figures import Figure, Servers

ROOT = Path(__file__).resolve().parents[2]
BOUND = 2.5
# In an order that foreign keys allow.
TABLES = (
    "annotate_dataset",
    "annotate_datasetitem",
    "annotate_datasetturn",
    "benchmark_evaluatedmodel",
    "benchmark_run",
    "benchmark_dialogue",
    "benchmark_response",
    "benchmark_detector",
    "benchmark_detectionjob",
    "benchmark_detectorlabel",
    "benchmark_resultset",
    "benchmark_resultsetrun",
    "benchmark_resultsetdetector",
)


def bench(servers: Servers) -> list[Figure]:
    with services.temporary_folder() as folder:
        published_release.write_release(folder / "release", seed=1)
        figures = _sqlite(folder)
        with _databases(servers.postgres) as (full, bare):
            figures += _postgres(folder, full, bare)
    return figures


def _sqlite(folder: Path) -> list[Figure]:
    full, bare = folder / "full.sqlite3", folder / "bare.sqlite3"
    for path in (full, bare):
        _manage("migrate", "-v0", data=folder, database=f"sqlite:///{path}")
    took, memory = _import(folder, f"sqlite:///{full}")
    rows = {table: _rows_of(full, table) for table in TABLES}
    with sqlite3.connect(bare) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        begin = time.perf_counter()
        for table, (columns, values) in rows.items():
            marks = ", ".join("?" * len(columns))
            listed = ", ".join(f'"{column}"' for column in columns)
            connection.executemany(f'INSERT INTO "{table}" ({listed}) VALUES ({marks})', values)
        connection.commit()
        insert = time.perf_counter() - begin
    return _figures("SQLite", took, insert, memory)


def _postgres(folder: Path, full: str, bare: str) -> list[Figure]:
    for address in (full, bare):
        _manage("migrate", "-v0", data=folder, database=address)
    took, memory = _import(folder, full)
    with psycopg.connect(full) as source, psycopg.connect(bare) as target:
        rows = {}
        for table in TABLES:
            cursor = source.execute(f'SELECT * FROM "{table}"')
            columns = [column.name for column in cursor.description or []]
            rows[table] = (columns, [tuple(map(_plain, row)) for row in cursor.fetchall()])
        begin = time.perf_counter()
        for table, (columns, values) in rows.items():
            listed = ", ".join(f'"{column}"' for column in columns)
            with target.cursor().copy(f'COPY "{table}" ({listed}) FROM STDIN') as copy:
                for row in values:
                    copy.write_row(row)
        target.commit()
        insert = time.perf_counter() - begin
    return _figures("PostgreSQL", took, insert, memory)


def _plain(value: object) -> object:
    """JSON columns come back as objects and go in as text."""
    from psycopg.types.json import Jsonb

    return Jsonb(value) if isinstance(value, dict | list) else value


def _rows_of(path: Path, table: str) -> tuple[list[str], list[tuple[object, ...]]]:
    with sqlite3.connect(path) as connection:
        cursor = connection.execute(f'SELECT * FROM "{table}"')
        return [column[0] for column in cursor.description], cursor.fetchall()


def _import(folder: Path, database: str) -> tuple[float, float]:
    """Seconds inside the command (Python's start left out) and peak memory of its process in MiB."""
    code = (
        "import sys, time; from django.core.management import call_command; import django; django.setup();"
        "begin = time.perf_counter(); call_command('import_release', sys.argv[1]);"
        "import resource; print('took', time.perf_counter() - begin, "
        "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    command = [sys.executable, "-c", code, str(folder / "release")]
    done = subprocess.run(command, cwd=ROOT, env=_env(folder, database), capture_output=True, text=True, check=True)
    found = re.search(r"took ([\d.]+) (\d+)", done.stdout)
    if found is None:
        raise RuntimeError(f"The import did not say how long it took: {done.stdout} {done.stderr}")
    unit = 2**20 if sys.platform == "darwin" else 2**10  # ru_maxrss is in bytes there, in KiB elsewhere
    return float(found[1]), int(found[2]) / unit


def _manage(*arguments: str, data: Path, database: str) -> None:
    subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, env=_env(data, database), check=True)


def _env(data: Path, database: str) -> dict[str, str]:
    more = {"DJANGO_SETTINGS_MODULE": "fpco_site.settings", "FPCO_DATA_DIR": str(data), "DATABASE_URL": database}
    return {**os.environ, **more}


@contextmanager
def _databases(address: str) -> Iterator[tuple[str, str]]:
    """Two fresh databases on the server, dropped afterwards."""
    names = ("bench_full", "bench_bare")
    with psycopg.connect(address, autocommit=True) as connection:
        for name in names:
            connection.execute(f"CREATE DATABASE {name}")
    try:
        yield (_named(address, names[0]), _named(address, names[1]))
    finally:
        with psycopg.connect(address, autocommit=True) as connection:
            for name in names:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _named(address: str, name: str) -> str:
    """The same server's address with another database; the path is the last part before a query."""
    head, mark, query = address.partition("?")
    return f"{head.rpartition('/')[0]}/{name}{mark}{query}"


def _figures(system: str, took: float, insert: float, memory: float) -> list[Figure]:
    return [
        Figure(
            f"import of a full-size release, {system}", took, "s", "216,000 responses, 432,000 labels, checked first"
        ),
        Figure(f"bare insert of the same rows, {system}", insert, "s", "executemany" if system == "SQLite" else "COPY"),
        Figure(f"import / bare insert, {system}", took / insert, "x", f"bound: {BOUND}"),
        Figure(f"peak memory of the import, {system}", memory, "MiB", "bound: 1024"),
    ]
