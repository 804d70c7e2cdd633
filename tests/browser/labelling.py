"""How a person labels in a browser: they see the answer, then press."""

from playwright.sync_api import Page, Route, expect

from annotate.models import Label, LabelSet, User
from annotate.services import labels
from tests.browser.shown import shown

PREPARED = """() => {
    const ahead = document.getElementById("label-room").dataset.prepared;
    return ahead && document.querySelector("[data-ahead]")?.href.includes(ahead);
}"""


def start(page: Page, row: LabelSet) -> None:
    """From the page of the set to the first answer, by key."""
    page.goto(f"/label/{row.pk}/")
    shown(page)
    page.keyboard.press("c")
    expect(page.get_by_role("heading", name="Does the answer correct the user?")).to_be_visible()
    shown(page)


def ready(page: Page) -> None:
    """Until the answer takes a press: one that comes as fast as a key bounces is none."""
    expect(page.locator("#labelling[data-ready]")).to_be_visible()


def press(page: Page, key: str) -> None:
    ready(page)
    page.keyboard.press(key)


def press_and_store(page: Page, key: str) -> None:
    """Until the server has it: the page shows the next answer before."""
    ready(page)
    with page.expect_response(lambda response: response.request.method == "POST"):
        page.keyboard.press(key)


def progress(page: Page, words: str) -> None:
    expect(page.locator(".label-progress")).to_contain_text(words)


def on_place(page: Page, place: int) -> None:
    """The answer of this place is on the page."""
    expect(page.locator(f'#labelling[data-place="{place}"]')).to_be_visible()


def prepared(page: Page) -> None:
    """The answer that follows is in the page's memory."""
    page.wait_for_function(PREPARED)


def lose_posts(route: Route) -> None:
    """A network that carries pages and loses what is sent."""
    if route.request.method == "POST":
        route.abort()
    else:
        route.continue_()


def verdicts(row: LabelSet, who: User) -> list[bool | None]:
    """This person's current labels in their own order; None where there is none."""
    mine = row.assignments.get(person=who)
    given = dict(Label.objects.current().filter(assignment=mine).values_list("task", "detect"))
    return [given.get(task) for task in labels.order_of(mine)]
