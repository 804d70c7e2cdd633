"""Importing photographs: each file is decoded once, kept upright and without metadata, and stored once."""

import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q

from annotate import image_csv, licences, pictures
from annotate.archives import hidden
from annotate.axes import Cell
from annotate.models import Image, User
from annotate.models.images import Source
from annotate.models.imports import Outcome
from annotate.services import duplicates, items
from annotate.services.duplicates import Gallery
from fpco_site.errors import Conflict, FpcoError, Invalid
from fpco_site.fields import escape, unescape

THUMB_SIDE = 320
_SUFFIXES = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp"}


@dataclass(frozen=True)
class Imported:
    """The row of a picture, and whether it is new; `twin` is the picture that looks most like it."""

    image: Image
    added: bool
    twin: Image | None = None


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


@dataclass(frozen=True)
class Prepared:
    """A file that was read, and decoded and stored unless it is known; its row is still to be written."""

    name: str
    original: str  # sha256 of the bytes given; blank where they are not known
    digest: str = ""  # sha256 of the bytes stored; blank where the original is known
    picture: pictures.Picture | None = None
    stored: str = ""
    of_release: bool = False  # then its word on the original is no proof that an image is the same


def import_file(*, data: bytes, name: str, by: User | None, facts: Mapping[str, str] | None = None) -> Imported:
    """Keep one picture. The same bytes are one image, however often they come. Raises Invalid."""
    prepared = prepare(data=data, name=name)
    row = image_csv.Row("", name, dict(facts or {}))
    with adding() as gallery:
        return keep(prepared=prepared, row=row, by=by, gallery=gallery)


def import_stored(*, data: bytes, name: str, by: User | None, facts: Mapping[str, str] | None = None) -> Imported:
    """Keep a picture of a release as it is, never encoded anew; `facts` may hold its original_sha256."""
    name = PurePosixPath(name).name
    facts = facts or {}
    digest = sha256(data).hexdigest()
    original = facts.get("original_sha256", "")
    prepared = Prepared(name, original, digest, of_release=True)
    if not Image.objects.filter(sha256=digest).exists():
        picture = pictures.inspect(data, name=name, max_bytes=settings.MAX_IMAGE_BYTES, max_pixels=_max_pixels())
        prepared = replace(prepared, picture=_light(picture), stored=_store(data, digest, picture.mime))
    with adding() as gallery:
        return keep(prepared=prepared, row=image_csv.Row("", name, dict(facts)), by=by, gallery=gallery)


@contextmanager
def adding(gallery: Gallery | None = None) -> Iterator[Gallery]:
    """A transaction in which pictures are added, one person at a time, and the gallery to add them to."""
    gallery = gallery or Gallery()
    try:
        with transaction.atomic():
            duplicates.one_at_a_time()
            gallery.catch_up()
            yield gallery
    except BaseException:
        gallery.forget()
        raise


def prepare(*, data: bytes, name: str, rotation: int = 0, gallery: Gallery | None = None) -> Prepared:
    """Hash a file, and decode and store what is not known yet; the slow part, which no lock is held for."""
    name = PurePosixPath(name.replace("\\", "/")).name
    original = sha256(data).hexdigest()
    same = Q(original_sha256=original) | Q(sha256=original)
    if (gallery.find(original) is not None) if gallery else Image.objects.filter(same).exists():
        return Prepared(name, original)
    picture = pictures.normalise(
        data, name=name, max_bytes=settings.MAX_IMAGE_BYTES, max_pixels=_max_pixels(), rotation=rotation
    )
    digest = sha256(picture.data).hexdigest()
    return Prepared(name, original, digest, _light(picture), _store(picture.data, digest, picture.mime))


def keep(*, prepared: Prepared, row: image_csv.Row, by: User | None, gallery: Gallery) -> Imported:
    """Write the row of a picture inside the caller's transaction, and compare it with all others.

    The gallery has to be caught up after `duplicates.one_at_a_time`, in that transaction.
    """
    if (known := _known(prepared, gallery)) is not None:
        return Imported(_fill_in(Image.objects.get(pk=known), row), added=False)
    if prepared.picture is None:
        raise Conflict(f"{prepared.name} was removed meanwhile; import it again.")
    image = Image.objects.create(
        sha256=prepared.digest,
        original_sha256=prepared.original,
        phash=prepared.picture.phash,
        file=prepared.stored,
        mime=prepared.picture.mime,
        width=prepared.picture.width,
        height=prepared.picture.height,
        name=prepared.name,
        added_by=by,
        source_record=escaped(row.record),
        **{column: row.facts[column] for column in image_csv.FACTS if row.facts.get(column)},
    )
    near = duplicates.compare(image, gallery)
    return Imported(image, added=True, twin=Image.objects.get(pk=near[0][0]) if near else None)


def import_many(*, given: Iterable[Given], table: image_csv.Table | None = None, by: User | None) -> Iterator[Fate]:
    """Import file after file; each is kept or refused by itself, and the import can start again.

    Yields the fate of every file, and last of the rows of the table whose file was not there.
    """
    files = list(given)
    matched = match([file.path for file in files], table)
    gallery = Gallery()
    for file in files:
        row, refusal = matched[file.path]
        yield Fate(file.path, Outcome.REFUSED, refusal) if refusal else _import_one(file, row, by, gallery)
    yield from missing(table, [row for row, _ in matched.values()])


def match(paths: Sequence[str], table: image_csv.Table | None) -> dict[str, tuple[image_csv.Row | None, str]]:
    """For each path the row that the table has for it, and why it can't be imported, if so."""
    rows = {path: table.find(path) if table else None for path in paths}
    used = Counter(row.where for row in rows.values() if row is not None)
    return {
        path: (row, _ambiguous(row, used[row.where]))
        if row is not None and used[row.where] > 1 and path != row.file
        else (row, "")
        for path, row in rows.items()
    }


def missing(table: image_csv.Table | None, found: Iterable[image_csv.Row | None]) -> list[Fate]:
    """The rows of a table whose file was not given; of a catalogue nobody expects all."""
    if table is None or table.catalogue:
        return []
    there = {row.where for row in found if row is not None}
    return [
        Fate(row.file, Outcome.MISSING, f"The table names it on {row.where}, but there is no such file.")
        for row in table
        if row.where not in there
    ]


def settle(*, prepared: Prepared, row: image_csv.Row, by: User | None, gallery: Gallery) -> Fate:
    """Keep a prepared file, place it where the table says so, and put it all in one sentence."""
    # Only placing can be refused after something was written.
    try:
        with transaction.atomic() if row.cell else nullcontext():
            imported = keep(prepared=prepared, row=row, by=by, gallery=gallery)
            placed = _place(imported.image, row.cell, by) if row.cell else ""
    except FpcoError:
        gallery.forget()
        gallery.catch_up()
        raise
    outcome = Outcome.ADDED if imported.added else Outcome.PRESENT
    image = imported.image
    parts = ["Added." if imported.added else "It was already there.", placed]
    if image.duplicate_of is not None:
        parts.append(f"It was set aside as a duplicate of {image.duplicate_of}.")
    if imported.twin:
        parts.append(f"It looks like {imported.twin}: decide under Duplicates.")
    parts.append(licences.sentence(image.license, image.license_url))
    return Fate(row.file, outcome, " ".join(part for part in parts if part), image)


def in_folder(folder: Path) -> list[Given]:
    """The pictures among the files below `folder`."""
    return [file for file in files_in(folder) if pictures.named_as_picture(file.path)]


def files_in(folder: Path) -> list[Given]:
    """The files below `folder`, in order of their paths; hidden ones and links that lead out of it are left out."""
    if not folder.is_dir():
        raise Invalid(f"There is no folder {folder}.")
    top = folder.resolve()
    return [
        Given(path.relative_to(folder).as_posix(), path.stat().st_size, path.read_bytes)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.resolve().is_relative_to(top) and not hidden(path.relative_to(folder).as_posix())
    ]


@transaction.atomic
def update_facts(*, image: Image, facts: Mapping[str, str], by: User) -> Image:
    """Replace what is known about a picture's origin and licence. Frozen datasets keep what they have."""
    for column in image_csv.ADDRESSES:
        if facts.get(column) and not image_csv.web_address(facts[column]):
            raise Invalid("The address of a licence, a landing page or a file is an http or https address.")
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


def escaped(value: Any) -> Any:
    """JSON whose texts every database stores."""
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, dict):
        return {escape(str(key)): escaped(inner) for key, inner in value.items()}
    return [escaped(inner) for inner in value] if isinstance(value, list) else value


def unescaped(record: dict[str, Any]) -> dict[str, str]:
    """A source's own row as it was written, each value as text."""
    return {
        unescape(name): unescape(value) if isinstance(value, str) else unescape(json.dumps(value, ensure_ascii=False))
        for name, value in record.items()
    }


def _ambiguous(row: image_csv.Row, files: int) -> str:
    """A picture must not get the author and licence of another one that has its name."""
    where = f"{row.where[0].upper()}{row.where[1:]}"
    return f"{where} of the table could mean any of {files} files named {row.file}: give each its own path."


def _import_one(file: Given, row: image_csv.Row | None, by: User | None, gallery: Gallery) -> Fate:
    row = row or image_csv.Row("", file.path)
    try:
        prepared = prepare(data=read_whole(file), name=file.path, rotation=row.rotation, gallery=gallery)
        with adding(gallery):
            fate = settle(prepared=prepared, row=row, by=by, gallery=gallery)
    except FpcoError as error:
        return Fate(file.path, Outcome.REFUSED, error.message)
    return replace(fate, name=file.path)


def too_large(path: str, size: int) -> str:
    """Why a file of `size` bytes is not even read; blank where it is."""
    if size <= settings.MAX_IMAGE_BYTES:
        return ""
    return f"{PurePosixPath(path).name} has {size:,} bytes; at most {settings.MAX_IMAGE_BYTES:,} are allowed."


def read_whole(file: Given) -> bytes:
    """The bytes of a file, unless it is too large to be read at all. Raises Invalid, naming it."""
    if refusal := too_large(file.path, file.size):
        raise Invalid(refusal)
    name = PurePosixPath(file.path).name
    try:
        return file.read()
    except OSError as error:
        raise Invalid(f"{name} can't be read ({error.strerror or error}).") from error


def _place(image: Image, cell: Cell, by: User | None) -> str:
    item = image.items.filter(parent=None).first()
    if item is None:
        items.place(image=image, cell=cell, by=by)
        return f"Placed in {', '.join(cell)}."
    return "" if item.cell == cell else f"It stays in {', '.join(item.cell)}: only a person moves an item."


def _known(prepared: Prepared, gallery: Gallery) -> int | None:
    """The id of the image of these bytes, as they were given or as they are stored."""
    if prepared.of_release:
        return Image.objects.filter(sha256=prepared.digest).values_list("pk", flat=True).first()
    return gallery.find(prepared.original, prepared.digest)


def _fill_in(image: Image, row: image_csv.Row) -> Image:
    """Facts that were blank are filled in; what a person wrote stays."""
    blank = [
        column
        for column in image_csv.FACTS
        if row.facts.get(column) and (getattr(image, column) or Source.OTHER) == Source.OTHER
    ]
    for column in blank:
        setattr(image, column, row.facts[column])
    if row.record and not image.source_record:
        image.source_record = escaped(row.record)
        blank.append("source_record")
    if blank:
        image.save(update_fields=blank)
    return image


def _max_pixels() -> int:
    return int(settings.MAX_IMAGE_PIXELS)


def _light(picture: pictures.Picture) -> pictures.Picture:
    """Without the bytes, which are stored: a group of large pictures need not fit into memory."""
    return replace(picture, data=b"")


def _store(data: bytes, digest: str, mime: str) -> str:
    """Write the bytes under their own hash; a file that a killed import left half-written is replaced."""
    name = f"images/{digest}.{_SUFFIXES[mime]}"
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
