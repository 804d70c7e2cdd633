"""Authors at work in a real browser, mostly by keyboard."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotate.models import Image, Item, User
from tests import factories
from tests.browser.axe import broken

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SignIn = Callable[[Page, User], None]


def test_rewrites_follow_the_premise_as_it_is_typed_and_hand_made_ones_stay(
    page: Page, sign_in: SignIn, ada: User
) -> None:
    item = factories.item(state="draft")
    sign_in(page, ada)
    page.goto(f"/review/{item.key}/edit/")
    hand_made = page.locator("[name=modified_5]")
    hand_made.fill("How is that striped dog on the chair lit?")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("the striped fox on the chair")
    page.keyboard.press("Tab")
    expect(page.locator("[name=modified_4]")).to_have_value(
        "What is the closest thing to the striped fox on the chair?"
    )
    expect(hand_made).to_have_value("How is that striped dog on the chair lit?")
    expect(page.locator("#notes-5")).to_contain_text("is not in it word for word")
    page.get_by_role("button", name="Use the computed one").click()
    expect(hand_made).to_have_value("How is the striped fox on the chair lit?")
    expect(page.locator("#notes-5")).not_to_contain_text("word for word")
    expect(page.get_by_text("not saved yet")).to_be_visible()
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.locator("#messages")).to_contain_text("Saved.")
    assert Item.objects.get().modified_target_description == "the striped fox on the chair"
    assert item.turns.get(number=5).modified == "How is the striped fox on the chair lit?"


def test_photographs_are_chosen_uploaded_and_placed_by_keys(
    page: Page, sign_in: SignIn, ada: User, tmp_path: Path
) -> None:
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / name).write_bytes(factories.jpeg(400, 300))
    sign_in(page, ada)
    page.goto("/images/import/")
    assert broken(page) == []
    page.locator("[name=photographs]").set_input_files([tmp_path / "a.jpg", tmp_path / "b.jpg"])
    expect(page.locator("[data-drop-count]")).to_contain_text("2 files")
    page.keyboard.press("ControlOrMeta+Enter")
    page.wait_for_url("**/images/imports/*/")
    expect(page.locator(".fates tbody tr")).to_have_count(2)
    first, second = Image.objects.order_by("pk")
    page.goto(f"/images/{first.pk}/")
    assert broken(page) == []
    for key in "168":
        page.keyboard.press(key)
    page.keyboard.press("ControlOrMeta+Enter")
    page.wait_for_url(f"**/images/{second.pk}/")
    assert Item.objects.get().cell == ("single_clean", "animal", "identity")


def test_pages_of_authors_have_no_known_barrier(page: Page, sign_in: SignIn, ada: User) -> None:
    item = factories.item(state="draft")
    dataset = factories.dataset()
    sign_in(page, ada)
    for path in (
        "/images/",
        "/review/",
        f"/review/{item.key}/edit/",
        f"/review/{item.key}/history/",
        "/datasets/",
        "/datasets/freeze/",
        f"/datasets/{dataset.pk}/",
        f"/datasets/{dataset.pk}/items/{dataset.items.all()[0].pk}/",
    ):
        page.goto(path)
        assert broken(page) == []
