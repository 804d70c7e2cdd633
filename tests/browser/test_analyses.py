"""An author runs an analysis, reads it in words, figure and table, and a screen reader can too."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotate.models import User
from benchmark.models import Response
from tests import factories
from tests.browser.axe import serious

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_an_analysis_is_run_and_read_in_words_figure_and_table(
    page: Page, sign_in: Callable[[Page, User], None], ada: User
) -> None:
    run = factories.run(dataset=factories.dataset("Pilot", items=3), answered=10, state="complete")

    def late(response: Response) -> bool:
        return response.turn >= 6

    factories.detector_labels(factories.detector("strict"), run, late)
    factories.detector_labels(factories.detector("lenient"), run, False)
    sign_in(page, ada)
    page.goto("/results/")
    page.get_by_role("navigation", name="Results").get_by_role("link", name="Analyses").click()
    assert serious(page) == []
    page.get_by_label("Points that count as a loss").fill("10")
    page.get_by_role("button", name="Run Persistence").click()
    expect(page.get_by_role("heading", name="Persistence")).to_be_visible()
    expect(page.get_by_text("models lose more than 10 points of TurnCorr")).to_be_visible()
    expect(page.get_by_role("img", name="Change of TurnCorr from turn 4 to turn 10")).to_be_visible()
    expect(page.get_by_role("row", name=run.model.name).first).to_contain_text("50.00")
    assert serious(page) == []
