"""Authors review and edit in a real browser: by keys, over a network that fails, and two at once."""

import re
from collections.abc import Callable

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, Route, expect

from annotate.models import EditDraft, Item, Review, User
from annotate.services import items
from tests import factories
from tests.browser.axe import broken
from tests.browser.bursts import burst
from tests.factories import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SignIn = Callable[[Page, User], None]
READY = "#decide[data-ready]"
TYPED = "What is the striped cat on the chair loo"


def shown(page: Page, item: Item) -> None:
    """The page of that item, with its picture on screen."""
    page.wait_for_url(f"**/review/{item.key}/")
    page.wait_for_selector(READY)


def opened(page: Page, item: Item) -> None:
    page.goto(f"/review/{item.key}/")
    shown(page, item)


def editing(page: Page, item: Item) -> None:
    page.goto(f"/review/{item.key}/edit/")
    expect(page.locator("[data-draft-status]")).to_be_attached()


def status(page: Page, words: str) -> None:
    expect(page.locator("[data-draft-status]")).to_contain_text(words)


def state_of(item: Item) -> str:
    return str(Item.objects.get(pk=item.pk).state)


def test_one_key_approves_and_the_next_picture_is_there_already(page: Page, sign_in: SignIn, ben: User) -> None:
    first, second = factories.item(), factories.item()
    sign_in(page, ben)
    page.goto("/review/?state=in_review")
    page.keyboard.press("o")
    page.wait_for_url(f"**/review/{first.key}/?state=in_review")
    page.wait_for_selector(READY)
    assert broken(page) == []
    page.wait_for_function(
        f"() => performance.getEntriesByName(location.origin + '/images/{second.image.sha256}').length"
    )
    page.keyboard.press("a")
    page.wait_for_url(f"**/review/{second.key}/?state=in_review")
    page.wait_for_selector(READY)
    picture = f"performance.getEntriesByName(location.origin + '/images/{second.image.sha256}')[0]"
    assert page.evaluate(f"{picture} ? {picture}.transferSize : 0") == 0
    assert state_of(first) == "approved"
    expect(page.locator(".last-step")).to_contain_text("You approved")


def test_twenty_presses_act_on_the_item_that_was_shown_and_on_no_other(page: Page, sign_in: SignIn, ben: User) -> None:
    rows = [factories.item() for _ in range(4)]
    sign_in(page, ben)
    opened(page, rows[0])
    burst(page, ["a"] * 20)
    shown(page, rows[1])
    assert [state_of(row) for row in rows] == ["approved", "in_review", "in_review", "in_review"]
    page.keyboard.press("a")
    shown(page, rows[2])
    assert [state_of(row) for row in rows] == ["approved", "approved", "in_review", "in_review"]


def test_the_key_of_a_check_names_it_and_sends_the_item_back(page: Page, sign_in: SignIn, ben: User) -> None:
    first, second = factories.item(), factories.item()
    sign_in(page, ben)
    opened(page, first)
    page.keyboard.press("2")
    expect(page.locator("#comment")).to_be_focused()
    page.keyboard.type("a1x: two cats")
    page.keyboard.press("ControlOrMeta+Enter")
    page.wait_for_url(f"**/review/{second.key}/")
    review = Review.objects.get()
    assert (review.verdict, review.comment, review.failing) == ("sent_back", "a1x: two cats", ["consistency"])
    assert state_of(first) == "draft"


def test_rejecting_by_key_asks_for_the_reason_first(page: Page, sign_in: SignIn, ben: User) -> None:
    item = factories.item()
    sign_in(page, ben)
    opened(page, item)
    page.keyboard.press("x")
    expect(page.locator("#comment")).to_be_focused()
    assert state_of(item) == "in_review"
    page.keyboard.type("No cat at all.")
    page.keyboard.press("ControlOrMeta+Enter")
    page.wait_for_url("**/review/")
    assert state_of(item) == "rejected"


def test_keys_do_nothing_during_composition_or_in_a_text_field(page: Page, sign_in: SignIn, ben: User) -> None:
    item = factories.item()
    sign_in(page, ben)
    opened(page, item)
    page.evaluate("""() => {
      document.body.dispatchEvent(new CompositionEvent("compositionstart", {bubbles: true}));
      for (const extra of [{isComposing: true}, {keyCode: 229}, {repeat: true}])
        document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "a", bubbles: true, ...extra}));
    }""")
    comment = page.locator("#comment")
    comment.focus()
    page.keyboard.type("aexu")
    expect(comment).to_have_value("aexu")
    page.evaluate("""() => document.getElementById("comment").dispatchEvent(
      new KeyboardEvent("keydown", {key: "Enter", ctrlKey: true, isComposing: true, keyCode: 229, bubbles: true}))""")
    assert page.url.endswith(f"/review/{item.key}/")
    assert state_of(item) == "in_review"
    assert not Review.objects.exists()


def test_each_warning_is_ticked_by_key_before_the_approval(page: Page, sign_in: SignIn, ben: User) -> None:
    item = factories.item()
    item.turns.filter(number=2).update(content="Look at the striped cat on the chair")
    sign_in(page, ben)
    opened(page, item)
    page.keyboard.press("a")
    expect(page.locator("#toasts")).to_contain_text("Tick each warning first")
    for _ in range(page.locator("[data-warning]").count()):
        page.keyboard.press("w")
    expect(page.locator("[data-open-warnings]")).to_have_text("each warning seen")
    page.wait_for_selector(READY)
    page.keyboard.press("a")
    page.wait_for_url("**/review/")
    assert state_of(item) == "approved"


def test_a_decision_is_taken_back_from_the_next_items_page(page: Page, sign_in: SignIn, ben: User) -> None:
    first, second = factories.item(), factories.item()
    sign_in(page, ben)
    opened(page, first)
    page.keyboard.press("a")
    shown(page, second)
    page.keyboard.press("u")
    shown(page, first)
    assert state_of(first) == "in_review"
    expect(page.locator(".verdicts")).to_contain_text("taken back")


def test_the_picture_comes_nearer_and_moves_by_keys(page: Page, sign_in: SignIn, ben: User) -> None:
    first, _ = factories.item(), factories.item()
    sign_in(page, ben)
    opened(page, first)
    picture, box = page.locator("img[data-shown]"), page.locator("[data-zoom]")
    page.keyboard.press("z")
    expect(box).to_have_class(re.compile("is-zoomed"))
    before = picture.bounding_box()
    page.keyboard.press("ArrowRight")
    after = picture.bounding_box()
    assert before is not None
    assert after is not None
    assert after["x"] < before["x"]
    assert page.url.endswith(f"/review/{first.key}/")
    page.keyboard.press("Escape")
    expect(box).not_to_have_class(re.compile("is-zoomed"))
    box.hover()
    page.mouse.wheel(0, -300)
    expect(box).to_have_class(re.compile("is-zoomed"))


def test_half_a_sentence_is_a_draft_on_another_machine_and_never_the_items_text(
    page: Page, new_page: Callable[[], Page], sign_in: SignIn, ada: User
) -> None:
    item = factories.item(state="draft")
    sign_in(page, ada)
    editing(page, item)
    page.locator("[name=content_1]").fill(TYPED)
    status(page, "Draft saved")
    other = new_page()
    sign_in(other, ada)
    editing(other, item)
    expect(other.locator("[name=content_1]")).to_have_value(TYPED)
    expect(other.get_by_text("typed over version 1 and not saved")).to_be_visible()
    assert broken(other) == []
    assert item.turns.get(number=1).content != TYPED
    other.get_by_role("button", name="Discard the draft").click()
    expect(other.locator("[name=content_1]")).to_have_value("What is the striped cat on the chair doing?")


def test_while_the_server_is_gone_text_stays_and_is_saved_on_return(page: Page, sign_in: SignIn, ada: User) -> None:
    item = factories.item(state="draft")
    sign_in(page, ada)
    editing(page, item)
    gone: Callable[[Route], None] = lambda route: route.abort("connectionrefused")  # noqa: E731
    page.route("**/*", gone)
    page.locator("[name=content_1]").fill(TYPED)
    status(page, "Not saved: the server can't be reached")
    expect(page.locator("[name=content_1]")).to_have_value(TYPED)
    page.unroute("**/*", gone)
    status(page, "Draft saved")
    page.route("**/*", gone)
    page.locator("[name=content_1]").fill(f"{TYPED}king at?")
    page.keyboard.press("ControlOrMeta+Enter")
    status(page, "Not saved")
    expect(page.locator("[name=content_1]")).to_have_value(f"{TYPED}king at?")
    page.unroute("**/*", gone)
    expect(page.locator("#messages")).to_contain_text("Saved.")
    assert item.turns.get(number=1).content == f"{TYPED}king at?"
    assert item.revisions.count() == 1
    assert not EditDraft.objects.filter(texts__isnull=False).exists()


def test_where_the_session_is_gone_the_sign_in_comes_and_the_text_is_stored_once(
    page: Page, sign_in: SignIn, ada: User
) -> None:
    item = factories.item(state="draft")
    sign_in(page, ada)
    editing(page, item)
    Session.objects.all().delete()
    page.locator("[name=content_1]").fill(TYPED)
    page.keyboard.press("ControlOrMeta+Enter")
    dialog = page.locator("#sign-in-dialog")
    expect(dialog).to_be_visible()
    status(page, "Not saved: you are signed out")
    assert broken(page) == []
    page.keyboard.type("wrong")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).not_to_be_empty()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("#messages")).to_contain_text("Saved.")
    assert item.turns.get(number=1).content == TYPED
    assert item.revisions.count() == 1


def test_a_decision_waits_for_the_sign_in_with_its_comment(page: Page, sign_in: SignIn, ben: User) -> None:
    item = factories.item()
    sign_in(page, ben)
    opened(page, item)
    Session.objects.all().delete()
    page.keyboard.press("1")
    page.keyboard.type("It is a dog.")
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.locator("#sign-in-dialog")).to_be_visible()
    expect(page.locator("#comment")).to_have_value("It is a dog.")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/review/")
    assert Review.objects.get().comment == "It is a dog."


def test_two_people_on_one_item_lose_neither_text(
    new_page: Callable[[], Page], sign_in: SignIn, ada: User, ben: User
) -> None:
    item = factories.item(state="draft")
    hers, his = new_page(), new_page()
    for window, who in ((hers, ada), (his, ben)):
        sign_in(window, who)
        editing(window, item)
    hers.locator("[name=content_1]").fill("What is the striped cat on the chair hunting?")
    hers.keyboard.press("ControlOrMeta+Enter")
    expect(hers.locator("#messages")).to_contain_text("Saved.")
    his.locator("[name=content_1]").fill("What is the striped cat on the chair eating?")
    his.keyboard.press("ControlOrMeta+Enter")
    expect(his.get_by_role("heading", name="Changed meanwhile")).to_be_visible()
    expect(his.locator("table")).to_contain_text("hunting")
    expect(his.locator("table")).to_contain_text("eating")
    assert items.texts_of(Item.objects.get()).questions[1].content.endswith("hunting?")
    his.goto(f"/review/{item.key}/edit/")
    expect(his.locator("table")).to_contain_text("eating")
    his.get_by_role("button", name="Save mine over it").click()
    expect(his.locator("#messages")).to_contain_text("Saved.")
    assert items.texts_of(Item.objects.get()).questions[1].content.endswith("eating?")
    assert [row.by for row in item.revisions.all()] == [ada, ben]
