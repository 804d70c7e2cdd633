"""When a page takes keys: a browser drops what is pressed before it has painted the page for the first time."""

from playwright.sync_api import Page

PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def shown(page: Page) -> None:
    """Wait until the page is loaded and painted, as a person does who reads it before pressing a key."""
    page.wait_for_load_state()
    page.evaluate(PAINTED)
