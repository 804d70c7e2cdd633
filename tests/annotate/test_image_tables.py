"""Tables of sources: COCO's JSON, Open Images' CSV and our own, told by their content."""

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotate import coco, image_tables, open_images
from fpco_site.errors import Invalid

BOM = b"\xef\xbb\xbf"
LICENCES = [
    {
        "url": "http://creativecommons.org/licenses/by-nc-sa/2.0/",
        "id": 1,
        "name": "Attribution-NonCommercial-ShareAlike",
    },
    {"url": "http://creativecommons.org/licenses/by-nd/2.0/", "id": 6, "name": "Attribution-NoDerivs License"},
]
COCO_IMAGE = {
    "license": 6,
    "file_name": "000000397133.jpg",
    "coco_url": "http://images.cocodataset.org/val2017/000000397133.jpg",
    "height": 427,
    "width": 640,
    "date_captured": "2013-11-14 17:02:52",
    "flickr_url": "http://farm7.staticflickr.com/6116/6255196340_da26cf2c9e_z.jpg",
    "id": 397133,
}
HEADER = (
    "ImageID,Subset,OriginalURL,OriginalLandingURL,License,AuthorProfileURL,Author,Title,OriginalSize,OriginalMD5,"
    "Thumbnail300KURL,Rotation"
)
OPEN_IMAGES_ROW = {
    "ImageID": "000060e3121c7305",
    "Subset": "validation",
    "OriginalURL": "https://farm1.staticflickr.com/129/422019298.jpg",
    "OriginalLandingURL": "https://www.flickr.com/photos/someone/422019298",
    "License": "https://creativecommons.org/licenses/by/2.0/",
    "AuthorProfileURL": "https://www.flickr.com/people/someone/",
    "Author": "Someone, Else",
    "Title": 'A "dog"',
    "OriginalSize": "310263",
    "OriginalMD5": "Jxs5jJPZ9oDdRvZzE7EEcQ==",
    "Thumbnail300KURL": "https://c1.staticflickr.com/1/129/422019298_z.jpg",
    "Rotation": "90.0",
}


def coco_file(*images: dict[str, Any], licences: Any = LICENCES, **more: Any) -> bytes:
    return json.dumps({"info": {}, "licenses": licences, "images": list(images), "annotations": [], **more}).encode()


def open_images_file(*rows: dict[str, str], header: str = HEADER) -> bytes:
    text = io.StringIO(header + "\n")
    text.seek(0, io.SEEK_END)
    csv.DictWriter(text, HEADER.split(",")).writerows(rows)
    return text.getvalue().encode()


@pytest.mark.parametrize("before", [b"", BOM])
def test_coco_says_where_a_file_comes_from_and_under_what_licence(before: bytes) -> None:
    table = image_tables.parse(before + coco_file(COCO_IMAGE), name="instances.json")
    row = table.find("val2017/000000397133.jpg")
    assert row is not None
    assert row.facts == {
        "source": "coco",
        "source_id": "397133",
        "license": "Attribution-NoDerivs License",
        "license_url": "http://creativecommons.org/licenses/by-nd/2.0/",
        "landing_url": COCO_IMAGE["flickr_url"],
        "source_url": COCO_IMAGE["coco_url"],
    }
    assert row.record == {**COCO_IMAGE, "licenses": [LICENCES[1]]}
    assert table.catalogue
    assert (row.where, row.rotation, row.cell) == ("image 1", 0, None)


@pytest.mark.parametrize("before", [b"", BOM])
def test_open_images_says_where_a_file_comes_from_and_how_it_is_turned(before: bytes) -> None:
    table = image_tables.parse(before + open_images_file(OPEN_IMAGES_ROW), name="images.csv")
    row = table.find("some/folder/000060e3121c7305.jpg")
    assert row is not None
    assert row.facts == {
        "source": "open_images",
        "source_id": "000060e3121c7305",
        "author": "Someone, Else",
        "license": "CC BY 2.0",
        "license_url": "https://creativecommons.org/licenses/by/2.0/",
        "landing_url": "https://www.flickr.com/photos/someone/422019298",
        "source_url": "https://farm1.staticflickr.com/129/422019298.jpg",
    }
    assert row.record == OPEN_IMAGES_ROW
    assert (row.where, row.rotation) == ("line 2", 90)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_our_own_csv_is_told_by_its_header(ending: str) -> None:
    table = image_tables.parse(f"file,author,source_url{ending}a.jpg,Jo,https://x.org/a.jpg{ending}".encode(), name="t")
    row = table.find("a.jpg")
    assert row is not None
    assert row.facts == {"author": "Jo", "source_url": "https://x.org/a.jpg"}
    assert not table.catalogue
    windows = image_tables.parse(open_images_file(OPEN_IMAGES_ROW).replace(b"\n", b"\r\n"), name="t")
    assert windows.catalogue


@pytest.mark.parametrize(
    ("text", "rotation"), [("", 0), ("nan", 0), ("NaN", 0), ("0.0", 0), ("90.0", 90), ("180", 180), ("270.0", 270)]
)
def test_rotation_is_read_as_the_collection_writes_it(text: str, rotation: int) -> None:
    table = open_images.parse(open_images_file({**OPEN_IMAGES_ROW, "Rotation": text}), name="t")
    assert [row.rotation for row in table] == [rotation]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b'{"images": [', "t is not whole JSON"),
        (b"[1, 2]", "t is not an annotation file of COCO"),
        (b'{"images": [{"x": ' + b"[" * 100_000, "t is not an annotation file of COCO: it is nested too deep."),
        (b'{"annotations": []}', "t is not an annotation file of COCO"),
        (b'{"images": [{"id": 1}]}', "t, image 1: it has no file_name."),
        (b'{"images": [{"file_name": 7}]}', "t, image 1: file_name must be text, not 7."),
        (b'{"images": [{"file_name": "a"}, {"file_name": "a"}]}', "t, image 2: a is already on image 1."),
        (b'{"images": "\xff"}', "t is not"),
        (open_images_file({**OPEN_IMAGES_ROW, "Rotation": "45"}), "t, line 2: Rotation must be 0, 90, 180, 270"),
        (open_images_file({**OPEN_IMAGES_ROW, "ImageID": ""}), "t, line 2: the column ImageID must be"),
        (open_images_file(OPEN_IMAGES_ROW, OPEN_IMAGES_ROW), "t, line 3: 000060e3121c7305.jpg is already on line 2."),
        (f"{HEADER}\na,b\n".encode(), "t, line 2: there are 2 values for 12 columns."),
        (f"{HEADER[:-9]}\n".encode(), "t, line 1: there is no column 'file'"),
    ],
)
def test_what_is_no_such_table_is_refused_by_name_and_place(data: bytes, sentence: str) -> None:
    with pytest.raises(Invalid) as refused:
        image_tables.parse(data, name="t")
    assert refused.value.message.startswith(sentence)


def test_a_strange_row_of_a_catalogue_does_not_stop_the_others() -> None:
    strange = {**COCO_IMAGE, "id": 2, "file_name": "b.jpg", "flickr_url": "n/a", "coco_url": "javascript:alert(1)"}
    table = coco.parse(coco_file(COCO_IMAGE, strange), name="t")
    row = table.find("b.jpg")
    assert row is not None
    assert not {"landing_url", "source_url"} & set(row.facts)
    assert row.record["flickr_url"] == "n/a"


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)


@given(st.lists(st.tuples(st.from_regex(r"\A[0-9a-f]{16}\Z"), TEXT, TEXT), unique_by=lambda row: row[0], max_size=20))
def test_whatever_authors_and_titles_hold_is_read_as_it_was_written(rows: list[tuple[str, str, str]]) -> None:
    written = [{**OPEN_IMAGES_ROW, "ImageID": key, "Author": author, "Title": title} for key, author, title in rows]
    table = image_tables.parse(open_images_file(*written), name="t")
    assert len(table) == len(rows)
    for key, author, title in rows:
        row = table.find(f"{key}.jpg")
        assert row is not None
        assert (row.record.get("Author", ""), row.record.get("Title", "")) == (author, title)


@given(
    st.lists(
        st.fixed_dictionaries({"id": st.integers(0, 10**9), "file_name": st.from_regex(r"\A[a-z0-9]{1,9}\.jpg\Z")}),
        unique_by=lambda image: image["file_name"],
        max_size=20,
    ),
    st.booleans(),
)
def test_every_image_of_a_coco_file_is_found_by_its_name(images: list[dict[str, Any]], bom: bool) -> None:
    table = image_tables.parse((BOM if bom else b"") + coco_file(*images), name="t")
    assert [row.file for row in table] == [image["file_name"] for image in images]
    for image in images:
        row = table.find(f"folder/{image['file_name']}")
        assert row is not None
        assert row.facts["source_id"] == str(image["id"])


@given(st.binary(max_size=300))
def test_any_bytes_are_a_table_or_refused_with_a_sentence(data: bytes) -> None:
    said = ""
    try:
        image_tables.parse(data, name="t")
    except Invalid as error:
        said = error.message
    assert not said or (said.startswith("t") and said.endswith("."))


def test_a_licence_that_coco_does_not_explain_is_unknown_and_stops_nothing() -> None:
    table = image_tables.parse(b'{"images": [{"file_name": "a.jpg", "license": 9}]}', name="t")
    row = table.find("a.jpg")
    assert row is not None
    assert row.record["license"] == 9
    assert "license" not in row.facts


@pytest.mark.parametrize("mark", [";", "\t"])
def test_a_table_of_a_spreadsheet_with_other_separators_is_read(mark: str) -> None:
    table = image_tables.parse(f"file{mark}author\r\na.jpg{mark}Jo, Ann\r\n".encode(), name="t")
    row = table.find("a.jpg")
    assert row is not None
    assert row.facts == {"author": "Jo, Ann"}


def test_an_accent_is_the_same_however_it_is_spelt() -> None:
    row = image_tables.parse("file\ncafé.jpg\n".encode(), name="t").find("d/cafe\u0301.jpg")
    assert row is not None
    assert row.file == "café.jpg"
