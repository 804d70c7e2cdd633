"""Figures and case studies in the browser: every figure is drawn, nothing shuts anybody out, choices are kept."""

import re
from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from annotate.models import User
from annotate.models.people import Role
from benchmark.figures import REGISTER
from benchmark.models import Dialogue
from benchmark.services import cases
from tests import factories

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LATER = 30_000
DARK = "document.documentElement.dataset.bsTheme = 'dark'; document.dispatchEvent(new Event('themechange'))"


@pytest.fixture
def ada(transactional_db: None) -> User:
    """An author with two models over six dialogues, two detectors and a case study."""
    who, over = factories.person("ada", Role.AUTHOR), factories.dataset("Pilot", items=6)
    strict, lenient = factories.detector("strict"), factories.detector("lenient")
    for number in range(2):
        run = factories.run(dataset=over, model=factories.model(f"Model {number}"), answered=10, state="complete")
        factories.detector_labels(strict, run, lambda response, n=number: response.turn >= 4 + n)
        factories.detector_labels(lenient, run, lambda response, n=number: response.turn >= 7 + n)
    item = over.items.order_by("id").first()
    cases.create(dataset=over, name="Cats", dialogues=list(Dialogue.objects.filter(item=item)), by=who)
    return who


def serious(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    bad = [one for one in found if one["impact"] in {"serious", "critical"}]
    return [f"{one['id']}: {node['html'][:200]}" for one in bad for node in one["nodes"][:3]]


def test_every_figure_is_drawn_and_one_keeps_its_choices_in_the_address(
    page: Page, sign_in: Callable[[Page, User], None], ada: User
) -> None:
    sign_in(page, ada)
    page.goto("/results/figures/")
    for number in range(len(REGISTER)):
        card = page.locator(".figure-card .chart").nth(number)
        card.scroll_into_view_if_needed()
        expect(card.locator("svg")).to_have_attribute("role", "img", timeout=LATER)
    assert serious(page) == []
    page.goto("/results/figures/corr-tp-curves/")
    page.locator(".figure-choose > summary").click()
    page.get_by_label("Model 1 Scripted").uncheck()
    page.get_by_label("Colour of Model 0").select_option("orange")
    page.get_by_role("button", name="Show these").click()
    expect(page).to_have_url(re.compile(r"model=Model\+0&colour=Model\+0%3Aorange$"), timeout=LATER)
    expect(page.locator(".figure-shown svg path[stroke='#E69F00']").first).to_be_attached(timeout=LATER)
    page.evaluate(DARK)
    assert serious(page) == []


def test_a_case_study_fits_a_phone_and_ada_takes_a_model_out(
    page: Page, sign_in: Callable[[Page, User], None], ada: User
) -> None:
    sign_in(page, ada)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/results/cases/")
    page.get_by_role("link", name="Cats").click()
    expect(page.get_by_role("columnheader", name="Model 1")).to_be_visible(timeout=LATER)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert serious(page) == []
    page.get_by_role("button", name="Take Model 1 out").click()
    expect(page.get_by_role("columnheader", name="Model 1")).to_have_count(0, timeout=LATER)
    page.get_by_role("link", name="Add dialogues").click()
    expect(page.get_by_text("6 items.")).to_be_visible(timeout=LATER)
    assert serious(page) == []
