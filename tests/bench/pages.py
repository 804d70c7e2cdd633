"""Server time of every page of the demo, as its author, its reader and an annotator see it."""

import json
import logging
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

from tests import services
from tests.bench.figures import Figure, Servers

ROOT = Path(__file__).resolve().parents[2]
PEOPLE = ("ada", "rita", "lea")
REPEATS = 5


def bench(servers: Servers) -> list[Figure]:
    """One figure for each address that has pages: the slowest of its pages, each by the median of its repeats."""
    with services.temporary_folder() as folder:
        env = {key: value for key, value in os.environ.items() if key not in {"DATABASE_URL", "CELERY_BROKER_URL"}}
        env |= {"FPCO_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "fpco_site.settings"}
        env |= {"CELERY_BROKER_URL": servers.broker}
        command = [sys.executable, "-m", "tests.bench.pages"]
        done = subprocess.run(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, check=True, text=True)
    return [
        Figure(f"page {name}", 1000 * seconds, "ms", f"{queries} queries; {path}")
        for name, seconds, queries, path in json.loads(done.stdout)
    ]


def main() -> None:
    """Load the demo, walk through it once (the first view of a page imports what it needs), then measure."""
    import django

    django.setup()
    logging.disable(logging.WARNING)  # addresses that refuse are part of the walk
    from django.core.management import call_command

    from benchmark.services import demo_house
    from fpco_site import static_files

    call_command("migrate", interactive=False, verbosity=0)
    static_files.collect_if_changed()
    demo_house.load()
    sys.stdout.write(json.dumps(measure()))


def measure() -> list[tuple[str, float, int, str]]:
    """Name, seconds, queries and path of the slowest page of each name, slowest first."""
    from annotate.models import User
    from tests import demo_pages

    slowest: dict[str, tuple[float, int, str]] = defaultdict(lambda: (0.0, 0, ""))
    for name in PEOPLE:
        person = User.objects.get(username=name)
        client = demo_pages.client_of(person)
        for visit in list(demo_pages.walk(person)):
            if visit.status != 200:
                continue
            again = [demo_pages.look(client, person, visit.path)[0] for _ in range(REPEATS)]
            seconds, queries = median(one.seconds for one in again), max(len(one.sql) for one in again)
            slowest[visit.name] = max(slowest[visit.name], (seconds, queries, f"{name} {visit.path}"))
    return sorted(((name, *rest) for name, rest in slowest.items()), key=lambda row: -row[1])


if __name__ == "__main__":
    main()
