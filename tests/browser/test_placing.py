"""Placing in a real browser: pictures by keys alone, a press acts on the picture that was seen, undo."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from annotate.models import Item, TakenBack, User
from annotate.services import items
from tests import factories
from tests.browser.axe import serious
from tests.browser.bursts import burst

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[Page, User], None]
CELL = ("single_clean", "animal", "identity")


def ready(page: Page, number: int, total: int) -> None:
    """The picture of that number is shown and has been looked at."""
    expect(page.locator(".page-sub")).to_contain_text(f"Picture {number} of {total} ")
    expect(page.locator("[data-look-first=seen]")).to_be_visible()


def pictures(count: int) -> None:
    for number in range(count):
        factories.image(name=f"{number}.jpg", target="cat")


def choose(page: Page, keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_five_pictures_are_placed_by_keys_alone(page: Page, sign_in: SignIn, ada: User) -> None:
    pictures(6)
    sign_in(page, ada)
    page.goto("/images/")
    page.keyboard.press("p")
    ready(page, 1, 6)
    choose(page, "168")
    page.keyboard.press("p")
    for left in (5, 4):
        ready(page, 1, left)
        page.keyboard.press("Control+Enter")
    ready(page, 1, 3)
    page.keyboard.press("s")
    ready(page, 2, 3)
    choose(page, "30")
    page.keyboard.press("t")
    page.keyboard.press("Control+a")
    page.keyboard.type("tabby 1")
    page.keyboard.press("Control+Enter")
    ready(page, 2, 2)
    page.keyboard.press("ArrowLeft")
    ready(page, 1, 2)
    page.keyboard.press("p")
    ready(page, 1, 1)
    placed = [(item.image.name, item.target, *item.cell) for item in Item.objects.order_by("pk")]
    overlapping = ("multi_overlapping", "animal", "location")
    assert placed == [
        *((f"{number}.jpg", "cat", *CELL) for number in range(3)),
        ("4.jpg", "tabby 1", *overlapping),
        ("3.jpg", "cat", *overlapping),
    ]


def test_a_burst_of_presses_places_the_picture_that_was_shown_and_no_other(
    page: Page, sign_in: SignIn, ada: User
) -> None:
    pictures(8)
    sign_in(page, ada)
    page.goto("/images/place/")
    ready(page, 1, 8)
    choose(page, "168")
    burst(page, ["Control+Enter"] * 20)
    ready(page, 1, 7)
    assert [item.image.name for item in Item.objects.all()] == ["0.jpg"]
    burst(page, [*"p4s9u"] * 4)
    ready(page, 1, 6)
    assert sorted(item.image.name for item in Item.objects.all()) == ["0.jpg", "1.jpg"]
    expect(page.locator("[name=category]:checked")).to_have_value("animal")


def test_a_double_click_places_one_picture(page: Page, sign_in: SignIn, ada: User) -> None:
    pictures(4)
    sign_in(page, ada)
    page.goto("/images/place/?complexity=single_clean&category=animal&premise_class=identity")
    ready(page, 1, 4)
    page.get_by_role("button", name=re.compile("Place, then next")).dblclick(delay=30)
    ready(page, 1, 3)
    page.wait_for_timeout(300)
    assert [item.image.name for item in Item.objects.all()] == ["0.jpg"]


def test_the_last_placing_is_undone_by_a_key_and_a_touched_one_is_not(page: Page, sign_in: SignIn, ada: User) -> None:
    pictures(3)
    sign_in(page, ada)
    page.goto("/images/place/")
    ready(page, 1, 3)
    choose(page, "168p")
    ready(page, 1, 2)
    page.keyboard.press("u")
    ready(page, 1, 3)
    expect(page.locator(".note-good")).to_contain_text("has no place again")
    assert (Item.objects.count(), TakenBack.objects.count()) == (0, 1)
    page.keyboard.press("p")
    ready(page, 1, 2)
    item = Item.objects.get()
    items.edit(item=item, version=1, texts=items.Texts(target_description="a cat"), by=ada)
    page.keyboard.press("u")
    expect(page.locator(".note-bad")).to_contain_text("can't be taken back")
    assert Item.objects.get().target_description == "a cat"


def test_the_pages_of_placing_and_freezing_have_no_known_barrier(page: Page, sign_in: SignIn, ada: User) -> None:
    pictures(1)
    item = factories.approved(ada)
    factories.item(state="draft")
    first, second = factories.dataset("First", items=2), factories.dataset("Second", items=2)
    sign_in(page, ada)
    entry = second.items.all()[0]
    for path in (
        "/images/place/",
        "/cells/",
        "/cells/cell/?complexity=single_clean&category=animal&premise_class=identity",
        f"/review/{item.key}/move/",
        "/study/",
        "/datasets/freeze/",
        f"/datasets/{second.pk}/differences/?from={first.pk}",
        f"/datasets/{second.pk}/items/{entry.pk}/provenance/",
    ):
        page.goto(path)
        assert serious(page) == []
