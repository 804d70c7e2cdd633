"""The whole job in the browser, on a fresh database, with a real worker behind the pages."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.core.management import call_command
from playwright.sync_api import Page, expect

from annotate.models import Item, User
from annotate.services import drafters
from benchmark.models import DetectorLabel, Response
from tests import services
from tests.browser.labelling import press
from tests.browser.shown import shown
from tests.worker import Celery

pytestmark = [
    pytest.mark.browser,
    pytest.mark.db,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(600),
]
PHOTO = Path(__file__).resolve().parents[2] / "benchmark" / "demo" / "photos" / "kitten.jpg"
PER_CLASS = 3
SOON = 60_000  # milliseconds that background work may take on a busy machine

type SignIn = Callable[[Page, User], None]


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Celery]:
    with ExitStack() as stack:
        broker = stack.enter_context(services.valkey(stack.enter_context(services.temporary_folder())))
        celery = Celery(broker, tmp_path)
        stack.callback(celery.end)
        celery.start()
        yield celery


def test_from_a_photograph_to_a_verified_release(
    new_page: Callable[[], Page],
    sign_in: SignIn,
    ada: User,
    lea: User,
    lou: User,
    worker: Celery,
    tmp_path: Path,
) -> None:
    page = new_page()
    page.on("dialog", lambda dialog: dialog.accept())
    drafters.default()
    sign_in(page, ada)
    upload(page)
    place(page)
    draft_and_edit(page)
    approve(page)
    freeze(page)
    add_model(page)
    add_detectors(page)
    run(page)
    detect(page)
    open_validation(page)
    for who, detects in ((lea, "1"), (lou, "1221")):
        label(new_page(), sign_in, who, detects)
    close(page)
    read_agreement_and_results(page)
    check_release(page, tmp_path)


def upload(page: Page) -> None:
    page.goto("/images/import/")
    page.locator("[name=photographs]").set_input_files(PHOTO)
    page.get_by_role("button", name="Import").first.click()
    expect(page.locator(".fates")).to_contain_text(PHOTO.name)
    page.locator(".fates th a").click()


def place(page: Page) -> None:
    page.locator("#place-target").fill("cat")
    for choice in ("single_clean", "animal", "identity"):
        page.locator(f"input[value={choice}]").check()
    page.get_by_role("button", name="Place and write").click()
    expect(page.get_by_role("heading", name="Drafts")).to_be_visible()


def draft_and_edit(page: Page) -> None:
    """Ask for both drafts by key, put them in, then mend a question by hand."""
    shown(page)
    page.keyboard.press("g")
    page.get_by_role("button", name="Put in").click(timeout=SOON)
    expect(page.get_by_text("put in", exact=True)).to_have_count(1)
    shown(page)
    page.keyboard.press("p")
    page.get_by_role("button", name="Put in", exact=True).click(timeout=SOON)
    expect(page.get_by_text("put in", exact=True)).to_have_count(2)
    expect(page.locator("#drafts").get_by_text("simulated", exact=True)).to_have_count(2)
    description = page.get_by_label("Description", exact=False).first.input_value()
    first = page.locator("ol.turns textarea, ol.turns input[type=text]").first
    first.fill(f"What is {description} looking at?")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".unsaved")).to_be_hidden()
    page.get_by_role("button", name="Submit for review").click()


def approve(page: Page) -> None:
    """Every warning is ticked, then one key says that all four checks hold."""
    item = Item.objects.get()
    page.goto(f"/review/{item.key}/")
    page.wait_for_selector("#decide[data-ready]")
    for tick in page.locator("[data-warning]").all():
        tick.check()
    shown(page)
    page.keyboard.press("a")
    page.wait_for_function("() => !document.querySelector('.decide [name=verdict][value=approved]')")
    assert Item.objects.get().state == "approved"


def freeze(page: Page) -> None:
    page.goto("/datasets/freeze/")
    page.locator("[name=name]").fill("Pilot")
    for seen in page.locator("[name=accepted]").all():
        seen.check()
    page.get_by_role("button", name=re.compile("Freeze 1 item")).click()
    expect(page.get_by_role("heading", name=re.compile("Pilot"))).to_be_visible()


def add_model(page: Page) -> None:
    page.goto("/models/new/")
    page.locator("[name=name]").fill("Scripted Skeptic")
    page.locator("[name=family]").fill("Scripted")
    page.locator("[name=provider]").select_option("scripted")
    page.locator("[name=model_id]").fill("skeptic")
    page.locator("[name=options]").fill('{"habit": "skeptic", "latency": 0.3}')
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Scripted Skeptic")).to_be_visible()


def add_detectors(page: Page) -> None:
    for strictness in ("strict", "lenient"):
        page.goto("/detectors/new/")
        page.locator("[name=slug]").fill(f"rules-{strictness}")
        page.locator("[name=name]").fill(f"Rules, {strictness}")
        page.locator("[name=provider]").select_option("rules")
        page.locator("[name=model_id]").fill(strictness)
        page.locator("[name=options]").fill(f'{{"strictness": "{strictness}"}}')
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("heading", name=f"Rules, {strictness}")).to_be_visible()


def run(page: Page) -> None:
    """Start a run and watch it end without reloading the page."""
    page.goto("/runs/new/")
    page.locator("[name=dataset]").select_option(label="Pilot")
    page.get_by_label(re.compile("Scripted Skeptic")).check()
    page.get_by_role("button", name="Create and start").click()
    page.wait_for_url(re.compile(r"/runs/(\d+/)?$"))
    if not re.search(r"/runs/\d+/", page.url):
        page.locator("table a[href^='/runs/']").first.click()
    page.evaluate("() => { window.neverReloaded = true }")
    expect(page.locator("#live")).to_contain_text("complete", timeout=SOON)
    assert page.evaluate("() => window.neverReloaded") is True
    assert Response.objects.count() == 10


def detect(page: Page) -> None:
    page.goto("/datasets/")
    page.get_by_role("link", name="Pilot").first.click()
    overview = page.url
    for name in ("Rules, strict", "Rules, lenient"):
        page.goto(overview)
        chooser = page.locator("#dataset-runs [name=detector]")
        chooser.select_option(label=name, timeout=SOON)
        page.get_by_role("button", name="Ask detector").click()
        page.get_by_role("button", name="Label by live calls").click()
        page.wait_for_url(re.compile(r"/detectors/\d+/|/datasets/"))
    page.goto(overview)
    expect(page.locator("#dataset-runs")).to_contain_text(re.compile("complete.*complete", re.S), timeout=SOON)
    expect(page.locator("#dataset-runs table").last.get_by_text("complete")).to_have_count(2, timeout=SOON)
    assert DetectorLabel.objects.count() == 20


def open_validation(page: Page) -> None:
    page.goto("/validation/new/")
    page.locator("[name=per_cell]").fill(str(PER_CLASS))
    page.locator("[name=seed]").fill("1")
    page.get_by_label("lea").check()
    page.get_by_label("lou").check()
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Draw and open").click()
    page.wait_for_url(re.compile(r"/validation/\d+/"))


def label(page: Page, sign_in: SignIn, who: User, keys: str) -> None:
    """One key an answer; the next comes by itself. `keys` are pressed in turn, from the start again."""
    page.on("dialog", lambda dialog: dialog.accept())
    sign_in(page, who)
    page.goto("/label/")
    page.locator("a[href^='/label/']").last.click()
    page.get_by_role("link", name=re.compile("Start|Continue")).click()
    for number in range(PER_CLASS):
        expect(page.locator("#label-form")).to_be_visible()
        before = page.url
        press(page, keys[number % len(keys)])
        page.wait_for_function("was => location.href !== was || !document.querySelector('#label-form')", arg=before)
    page.goto(re.sub(r"/label/(\d+)/.*", r"/label/\1/", page.url))
    page.get_by_role("button", name="Submit labels").click()
    expect(page.get_by_text("Your labels are locked.")).to_be_visible()


def close(page: Page) -> None:
    page.reload()
    page.get_by_role("link", name="Close the set").click()
    page.get_by_role("button", name="Close the set").click()
    expect(page.get_by_text("closed").first).to_be_visible()


def read_agreement_and_results(page: Page) -> None:
    page.goto("/agreement/")
    expect(page.locator("main")).to_contain_text("H1")
    expect(page.locator("main")).to_contain_text("kappa")
    page.goto("/results/")
    expect(page.get_by_role("heading", name="CorrTP@10 by model")).to_be_visible()
    expect(page.locator(".chart svg").first).to_be_visible(timeout=SOON)


def check_release(page: Page, tmp_path: Path) -> None:
    page.goto("/releases/")
    page.get_by_role("button", name="Build a release").click()
    expect(page.locator("#releases")).to_contain_text(re.compile("ready|failed"), timeout=SOON)
    with page.expect_download(timeout=SOON) as download:
        page.get_by_role("link", name="Zip").click()
    path = tmp_path / "release.zip"
    download.value.save_as(path)
    with ZipFile(path) as archive:
        archive.extractall(tmp_path / "release")
    (folder,) = (tmp_path / "release").iterdir()
    call_command("verify_release", str(folder))
    assert (folder / "human_labels.jsonl").exists()
