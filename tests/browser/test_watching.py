"""Watching in a browser: a run that moves, keys through its dialogues, and filters that stay."""

import re
from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotate.models import User
from benchmark.models import Dialogue, Response, Run
from tests import factories
from tests.browser.shown import shown

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser]
type SignIn = Callable[[Page, User], None]


@pytest.fixture
def run() -> Run:
    """Three dialogues: the first and the last are whole, and the detectors differ on them; one is asked now."""
    made = factories.run(dataset=factories.dataset(items=3), state="running", started_at=timezone.now())
    first, second, third = made.dialogues.order_by("pk")
    for dialogue in (first, third):
        factories.answers(dialogue, 10)
    Dialogue.objects.filter(pk=second.pk).update(state="running")
    factories.detector_labels(factories.detector("strict"), made, lambda response: response.turn == 5)
    factories.detector_labels(factories.detector("lenient"), made, detect=False)
    return made


def test_a_run_moves_without_a_reload_and_rests_while_nobody_looks(
    page: Page, sign_in: SignIn, ada: User, run: Run
) -> None:
    sign_in(page, ada)
    page.goto(f"/runs/{run.pk}/")
    expect(page.locator("#live")).to_contain_text("2 of 3 dialogues ended")
    expect(page.locator("#live")).to_contain_text("No worker is running")
    page.keyboard.press("a")
    expect(page.locator("#answers")).to_contain_text("Answer 10, word for word.")
    last = run.dialogues.get(state="running")
    Response.objects.create(dialogue=last, turn=1, text="It came while I looked.")
    expect(page.locator("#answers")).to_contain_text("It came while I looked.")
    page.evaluate(
        "Object.defineProperty(document, 'hidden', {get: () => window.away, configurable: true}); away = true"
    )
    page.wait_for_timeout(300)  # what was asked before comes home
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(2500)
    assert asked == []
    Dialogue.objects.filter(pk=last.pk).update(state="complete")
    page.evaluate("window.away = false")
    expect(page.locator("#live")).to_contain_text("3 of 3 dialogues ended")


def test_one_reads_by_key_and_the_filter_stays(page: Page, sign_in: SignIn, ada: User, run: Run) -> None:
    sign_in(page, ada)
    page.goto(f"/runs/{run.pk}/dialogues/")
    page.locator("select[name=look]").select_option("disagree")
    expect(page.locator(".page-sub")).to_contain_text("2 dialogues fit: detectors disagree")
    shown(page)
    page.keyboard.press("n")
    expect(page.locator(".reader-filter")).to_contain_text("1 of 2 dialogues that fit")
    shown(page)
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("#turn-2")).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator("#turn-1")).to_be_focused()
    page.keyboard.press("?")
    for words in ("Next turn", "Previous turn", "Next dialogue", "Filter"):
        expect(page.locator("#keys-dialog")).to_contain_text(words)
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.locator(".reader-filter")).to_contain_text("2 of 2 dialogues that fit")
    shown(page)
    expect(page).to_have_url(re.compile(r"look=disagree"))
    page.keyboard.press("p")
    expect(page.locator(".reader-filter")).to_contain_text("1 of 2 dialogues that fit")
    shown(page)
    page.keyboard.press("f")
    page.locator("select[name=outcome]").focus()
    page.keyboard.press("j")
    expect(page.locator("select[name=outcome]")).to_be_focused()
