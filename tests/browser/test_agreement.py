"""Agreement in the browser: the heat map is drawn, nothing shuts anybody out, a number leads to its answers."""

import uuid
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotate.models import User
from annotate.services import labels
from benchmark.services import validation
from tests import factories
from tests.browser.axe import serious

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LATER = 30_000


@pytest.fixture
def rita(transactional_db: None) -> User:
    """A reader, beside a closed set that Lea and Lou labelled and two detectors."""
    over = factories.dataset(items=6)
    for number in range(2):
        run = factories.run(dataset=over, model=factories.model(f"Model {number}"), answered=10, state="complete")
        for slug in ("one", "two"):
            judge = factories.Detector.objects.filter(slug=slug).first() or factories.detector(slug)
            factories.detector_labels(judge, run, lambda response, s=slug: response.turn % (2 if s == "one" else 3) > 0)
    people = [factories.person(name, "annotator") for name in ("lea", "lou")]
    row = validation.open(dataset=over, annotators=people, by=None, per_cell=2, seed=5)
    for number, item in enumerate(row.items.select_related("task").order_by("id")):
        for at, mine in enumerate(row.label_set.assignments.order_by("id")):
            said = {"detect": number % (2 + at) == 0, "client": uuid.uuid4(), "sequence": 1}
            labels.record(assignment=mine, task=item.task, **said)
    validation.close(validation_set=row, by=factories.person("ada"))
    return factories.person("rita", "reader")


def test_rita_goes_from_the_heat_map_to_the_answers_on_which_two_differ(
    page: Page, sign_in: Callable[[Page, User], None], rita: User
) -> None:
    sign_in(page, rita)
    page.goto("/agreement/")
    expect(page.locator(".agreement-heat svg")).to_have_attribute("role", "img", timeout=LATER)
    expect(page.locator(".agreement-heat svg")).to_contain_text("Adjudicated")
    assert serious(page) == []
    page.locator("select[name=second]").select_option(label="two")  # shows it at once
    expect(page.get_by_role("columnheader", name="two: yes")).to_be_visible(timeout=LATER)
    link = page.get_by_role("link", name="answers to read")
    count = link.inner_text().split()[0]
    link.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"{count} answer", timeout=LATER)
    assert serious(page) == []
    page.get_by_role("link", name="turn").first.click()
    expect(page.locator("article.turn").first).to_be_visible(timeout=LATER)


def test_the_pages_fit_a_phone_and_the_dark(page: Page, sign_in: Callable[[Page, User], None], rita: User) -> None:
    sign_in(page, rita)
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    for path in ("/agreement/", "/agreement/detectors/"):
        page.goto(path)
        page.evaluate("document.documentElement.dataset.bsTheme = 'dark'")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert serious(page) == []
