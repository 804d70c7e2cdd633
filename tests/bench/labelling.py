"""Labelling: how long after the key the next answer is on screen, and what saving a label takes the server."""

import json
import logging
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any
from urllib.parse import urlencode

from tests import published_release, services
from tests.bench.figures import Figure, Servers

ROOT = Path(__file__).resolve().parents[2]
TASKS = 200
WARM = 20  # labels until everything is imported and every cache is filled
# From the key, as the browser stamps it, to the end of the frame that shows the next answer.
WATCH = """() => {
    window.shownAfter = [];
    document.addEventListener("keydown", ({ timeStamp }) => {
        const before = document.getElementById("labelling");
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => window.shownAfter.push(performance.now() - timeStamp);
        const same = () => document.getElementById("labelling") === before;
        const look = () => (same() ? requestAnimationFrame(look) : port2.postMessage(0));
        requestAnimationFrame(look);
    }, true);
}"""


def bench(servers: Servers) -> list[Figure]:
    """Each figure is measured in a process of its own, over a database of its own."""
    return [Figure(*row) for name in MEASURED for row in _apart(name, servers)]


def _apart(name: str, servers: Servers) -> list[tuple[str, float, str, str]]:
    with services.temporary_folder() as folder:
        env = {key: value for key, value in os.environ.items() if key not in {"DATABASE_URL", "CELERY_BROKER_URL"}}
        env |= {"FPCO_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "fpco_site.settings"}
        env |= {"CELERY_BROKER_URL": servers.broker, "DJANGO_ALLOW_ASYNC_UNSAFE": "true"}
        command = [sys.executable, "-m", "tests.bench.labelling", name]
        done = subprocess.run(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, check=True, text=True)
    rows: list[tuple[str, float, str, str]] = json.loads(done.stdout)
    return rows


def key_to_next() -> list[tuple[str, float, str, str]]:
    """Milliseconds from the key to the next answer on screen, in Chromium over loopback."""
    from django.conf import settings

    from tests import factories
    from tests.bench._labelling import web_server

    lea = factories.person("lea", role="annotator")
    row = factories.label_set(factories.dataset(), [lea], tasks=TASKS)
    with web_server(Path(settings.DATA_DIR) / "web.log") as address:
        times = sorted(_press_through(f"{address}/label/{row.pk}/", address))
    on = f"bound: 50 ms; {len(times)} labels in Chromium over loopback"
    return [
        ("key to next answer on screen, median", median(times), "ms", on),
        ("key to next answer on screen, p95", quantiles(times, n=20)[-1], "ms", on),
        ("key to next answer on screen, slowest", times[-1], "ms", on),
    ]


def _press_through(page_of_set: str, address: str) -> list[float]:
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import FLAGS, find_chromium
    from tests.browser.labelling import PREPARED
    from tests.factories import PASSWORD

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        page = browser.new_page(base_url=address, viewport={"width": 1280, "height": 720})
        page.goto("/account/sign-in/")
        page.locator("[name=username]").fill("lea")
        page.locator("[name=password]").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.goto(page_of_set)
        page.get_by_role("link", name="Start").click()
        page.evaluate(WATCH)
        for pressed in range(TASKS - 1):
            # Reading takes longer than the save of the press before.
            page.wait_for_selector(f".label-progress:has-text('{pressed} of {TASKS}')")
            page.wait_for_selector("#labelling[data-ready]")
            page.wait_for_function(PREPARED)
            page.keyboard.press("12"[pressed % 2])
            page.wait_for_function("(n) => window.shownAfter.length === n", arg=pressed + 1)
        times: list[float] = page.evaluate("() => window.shownAfter")
        browser.close()
    return times


def saving() -> list[tuple[str, float, str, str]]:
    """Milliseconds that the server needs for the POST of a press, on SQLite with the study's answers stored."""
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from annotate.models import Dataset
    from benchmark.models import Response
    from benchmark.services import validation
    from fpco_site import static_files
    from tests import factories

    release = Path(settings.DATA_DIR) / "release"
    published_release.write_release(release, seed=1)
    call_command("import_release", str(release), stdout=sys.stderr)
    static_files.collect_if_changed()
    people = [factories.person(name, role="annotator") for name in ("lea", "lou")]
    row = validation.open(dataset=Dataset.objects.get(), annotators=people, by=None, seed=1)
    clocks = [Clock(person, row.label_set_id) for person in people]
    for clock in clocks:
        for _ in range(row.design["drawn"] - 1):
            clock.press()
        with CaptureQueriesContext(connection) as queries:
            clock.press()
    times = sorted(taken for clock in clocks for taken in clock.times[WARM:-1])
    on = f"{Response.objects.count():,} answers stored, {len(times)} labels by two people, SQLite, synchronous=FULL"
    return [
        ("saving a label, median", median(times), "ms", f"bound: 6; {on}"),
        ("saving a label, p95", quantiles(times, n=20)[-1], "ms", f"bound: 15; {on}"),
        ("queries of a saved label", len(queries), "", "those of session and person included"),
        ("drawing what a saved label changes, median", median(clocks[0].looks), "ms", f"asked for after it; {on}"),
    ]


class Clock:
    """One person who presses as the page's script does; `times` are the server's, every middleware included."""

    def __init__(self, person: Any, label_set: int) -> None:
        from django.test import Client

        from annotate.models import Assignment
        from annotate.services import labels

        self.times: list[float] = []
        self.looks: list[float] = []
        self.sequence = 0
        self.client = Client(SERVER_NAME="127.0.0.1", enforce_csrf_checks=True)
        self.client.force_login(person)
        mine = Assignment.objects.select_related("label_set").get(label_set=label_set, person=person)
        self.order = [f"/label/{label_set}/{task}/" for task in labels.order_of(mine)]
        self.page = str(uuid.uuid4())
        self.client.get(self.order[0])
        self._answer, self.client.handler.get_response = self.client.handler.get_response, self._timed

    def _timed(self, request: Any) -> Any:
        begun = time.perf_counter()
        response = self._answer(request)
        self.times.append(1000 * (time.perf_counter() - begun))
        return response

    def press(self) -> None:
        """Label the next answer, while the one after it is on screen already."""
        address, ahead = self.order[self.sequence], self.order[(self.sequence + 1) % len(self.order)]
        self.sequence += 1
        values = {"detect": str(self.sequence % 2), "client": self.page, "sequence": str(self.sequence)}
        values |= {"seconds": "4.5", "guideline": "1", "shown": ahead.rstrip("/").rpartition("/")[2]}
        headers = {"X-CSRFToken": self.client.cookies["csrftoken"].value, "Accept": "application/json"}
        said = self.client.post(address, urlencode(values), "application/x-www-form-urlencoded", headers=headers)
        if said.status_code != 200:
            raise RuntimeError(f"{address}: {said.status_code} {said.text[:300]}")
        saved = self.times.pop()
        self.client.get(f"{ahead}?part=standing")
        self.looks.append(self.times.pop())
        self.times.append(saved)


MEASURED: dict[str, Callable[[], list[tuple[str, float, str, str]]]] = {"key_to_next": key_to_next, "saving": saving}


def main() -> None:
    """Make the tables, then measure the one figure that is named."""
    import django

    django.setup()
    logging.disable(logging.WARNING)
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    sys.stdout.write(json.dumps(MEASURED[sys.argv[1]]()))


if __name__ == "__main__":
    main()
