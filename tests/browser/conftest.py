"""A real Chromium against a live server: `page` is a fresh browser window, `sign_in` fills the sign-in page."""

import os
import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from annotate.models import User
from tests.factories import PASSWORD

# Playwright keeps an event loop in this thread, which Django takes for asynchronous code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

expect.set_options(timeout=30_000)  # a busy machine is slow, which no test is about

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium() -> str | None:
    """FPCO_CHROMIUM, else the first Chromium or Chrome on the path."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return os.environ.get("FPCO_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = find_chromium()
    if path is None:
        pytest.skip("No Chromium is on the path; FPCO_CHROMIUM can name one.")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def new_page(browser: Browser, live_server: LiveServer) -> Iterator[Callable[[], Page]]:
    """Opens windows that share nothing, one for each person; what a script throws fails the test."""
    contexts, thrown = [], []

    def open_page() -> Page:
        context = browser.new_context(base_url=live_server.url, viewport={"width": 1280, "height": 720})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: thrown.append(error))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert thrown == []


@pytest.fixture
def page(new_page: Callable[[], Page]) -> Page:
    return new_page()


@pytest.fixture
def sign_in() -> Callable[[Page, User], None]:
    """`sign_in(page, ada)`: through the sign-in page, as a person does it."""

    def fill(page: Page, who: User) -> None:
        page.goto("/account/sign-in/")
        page.locator("[name=username]").fill(who.username)
        page.locator("[name=password]").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(lambda url: "sign-in" not in url)

    return fill
