"""Unsaved text in a real browser: two windows of one person, somebody else's sign-in, slow and broken networks."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from playwright.sync_api import Page, Route, expect
from pytest_django.live_server_helper import LiveServer

from annotate.models import EditDraft, Item, Review, User
from annotate.services import items, reviews
from annotate.services.reviews import ALL_HOLD
from tests import factories
from tests.browser.bursts import burst
from tests.factories import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SignIn = Callable[[Page, User], None]
READY = "#decide[data-ready]"


def editing(page: Page, item: Item) -> None:
    page.goto(f"/review/{item.key}/edit/")
    expect(page.locator("[data-draft-status]")).to_be_attached()


def question(page: Page) -> Any:
    return page.locator("[name=content_1]")


def status(page: Page, words: str) -> None:
    expect(page.locator("[data-draft-status]")).to_contain_text(words)


def kept() -> str:
    return str(EditDraft.objects.get().texts["questions"]["1"]["content"])


def become(page: Page, live_server: LiveServer, who: User) -> None:
    """Somebody else signs in, in another window of the same browser."""
    client = Client()
    client.force_login(who)
    page.context.add_cookies(
        [{"name": name, "value": client.cookies[name].value, "url": live_server.url} for name in ("sessionid",)]
    )


def test_two_windows_of_one_person_keep_both_texts(page: Page, sign_in: SignIn, ada: User) -> None:
    item = factories.item(state="draft")
    sign_in(page, ada)
    other = page.context.new_page()
    for window in (page, other):
        editing(window, item)
    question(page).fill("What is in the first window?")
    status(page, "Draft saved")
    question(other).fill("What is in the second window?")
    status(other, "another window of yours holds other unsaved text")
    assert kept() == "What is in the first window?"
    other.keyboard.press("ControlOrMeta+Enter")
    expect(other.locator("#messages")).to_contain_text("Saved.")
    assert items.texts_of(Item.objects.get()).questions[1].content == "What is in the second window?"
    assert kept() == "What is in the first window?"
    expect(other.get_by_role("heading", name="Changed meanwhile")).to_be_visible()


def test_a_duplicated_tab_is_a_window_of_its_own(page: Page, sign_in: SignIn, ada: User) -> None:
    item = factories.item(state="draft")
    sign_in(page, ada)
    editing(page, item)
    question(page).fill("What is here?")
    status(page, "Draft saved")
    with page.expect_popup() as opened:
        page.evaluate("() => { window.open(location.href); }")
    other = opened.value
    expect(question(other)).to_have_value("What is here?")
    question(page).fill("What is here and there?")
    page.locator("[name=target]").focus()
    expect(page.locator("#sheet")).not_to_have_class(re.compile("is-unkept"))
    question(other).fill("What is there?")
    status(other, "another window of yours")
    assert kept() == "What is here and there?"


def test_nothing_is_stored_under_the_name_of_another_who_signed_in_meanwhile(
    page: Page, sign_in: SignIn, ada: User, ben: User, live_server: LiveServer
) -> None:
    item = factories.item(edited_by=ben)
    items.record(item, by=ben, reason="written")
    sign_in(page, ada)
    page.goto(f"/review/{item.key}/")
    page.wait_for_selector(READY)
    deciding = page
    typing = page.context.new_page()
    editing(typing, item)
    become(page, live_server, ben)
    deciding.bring_to_front()
    deciding.keyboard.press("a")
    expect(deciding.locator("#toasts")).to_contain_text("You are signed in as ben now; this page is ada's")
    question(typing).fill("What did Ada type?")
    status(typing, "You are signed in as ben now")
    with typing.expect_response("**/unsaved/"):
        typing.keyboard.press("ControlOrMeta+Enter")
    expect(typing.locator("[data-draft-status].is-bad")).to_contain_text("Not saved: You are signed in as ben now")
    expect(question(typing)).to_have_value("What did Ada type?")
    assert not Review.objects.exists()
    assert not EditDraft.objects.exists()
    become(page, live_server, ada)
    typing.keyboard.press("ControlOrMeta+Enter")
    expect(typing.locator("#messages")).to_contain_text("Saved.")
    assert [row.by for row in item.revisions.all()] == [ben, ada]


def test_a_session_that_ends_in_mid_typing_costs_one_revision(page: Page, sign_in: SignIn, ada: User) -> None:
    item = factories.item(state="draft")
    sign_in(page, ada)
    editing(page, item)
    question(page).press_sequentially("What is", delay=10)
    Session.objects.all().delete()
    question(page).fill("What is it that")
    expect(page.locator("#sign-in-dialog")).to_be_visible()
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    status(page, "Draft saved")
    question(page).fill("What is it that moves?")
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.locator("#messages")).to_contain_text("Saved.")
    assert item.turns.get(number=1).content == "What is it that moves?"
    assert item.revisions.count() == 1
    assert not EditDraft.objects.filter(texts__isnull=False).exists()


def test_a_window_closed_at_once_keeps_what_was_typed(page: Page, sign_in: SignIn, ada: User) -> None:
    item = factories.item(state="draft")
    sign_in(page, ada)
    editing(page, item)
    other = page.context.new_page()
    question(page).fill("What was typed last?")
    page.close(run_before_unload=False)
    editing(other, item)
    for _ in range(20):
        if EditDraft.objects.exists():
            break
        other.wait_for_timeout(250)
    assert kept() == "What was typed last?"


def test_text_that_did_not_arrive_while_the_page_was_hidden_is_sent_again(
    page: Page, sign_in: SignIn, ada: User
) -> None:
    item = factories.item(state="draft")
    sign_in(page, ada)
    editing(page, item)
    gone: Callable[[Route], None] = lambda route: route.abort("connectionrefused")  # noqa: E731
    page.route("**/*", gone)
    question(page).fill("What was hidden?")
    page.evaluate("""() => {
      Object.defineProperty(document, "visibilityState", {value: "hidden", configurable: true});
      document.dispatchEvent(new Event("visibilitychange"));
    }""")
    page.wait_for_timeout(300)
    page.unroute("**/*", gone)
    status(page, "Draft saved")
    assert kept() == "What was hidden?"


@pytest.mark.parametrize("key", ["1", "x", "e", "u"])
def test_twenty_presses_touch_one_item(page: Page, sign_in: SignIn, ben: User, key: str) -> None:
    rows = [factories.item() for _ in range(3)]
    for row in rows:
        items.record(row, by=None, reason="written")
    for row in rows[:2]:
        reviews.decide(item=row, version=1, verdict="approved", by=ben, checks=ALL_HOLD)
    sign_in(page, ben)
    page.goto(f"/review/{rows[2].key}/")
    page.wait_for_selector(READY)
    burst(page, [key] * 20)
    page.wait_for_timeout(1000)
    states = [str(row.state) for row in Item.objects.order_by("id")]
    undone = ["approved", "in_review", "in_review"]
    assert states == (undone if key == "u" else ["approved", "approved", "in_review"])
    assert Review.objects.filter(withdrawn_at=None).count() == (1 if key == "u" else 2)


def test_undo_after_somebody_else_acted_is_refused_in_words(page: Page, sign_in: SignIn, ada: User, ben: User) -> None:
    first, second = factories.item(), factories.item()
    for row in (first, second):
        items.record(row, by=None, reason="written")
    reviews.decide(item=first, version=1, verdict="approved", by=ben, checks=ALL_HOLD)
    sign_in(page, ben)
    page.goto(f"/review/{second.key}/")
    page.wait_for_selector(READY)
    items.reopen(item=first, version=1, reason="no", by=ada)
    page.keyboard.press("u")
    expect(page.locator("main")).to_contain_text("changed this item meanwhile")
    assert Review.objects.get().withdrawn_at is None


def test_without_scripts_every_act_is_possible(
    browser: Any, live_server: LiveServer, ben: User, sign_in: SignIn
) -> None:
    rows = [factories.item() for _ in range(4)]
    rows[0].turns.filter(number=2).update(content="Look at the striped cat on the chair")
    context = browser.new_context(base_url=live_server.url, java_script_enabled=False)
    page = context.new_page()
    sign_in(page, ben)
    page.goto(f"/review/{rows[0].key}/")
    for box in page.locator("[name=accepted]").all():
        box.check()
    page.get_by_role("button", name=re.compile("Approve")).click()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#messages")).to_contain_text("Taken back.")
    page.goto(f"/review/{rows[1].key}/")
    page.get_by_label("Natural").check()
    page.locator("#comment").fill("Nobody talks like this.")
    page.get_by_role("button", name="Send back").click()
    page.goto(f"/review/{rows[2].key}/")
    page.locator("#comment").fill("No cat.")
    page.get_by_role("button", name="Reject").click()
    page.goto(f"/review/{rows[3].key}/")
    page.get_by_label("What it is about").select_option("4:modified")
    page.locator("#remark").fill("Is it a dog?")
    page.get_by_role("button", name="Comment", exact=False).last.click()
    expect(page.locator("#comments")).to_contain_text("modified question 4")
    page.goto(f"/review/{rows[3].key}/edit/")
    question(page).fill("What is it doing without scripts?")
    page.get_by_role("button", name="Save Ctrl Enter").click()
    expect(page.locator("#messages")).to_contain_text("Saved.")
    states = [str(row.state) for row in Item.objects.order_by("id")]
    assert states == ["in_review", "draft", "rejected", "in_review"]
    context.close()


@pytest.mark.parametrize("name", ["", "edit/", "history/"])
def test_on_a_phone_and_at_200_percent_nothing_is_cut_off(page: Page, sign_in: SignIn, ben: User, name: str) -> None:
    first, second = factories.item(), factories.item()
    factories.draft(second, payload={"target_description": "the striped cat", "questions": {"1": "What is it?"}})
    reviews.decide(item=first, version=1, verdict="approved", by=ben, checks=ALL_HOLD)
    sign_in(page, ben)
    for width, height in ((390, 844), (640, 360)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"/review/{second.key}/{name}")
        over = page.evaluate("""() => [...document.querySelectorAll("main *")].filter((one) => {
          const box = one.getBoundingClientRect();
          const main = document.querySelector("main");
          const edge = main.getBoundingClientRect().right - parseFloat(getComputedStyle(main).paddingRight);
          return box.width && box.right > edge + 0.5 && getComputedStyle(one).position !== "absolute";
        }).map((one) => one.outerHTML.slice(0, 90))""")
        assert over == [], (width, over)


def test_the_form_starts_at_the_top_beside_the_picture_and_its_drafts(page: Page, sign_in: SignIn, ada: User) -> None:
    item = factories.item(state="draft")
    for number in range(3):
        factories.draft(item, payload={"target_description": f"the cat {number}", "questions": {"1": "What is it?"}})
    sign_in(page, ada)
    editing(page, item)
    tops = [page.locator(one).bounding_box() for one in ("[data-zoom]", "#sheet", "#drafts")]
    picture, form, panel = (box or {} for box in tops)
    assert abs(form["y"] - picture["y"]) < 16
    assert form["x"] > panel["x"] + panel["width"]
    assert panel["y"] >= picture["y"] + picture["height"]
    lines = [one.bounding_box() for one in page.locator("#draft-list .draft").all()]
    assert [line is not None and line["height"] < 44 for line in lines] == [True] * 3


def test_a_double_click_on_save_over_a_slow_network_makes_one_revision(page: Page, sign_in: SignIn, ada: User) -> None:
    item = factories.item(state="draft")
    sign_in(page, ada)
    editing(page, item)
    question(page).fill("What is seen in the picture?")
    slow = {"offline": False, "latency": 1500, "downloadThroughput": -1, "uploadThroughput": -1}
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", slow)
    posts: list[str] = []
    page.on("request", lambda sent: posts.append(sent.url) if sent.method == "POST" else None)
    save = page.get_by_role("button", name=re.compile("^Save Ctrl"))
    save.dblclick(no_wait_after=True)
    page.wait_for_timeout(2500)
    page.mouse.click(*(save.bounding_box()[name] + 5 for name in ("x", "y")))
    expect(page.locator("#messages")).to_contain_text("Saved.")
    assert item.turns.get(number=1).content == "What is seen in the picture?"
    assert item.revisions.count() == 1
    assert len([url for url in posts if "/edit/" in url]) == 1
