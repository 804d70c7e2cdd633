"""Labelling in a real browser: two people, two keys, flags, practice, changed guidelines, and no script at all."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect
from pytest_django.live_server_helper import LiveServer

from annotate.models import Label, TaskMark, User
from annotate.services import guidelines
from tests import factories
from tests.browser.axe import broken
from tests.browser.labelling import (
    lose_posts,
    on_place,
    prepared,
    press,
    press_and_store,
    progress,
    ready,
    start,
    verdicts,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[Page, User], None]
PHONE: ViewportSize = {"width": 390, "height": 844}
ZOOMED: ViewportSize = {"width": 640, "height": 360}  # 1280 x 720 at 200 %
SEEN = """(state) => {
    Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""
COMPOSED = """() => document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "1", bubbles: true, ...%s}))"""
# What a thumb can hardly hit.
SMALL = """() => [...document.querySelectorAll(".labelling :is(button, nav a, .field-check), .label-guide summary")]
    .filter((one) => one.getClientRects().length && one.getBoundingClientRect().height < 44)
    .map((one) => one.outerHTML)"""


def test_undo_goes_back_one_survives_a_reload_and_shows_the_label(page: Page, sign_in: SignIn, lea: User) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    sign_in(page, lea)
    start(page, row)
    press(page, "2")
    progress(page, "1 of 3 labelled")
    page.reload()
    on_place(page, 2)
    press(page, "u")
    on_place(page, 1)
    expect(page.locator("[name=detect][value='0']")).to_have_attribute("aria-pressed", "true")
    press_and_store(page, "1")
    on_place(page, 2)
    expect(page.locator(".label-choices [aria-pressed=true]")).to_have_count(0)
    progress(page, "1 of 3 labelled")
    assert verdicts(row, lea) == [True, None, None]
    assert Label.objects.count() == 2


def test_a_key_in_the_comment_is_a_letter_also_while_a_word_is_composed(page: Page, sign_in: SignIn, lea: User) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    sign_in(page, lea)
    start(page, row)
    page.keyboard.press("c")
    page.keyboard.type("1 0 y ? f ")
    keyboard = page.context.new_cdp_session(page)
    keyboard.send("Input.imeSetComposition", {"text": "2", "selectionStart": 1, "selectionEnd": 1})
    keyboard.send("Input.insertText", {"text": "に"})
    page.keyboard.press("Escape")
    for how in ("{isComposing: true}", "{keyCode: 229}"):
        page.evaluate(COMPOSED % how)
    expect(page.locator("#keys-dialog")).to_be_hidden()
    on_place(page, 1)
    assert not Label.objects.exists()
    assert not TaskMark.objects.exists()
    page.keyboard.press("x")
    press(page, "2")
    progress(page, "1 of 3 labelled")
    label = Label.objects.get()
    assert (label.comment, label.unsure, label.detect) == ("1 0 y ? f に", True, False)


def test_what_was_typed_on_a_skipped_answer_is_there_on_return_and_its_seconds_are_counted_once(
    page: Page, sign_in: SignIn, lea: User
) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    sign_in(page, lea)
    start(page, row)
    page.keyboard.press("c")
    page.keyboard.type("later")
    page.keyboard.press("Escape")
    spent = page.evaluate("() => performance.now()") / 1000
    page.keyboard.press("s")
    on_place(page, 2)
    page.reload()
    page.keyboard.press("ArrowLeft")
    on_place(page, 1)
    expect(page.locator("[name=comment]")).to_have_value("later")
    press(page, "1")
    progress(page, "1 of 3 labelled")
    press(page, "u")
    on_place(page, 1)
    press_and_store(page, "2")
    on_place(page, 2)
    first, second = Label.objects.all()
    assert first.comment == "later"
    assert first.seconds is not None
    assert second.seconds is not None
    assert 0 < second.seconds < first.seconds + spent
    assert first.seconds >= 0.2


def test_seconds_leave_out_what_nobody_spent_on_the_answer(page: Page, sign_in: SignIn, lea: User) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    sign_in(page, lea)
    page.clock.install()
    start(page, row)
    page.clock.fast_forward("10:00")  # a coffee before the open page: 45 seconds of it
    press(page, "1")
    progress(page, "1 of 3 labelled")
    for state in ("hidden", "visible"):
        page.evaluate(SEEN, state)
        page.clock.fast_forward("00:40" if state == "hidden" else "00:05")
    press(page, "2")
    progress(page, "2 of 3 labelled")
    first, second = (label.seconds or 0 for label in Label.objects.all())
    assert 45 <= first < 90
    assert 5 <= second < 40


def test_who_wants_to_look_again_stays_and_goes_on_by_a_key_of_its_own(page: Page, sign_in: SignIn, lea: User) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    sign_in(page, lea)
    start(page, row)
    page.keyboard.press("a")
    expect(page.locator("[data-on]")).to_have_text("off")
    press(page, "1")
    expect(page.locator(".label-given")).to_contain_text("Saved: corrects")
    on_place(page, 1)
    page.reload()
    expect(page.locator("[data-on]")).to_have_text("off")
    page.keyboard.press("n")
    on_place(page, 2)
    assert Label.objects.count() == 1


def test_a_flag_leads_back_to_the_answer(page: Page, sign_in: SignIn, lea: User) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    sign_in(page, lea)
    start(page, row)
    page.keyboard.press("f")
    expect(page.locator(".label-flag")).to_have_attribute("aria-pressed", "true")
    progress(page, "1 flagged")
    press(page, "1")
    progress(page, "1 of 3 labelled")
    expect(page.locator(".label-flag")).to_have_attribute("aria-pressed", "false")
    page.get_by_role("link", name="1 flagged").click()
    page.locator("table a").click()
    on_place(page, 1)
    expect(page.locator(".label-flag")).to_have_attribute("aria-pressed", "true")


def test_guidelines_that_change_meanwhile_come_into_the_page(page: Page, sign_in: SignIn, lea: User, ada: User) -> None:
    row = factories.label_set(factories.dataset(), [lea], tasks=4)
    sign_in(page, lea)
    start(page, row)
    prepared(page)
    guidelines.revise(label_set=row, text="Look at the mark.", change="Only the mark counts.", base=1, by=ada)
    press(page, "1")
    expect(page.locator("#label-news")).to_contain_text("Only the mark counts.")
    expect(page.locator("#label-guide")).to_contain_text("Look at the mark.")
    press(page, "2")
    progress(page, "2 of 4 labelled")
    page.get_by_role("button", name="I have read it").click()
    expect(page.locator("#label-news")).to_be_empty()
    on_place(page, 3)
    assert [label.guideline.version for label in Label.objects.all() if label.guideline] == [1, 2]


def test_practice_by_keys(page: Page, sign_in: SignIn, lea: User) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    sign_in(page, lea)
    page.goto(f"/label/{row.pk}/")
    ready_to_press = page.get_by_role("link", name="Practise first")
    expect(ready_to_press).to_be_visible()
    page.keyboard.press("p")
    page.wait_for_url("**/practice/1/")
    page.keyboard.press("2")
    expect(page.locator(".label-feedback")).to_contain_text("The guidelines say: corrects.")
    page.keyboard.press("n")
    page.wait_for_url("**/practice/2/")
    page.keyboard.press("q")
    page.wait_for_url(f"**/label/{row.pk}/")
    assert not Label.objects.exists()


def test_on_a_phone_the_choices_lie_under_the_thumbs_and_the_guidelines_behind_a_button(
    page: Page, sign_in: SignIn, lea: User
) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    sign_in(page, lea)
    page.set_viewport_size(PHONE)
    start(page, row)
    expect(page.locator(".label-guideline")).to_be_hidden()
    for choice in page.locator(".choice").all():
        box = choice.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] > PHONE["height"] - 100
    small = page.evaluate(SMALL)
    assert small == []
    page.get_by_text("Guidelines", exact=False).first.click()
    expect(page.locator(".label-guideline")).to_be_visible()
    ready(page)
    page.locator(".choice").first.click(delay=20)
    progress(page, "1 of 3 labelled")


def test_at_1280_a_normal_answer_needs_no_scrolling(page: Page, sign_in: SignIn, lea: User) -> None:
    row = factories.label_set(factories.dataset(), [lea], tasks=0)
    row.tasks.create(
        created_at=row.opened_at,
        premise_class="location",
        content="What is the white cat on the left of the sofa doing?",
        modified="What is the white cat on the right of the sofa doing?",
        response="The white cat on the right of the sofa is curled up asleep. " * 12,
    )
    row.guidelines.create(version=2, text="# Rule\n\nLook at the mark.\n\n" * 60)
    row.assignments.update(guideline_read=row.guidelines.last())
    sign_in(page, lea)
    start(page, row)
    expect(page.locator(".label-guideline")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollHeight <= innerHeight")


def test_no_page_of_labelling_shuts_anybody_out(page: Page, sign_in: SignIn, lea: User, ada: User) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    guidelines.revise(
        label_set=row, text="# Rule\n\n- Look at the mark.", change="Only the mark counts.", base=1, by=ada
    )
    sign_in(page, lea)
    start(page, row)
    press(page, "1")
    on_place(page, 2)
    found = broken(page)
    for size in ("dark", PHONE, ZOOMED):
        if isinstance(size, str):
            page.emulate_media(color_scheme="dark")
        else:
            page.set_viewport_size(size)
        found += broken(page)
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    page.route("**/label/**", lose_posts)
    press(page, "1")
    expect(page.locator("[data-failed]")).to_be_visible()
    found += broken(page)
    for path in ("", f"{row.pk}/", f"{row.pk}/practice/1/", f"{row.pk}/guidelines/"):
        page.goto(f"/label/{path}")
        found += broken(page)
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert found == []


def test_labelling_works_without_scripts(browser: Browser, live_server: LiveServer, lea: User) -> None:
    row = factories.label_set(factories.dataset(), [lea], tasks=2)
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/account/sign-in/")
    page.locator("[name=username]").fill("lea")
    page.locator("[name=password]").fill(factories.PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.goto(f"/label/{row.pk}/")
    page.get_by_role("link", name="Practise first").click()
    page.get_by_role("button", name="Corrects").click()
    expect(page.locator(".label-feedback")).to_be_visible()
    page.get_by_role("link", name="Leave").click()
    page.get_by_role("link", name="Start").click()
    page.get_by_role("button", name="Flag").click()
    progress(page, "1 flagged")
    page.get_by_role("button", name="Go on by itself: on").click()
    page.locator("[name=detect][value='1']").click()
    expect(page.locator(".label-given")).to_contain_text("Saved: corrects")
    page.get_by_role("button", name="Go on by itself: off").click()
    page.get_by_role("link", name="Next").click()
    page.locator("[name=detect][value='0']").click()
    page.get_by_role("button", name="Submit labels").click()
    expect(page.get_by_text("Your labels are locked now")).to_be_visible()
    assert verdicts(row, lea) == [True, False]
    context.close()
