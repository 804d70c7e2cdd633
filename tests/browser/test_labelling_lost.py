"""Never lost, never twice: two people through failures, a network that is gone, sessions that end, a tab that dies."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Error, Page, Route, expect

from annotate.models import Label, User
from annotate.services import labels
from tests import factories
from tests.browser.labelling import lose_posts, on_place, prepared, press, progress, start, verdicts
from tests.factories import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[Page, User], None]
TASKS = 30


def answers(person: int) -> list[str]:
    """The key that each of the two presses on each of their answers."""
    return ["1" if (7 * place + person) % 3 else "2" for place in range(TASKS)]


def fail(page: Page, key: str) -> None:
    """The network loses the press; it is tried again by key when the network is back."""
    page.route("**/label/**", lose_posts)
    press(page, key)
    expect(page.locator("[data-failed]")).to_contain_text("Not saved.")
    page.unroute("**/label/**")
    page.keyboard.press("r")


def expire(page: Page, key: str) -> None:
    """Everybody's session is gone."""
    Session.objects.all().delete()
    sign_in_again(page, key)


def sign_in_again(page: Page, key: str) -> None:
    """The session is gone at the press; the sign-in comes to the page."""
    press(page, key)
    expect(page.locator("#sign-in-dialog")).to_be_visible()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("#sign-in-dialog")).to_be_hidden()


def double_click(page: Page, key: str) -> None:
    expect(page.locator("#labelling[data-ready=pointer]")).to_be_visible()
    page.locator(f'[data-key="{key}"]').dblclick()


@pytest.mark.db
def test_two_people_label_thirty_answers_each_at_once_through_failures(
    new_page: Callable[[], Page], sign_in: SignIn, lea: User, lou: User
) -> None:
    row = factories.label_set(factories.dataset(), [lea, lou], tasks=TASKS)
    pages = [new_page(), new_page()]
    keys = [answers(0), answers(1)]
    odd = {(0, 6): fail, (0, 11): expire, (1, 11): sign_in_again, (1, 17): double_click, (0, 23): double_click}
    for page, who in zip(pages, (lea, lou), strict=True):
        page.on("dialog", lambda dialog: dialog.accept())
        sign_in(page, who)
        start(page, row)
    for place in range(TASKS):
        for person, page in enumerate(pages):
            on_place(page, place + 1)
            odd.get((person, place), press)(page, keys[person][place])
        for page in pages:
            if place < TASKS - 1:
                progress(page, f"{place + 1} of {TASKS} labelled")
    for page in pages:
        expect(page.get_by_role("button", name="Submit labels")).to_be_visible()
        page.keyboard.press("Control+Enter")
        expect(page.get_by_text("Your labels are locked now")).to_be_visible()
    for person, who in enumerate((lea, lou)):
        assert verdicts(row, who) == [key == "1" for key in keys[person]]
    assert Label.objects.count() == 2 * TASKS
    assert not Label.objects.filter(seconds=None).exists()
    assert set(row.assignments.values_list("state", flat=True)) == {"submitted"}


def test_the_next_answer_is_there_before_the_save_is_and_goes_when_it_fails(
    page: Page, sign_in: SignIn, lea: User
) -> None:
    row = factories.label_set(factories.dataset(), [lea], tasks=4)
    sign_in(page, lea)
    start(page, row)
    prepared(page)
    held: list[Route] = []
    page.route("**/label/**", lambda route: held.append(route) if route.request.method == "POST" else route.continue_())
    page.keyboard.press("c")
    page.keyboard.type("keep me")
    page.keyboard.press("Escape")
    press(page, "1")
    on_place(page, 2)
    assert not Label.objects.exists()
    press(page, "2")  # waits for the first
    for route in held:
        route.abort()
    on_place(page, 1)
    expect(page.locator("[data-failed]")).to_contain_text("Not saved. The server can't be reached.")
    expect(page.locator("[name=detect][value='1']")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("[name=comment]")).to_have_value("keep me")
    assert len(held) == 1
    page.unroute("**/label/**")
    page.keyboard.press("r")
    on_place(page, 2)
    progress(page, "1 of 4 labelled")
    expect(page.locator(".label-choices [aria-pressed=true]")).to_have_count(0)
    label = Label.objects.get()
    assert (label.detect, label.comment, label.sequence) == (True, "keep me", 1)


def test_a_press_that_was_stored_although_its_reply_was_lost_is_stored_once(
    page: Page, sign_in: SignIn, lea: User
) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    sign_in(page, lea)
    start(page, row)

    def lose_reply(route: Route) -> None:
        if route.request.method == "POST":
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page.route("**/label/**", lose_reply)
    press(page, "1")
    expect(page.locator("[data-failed]")).to_be_visible()
    assert Label.objects.count() == 1
    page.unroute("**/label/**")
    page.keyboard.press("r")
    progress(page, "1 of 3 labelled")
    assert Label.objects.count() == 1


def test_what_could_not_be_sent_is_stored_by_itself_when_the_network_is_back(
    page: Page, sign_in: SignIn, lea: User
) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    sign_in(page, lea)
    start(page, row)
    page.route("**/label/**", lose_posts)
    press(page, "2")
    expect(page.locator("[data-failed]")).to_contain_text("kept in this browser")
    page.unroute("**/label/**")
    on_place(page, 2)
    progress(page, "1 of 3 labelled")
    assert verdicts(row, lea) == [False, None, None]


def test_a_press_left_behind_is_sent_by_its_own_person_alone(page: Page, sign_in: SignIn, lea: User, lou: User) -> None:
    row = factories.label_set(factories.dataset(), [lea, lou])
    sign_in(page, lea)
    start(page, row)
    page.route("**/label/**", lose_posts)
    press(page, "1")
    expect(page.locator("[data-failed]")).to_be_visible()
    page.goto("about:blank")
    page.context.clear_cookies()
    page.unroute("**/label/**")
    sign_in(page, lou)
    start(page, row)
    page.wait_for_load_state("networkidle")
    assert not Label.objects.exists()
    page.context.clear_cookies()
    sign_in(page, lea)
    expect(page.locator("#toasts")).to_contain_text(
        "Your label of answer 1 (corrects) was kept in this browser and is saved"
    )
    assert verdicts(row, lea) == [True, None, None]
    assert page.evaluate("() => Object.keys(localStorage).filter((key) => key.startsWith('label-presses'))") == []


def test_a_press_left_behind_does_not_undo_a_later_one(
    new_page: Callable[[], Page], sign_in: SignIn, lea: User
) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    page, elsewhere = new_page(), new_page()
    sign_in(page, lea)
    start(page, row)
    page.route("**/label/**", lose_posts)
    press(page, "1")
    expect(page.locator("[data-failed]")).to_be_visible()
    page.goto("about:blank")
    sign_in(elsewhere, lea)
    start(elsewhere, row)
    press(elsewhere, "2")
    progress(elsewhere, "1 of 3 labelled")
    page.unroute("**/label/**")
    page.goto("/label/")
    expect(page.locator("#toasts")).to_contain_text("you have labelled that answer again since")
    assert verdicts(row, lea) == [False, None, None]
    assert Label.objects.count() == 1


def test_a_tab_that_dies_after_the_press_has_left_its_label(page: Page, sign_in: SignIn, lea: User) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    sign_in(page, lea)
    start(page, row)
    prepared(page)
    press(page, "1")
    on_place(page, 2)
    page.wait_for_timeout(1000)
    with suppress(Error):
        page.goto("chrome://crash", timeout=2000)
    assert verdicts(row, lea) == [True, None, None]


def test_a_set_closed_meanwhile_says_so_in_place(page: Page, sign_in: SignIn, lea: User, ada: User) -> None:
    row = factories.label_set(factories.dataset(), [lea])
    sign_in(page, lea)
    start(page, row)
    labels.close(label_set=row, by=ada)
    press(page, "1")
    expect(page.locator("[data-failed]")).to_contain_text("This set is closed")
    on_place(page, 1)
    page.goto("/label/")
    page.wait_for_load_state("networkidle")
    expect(page.locator("#toasts")).to_be_empty()
    assert not Label.objects.exists()


def test_a_press_under_somebody_elses_session_is_kept_for_its_own_person(
    page: Page, sign_in: SignIn, lea: User, lou: User
) -> None:
    row = factories.label_set(factories.dataset(), [lea, lou])
    sign_in(page, lea)
    start(page, row)
    # What the page still asks for would bring a cookie of its own in the middle of the sign-in.
    page.wait_for_load_state("networkidle")
    page.context.clear_cookies()
    other = page.context.new_page()
    sign_in(other, lou)
    press(page, "1")
    expect(page.locator("[data-failed]")).to_contain_text("You are signed in as lou now; this page is lea's")
    assert not Label.objects.exists()
    page.context.clear_cookies()
    sign_in(other, lea)
    page.keyboard.press("r")
    on_place(page, 2)
    progress(page, "1 of 3 labelled")
    assert verdicts(row, lea) == [True, None, None]
    assert verdicts(row, lou) == [None, None, None]
