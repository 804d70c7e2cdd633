"""Measure: `python -m tests.bench [NAME ...] [--write]` (`make bench`).

Every module beside this one that defines `bench(servers: Servers) -> list[Figure]` is a benchmark.
Figures are printed and never asserted. `--write` puts them into docs/performance.md, each benchmark in
a section of its own, so that one can be measured anew without the others. A module that says `LONG = True`
runs only where it is named, and with `--write`.
"""

import argparse
import importlib
import os
import pkgutil
import platform
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from tests import bench, services
from tests.bench.figures import Figure, Servers, table

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"


def benchmarks(names: list[str], *, long: bool = True) -> dict[str, Callable[[Servers], list[Figure]]]:
    """The chosen benchmarks by name, all of them without names; those marked LONG only with `long` or by name."""
    found = {}
    for module in pkgutil.iter_modules(bench.__path__):
        if module.name.startswith("_") or (names and module.name not in names):
            continue
        found_module = importlib.import_module(f"tests.bench.{module.name}")
        function = getattr(found_module, "bench", None)
        wanted = long or bool(names) or not getattr(found_module, "LONG", False)
        if function is not None and wanted:
            found[module.name] = function
    return found


def machine() -> str:
    """Date, commit, processor, memory and versions that the figures belong to."""
    processor = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
        processor = models[0] if models else processor
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, commit {commit.stdout.strip() or 'unknown'}, {os.cpu_count()} cores of "
        f"{processor}, {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}"
    )


def write(measured: dict[str, str]) -> None:
    """Replace the sections of these benchmarks between the two marks of docs/performance.md."""
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    kept, _, after = rest.partition(END)
    parts = (part.partition("\n") for part in kept.split("\n### ")[1:])
    sections = {name.strip(): text.strip() for name, _, text in parts} | measured
    text = "\n\n".join(f"### {name}\n\n{sections[name]}" for name in sorted(sections))
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("names", nargs="*", help="benchmarks to run (all without)")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/performance.md")
    options = parser.parse_args()
    chosen = benchmarks(options.names, long=options.write)
    if not chosen or set(options.names) - set(chosen):
        say(f"There is no such benchmark; there are: {', '.join(benchmarks([]))}.")
        return 2
    measured: dict[str, str] = {}
    with services.temporary_folder() as folder, services.valkey(folder) as broker, services.postgres(folder) as address:
        for name, measure in chosen.items():
            say(f"{name} ...")
            figures = measure(Servers(postgres=address, broker=broker))
            measured[name] = f"{table(figures)}\n\nMeasured on {machine()}."
            say(f"\n{measured[name]}\n")
    if options.write:
        write(measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
