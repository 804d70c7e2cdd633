"""The leaderboard in the browser: the slider changes the table and the address, and a number leads to its dialogues."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotate.models import User
from tests import factories
from tests.browser.axe import serious

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LATER = 30_000


@pytest.fixture
def rita(transactional_db: None) -> User:
    """A reader, beside a run of which two detectors saw all corrections from turn 7 on."""
    run = factories.run(
        model=factories.model("Newcomer"), dataset=factories.dataset(items=3), answered=10, state="complete"
    )
    for slug in ("one", "two"):
        factories.detector_labels(factories.detector(slug), run, lambda response: response.turn >= 7)
    return factories.person("rita", "reader")


def test_rita_moves_the_cutoff_and_reads_what_is_behind_a_number(
    page: Page, sign_in: Callable[[Page, User], None], rita: User
) -> None:
    sign_in(page, rita)
    page.goto("/results/leaderboard/")
    row = page.get_by_role("row", name="Newcomer")
    expect(row).to_contain_text("0.571", timeout=LATER)
    assert serious(page) == []
    page.locator("#k").focus()
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", name="CorrTP@6")).to_be_visible(timeout=LATER)
    expect(page.locator("output")).to_have_text("6")
    expect(row).to_contain_text("0.000")
    expect(page).to_have_url(re.compile(r"k=6$"))
    page.get_by_role("link", name="Model", exact=True).click()
    expect(page).to_have_url(re.compile(r"k=6&sort=name$"), timeout=LATER)
    row.locator("summary").click()
    expect(row).to_contain_text("scripted is no interface of the paper.")
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate("document.documentElement.dataset.bsTheme = 'dark'")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert serious(page) == []
    row.get_by_role("link", name="0.000").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Newcomer: CorrTP@6", timeout=LATER)
    expect(page.locator(".page-sub")).to_contain_text("0 corrections of 9 answers")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert serious(page) == []
    page.get_by_role("link", name="turn 5").first.click()
    expect(page).to_have_url(re.compile(r"/dialogues/\d+/#turn-5$"), timeout=LATER)
