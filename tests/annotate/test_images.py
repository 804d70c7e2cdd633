"""Importing photographs."""

import io
import random
import struct
import zlib
from hashlib import sha256
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from PIL import Image as Pillow
from PIL import ImageCms

from annotate import image_csv
from annotate.models import Image, Item, User
from annotate.services import images, items
from fpco_site.errors import Invalid
from tests import factories

RED, BLUE = (255, 0, 0), (0, 0, 255)


def encoded(picture: Pillow.Image, kind: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def stored(image: Image) -> Pillow.Image:
    with image.file.open("rb") as file:
        picture = Pillow.open(io.BytesIO(file.read()))
        picture.load()
    return picture


def near(pixel: object, wanted: tuple[int, int, int], by: int = 12) -> bool:
    assert isinstance(pixel, tuple)
    return all(abs(int(a) - b) <= by for a, b in zip(pixel, wanted, strict=True))


def bring(data: bytes, name: str = "photo.png", **facts: str) -> Image:
    return images.import_file(data=data, name=name, by=None, facts=facts).image


def huge_png(width: int, height: int) -> bytes:
    """A PNG that claims a size and holds next to nothing."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0" * 1000))
        + chunk(b"IEND", b"")
    )


def test_a_photograph_is_named_by_the_hash_of_its_stored_bytes(ada: User) -> None:
    data = factories.jpeg(120, 80)
    image = images.import_file(data=data, name="C:\\fotos\\dog.jpg", by=ada).image
    with image.file.open("rb") as file:
        assert sha256(file.read()).hexdigest() == image.sha256
    assert image.original_sha256 == sha256(data).hexdigest()
    assert (image.width, image.height, image.name, image.added_by) == (120, 80, "dog.jpg", ada)
    assert len(image.phash) == 16


@pytest.mark.django_db
def test_the_same_bytes_are_one_image_and_so_are_its_stored_bytes() -> None:
    data = factories.jpeg()
    first = images.import_file(data=data, name="a.jpg", by=None)
    again = images.import_file(data=data, name="b.jpg", by=None)
    with first.image.file.open("rb") as file:
        back = images.import_file(data=file.read(), name="c.jpg", by=None)
    assert (first.added, again.added, back.added) == (True, False, False)
    assert first.image == again.image == back.image
    assert Image.objects.count() == 1


@pytest.mark.django_db
def test_a_photograph_is_turned_upright_and_loses_its_metadata() -> None:
    picture = Pillow.new("RGB", (80, 40), RED)
    picture.paste(BLUE, (0, 0, 40, 40))
    exif = Pillow.Exif()
    exif[0x0112] = 6  # turn a quarter clockwise to see it upright
    exif[0x010E] = "taken at a secret place"
    image = bring(encoded(picture, "JPEG", exif=exif, quality=95, comment=b"a secret place"))
    kept = stored(image)
    assert kept.size == (40, 80) == (image.width, image.height)
    assert near(kept.getpixel((20, 10)), BLUE)
    assert near(kept.getpixel((20, 70)), RED)
    with image.file.open("rb") as file:
        assert b"secret place" not in file.read()
    assert not kept.getexif()
    assert "icc_profile" not in kept.info


@pytest.mark.parametrize("mode", ["RGBA", "LA", "PA"])
@pytest.mark.django_db
def test_what_is_transparent_is_white(mode: str) -> None:
    picture = Pillow.new("RGBA", (40, 40), (0, 0, 0, 0))
    picture.paste((0, 0, 0, 255), (0, 0, 20, 40))
    kind = "TIFF" if mode == "PA" else "PNG"
    shown = picture.convert("LA") if mode == "LA" else picture
    if mode == "PA":
        shown, kind = picture.quantize(8), "PNG"
    kept = stored(bring(encoded(shown, kind)))
    assert kept.mode == "RGB"
    assert near(kept.getpixel((5, 20)), (0, 0, 0))
    assert near(kept.getpixel((35, 20)), (255, 255, 255))


@pytest.mark.django_db
def test_sixteen_bits_of_grey_keep_their_tones() -> None:
    picture = Pillow.new("I;16", (40, 40), 32768)
    kept = stored(bring(encoded(picture)))
    assert near(kept.getpixel((20, 20)), (128, 128, 128), by=2)


@pytest.mark.django_db
def test_cmyk_and_palette_become_rgb() -> None:
    cmyk = stored(bring(encoded(Pillow.new("RGB", (40, 40), RED).convert("CMYK"), "JPEG"), "print.jpg"))
    palette = stored(bring(encoded(Pillow.new("RGB", (41, 40), BLUE).quantize(4), "GIF"), "web.gif"))
    assert cmyk.mode == palette.mode == "RGB"
    assert near(cmyk.getpixel((20, 20)), RED)
    assert near(palette.getpixel((20, 20)), BLUE)


@pytest.mark.django_db
def test_colours_of_another_profile_are_brought_to_srgb() -> None:
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    kept = stored(bring(encoded(Pillow.new("RGB", (40, 40), RED), "PNG", icc_profile=lab)))
    assert near(kept.getpixel((20, 20)), RED)
    broken = stored(bring(encoded(Pillow.new("RGB", (42, 40), BLUE), "PNG", icc_profile=b"not a profile")))
    assert near(broken.getpixel((20, 20)), BLUE)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "photo.png is empty."),
        (b"hello, this is text", "photo.png is not a picture of a known format"),
        (factories.jpeg(400, 400)[:900], "photo.png is damaged or cut off"),
        (huge_png(60_000, 60_000), "photo.png has too many pixels; at most 60,000,000 are allowed."),
        (huge_png(9_000, 9_000), "photo.png has 9,000 x 9,000 pixels; at most 60,000,000 in all are allowed."),
        (huge_png(500, 500), "photo.png is damaged or cut off"),
    ],
)
@pytest.mark.django_db
def test_what_is_no_whole_picture_is_refused_by_name(data: bytes, sentence: str) -> None:
    with pytest.raises(Invalid) as refused:
        bring(data)
    assert refused.value.message.startswith(sentence)
    assert not Image.objects.exists()


@pytest.mark.django_db
def test_a_file_with_too_many_bytes_is_refused(settings: object) -> None:
    settings.MAX_IMAGE_BYTES = 100  # type: ignore[attr-defined]
    with pytest.raises(Invalid, match="at most 100 are allowed"):
        bring(factories.jpeg())


@pytest.mark.django_db
def test_a_half_written_file_of_a_killed_import_is_replaced() -> None:
    data = factories.jpeg()
    image = bring(data)
    path = Path(image.file.path)
    whole = path.read_bytes()
    Image.objects.all().delete()
    path.write_bytes(whole[:50])
    assert Path(bring(data).file.path).read_bytes() == whole


@pytest.mark.django_db
def test_a_picture_of_a_release_is_never_encoded_anew() -> None:
    data = encoded(Pillow.new("RGB", (40, 30), BLUE))
    image = images.import_stored(data=data, name="x.png", by=None, facts={"original_sha256": "a" * 64}).image
    with image.file.open("rb") as file:
        assert file.read() == data
    assert (image.mime, image.original_sha256, image.width) == ("image/png", "a" * 64, 40)


@pytest.mark.django_db
def test_another_file_of_the_same_sight_is_pointed_out() -> None:
    coarse = Pillow.frombytes("L", (8, 8), bytes(random.Random(3).randbytes(64)))
    picture = coarse.resize((256, 256), Pillow.Resampling.BICUBIC).convert("RGB")
    first = bring(encoded(picture), "first.png")
    again = images.import_file(data=encoded(picture, "JPEG", quality=90), name="again.jpg", by=None)
    assert again.added
    assert again.twin == first


@pytest.mark.django_db
def test_facts_fill_in_what_was_blank_and_never_replace_what_was_written() -> None:
    data = factories.jpeg()
    bring(data, author="", license="CC0")
    image = bring(data, author="Jo", license="CC BY 4.0", source="coco")
    assert (image.author, image.license, image.source) == ("Jo", "CC0", "coco")


CSV = "file,source,author,license,complexity,category,premise_class,target\n"


def folder_of(path: Path, *names: str) -> Path:
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(factories.jpeg())
    return path


def test_a_folder_with_a_table_is_imported_and_placed(tmp_path: Path, ada: User) -> None:
    folder = folder_of(tmp_path, "dog.jpg", "more/cat.jpg", "bus.jpg")
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff no")
    (folder / "notes.txt").write_text("not a picture")
    table = image_csv.parse(
        (
            "\ufeff" + CSV + "dog.jpg,coco,Jo,CC0,single_clean,3,identity,dog\n"
            "more/cat.jpg,other,,,,,,cat\ngone.jpg,,,,,,,\n"
        ).encode(),
        name="facts.csv",
    )
    fates = {fate.name: fate for fate in images.import_many(given=images.in_folder(folder), table=table, by=ada)}
    assert {name: fate.outcome.value for name, fate in fates.items()} == {
        "dog.jpg": "added",
        "more/cat.jpg": "added",
        "bus.jpg": "added",
        "broken.jpg": "refused",
        "gone.jpg": "missing",
    }
    item = Item.objects.get()
    assert (item.cell, item.target, item.image.author) == (("single_clean", "animal", "identity"), "dog", "Jo")
    assert Image.objects.get(name="cat.jpg").target == "cat"
    again = list(images.import_many(given=images.in_folder(folder), table=table, by=ada))
    assert [fate.outcome.value for fate in again] == ["refused", "present", "present", "present", "missing"]
    assert Item.objects.count() == 1


def test_an_import_never_moves_an_item(tmp_path: Path, ada: User) -> None:
    folder = folder_of(tmp_path, "dog.jpg")
    image = images.import_file(data=(folder / "dog.jpg").read_bytes(), name="dog.jpg", by=ada).image
    items.place(image=image, cell=("single_clean", "animal", "location"), by=ada)
    table = image_csv.parse((CSV + "dog.jpg,,,,single_clean,animal,identity,\n").encode(), name="facts.csv")
    [fate] = images.import_many(given=images.in_folder(folder), table=table, by=ada)
    assert "It stays in single_clean, animal, location" in fate.sentence
    assert Item.objects.get().premise_class == "location"


def test_a_link_out_of_the_folder_is_left_out(tmp_path: Path) -> None:
    folder_of(tmp_path, "in/a.jpg", "out/b.jpg")
    (tmp_path / "in" / "b.jpg").symlink_to(tmp_path / "out" / "b.jpg")
    assert [given.path for given in images.in_folder(tmp_path / "in")] == ["a.jpg"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name,author\n", "facts.csv, line 1: there is no column 'file'"),
        ("file,licence\n", "facts.csv, line 1: there is no column 'licence'"),
        ("file,file\n", "facts.csv, line 1: the column 'file' comes twice."),
        ("file,author\na.jpg\n", "facts.csv, line 2: there are 1 values for 2 columns."),
        ("file,source\na.jpg,flickr\n", "facts.csv, line 2: source must be one of coco, open_images, other"),
        ("file,category\na.jpg,dog\n", "facts.csv, line 2: category must be one of person, vehicle, animal, food"),
        ("file,category\na.jpg,animal\n", "facts.csv, line 2: a place needs complexity, category and premise_class;"),
        ("file\na.jpg\n\na.jpg\n", "facts.csv, line 4: a.jpg is already on line 2."),
        ("file,landing_url\na.jpg,javascript:alert(1)\n", "facts.csv, line 2: landing_url must be an http or https"),
        ("file,author\n,Jo\n", "facts.csv, line 2: the column 'file' is empty."),
        ('file,author\na.jpg,"Jo\n', "facts.csv, line 2: this is not CSV"),
    ],
)
def test_a_bad_line_of_the_table_is_named(text: str, sentence: str) -> None:
    with pytest.raises(Invalid) as refused:
        image_csv.parse(text.encode(), name="facts.csv")
    assert refused.value.message.startswith(sentence)


def test_a_table_that_is_not_utf8_names_the_line() -> None:
    with pytest.raises(Invalid, match="line 3: this is not UTF-8"):
        image_csv.parse("file,author\na.jpg,Jo\nb.jpg,Jörg\n".encode("latin-1"), name="facts.csv")


@pytest.mark.django_db
def test_the_command_says_what_became_of_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder_of(tmp_path, "a.jpg", "b.jpg")
    call_command("import_images", str(tmp_path))
    assert "2 added, 0 already there, 0 refused" in capsys.readouterr().out
    (tmp_path / "c.jpg").write_bytes(b"no")
    with pytest.raises(CommandError, match="1 of the files could not be imported"):
        call_command("import_images", str(tmp_path))
    said = capsys.readouterr()
    assert "0 added, 2 already there, 1 refused" in said.out
    assert "c.jpg is not a picture" in said.err


@pytest.mark.django_db
def test_the_command_imports_nothing_with_a_bad_table(tmp_path: Path) -> None:
    folder_of(tmp_path, "a.jpg")
    (tmp_path / "facts.csv").write_text("file,colour\na.jpg,red\n")
    with pytest.raises(CommandError, match=r"facts.csv, line 1: there is no column 'colour'"):
        call_command("import_images", str(tmp_path), csv=tmp_path / "facts.csv")
    with pytest.raises(CommandError, match="There is no folder or zip"):
        call_command("import_images", str(tmp_path / "nowhere"))
    assert not Image.objects.exists()


def test_a_bare_name_that_fits_several_files_gives_its_facts_to_none(tmp_path: Path, ada: User) -> None:
    folder = folder_of(tmp_path, "x/same.png", "y/same.png", "alone.png")
    table = image_csv.parse(b"file,author\nsame.png,Zed\nalone.png,Amy\n", name="t.csv")
    fates = list(images.import_many(given=images.in_folder(folder), table=table, by=ada))
    assert [(fate.name, fate.outcome.value) for fate in fates] == [
        ("alone.png", "added"),
        ("x/same.png", "refused"),
        ("y/same.png", "refused"),
    ]
    assert fates[1].sentence.startswith("Line 2 of the table could mean any of 2 files named same.png")
    assert [image.author for image in Image.objects.all()] == ["Amy"]


def test_an_exact_path_keeps_its_row_beside_a_file_of_the_same_name(tmp_path: Path, ada: User) -> None:
    folder = folder_of(tmp_path, "same.png", "y/same.png")
    table = image_csv.parse(b"file,author\nsame.png,Zed\n", name="t.csv")
    fates = list(images.import_many(given=images.in_folder(folder), table=table, by=ada))
    assert [fate.outcome.value for fate in fates] == ["added", "refused"]
    assert Image.objects.get().author == "Zed"


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("x" * 301, "t.csv, line 2: author has 301 characters; at most 300 are allowed."),
        ("a\0b", "t.csv, line 2: author holds a control character that can't be typed; remove it."),
    ],
)
def test_a_table_holds_no_more_than_the_form_takes(value: str, sentence: str) -> None:
    with pytest.raises(Invalid) as refused:
        image_csv.parse(f"file,author\na.jpg,{value}\n".encode(), name="t.csv")
    assert refused.value.message == sentence
    image_csv.parse(f"file,author\na.jpg,{'x' * 300}\n".encode(), name="t.csv")
