"""Importing photographs: each file is decoded once, kept upright and without metadata, and stored once."""

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path, PurePosixPath

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import IntegrityError, transaction
from django.db.models import Q

from annotate import image_csv, pictures
from annotate.axes import Cell
from annotate.models import Image, User
from annotate.models.images import Source
from annotate.services import items
from fpco_site.errors import FpcoError, Invalid

THUMB_SIDE = 320
_SUFFIXES = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp"}


@dataclass(frozen=True)
class Imported:
    """The row of a picture, and whether it is new; `twin` is another picture that looks the same."""

    image: Image
    added: bool
    twin: Image | None = None


class Outcome(StrEnum):
    ADDED = "added"
    PRESENT = "present"
    REFUSED = "refused"
    MISSING = "missing"


@dataclass(frozen=True)
class Fate:
    """What became of one file of an import, in one sentence."""

    name: str
    outcome: Outcome
    sentence: str
    image: Image | None = None


@dataclass(frozen=True)
class Given:
    """A file to import: `path` is below the folder, with slashes; `read` brings its bytes."""

    path: str
    size: int
    read: Callable[[], bytes]


def import_file(*, data: bytes, name: str, by: User | None, facts: Mapping[str, str] | None = None) -> Imported:
    """Keep one picture. The same bytes are one image, however often they come. Raises Invalid."""
    name = PurePosixPath(name.replace("\\", "/")).name
    facts = facts or {}
    original = sha256(data).hexdigest()
    if (known := _known(original)) is not None:
        return Imported(_fill_in(known, facts), added=False)
    picture = pictures.normalise(
        data, name=name, max_bytes=settings.MAX_IMAGE_BYTES, max_pixels=settings.MAX_IMAGE_PIXELS
    )
    return _keep(picture, name=name, original=original, by=by, facts=facts)


def import_stored(*, data: bytes, name: str, by: User | None, facts: Mapping[str, str] | None = None) -> Imported:
    """Keep a picture of a release as it is, never encoded anew; `facts` may hold its original_sha256."""
    name = PurePosixPath(name).name
    facts = facts or {}
    known = Image.objects.filter(sha256=sha256(data).hexdigest()).first()
    if known is not None:
        return Imported(_fill_in(known, facts), added=False)
    picture = pictures.inspect(
        data, name=name, max_bytes=settings.MAX_IMAGE_BYTES, max_pixels=settings.MAX_IMAGE_PIXELS
    )
    return _keep(picture, name=name, original=facts.get("original_sha256", ""), by=by, facts=facts)


def import_many(*, given: Iterable[Given], table: image_csv.Table | None = None, by: User | None) -> Iterator[Fate]:
    """Import file after file; each is kept or refused by itself, and the import can start again.

    Yields the fate of every file, and last of the rows of the table whose file was not there.
    """
    files = list(given)
    rows = [table.find(file.path) if table else None for file in files]
    used = Counter(row.line for row in rows if row is not None)
    exact = Counter(file.path for file in files)
    for file, row in zip(files, rows, strict=True):
        if row is not None and used[row.line] > 1 and (file.path != row.file or exact[file.path] > 1):
            yield Fate(file.path, Outcome.REFUSED, _ambiguous(row, used[row.line]))
        else:
            yield _import_one(file, row, by)
    for row in table or ():
        if row.line not in used:
            yield Fate(row.file, Outcome.MISSING, f"The table names it on line {row.line}, but there is no such file.")


def in_folder(folder: Path) -> list[Given]:
    """The pictures below `folder`, in order of their paths; links that lead out of it are left out."""
    if not folder.is_dir():
        raise Invalid(f"There is no folder {folder}.")
    top = folder.resolve()
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix.lower().lstrip(".") in pictures.SUFFIXES]
    return [
        Given(path.relative_to(folder).as_posix(), path.stat().st_size, path.read_bytes)
        for path in paths
        if path.is_file() and path.resolve().is_relative_to(top)
    ]


@transaction.atomic
def update_facts(*, image: Image, facts: Mapping[str, str], by: User) -> Image:
    """Replace what is known about a picture's origin and licence. Frozen datasets keep what they have."""
    for column in ("license_url", "landing_url"):
        if facts.get(column) and not image_csv.web_address(facts[column]):
            raise Invalid("A licence or landing page is an http or https address.")
    changed = [column for column in image_csv.FACTS if column in facts and getattr(image, column) != facts[column]]
    for column in changed:
        setattr(image, column, facts[column])
    if changed:
        image.save(update_fields=changed)
    return image


def thumbnail(image: Image) -> Path:
    """The file of a smaller picture, made once and kept in the data folder of this machine."""
    path = settings.DATA_DIR / "cache" / "thumbs" / f"{image.sha256}.jpg"
    if not path.exists():
        with image.file.open("rb") as file:
            data = pictures.thumbnail(file.read(), side=THUMB_SIDE)
        _write_whole(path, data)
    return path


def _ambiguous(row: image_csv.Row, files: int) -> str:
    """A picture must not get the author and licence of another one that has its name."""
    return f"Line {row.line} of the table could mean any of {files} files named {row.file}: give each its own path."


def _import_one(file: Given, row: image_csv.Row | None, by: User | None) -> Fate:
    name = PurePosixPath(file.path).name
    try:
        if file.size > settings.MAX_IMAGE_BYTES:
            raise Invalid(f"{name} has {file.size:,} bytes; at most {settings.MAX_IMAGE_BYTES:,} are allowed.")
        with transaction.atomic():
            imported = import_file(data=file.read(), name=name, by=by, facts=row.facts if row else {})
            placed = _place(imported.image, row.cell, by) if row and row.cell else ""
    except FpcoError as error:
        return Fate(file.path, Outcome.REFUSED, error.message)
    except OSError as error:
        return Fate(file.path, Outcome.REFUSED, f"{name} can't be read ({error.strerror}).")
    sentence = "Added." if imported.added else "It was already there."
    if imported.twin:
        sentence += f" It looks the same as {imported.twin}."
    outcome = Outcome.ADDED if imported.added else Outcome.PRESENT
    return Fate(file.path, outcome, f"{sentence}{placed}", imported.image)


def _place(image: Image, cell: Cell, by: User | None) -> str:
    item = image.items.filter(parent=None).first()
    if item is None:
        items.place(image=image, cell=cell, by=by)
        return f" Placed in {', '.join(cell)}."
    return "" if item.cell == cell else f" It stays in {', '.join(item.cell)}: only a person moves an item."


def _known(digest: str) -> Image | None:
    return Image.objects.filter(Q(original_sha256=digest) | Q(sha256=digest)).order_by("id").first()


def _fill_in(image: Image, facts: Mapping[str, str]) -> Image:
    """Facts that were blank are filled in; what a person wrote stays."""
    blank = [
        column
        for column in image_csv.FACTS
        if facts.get(column) and (getattr(image, column) or Source.OTHER) == Source.OTHER
    ]
    for column in blank:
        setattr(image, column, facts[column])
    if blank:
        image.save(update_fields=blank)
    return image


def _keep(
    picture: pictures.Picture, *, name: str, original: str, by: User | None, facts: Mapping[str, str]
) -> Imported:
    digest = sha256(picture.data).hexdigest()
    known = Image.objects.filter(sha256=digest).first()
    if known is not None:
        return Imported(_fill_in(known, facts), added=False)
    twin = Image.objects.filter(phash=picture.phash).order_by("id").first()
    row = Image(
        sha256=digest,
        original_sha256=original,
        phash=picture.phash,
        file=_store(picture.data, f"images/{digest}.{_SUFFIXES[picture.mime]}"),
        mime=picture.mime,
        width=picture.width,
        height=picture.height,
        name=name,
        added_by=by,
        **{column: facts[column] for column in image_csv.FACTS if facts.get(column)},
    )
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        return Imported(Image.objects.get(sha256=digest), added=False)  # somebody else was quicker
    return Imported(row, added=True, twin=twin)


def _store(data: bytes, name: str) -> str:
    """Write the bytes under their own name; a file that a killed import left half-written is replaced."""
    if default_storage.exists(name):
        if default_storage.size(name) == len(data):
            return name
        default_storage.delete(name)
    return default_storage.save(name, ContentFile(data))


def _write_whole(path: Path, data: bytes) -> None:
    """A reader sees the whole file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    os.replace(file.name, path)
