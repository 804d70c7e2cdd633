"""The annotation file of MS COCO, of which `images` and `licenses` are read; its labels are not.

See https://cocodataset.org/#format-data.
"""

from typing import Any

import msgspec

from annotate.image_csv import Row, Table, check_once, fitting
from annotate.models.images import Source
from fpco_site.errors import Invalid

_BOM = b"\xef\xbb\xbf"


class _File(msgspec.Struct):
    images: list[dict[str, Any]]
    licenses: list[dict[str, Any]] = []


def fits(data: bytes) -> bool:
    """Whether a table is JSON rather than CSV."""
    return data.removeprefix(_BOM).lstrip()[:1] in {b"{", b"["}


def parse(data: bytes, *, name: str) -> Table:
    """Rows by `file_name`; the first image that is not as COCO writes it raises Invalid with its number."""
    try:
        found = msgspec.json.decode(data.removeprefix(_BOM), type=_File)
    except UnicodeDecodeError as error:
        raise Invalid(f"{name} is not UTF-8 text.") from error
    except msgspec.ValidationError as error:
        raise Invalid(f"{name} is not an annotation file of COCO: {error}.") from error
    except RecursionError as error:
        raise Invalid(f"{name} is not an annotation file of COCO: it is nested too deep.") from error
    except msgspec.DecodeError as error:
        raise Invalid(f"{name} is not whole JSON: {error}.") from error
    licences = {_key(entry.get("id")): entry for entry in found.licenses}
    rows = [_row(image, licences, name, f"image {number}") for number, image in enumerate(found.images, 1)]
    check_once(rows, name)
    return Table(rows, catalogue=True)


def _row(image: dict[str, Any], licences: dict[str, dict[str, Any]], name: str, number: str) -> Row:
    where = f"{name}, {number}"
    file = _text(image, "file_name", where).replace("\\", "/").removeprefix("./")
    if not file:
        raise Invalid(f"{where}: it has no file_name.")
    licence = _licence(image, licences)
    facts = {
        "source": Source.COCO.value,
        "source_id": _key(image.get("id")),
        "license": _text(licence, "name", where),
        "license_url": _text(licence, "url", where),
        "landing_url": _text(image, "flickr_url", where),
        "source_url": _text(image, "coco_url", where),
    }
    record = {**image, "licenses": [licence]} if licence else image
    return Row(number, file, fitting(facts), None, record)


def _licence(image: dict[str, Any], licences: dict[str, dict[str, Any]]) -> dict[str, Any]:
    # A licence that the file does not explain is unknown, as one that is not named: the picture is flagged.
    return licences.get(_key(image.get("license")), {})


def _text(entry: dict[str, Any], field: str, where: str) -> str:
    value = entry.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Invalid(f"{where}: {field} must be text, not {value!r}.")
    return value.strip()


def _key(value: Any) -> str:
    """An id as text: COCO numbers its images, others that use its format name them."""
    return "" if value is None else str(value)
