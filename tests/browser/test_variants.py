"""Variants in a real browser: drawn, written, reviewed by keys and frozen."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotate.models import Dataset, Item, User
from tests import factories
from tests.browser.axe import broken
from tests.variants import PREMISES

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
READY = "#decide[data-ready]"
SignIn = Callable[[Page, User], None]


def test_an_image_goes_from_the_draw_to_a_frozen_dataset_of_variants(
    page: Page, new_page: Callable[[], Page], sign_in: SignIn, ada: User, ben: User
) -> None:
    parent = factories.item(state="approved")
    sign_in(page, ada)
    page.goto("/variants/")
    assert broken(page) == []
    page.get_by_role("button", name="Draw 1 image").click()
    expect(page.locator("#messages")).to_contain_text("1 images drawn by seed 1 from 1.")
    page.get_by_role("link", name="the striped cat on the chair").click()
    for name, premise in PREMISES.items():
        page.locator(f"[name={name}-premise]").fill(premise)
    expect(page.get_by_text("not saved yet")).to_be_visible()
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.locator("#messages")).to_contain_text("Saved.")
    assert broken(page) == []
    expect(page.locator("[name=location_B-question]")).to_have_value(
        "What is the closest thing to the striped cat behind the chair?"
    )
    page.locator("h1").click()
    page.keyboard.press("r")
    expect(page.locator("#messages")).to_contain_text("6 in review now.")

    other = new_page()
    sign_in(other, ben)
    other.goto("/variants/")
    other.get_by_role("link", name="Review 6").click()
    assert broken(other) == []
    expect(other.get_by_text("only the premise is its own")).to_be_visible()
    for left in range(5, -1, -1):
        other.wait_for_selector(READY)
        for tick in other.locator("input[name=accepted]").all():
            tick.check()
        shown = other.url
        other.locator("h1").click()
        other.keyboard.press("a")
        other.wait_for_url(lambda url, shown=shown: url != shown)  # type: ignore[misc]
        assert Item.objects.filter(parent=parent, state="in_review").count() == left

    page.goto("/variants/freeze/")
    assert broken(page) == []
    for tick in page.locator("input[name=accepted]").all():
        tick.check()
    page.locator("[name=name]").fill("Lexical")
    page.keyboard.press("Escape")
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.locator("#messages")).to_contain_text("Lexical is frozen")
    assert Dataset.objects.get().items.count() == 6


def test_the_pages_of_checks_and_choosing_have_no_known_barrier(page: Page, sign_in: SignIn, ada: User) -> None:
    factories.item(state="approved")
    sign_in(page, ada)
    for path in ("/variants/choose/", "/variants/checks/"):
        page.goto(path)
        assert broken(page) == []
