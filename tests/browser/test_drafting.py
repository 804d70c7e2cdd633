"""Drafting in a real browser: what a person types is theirs, and a good draft takes one key."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotate.models import Draft, Drafter, Item, User
from annotate.services import draft_jobs, drafters, drafts, items
from annotate.services.draft_jobs import Wish
from tests import factories
from tests.browser.axe import broken

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SignIn = Callable[[Page, User], None]


def place(by: User) -> Item:
    image = factories.image(target="cat", data=factories.jpeg(640, 480))
    return items.place(image=image, cell=("single_clean", "animal", "identity"), by=by)


def proposal(item: Item) -> None:
    questions = {str(n): text for n, text in enumerate(factories.questions("the striped cat on the chair"), 1)}
    premise = {str(n): text for n, text in enumerate(factories.questions("the striped dog on the chair"), 1) if n > 3}
    base = factories.draft(item, payload={"target_description": "the striped cat on the chair", "questions": questions})
    payload = {"modified_target_description": "the striped dog on the chair", "questions": premise}
    factories.draft(item, kind="premise", prompt_name="draft_premise", payload=payload, based_on=base)


def test_drafts_that_arrive_and_fail_leave_what_is_being_typed_alone(page: Page, sign_in: SignIn, ada: User) -> None:
    item = place(ada)
    sign_in(page, ada)
    page.goto(f"/review/{item.key}/edit/")
    page.keyboard.press("g")
    expect(page.locator("#draft-list")).to_contain_text("waiting")
    other = Drafter.objects.create(name="Another", provider="drafter", model_id="another")
    second = drafts.request(item=item, kind="questions", drafter=other, by=ada)
    page.locator("[name=alternatives]").select_option("3")
    area = page.locator("[name=content_1]")
    area.click()
    page.keyboard.type("What is the ")
    Draft.objects.exclude(pk=second.pk).update(state="failed", error="The reply is not JSON.")
    expect(page.locator("#draft-list")).to_contain_text("The reply is not JSON.")
    page.keyboard.type("cat on ")
    questions = {str(n): text for n, text in enumerate(factories.questions("the tabby cat"), 1)}
    payload = {"target_description": "the tabby cat", "questions": questions}
    Draft.objects.filter(pk=second.pk).update(state="ready", payload=payload)
    expect(page.locator("#draft-list")).to_contain_text("Is the tabby cat facing the camera?")
    page.keyboard.type("the chair doing?")
    expect(area).to_have_value("What is the cat on the chair doing?")
    expect(area).to_be_focused()
    expect(page.locator("[name=alternatives]")).to_have_value("3")
    item.refresh_from_db()
    assert (item.version, item.turns.get(number=1).content) == (1, "")


def test_good_drafts_are_put_in_and_submitted_by_one_key_each(page: Page, sign_in: SignIn, ada: User) -> None:
    first, second = place(ada), place(ada)
    for item in (first, second):
        proposal(item)
    sign_in(page, ada)
    page.goto("/drafting/")
    page.keyboard.press("o")
    page.wait_for_url(f"**/drafting/proposals/{first.key}/")
    page.keyboard.press("1")
    page.wait_for_url(f"**/drafting/proposals/{second.key}/")
    page.keyboard.press("1")
    expect(page.get_by_text("No draft waits for a decision")).to_be_visible()
    assert set(Item.objects.values_list("state", "modified_target_description")) == {
        ("in_review", "the striped dog on the chair")
    }


def test_a_job_is_started_and_seen_to_its_end_without_a_reload(
    page: Page, sign_in: SignIn, ada: User, background: Any, fast_engine: None
) -> None:
    place(ada)
    sign_in(page, ada)
    page.goto("/drafting/")
    page.locator("[name=alternatives]").select_option("2")
    expect(page.locator("#estimate")).to_contain_text("4")
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    page.wait_for_url("**/drafting/*/")
    background(stay=True)
    expect(page.locator("#live")).to_contain_text("4 of 4 drafts")
    expect(page.locator("#live")).to_contain_text("complete")


def test_a_new_version_of_a_prompt_is_written_compared_and_saved(page: Page, sign_in: SignIn, ada: User) -> None:
    sign_in(page, ada)
    page.goto("/prompts/inference/new/")
    page.locator("[name=text]").fill("Answer the question from the picture alone.")
    page.locator("[name=note]").fill("as short as it gets")
    page.get_by_role("button", name="Show the difference").click()
    expect(page.locator(".prompt-diff mark.now").first).to_be_visible()
    expect(page.locator("[name=note]")).to_have_value("as short as it gets")
    page.keyboard.press("ControlOrMeta+Enter")
    page.wait_for_url("**/prompts/inference/101/")


def test_pages_of_drafting_have_no_known_barrier(page: Page, sign_in: SignIn, ada: User) -> None:
    item = place(ada)
    proposal(item)
    place(ada)
    job = draft_jobs.start(wish=Wish("questions"), drafter=drafters.default(), by=ada)
    draft_jobs.stop(job=job, by=ada)
    sign_in(page, ada)
    for path in (
        "/drafting/",
        f"/drafting/{job.pk}/",
        f"/drafting/drafts/{Draft.objects.earliest('pk').pk}/",
        f"/drafting/proposals/{item.key}/",
        "/drafting/drafters/",
        "/drafting/drafters/new/",
        "/prompts/",
        "/prompts/detector/1/",
        "/prompts/detector/new/",
    ):
        page.goto(path)
        assert broken(page) == []
