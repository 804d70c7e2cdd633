"""Pictures brought in through a real browser: dropped, chosen, cut off and gone on with."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from annotate.models import Image, ImagePair, ImportBatch, Item, User
from annotate.services import images
from tests import factories
from tests.browser.axe import broken

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SignIn = Callable[[Page, User], None]


def folder_of(path: Path, number: int) -> Path:
    """Pictures in two folders, each name in both, and a file that is no picture."""
    for index in range(number):
        place = path / ("left" if index % 2 else "right")
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{index // 2:03}.jpg").write_bytes(factories.jpeg(40, 30))
    (path / "left" / "notes.txt").write_text("not a picture")
    (path / "right" / "broken.jpg").write_bytes(b"\xff\xd8 not whole")
    return path


def choose_folder(page: Page, folder: Path) -> None:
    page.locator("[data-drop-folder]").set_input_files(folder)


def outcomes() -> dict[str, str]:
    return dict(ImportBatch.objects.get().files.values_list("path", "outcome"))


def test_a_folder_is_sent_and_every_file_has_its_fate(page: Page, sign_in: SignIn, ada: User, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "holiday", 12)
    sign_in(page, ada)
    page.goto("/images/import/")
    assert broken(page) == []
    choose_folder(page, folder)
    expect(page.locator("[data-drop-count]")).to_contain_text("13 files")
    expect(page.locator("[data-drop-count]")).to_contain_text("chosen, not sent yet")
    expect(page.locator("[data-drop-count]")).to_contain_text("1 file left out")
    page.locator("[data-drop-form] button.btn-primary").dblclick()
    page.wait_for_url("**/images/imports/*/")
    expect(page.get_by_role("heading", name="holiday")).to_be_visible()
    expect(page.locator(".fates tbody tr")).to_have_count(13)
    assert broken(page) == []
    page.locator(".tile", has_text="refused").click()
    expect(page.locator(".fates tbody tr")).to_have_count(1)
    expect(page.locator(".fates")).to_contain_text("broken.jpg is not a picture of a known format")
    assert Image.objects.count() == 12
    assert ImportBatch.objects.get().state == "complete"


def test_the_network_fails_on_the_way_and_it_goes_on_by_itself(
    page: Page, sign_in: SignIn, ada: User, tmp_path: Path
) -> None:
    sign_in(page, ada)
    page.goto("/images/import/")
    choose_folder(page, folder_of(tmp_path / "holiday", 20))
    sent = 0

    def cut(route: Route) -> None:
        nonlocal sent
        sent += 1
        if sent > 6:
            route.abort("connectionfailed")
        else:
            route.continue_()

    page.route("**/send/", cut)
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.locator("[data-sender-note]")).to_contain_text("The server can't be reached")
    expect(page.locator("[data-sender-rest]")).to_contain_text("Not sent")
    page.locator("[data-sender-rest] summary").click()
    expect(page.locator("[data-sender-rest-list] li").first).to_contain_text(".jpg")
    assert 0 < list(outcomes().values()).count("waiting") < 21
    page.unroute("**/send/")
    page.wait_for_url("**/images/imports/*/")
    assert list(outcomes().values()).count("waiting") == 0
    assert Image.objects.count() == 20


def test_after_a_closed_tab_the_same_folder_goes_on_where_it_was(
    new_page: Callable[[], Page], sign_in: SignIn, ada: User, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path / "holiday", 16)
    first = new_page()
    sign_in(first, ada)
    first.goto("/images/import/")
    choose_folder(first, folder)
    let_in: list[str] = []

    def some(route: Route) -> None:
        let_in.append(route.request.url)
        if len(let_in) > 5:
            route.abort("internetdisconnected")
        else:
            route.continue_()

    first.route("**/send/", some)
    first.get_by_role("button", name="Import", exact=False).first.click()
    expect(first.locator("[data-sender-note]")).to_contain_text("can't be reached")
    first.close(run_before_unload=False)

    again = new_page()
    sign_in(again, ada)
    again.goto("/images/import/")
    expect(again.locator(".note-info")).to_contain_text("are not sent yet")
    again.locator(".note-info a").click()
    expect(again.get_by_role("heading", name="Send the rest")).to_be_visible()
    expect(again.locator(".fates")).to_contain_text("not sent yet")
    assert broken(again) == []
    asked: list[str] = []
    waiting = list(outcomes().values()).count("waiting")  # what was under way when the tab closed may have come in
    assert 0 < waiting < 17
    again.on("request", lambda request: asked.append(request.url) if request.url.endswith("/send/") else None)
    choose_folder(again, folder)
    again.keyboard.press("ControlOrMeta+Enter")
    expect(again.locator("[data-sender]")).to_be_visible()
    expect(again.locator("[data-drop-form]")).to_have_count(0)
    assert Image.objects.count() == 16
    assert len(asked) == waiting  # nothing that was here was sent again
    assert sorted(set(outcomes().values())) == ["added", "refused"]


def test_who_is_signed_out_on_the_way_is_told_and_sends_the_rest_afterwards(
    page: Page, sign_in: SignIn, ada: User, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path / "holiday", 4)
    sign_in(page, ada)
    page.goto("/images/import/")
    choose_folder(page, folder)
    held: list[Route] = []
    holding = True

    def hold(route: Route) -> None:
        if holding:
            held.append(route)
        else:
            route.continue_()

    page.route("**/send/", hold)
    page.keyboard.press("ControlOrMeta+Enter")
    expect(page.locator("[data-sender-count]")).to_contain_text("0 of 5 files sent")
    page.wait_for_timeout(200)
    holding = False
    cookies = [cookie for cookie in page.context.cookies() if cookie["name"] == "sessionid"]
    page.context.clear_cookies(name="sessionid")
    for route in held:
        route.continue_()
    expect(page.locator("[data-sender-note]")).to_contain_text("You are signed out")
    page.context.add_cookies(cookies)  # signed in again, in another tab
    page.get_by_role("button", name="Send the rest").click()
    page.wait_for_url("**/images/imports/*/")
    assert Image.objects.count() == 4


def test_files_and_folders_are_dropped(page: Page, sign_in: SignIn, ada: User) -> None:
    import base64

    sign_in(page, ada)
    page.goto("/images/import/")
    page.evaluate(
        """([first, second]) => {
            const bytes = (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
            const transfer = new DataTransfer();
            transfer.items.add(new File([bytes(first)], "a.jpg", { type: "image/jpeg" }));
            transfer.items.add(new File([bytes(second)], "b.jpg", { type: "image/jpeg" }));
            transfer.items.add(new File(["file,author\\na.jpg,Jo\\n"], "facts.csv", { type: "text/csv" }));
            const zone = document.querySelector("[data-drop]");
            zone.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
        }""",
        [base64.b64encode(factories.jpeg()).decode(), base64.b64encode(factories.jpeg()).decode()],
    )
    expect(page.locator("[data-drop-count]")).to_contain_text("2 files")
    expect(page.locator("[data-drop-count]")).to_contain_text("The table is facts.csv")
    page.keyboard.press("ControlOrMeta+Enter")
    page.wait_for_url("**/images/imports/*/")
    assert set(Image.objects.values_list("name", "author")) == {("a.jpg", "Jo"), ("b.jpg", "")}


def test_near_duplicates_are_decided_by_keys(page: Page, sign_in: SignIn, ada: User) -> None:
    for quality in (95, 60, 30):
        images.import_file(data=factories.photograph(3, quality=quality), name=f"q{quality}.jpg", by=ada)
    sign_in(page, ada)
    page.goto("/images/")
    page.keyboard.press("d")
    page.wait_for_url("**/images/duplicates/")
    assert broken(page) == []
    expect(page.get_by_text("Pair 1 of 3")).to_be_visible()
    page.keyboard.press("1")
    expect(page.locator("#messages")).to_contain_text("is kept, the other set aside")
    page.keyboard.press("d")
    expect(page.locator("#messages")).to_contain_text("both are kept")
    expect(page.get_by_text("No near duplicates wait")).to_be_visible()
    assert Image.objects.exclude(duplicate_of=None).count() == 1
    page.goto("/images/duplicates/?show=decided")
    assert broken(page) == []
    page.keyboard.press("u")
    expect(page.locator("#messages")).to_contain_text("to be decided again")
    assert ImagePair.objects.filter(state="open").exists()
    assert not Item.objects.exists()


def test_pages_of_imports_have_no_known_barrier(page: Page, sign_in: SignIn, ada: User) -> None:
    sign_in(page, ada)
    for path in ("/images/imports/", "/images/duplicates/", "/images/duplicates/?show=decided"):
        page.goto(path)
        assert broken(page) == []
