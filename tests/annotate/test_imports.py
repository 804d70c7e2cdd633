"""Imports of many files: folders, zips and what a browser sends, stopped, killed and gone on with."""

import io
import json
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from PIL import Image as Picture

from annotate import image_tables
from annotate.models import Image, ImagePair, ImportBatch, ImportedFile, Item, User
from annotate.services import imports, items
from annotate.services.imports import Announced
from fpco_site.errors import Conflict, Invalid
from fpco_site.llm.engine.takeovers import Stop
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.db]
As = Callable[[User], Client]


def folder_of(path: Path, *names: str) -> Path:
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(factories.jpeg())
    return path


def zip_of(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def run() -> None:
    imports.run_waiting(stop=Stop())


def outcomes(batch: ImportBatch) -> dict[str, str]:
    return dict(batch.files.values_list("path", "outcome"))


# Folders ----------------------------------------------------------------------------------------------------------


def test_a_folder_is_imported_file_by_file_and_same_names_in_two_folders_survive(tmp_path: Path, ada: User) -> None:
    folder = folder_of(tmp_path, "x/same.jpg", "y/same.jpg", ".hidden/no.jpg", "__MACOSX/x/._same.jpg")
    (folder / "x" / "broken.jpg").write_bytes(b"no picture")
    batch = imports.begin_folder(folder=folder, table=None, by=ada)
    assert set(outcomes(batch).values()) == {"waiting"}
    run()
    batch.refresh_from_db()
    assert outcomes(batch) == {"x/broken.jpg": "refused", "x/same.jpg": "added", "y/same.jpg": "added"}
    assert (batch.state, batch.worker, Image.objects.count()) == ("complete", "", 2)
    assert batch.files.get(outcome="refused").sentence.startswith("broken.jpg is not a picture")


def test_an_empty_folder_is_refused_with_a_sentence(tmp_path: Path, ada: User) -> None:
    with pytest.raises(Invalid, match="There is no picture in"):
        imports.begin_folder(folder=tmp_path, table=None, by=ada)
    with pytest.raises(CommandError, match="There is no picture in"):
        call_command("import_images", str(tmp_path))
    assert not ImportBatch.objects.exists()


def test_a_stopped_import_goes_on_where_it_was(tmp_path: Path, ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "GROUP", 2)
    batch = imports.begin_folder(folder=folder_of(tmp_path, *(f"{n}.jpg" for n in range(6))), table=None, by=ada)
    token = imports.claim(batch)
    imports.work(batch=batch, token=token, stop=Stop(), progress=lambda _: bool(imports.stop(batch=batch)))
    batch.refresh_from_db()
    assert (batch.state, Image.objects.count()) == ("stopped", 2)
    run()
    assert Image.objects.count() == 2
    imports.resume(batch=batch)
    run()
    batch.refresh_from_db()
    assert (batch.state, Image.objects.count()) == ("complete", 6)


def test_a_batch_is_taken_over_once_its_worker_stands_still_and_the_old_one_writes_no_more(
    tmp_path: Path, ada: User, settings: Any
) -> None:
    batch = imports.begin_folder(folder=folder_of(tmp_path, "a.jpg", "b.jpg"), table=None, by=ada)
    dead = imports.claim(batch)
    batch.refresh_from_db()
    assert dead
    settings.ENGINE = {**settings.ENGINE, "stale": 3600}
    assert imports.claim(batch) == ""
    assert imports.claim(batch) == ""
    settings.ENGINE = {**settings.ENGINE, "stale": 0}
    new = imports.claim(batch)
    assert new not in {"", dead}
    imports.work(batch=batch, token=dead, stop=Stop())
    assert not Image.objects.exists()
    imports.work(batch=batch, token=new, stop=Stop())
    assert Image.objects.count() == 2


def test_a_folder_that_is_gone_says_so_and_loses_nothing(tmp_path: Path, ada: User) -> None:
    folder = folder_of(tmp_path / "in", "a.jpg")
    batch = imports.begin_folder(folder=folder, table=None, by=ada)
    folder.rename(tmp_path / "away")
    run()
    batch.refresh_from_db()
    assert (batch.state, outcomes(batch)) == ("stopped", {"a.jpg": "waiting"})
    assert "is not there any more" in batch.note
    (tmp_path / "away").rename(folder)
    imports.resume(batch=batch)
    run()
    assert outcomes(batch) == {"a.jpg": "added"}


def test_a_table_of_coco_gives_each_file_its_facts_and_flags_its_licence(tmp_path: Path, ada: User) -> None:
    folder = folder_of(tmp_path, "1.jpg", "2.jpg", "3.jpg")
    data = {
        "licenses": [
            {
                "id": 3,
                "name": "Attribution-NonCommercial-NoDerivs License",
                "url": "http://creativecommons.org/licenses/by-nc-nd/2.0/",
            },
            {"id": 4, "name": "Attribution License", "url": "http://creativecommons.org/licenses/by/2.0/"},
        ],
        "images": [
            {
                "id": 1,
                "file_name": "1.jpg",
                "license": 3,
                "coco_url": "http://x.org/1.jpg",
                "flickr_url": "http://f.org/1",
            },
            {"id": 2, "file_name": "2.jpg", "license": 4},
            {"id": 9, "file_name": "9.jpg", "license": 4},
        ],
    }
    table = image_tables.parse(json.dumps(data).encode(), name="c.json")
    batch = imports.begin_folder(folder=folder, table=table, by=ada)
    run()
    batch.refresh_from_db()
    assert batch.note == "The table names 2 of the 3 files."
    assert set(outcomes(batch)) == {"1.jpg", "2.jpg", "3.jpg"}
    first = Image.objects.get(name="1.jpg")
    assert (first.source, first.source_id, first.landing_url) == ("coco", "1", "http://f.org/1")
    assert (first.source_url, first.source_record["coco_url"]) == ("http://x.org/1.jpg", "http://x.org/1.jpg")
    assert first.source_record["licenses"] == [data["licenses"][0]]
    said = dict(batch.files.values_list("path", "sentence"))
    assert said == {
        "1.jpg": "Added. Its licence allows no derivatives: a release leaves its pixels out.",
        "2.jpg": "Added.",
        "3.jpg": "Added. Its licence is not known: a release leaves its pixels out.",
    }


# Zips -------------------------------------------------------------------------------------------------------------


def test_a_zip_is_imported_with_its_folders_and_bad_members_are_refused_by_name(tmp_path: Path, ada: User) -> None:
    files = {
        "a/x.jpg": factories.jpeg(),
        "b/c/x.jpg": factories.jpeg(),
        "../../evil.jpg": factories.jpeg(),
        "/root.jpg": factories.jpeg(),
        "a/notes.txt": b"no",
        "__MACOSX/a/._x.jpg": b"no",
        "broken.jpg": b"\xff\xd8\xff",
    }
    batch = imports.begin_zip(path=zip_of(tmp_path / "p.zip", files), table=None, by=ada)
    run()
    assert outcomes(batch) == {
        "../../evil.jpg": "refused",
        "/root.jpg": "refused",
        "a/x.jpg": "added",
        "b/c/x.jpg": "added",
        "broken.jpg": "refused",
    }
    assert "leads out of it" in batch.files.get(path="../../evil.jpg").sentence
    assert Image.objects.count() == 2


def test_a_zip_that_is_no_zip_or_cut_off_or_without_pictures_is_refused(tmp_path: Path, ada: User) -> None:
    whole = zip_of(tmp_path / "whole.zip", {"a.jpg": factories.jpeg()}).read_bytes()
    for name, data, sentence in (
        ("text.zip", b"hello", "text.zip is not a zip"),
        ("cut.zip", whole[: len(whole) // 2], "cut.zip is not a zip"),
        ("none.zip", zip_of(tmp_path / "n.zip", {"a.txt": b"x"}).read_bytes(), "There is no picture in none.zip"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(Invalid) as refused:
            imports.begin_zip(path=tmp_path / name, table=None, by=ada)
        assert refused.value.message.startswith(sentence)


def test_a_zip_bomb_is_refused_before_anything_is_unpacked(tmp_path: Path, ada: User) -> None:
    path = zip_of(tmp_path / "bomb.zip", {"a.jpg": b"\0" * 5_000_000})
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02") + 24  # the size that the directory claims
    data[at : at + 4] = struct.pack("<I", 4_000_000_000)
    path.write_bytes(bytes(data))
    with pytest.raises(Invalid, match="zip bomb"):
        imports.begin_zip(path=path, table=None, by=ada)


def test_a_member_that_grows_beyond_what_it_says_is_cut_and_refused(tmp_path: Path, ada: User, settings: Any) -> None:
    settings.MAX_IMAGE_BYTES = 10_000
    path = zip_of(tmp_path / "p.zip", {"big.jpg": b"\xff" * 2_000_000, "ok.jpg": factories.jpeg()})
    batch = imports.begin_zip(path=path, table=None, by=ada)
    run()
    assert outcomes(batch) == {"big.jpg": "refused", "ok.jpg": "added"}
    batch.files.filter(path="big.jpg").update(outcome="waiting", size=100)
    imports.ImportBatch.objects.filter(pk=batch.pk).update(state="running")
    run()
    assert batch.files.get(path="big.jpg").outcome == "refused"


def test_an_encrypted_zip_is_refused(tmp_path: Path, ada: User) -> None:
    path = zip_of(tmp_path / "locked.zip", {"a.jpg": factories.jpeg()})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    data[data.index(b"PK\x03\x04") + 6] |= 1
    path.write_bytes(bytes(data))
    with pytest.raises(Invalid, match="is encrypted"):
        imports.begin_zip(path=path, table=None, by=ada)


def test_an_uploaded_zip_is_kept_until_it_is_imported(
    as_: As, ada: User, tmp_path: Path, django_capture_on_commit_callbacks: Any
) -> None:
    data = zip_of(tmp_path / "p.zip", {"a.jpg": factories.jpeg()}).read_bytes()
    reply = as_(ada).post(reverse("image_import_zip"), {"zip_file": SimpleUploadedFile("p.zip", data)})
    batch = ImportBatch.objects.get()
    assert reply.url == reverse("import_detail", args=[batch.pk])
    assert default_storage.exists(batch.origin)
    with django_capture_on_commit_callbacks(execute=True):
        run()
    assert outcomes(batch) == {"a.jpg": "added"}
    assert not default_storage.exists(batch.origin)
    page = as_(ada).post(reverse("image_import_zip"), {"zip_file": SimpleUploadedFile("p.zip", b"no")}).text
    assert "p.zip is not a zip" in page


def test_the_command_takes_a_zip_and_a_table_of_open_images(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = zip_of(tmp_path / "p.zip", {"data/ab12.jpg": factories.photograph(1)})
    (tmp_path / "oi.csv").write_text(
        "ImageID,Subset,OriginalURL,OriginalLandingURL,License,AuthorProfileURL,Author,Title,OriginalSize,OriginalMD5,"
        "Thumbnail300KURL,Rotation\nab12,train,https://x.org/a.jpg,https://x.org/a,"
        "https://creativecommons.org/licenses/by/2.0/,,Jo,T,1,m,,90.0\n"
    )
    call_command("import_images", str(path), table=tmp_path / "oi.csv")
    assert "1 added, 0 already there, 0 refused" in capsys.readouterr().out
    image = Image.objects.get()
    assert (image.width, image.height, image.author, image.license) == (120, 160, "Jo", "CC BY 2.0")
    with pytest.raises(CommandError, match="is not a zip"):
        call_command("import_images", str(tmp_path / "oi.csv"))


# From a browser ------------------------------------------------------------------------------------------------------


def announce(client: Client, files: dict[str, bytes], address: str = "", **more: Any) -> Any:
    listing = json.dumps([{"path": path, "size": len(data)} for path, data in files.items()]).encode()
    return client.post(address or reverse("import_begin"), {"listing": SimpleUploadedFile("f.json", listing), **more})


def send(client: Client, address: str, path: str, data: bytes) -> Any:
    return client.post(
        address,
        {"path": json.dumps(path), "file": SimpleUploadedFile("f.jpg", data)},
        headers={"accept": "application/json"},
    )


def test_files_are_announced_then_sent_and_a_second_sending_changes_nothing(as_: As, ada: User) -> None:
    files = {"d/a.jpg": factories.jpeg(), "d/b.jpg": factories.jpeg(), "e/a.jpg": b"no"}
    said = announce(as_(ada), files).json()
    assert sorted(said["waiting"]) == sorted(files)
    fates = {path: send(as_(ada), said["send"], path, data).json()["outcome"] for path, data in files.items()}
    assert fates == {"d/a.jpg": "added", "d/b.jpg": "added", "e/a.jpg": "refused"}
    again = send(as_(ada), said["send"], "d/a.jpg", files["d/a.jpg"]).json()
    assert (again["outcome"], Image.objects.count()) == ("added", 2)
    assert ImportBatch.objects.get().state == "complete"


def test_the_same_files_dropped_again_go_on_in_the_same_import(as_: As, ada: User, ben: User) -> None:
    files = {"d/a.jpg": factories.jpeg(), "d/b.jpg": factories.jpeg()}
    first = announce(as_(ada), files).json()
    send(as_(ada), first["send"], "d/a.jpg", files["d/a.jpg"])
    again = announce(as_(ada), {**files, "d/c.jpg": factories.jpeg()}).json()
    assert again["send"] == first["send"]
    assert again["waiting"] == ["d/b.jpg", "d/c.jpg"]
    assert announce(as_(ben), files).json()["send"] != first["send"]


def test_a_file_that_arrives_cut_off_or_unannounced_is_not_taken(as_: As, ada: User) -> None:
    data = factories.jpeg()
    said = announce(as_(ada), {"a.jpg": data}).json()
    short = send(as_(ada), said["send"], "a.jpg", data[:-5])
    assert short.status_code == 400
    assert "send it again" in short.json()["detail"]
    assert send(as_(ada), said["send"], "other.jpg", data).status_code == 400
    assert outcomes(ImportBatch.objects.get()) == {"a.jpg": "waiting"}
    imports.stop(batch=ImportBatch.objects.get())
    assert send(as_(ada), said["send"], "a.jpg", data).status_code == 409


@pytest.mark.parametrize(
    "listing",
    [
        b"no",
        b"{}",
        b'[{"path": "", "size": 1}]',
        b'[{"path": "a", "size": -1}]',
        b'[{"path": "a", "size": 1e999}]',
        b"[1]",
    ],
)
def test_a_list_of_files_that_makes_no_sense_is_refused(listing: bytes, as_: As, ada: User) -> None:
    reply = as_(ada).post(reverse("import_begin"), {"listing": SimpleUploadedFile("f.json", listing)})
    assert reply.status_code == 400
    assert not ImportBatch.objects.exists()


def test_the_table_places_what_is_sent(as_: As, ada: User) -> None:
    data = factories.jpeg()
    table = SimpleUploadedFile("t.csv", b"file,complexity,category,premise_class\na.jpg,single_clean,3,identity\n")
    said = announce(as_(ada), {"d/a.jpg": data}, table=table).json()
    assert "Placed in" in send(as_(ada), said["send"], "d/a.jpg", data).json()["sentence"]
    assert Item.objects.get().cell == ("single_clean", "animal", "identity")


def test_two_files_of_one_name_both_survive_without_scripts(as_: As, ada: User) -> None:
    files = [SimpleUploadedFile("a.jpg", factories.jpeg()) for _ in range(2)]
    as_(ada).post(reverse("image_import"), {"photographs": files})
    assert outcomes(ImportBatch.objects.get()) == {"a.jpg": "added", "a (2).jpg": "added"}


# Who may do what ------------------------------------------------------------------------------------------------------


def test_imports_and_duplicates_are_for_authors_alone(as_: As, ada: User, rita: User, lea: User) -> None:
    data = factories.jpeg()
    said = announce(as_(ada), {"a.jpg": data}).json()
    batch = ImportBatch.objects.get()
    pair = ImagePair.objects.create(first=factories.image(), second=factories.image(), distance=2)
    gets = [reverse("import_list"), reverse("duplicate_list"), reverse("image_import")]
    gets += [reverse(name, args=[batch.pk]) for name in ("import_detail", "import_progress")]
    posts = [
        reverse(name, args=[batch.pk]) for name in ("import_stop", "import_resume", "import_announce", "import_send")
    ]
    posts += [reverse("image_import_zip"), reverse("image_import_folder"), reverse("import_begin")]
    posts += [reverse(name, args=[pair.pk]) for name in ("duplicate_decide", "duplicate_undo")]
    for address in gets:
        assert as_(ada).get(address).status_code == 200
        assert as_(ada).post(address).status_code in ({405} if "import/" not in address else {200, 405})
    for who in (rita, lea):
        for address in gets:
            assert (address, as_(who).get(address).status_code) == (address, 404)
        for address in posts:
            assert (address, as_(who).post(address).status_code) == (address, 404)
        assert send(as_(who), said["send"], "a.jpg", data).status_code == 404
    for address in [*gets, *posts]:
        assert Client().get(address).status_code in {302, 405}
        assert "/sign-in/" in Client().post(address).url
    assert outcomes(batch) == {"a.jpg": "waiting"}
    assert ImagePair.objects.get().state == "open"


def test_pages_of_imports_ask_little_however_many_files_there_are(
    as_: As, ada: User, tmp_path: Path, django_assert_max_num_queries: Any
) -> None:
    batch = imports.begin_folder(folder=folder_of(tmp_path, *(f"{n}.jpg" for n in range(12))), table=None, by=ada)
    run()
    client = as_(ada)
    for address in (reverse("import_list"), reverse("import_detail", args=[batch.pk]), reverse("image_list")):
        with django_assert_max_num_queries(14):
            assert client.get(address).status_code == 200


def test_the_page_of_a_running_import_asks_for_its_progress(as_: As, ada: User, tmp_path: Path) -> None:
    batch = imports.begin_folder(folder=folder_of(tmp_path, "a.jpg"), table=None, by=ada)
    address = reverse("import_progress", args=[batch.pk])
    assert f'hx-get="{address}"' in as_(ada).get(reverse("import_detail", args=[batch.pk])).text
    assert "HX-Refresh" not in as_(ada).get(address, headers={"hx-request": "true"}).headers
    as_(ada).post(reverse("import_stop", args=[batch.pk]))
    run()
    assert outcomes(batch) == {"a.jpg": "waiting"}
    as_(ada).post(reverse("import_resume", args=[batch.pk]))
    run()
    assert as_(ada).get(address, headers={"hx-request": "true"}).headers["HX-Refresh"] == "true"
    assert "hx-get" not in as_(ada).get(reverse("import_detail", args=[batch.pk]), {"outcome": "added"}).text


def test_a_set_aside_picture_is_neither_offered_nor_placed(as_: As, ada: User) -> None:
    kept = factories.image(name="kept.jpg")
    aside = factories.image(name="aside.jpg", duplicate_of=kept)
    page = as_(ada).get(reverse("image_list"), {"place": "unplaced"}).text
    assert "kept.jpg" in page
    assert "aside.jpg" not in page
    with pytest.raises(Conflict, match="was set aside"):
        items.place(image=aside, cell=("single_clean", "animal", "identity"), by=ada)
    assert "It is the same picture as" in as_(ada).get(reverse("image_detail", args=[aside.pk])).text


def test_the_list_shows_which_licences_need_a_look(as_: As, ada: User) -> None:
    factories.image(name="fine.jpg")
    factories.image(name="closed.jpg", license="CC BY-ND 2.0", license_url="")
    factories.image(name="blank.jpg", license="", license_url="")
    page = as_(ada).get(reverse("image_list"), {"licence": "look"}).text
    assert "closed.jpg" in page
    assert "blank.jpg" in page
    assert "fine.jpg" not in page
    bad = Image.objects.get(name="closed.jpg")
    assert "allows no derivatives" in as_(ada).get(reverse("image_detail", args=[bad.pk])).text


def test_the_bytes_of_a_zip_are_read_as_they_are() -> None:
    buffer = io.BytesIO()
    data = factories.jpeg()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("ä/ö.jpg", data)
    [member] = imports.in_zip(buffer, name="z.zip")
    assert member == Announced("ä/ö.jpg", len(data), "")


# What lies in real folders ----------------------------------------------------------------------------------------


def test_what_is_no_picture_is_named_and_a_picture_of_an_unread_kind_is_refused(tmp_path: Path, ada: User) -> None:
    folder = folder_of(tmp_path / "in", "a.jpg", "b.HEIC", "notes.txt", ".hidden.txt")
    (folder / "b.HEIC").write_bytes(b"no")
    for batch in (
        imports.begin_folder(folder=folder, table=None, by=ada),
        imports.begin_zip(
            path=zip_of(tmp_path / "z.zip", {p.name: p.read_bytes() for p in folder.iterdir()}), table=None, by=ada
        ),
    ):
        run()
        batch.refresh_from_db()
        assert outcomes(batch)["b.HEIC"] == "refused"
        assert batch.note == "1 file that is no picture was left out: notes.txt."


@pytest.mark.parametrize("name", ["new\nline.jpg", "\u202ertl.jpg", "b\\s.jpg", "é" * 120 + ".jpg", " .jpg"])
def test_any_name_that_a_file_can_have_is_imported(name: str, as_: As, tmp_path: Path, ada: User) -> None:
    folder_of(tmp_path, name)
    imports.begin_folder(folder=tmp_path, table=None, by=ada)
    said = announce(as_(ada), {f"d/{name}": b"hello"}).json()
    assert said["waiting"] == [f"d/{name}"]
    assert send(as_(ada), said["send"], f"d/{name}", b"hello").json()["outcome"] == "refused"
    run()
    assert outcomes(ImportBatch.objects.get(kind="folder")) == {name: "added"}
    assert as_(ada).get(reverse("import_detail", args=[ImportBatch.objects.get(kind="folder").pk])).status_code == 200


def test_a_name_that_is_no_text_is_refused_and_its_page_is_shown(as_: As, tmp_path: Path, ada: User) -> None:
    batch = imports.begin_folder(folder=folder_of(tmp_path, "\udcff.jpg", "a.jpg"), table=None, by=ada)
    run()
    assert outcomes(batch) == {"?.jpg": "refused", "a.jpg": "added"}
    assert "is not UTF-8" in as_(ada).get(reverse("import_detail", args=[batch.pk])).text
    listing = SimpleUploadedFile("f.json", b'[{"path": "\\udcff.jpg", "size": 1}]')
    assert as_(ada).post(reverse("import_begin"), {"listing": listing}).status_code == 400


def test_a_decoder_that_fails_in_its_own_way_does_not_hold_up_the_others(tmp_path: Path, ada: User) -> None:
    buffer = io.BytesIO()
    Picture.new("RGB", (8, 8)).save(buffer, "AVIF")
    broken = buffer.getvalue().replace(b"av01", b"av99", 1)  # Pillow raises a RuntimeError of this one
    folder = folder_of(tmp_path, "b.jpg")
    (folder / "a.avif").write_bytes(broken)
    batch = imports.begin_folder(folder=folder, table=None, by=ada)
    run()
    assert outcomes(batch) == {"a.avif": "refused", "b.jpg": "added"}


def test_two_files_of_one_path_in_a_zip_both_survive_whatever_their_slashes(tmp_path: Path, ada: User) -> None:
    path = tmp_path / "twice.zip"
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("d/a.jpg", "d/a.jpg", "d\\a.jpg"):
            archive.writestr(name, factories.jpeg())
    batch = imports.begin_zip(path=path, table=None, by=ada)
    run()
    assert outcomes(batch) == {"d/a.jpg": "added", "d/a (2).jpg": "added", "d/a (3).jpg": "added"}


def test_a_packed_file_that_is_damaged_in_any_way_is_refused_by_name(tmp_path: Path, ada: User) -> None:
    path = tmp_path / "lzma.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.jpg", factories.jpeg())
        archive.writestr("b.jpg", factories.jpeg(), zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    data[60:120] = b"\xff" * 60
    path.write_bytes(data)
    batch = imports.begin_zip(path=path, table=None, by=ada)
    run()
    assert outcomes(batch) == {"a.jpg": "refused", "b.jpg": "added"}


def test_a_file_that_is_too_large_is_refused_before_it_is_sent(as_: As, ada: User, settings: Any) -> None:
    settings.MAX_IMAGE_BYTES = 5
    said = announce(as_(ada), {"big.jpg": b"123456", "small.jpg": b"1"}).json()
    assert said["waiting"] == ["small.jpg"]
    assert "at most 5 are allowed" in ImportedFile.objects.get(path="big.jpg").sentence
    assert "at most 5 are allowed" in send(as_(ada), said["send"], "small.jpg", b"1234567").json()["detail"]


def test_a_file_that_was_mended_since_is_sent_again(as_: As, ada: User) -> None:
    whole = factories.jpeg()
    files = {"a.jpg": whole[:90], "b.jpg": factories.jpeg()}
    first = announce(as_(ada), files).json()
    assert send(as_(ada), first["send"], "a.jpg", whole[:90]).json()["outcome"] == "refused"
    again = announce(as_(ada), {**files, "a.jpg": whole}).json()
    assert again["send"] == first["send"]
    assert again["waiting"] == ["a.jpg", "b.jpg"]
    assert send(as_(ada), again["send"], "a.jpg", whole).json()["outcome"] == "added"


def test_the_command_is_its_batchs_worker_from_the_start(tmp_path: Path, ada: User) -> None:
    batch = imports.begin_folder(folder=folder_of(tmp_path, "a.jpg"), table=None, by=None, worker="mine")
    run()
    assert outcomes(batch) == {"a.jpg": "waiting"}
    imports.work(batch=batch, token="mine", stop=Stop())
    assert outcomes(batch) == {"a.jpg": "added"}


def test_the_bytes_of_a_set_aside_picture_say_so(tmp_path: Path, ada: User) -> None:
    folder = folder_of(tmp_path, "a.jpg")
    imports.begin_folder(folder=folder, table=None, by=ada)
    run()
    kept = factories.image(name="kept.jpg")
    Image.objects.exclude(pk=kept.pk).update(duplicate_of=kept)
    batch = imports.begin_folder(folder=folder, table=None, by=ada)
    run()
    assert "It was set aside as a duplicate of kept.jpg." in batch.files.get().sentence
