"""What every page does in a real browser: keys, theme, failed requests, one press for one request."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotate.models import User
from tests.browser.axe import broken
from tests.factories import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

SignIn = Callable[[Page, User], None]

# A button that counts its presses, and a field to type in.
BENCH = """() => {
    const main = document.querySelector("main");
    const button = document.createElement("button");
    button.type = "button";
    button.id = "counted";
    button.dataset.key = "x enter backspace arrowright";
    button.textContent = "Count";
    button.dataset.presses = "0";
    button.addEventListener("click", () => { button.dataset.presses = Number(button.dataset.presses) + 1; });
    const field = document.createElement("input");
    field.id = "typed";
    main.append(button, field);
}"""


@pytest.fixture
def bench(page: Page, sign_in: SignIn, ada: User) -> Page:
    sign_in(page, ada)
    page.goto("/people/")
    page.evaluate(BENCH)
    return page


def presses(page: Page) -> int:
    return int(page.locator("#counted").get_attribute("data-presses") or "")


def test_a_key_presses_its_button(bench: Page) -> None:
    bench.keyboard.press("x")
    bench.keyboard.press("ArrowRight")
    assert presses(bench) == 2
    bench.keyboard.press("n")
    expect(bench).to_have_url(re.compile("/people/new/$"))


def test_a_key_never_acts_in_a_text_field_until_esc_leaves_it(bench: Page) -> None:
    bench.locator("#typed").focus()
    bench.keyboard.type("xn?")
    assert presses(bench) == 0
    assert bench.locator("#typed").input_value() == "xn?"
    bench.keyboard.press("Escape")
    bench.keyboard.press("x")
    assert presses(bench) == 1


def test_a_modifier_a_bare_enter_and_a_bare_backspace_do_nothing(bench: Page) -> None:
    for chord in ("Control+x", "Alt+x", "Meta+x", "Shift+x", "Shift+ArrowRight", "Enter", "Backspace"):
        bench.keyboard.press(chord)
        assert presses(bench) == 0, chord


def test_a_key_held_down_or_composing_does_nothing(bench: Page) -> None:
    event = 'new KeyboardEvent("keydown", Object.assign({key: "x", bubbles: true}, %s))'
    for what in ("{repeat: true}", "{isComposing: true}", "{keyCode: 229}"):
        bench.evaluate(f"() => document.body.dispatchEvent({event % what})")
        assert presses(bench) == 0, what
    bench.evaluate(f"() => document.body.dispatchEvent({event % '{}'})")
    assert presses(bench) == 1


def test_a_hidden_or_disabled_button_has_no_key(bench: Page) -> None:
    for change in ("b => b.hidden = true", "b => { b.hidden = false; b.disabled = true; }"):
        bench.locator("#counted").evaluate(change)
        bench.keyboard.press("x")
        assert presses(bench) == 0


def test_the_question_mark_lists_the_keys_of_the_page(bench: Page) -> None:
    bench.keyboard.press("?")
    keys = bench.get_by_role("dialog", name="Keys on this page")
    expect(keys).to_contain_text("New person")
    expect(keys).to_contain_text("Count")
    bench.keyboard.press("x")
    assert presses(bench) == 0, "what lies under a dialog is out of reach"
    bench.keyboard.press("Escape")
    expect(keys).to_be_hidden()


def test_the_theme_is_remembered(page: Page, sign_in: SignIn, ada: User) -> None:
    page.emulate_media(color_scheme="light")
    sign_in(page, ada)
    page.goto("/people/")
    page.get_by_role("button", name="Light or dark").click()
    page.reload()
    assert page.evaluate("document.documentElement.dataset.bsTheme") == "dark"
    page.get_by_role("button", name="Light or dark").click()
    page.emulate_media(color_scheme="dark")
    page.reload()
    assert page.evaluate("document.documentElement.dataset.bsTheme") == "dark", "the system's choice holds again"


def ask(page: Page, path: str) -> None:
    page.evaluate("path => { htmx.ajax('POST', path, {source: '#typed', swap: 'none'}).catch(() => {}); }", path)


def test_a_request_that_failed_says_why_and_keeps_what_was_typed(bench: Page, ada: User) -> None:
    bench.locator("#typed").fill("half a sentence")
    ask(bench, f"/people/{ada.pk}/deactivate/")
    expect(bench.locator(".toasts")).to_contain_text("Not saved: ada is the last active author")
    assert bench.locator("#typed").input_value() == "half a sentence"


def test_a_session_that_ended_is_said_and_leads_back(bench: Page, ada: User) -> None:
    kept = [cookie for cookie in bench.context.cookies() if cookie["name"] != "sessionid"]
    bench.context.clear_cookies()
    bench.context.add_cookies(kept)  # type: ignore[arg-type]
    ask(bench, f"/people/{ada.pk}/deactivate/")
    expect(bench.locator(".toasts")).to_contain_text("Not saved: you are signed out")
    expect(bench.locator("main")).to_contain_text("ada")
    link = bench.get_by_role("link", name="Sign in again")
    assert link.get_attribute("href") == "/account/sign-in/?next=%2Fpeople%2F"


def test_a_server_that_is_gone_is_said(bench: Page) -> None:
    bench.route("**/people/**", lambda route: route.abort())
    ask(bench, "/people/new/")
    expect(bench.locator(".toasts")).to_contain_text("Not saved: the server can't be reached.")


def test_two_presses_make_one_person(page: Page, sign_in: SignIn, ada: User) -> None:
    sign_in(page, ada)
    page.goto("/people/new/")
    page.get_by_label("Name").fill("max")
    page.get_by_label("Reader").check()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.evaluate(
        "() => { const form = document.querySelector('main form'); form.requestSubmit(); form.requestSubmit(); }"
    )
    expect(page.get_by_role("heading", name="Password of max")).to_be_visible()
    assert len(sent) == 1
    page.go_back()
    expect(page.get_by_role("button", name="Create person")).to_be_enabled()


def test_the_site_can_be_used_without_javascript(
    browser: Browser, live_server: LiveServer, ada: User, lea: User
) -> None:
    context = browser.new_context(
        base_url=live_server.url, java_script_enabled=False, viewport={"width": 390, "height": 844}
    )
    page = context.new_page()
    page.goto("/people/")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("navigation", name="Sections").get_by_role("link", name="People").click()
    page.get_by_role("button", name="Deactivate lea").click()
    expect(page.get_by_text("lea can't sign in any more")).to_be_visible()
    page.locator("summary", has_text="ada").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    context.close()


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 640), ("light", 390)])
def test_pages_hold_on_every_screen(theme: str, width: int, page: Page, sign_in: SignIn, ada: User) -> None:
    refused: list[str] = []
    page.on("console", lambda entry: refused.append(entry.text) if "Content Security Policy" in entry.text else None)
    page.set_viewport_size({"width": width, "height": 720})
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.goto("/account/sign-in/")
    found = broken(page)
    sign_in(page, ada)
    for path in ("/people/", "/people/new/", "/account/password/", "/nothing/here/"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        found += broken(page)
    assert found == []
    assert refused == []
