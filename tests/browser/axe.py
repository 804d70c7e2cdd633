"""What axe says of a page."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

ANY = frozenset({"minor", "moderate", "serious", "critical"})
SERIOUS = frozenset({"serious", "critical"})
# A colour on its way to another has a contrast of its own; it sets out with the next frame that is drawn.
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
STILL = "() => !document.getAnimations().some((one) => one instanceof CSSTransition)"


def broken(page: Page, *, impact: frozenset[str] = ANY) -> list[str]:
    """The rules that the page breaks, each with where, once nothing on it changes its look any more."""
    page.evaluate(DRAWN)
    page.wait_for_function(STILL)
    found = Axe().run(page, options={"resultTypes": ["violations"], "preload": False}).response["violations"]
    return [
        f"{page.url}: {one['id']} {[node['html'][:200] for node in one['nodes'][:3]]}"
        for one in found
        if one["impact"] in impact
    ]


def serious(page: Page) -> list[str]:
    """Those that shut somebody out."""
    return broken(page, impact=SERIOUS)
