"""Labelling in a real browser: two people, two keys, and a save that fails."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from annotate.models import Label, LabelSet, User
from annotate.services import labels
from tests import factories
from tests.browser.shown import shown

pytestmark = [pytest.mark.browser, pytest.mark.db, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[Page, User], None]


def start(page: Page, row: LabelSet) -> None:
    page.goto(f"/label/{row.pk}/")
    shown(page)
    page.keyboard.press("c")
    expect(page.get_by_role("heading", name="Does the answer correct the user?")).to_be_visible()
    shown(page)


def progress(page: Page, words: str) -> None:
    expect(page.locator(".label-progress")).to_contain_text(words)


def verdicts(row: LabelSet, who: User) -> list[bool]:
    return list(
        Label.objects.current()
        .filter(assignment__label_set=row, assignment__person=who)
        .values_list("detect", flat=True)
    )


def test_two_people_label_by_key_and_submit(
    new_page: Callable[[], Page], sign_in: SignIn, lea: User, lou: User
) -> None:
    row = factories.label_set(factories.dataset(), [lea, lou], tasks=4)
    for who, keys in ((lea, "1121"), (lou, "2221")):
        page = new_page()
        page.on("dialog", lambda dialog: dialog.accept())
        sign_in(page, who)
        start(page, row)
        for done, key in enumerate(keys, 1):
            page.keyboard.press(key)
            if done < len(keys):
                progress(page, f"{done} of 4 labelled")
        expect(page.get_by_role("button", name="Submit labels")).to_be_visible()
        page.keyboard.press("Control+Enter")
        expect(page.get_by_text("Your labels are locked now")).to_be_visible()
        assert verdicts(row, who) == [key == "1" for key in keys]
    assert set(row.assignments.values_list("state", flat=True)) == {"submitted"}
    assert not Label.objects.filter(seconds=None).exists()


def test_undo_goes_back_one_and_shows_the_label(page: Page, sign_in: SignIn, lea: User) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    sign_in(page, lea)
    start(page, row)
    first = page.url
    page.keyboard.press("2")
    progress(page, "1 of 3 labelled")
    page.keyboard.press("u")
    page.wait_for_url(first)
    expect(page.locator("[name=detect][value='0']")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("1")
    progress(page, "1 of 3 labelled")
    expect(page.locator("[aria-pressed=true]")).to_have_count(0)
    assert verdicts(row, lea) == [True]
    assert Label.objects.count() == 2


def test_skip_leaves_no_label_and_a_key_in_the_comment_is_a_letter(page: Page, sign_in: SignIn, lea: User) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    sign_in(page, lea)
    start(page, row)
    first = page.url
    page.keyboard.press("s")
    page.wait_for_url(lambda url: url != first)
    page.keyboard.press("c")
    page.keyboard.type("12 reasons")
    page.keyboard.press("Escape")
    page.keyboard.press("x")
    page.keyboard.press("2")
    progress(page, "1 of 3 labelled")
    label = Label.objects.get()
    assert (label.comment, label.unsure, label.detect) == ("12 reasons", True, False)


def test_a_save_that_failed_keeps_the_choice_and_can_be_tried_again(page: Page, sign_in: SignIn, lea: User) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    sign_in(page, lea)
    start(page, row)
    first = page.url

    def lose(route: Route) -> None:
        if route.request.method == "POST":
            route.abort()
        else:
            route.continue_()

    page.route("**/label/**", lose)
    page.keyboard.press("c")
    page.keyboard.type("keep me")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    expect(page.locator("#label-failed")).to_contain_text("Not saved.")
    expect(page.locator("[name=detect][value='1']")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("[name=comment]")).to_have_value("keep me")
    assert page.url == first
    assert not Label.objects.exists()
    page.unroute("**/label/**")
    page.keyboard.press("r")
    progress(page, "1 of 3 labelled")
    label = Label.objects.get()
    assert (label.detect, label.comment, label.sequence) == (True, "keep me", 1)


def test_a_set_closed_meanwhile_says_so_in_place(page: Page, sign_in: SignIn, lea: User, ada: User) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    sign_in(page, lea)
    start(page, row)
    labels.close(label_set=row, by=ada)
    page.keyboard.press("1")
    expect(page.locator("#label-failed")).to_contain_text("This set is closed")


def test_labelling_works_without_scripts(browser: Browser, live_server: LiveServer, lea: User) -> None:
    row = factories.label_set(factories.dataset(), [lea], tasks=2)
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/account/sign-in/")
    page.locator("[name=username]").fill("lea")
    page.locator("[name=password]").fill(factories.PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.goto(f"/label/{row.pk}/")
    page.get_by_role("link", name="Start").click()
    page.locator("[name=detect][value='1']").click()
    progress(page, "1 of 2 labelled")
    page.locator("[name=detect][value='0']").click()
    page.get_by_role("button", name="Submit labels").click()
    expect(page.get_by_text("Your labels are locked now")).to_be_visible()
    assert sorted(verdicts(row, lea)) == [False, True]
    context.close()
