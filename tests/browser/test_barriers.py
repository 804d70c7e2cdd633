"""No page of the demo study shuts anybody out: axe, 200 % zoom, and every action a real control."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.db import connections
from django.test import override_settings
from playwright.sync_api import Page
from pytest_django.live_server_helper import LiveServer

from annotate.models import User
from benchmark.services import demo_house
from tests import demo_pages
from tests.browser.axe import serious
from tests.engine import FAST
from tests.factories import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]

# 1280 x 720 at 200 % is 640 x 360 pixels of the page's own.
ZOOMED, PLAIN = {"width": 640, "height": 360}, {"width": 1280, "height": 720}
# What a mouse can press and a keyboard can't: a role or a cursor that says "press me" on what takes no focus.
DEAD = """() => [...document.querySelectorAll("[role=button], [role=tab], button, a[data-key], [data-key]")]
    .filter((one) => one.getClientRects().length && !one.disabled && one.tabIndex < 0)
    .map((one) => one.outerHTML.slice(0, 120))"""
# A page may hold a wide table in a box that scrolls; the page itself must not.
WIDE = """() => document.documentElement.scrollWidth > innerWidth
    ? [`${document.documentElement.scrollWidth} pixels wide`] : []"""


@pytest.fixture
def study(transactional_db: None, live_server: LiveServer, tmp_path: Path) -> Iterator[dict[str, User]]:
    with override_settings(DATA_DIR=tmp_path, MEDIA_ROOT=tmp_path / "media", ENGINE={**FAST, "stale": 30.0}):
        # The engine keeps an event loop, and Playwright has one in this thread.
        with ThreadPoolExecutor(1) as pool:
            pool.submit(demo_house.load).result()
            pool.submit(connections.close_all).result()
        User.objects.update(password=make_password(PASSWORD))
        yield {person.username: person for person in User.objects.all()}


def paths(person: User) -> list[str]:
    """One address of each kind of page that links lead this person to."""
    found: dict[str, str] = {}
    for visit in demo_pages.walk(person, brief=True):
        if visit.status == 200 and visit.html:
            found.setdefault(visit.name, visit.path)
    return list(found.values())


def test_no_page_shuts_anybody_out(study: dict[str, User], page: Page, sign_in: Callable[[Page, User], None]) -> None:
    found: dict[str, Any] = {}
    for who in ("ada", "lea"):
        page.context.clear_cookies()
        sign_in(page, study[who])
        for path in paths(study[who]):
            page.set_viewport_size(PLAIN)
            page.goto(path)
            problems = [*serious(page), *page.evaluate(DEAD)]
            page.set_viewport_size(ZOOMED)
            problems += page.evaluate(WIDE)
            if problems:
                found[f"{who} {path}"] = problems
    assert not found, "\n".join(f"{path}: {problems}" for path, problems in found.items())
