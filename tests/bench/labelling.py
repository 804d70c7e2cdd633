"""Labelling as the person who labels meets it: how long after the key the next answer is on screen."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles

from tests import services
from tests.bench.figures import Figure, Servers

ROOT = Path(__file__).resolve().parents[2]
TASKS = 200
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
            page.wait_for_selector("#labelling[data-ready]")
            page.wait_for_function(PREPARED)
            page.keyboard.press("12"[pressed % 2])
            page.wait_for_function("(n) => window.shownAfter.length === n", arg=pressed + 1)
        times: list[float] = page.evaluate("() => window.shownAfter")
        browser.close()
    return times


MEASURED: dict[str, Callable[[], list[tuple[str, float, str, str]]]] = {"key_to_next": key_to_next}


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
