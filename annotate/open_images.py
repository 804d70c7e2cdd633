"""The image table of Open Images: the public CSV with the address, the author and the licence of each picture.

See https://storage.googleapis.com/openimages/web/download.html ("Image IDs") and, for `Rotation`,
https://storage.googleapis.com/openimages/web/2018-05-17-rotation-information.html.
"""

import csv
import io

from annotate.image_csv import Row, Table, check_once, fitting, text_of
from annotate.models.images import Source
from fpco_site.errors import Invalid

HEADER = (
    "ImageID",
    "Subset",
    "OriginalURL",
    "OriginalLandingURL",
    "License",
    "AuthorProfileURL",
    "Author",
    "Title",
    "OriginalSize",
    "OriginalMD5",
    "Thumbnail300KURL",
    "Rotation",
)
NAMES = {"http://creativecommons.org/licenses/by/2.0": "CC BY 2.0"}  # the one licence of the collection
TURNS = (0, 90, 180, 270)


def fits(first_line: str) -> bool:
    """Whether a table that begins with this line is one of Open Images."""
    return tuple(first_line.strip().split(",")) == HEADER


def parse(data: bytes, *, name: str) -> Table:
    """Rows by file name, ImageID.jpg; the first bad line raises Invalid with its number."""
    reader = csv.reader(io.StringIO(text_of(data, name), newline=""), strict=True)
    try:
        if tuple(next(reader, [])) != HEADER:
            raise Invalid(f"{name}, line 1: the columns of Open Images are {','.join(HEADER)}.")
        rows = [_row(values, name, f"line {reader.line_num}") for values in reader if values]
    except csv.Error as error:
        raise Invalid(f"{name}, line {reader.line_num}: this is not CSV ({error}).") from error
    check_once(rows, name)
    return Table(rows, catalogue=True)


def _row(values: list[str], name: str, line: str) -> Row:
    where = f"{name}, {line}"
    if len(values) != len(HEADER):
        raise Invalid(f"{where}: there are {len(values)} values for {len(HEADER)} columns.")
    given = {column: value.strip() for column, value in zip(HEADER, values, strict=True)}
    if not given["ImageID"] or "/" in given["ImageID"]:
        raise Invalid(f"{where}: the column ImageID must be the name of a file without its .jpg.")
    facts = {
        "source": Source.OPEN_IMAGES.value,
        "source_id": given["ImageID"],
        "author": given["Author"],
        "license": licence_name(given["License"]),
        "license_url": given["License"],
        "landing_url": given["OriginalLandingURL"],
        "source_url": given["OriginalURL"],
    }
    record = {column: value for column, value in zip(HEADER, values, strict=True) if value}
    return Row(line, f"{given['ImageID']}.jpg", fitting(facts), None, record, _rotation(given["Rotation"], where))


def licence_name(url: str) -> str:
    """What the licence at that address is called; blank where it is not the collection's own."""
    address = url.replace("https://", "http://").rstrip("/")
    return NAMES.get(address, "")


def _rotation(text: str, where: str) -> int:
    """Degrees, counter-clockwise; none where the picture's author was not asked any more."""
    if text.lower() in {"", "nan"}:
        return 0
    try:
        turn = float(text)
    except ValueError:
        turn = -1.0
    if turn not in TURNS:
        raise Invalid(f"{where}: Rotation must be 0, 90, 180, 270 or nothing, not {text!r}.")
    return int(turn)
