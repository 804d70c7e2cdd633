"""Imports of many files: one row a file, so that an import can be stopped, killed and gone on with.

A file whose fate is written is never touched again. Folders and zips are worked on in the background: whoever works
on a batch names itself there and bumps a counter with each group of files; every group is fenced on that name, and a
batch whose counter stands still on somebody's own clock is taken over.
"""

import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotate import archives, image_csv, pictures
from annotate.models import ImportBatch, ImportedFile, User
from annotate.models.imports import BatchKind, BatchState, Outcome
from annotate.services import images
from annotate.services.duplicates import Gallery
from annotate.services.images import Fate, Given, Prepared
from fpco_site.errors import Conflict, FpcoError, Invalid
from fpco_site.fields import escape
from fpco_site.llm.engine import hints
from fpco_site.llm.engine.takeovers import Stop, Watch

NAMED = 5  # files that a sentence lists
_LARGEST = 2**62  # a zip may claim more than a column holds
GROUP, GROUP_SECONDS = 20, 2.0  # files, or seconds, between two commits
TASK = "annotate.import_images"
NO_PICTURES = "There is no picture in {}: JPEG, PNG, WebP, TIFF, BMP, GIF and AVIF files are imported."


@dataclass(frozen=True)
class Announced:
    """A file that is to come: its path below what was given, its size, and why it can't be taken, if so."""

    path: str
    size: int
    refusal: str = ""


_watch = Watch()


# Beginning ------------------------------------------------------------------------------------------------------


def begin_folder(*, folder: Path, table: image_csv.Table | None, by: User | None, worker: str = "") -> ImportBatch:
    """Import the pictures below a folder of this machine, in the background, or by `worker`, a token of the caller."""
    files = [_found(given) for given in images.files_in(folder)]
    return _begin(BatchKind.FOLDER, folder.name or str(folder), str(folder.resolve()), files, table, by, worker)


def _found(given: Given) -> Announced:
    """A file of a folder; Linux allows names that are no text, which no page could show."""
    shown = given.path.encode("utf-8", "replace").decode()
    refusal = "" if shown == given.path else f"The name of {shown} is not UTF-8: rename the file."
    return Announced(shown, given.size, refusal)


def begin_zip(*, path: Path, table: image_csv.Table | None, by: User | None, worker: str = "") -> ImportBatch:
    """Import the pictures in a zip on this machine, in the background, or by `worker`, a token of the caller."""
    try:
        with path.open("rb") as file:
            files = in_zip(file, name=path.name)
    except OSError as error:
        raise Invalid(f"{path} can't be read ({error.strerror}).") from error
    return _begin(BatchKind.ZIP, path.name, str(path.resolve()), files, table, by, worker)


def begin_uploaded_zip(*, file: "File[bytes]", name: str, table: image_csv.Table | None, by: User) -> ImportBatch:
    """Keep a zip that came through the browser until its pictures are imported, in the background."""
    files = in_zip(file, name=name)
    file.seek(0)
    stored = default_storage.save(f"imports/{uuid.uuid4()}.zip", file)
    try:
        return _begin(BatchKind.ZIP, name, stored, files, table, by)
    except BaseException:
        default_storage.delete(stored)
        raise


@transaction.atomic
def begin_drop(
    *, files: Sequence[Announced], table: image_csv.Table | None, by: User, name: str = "", new: bool = False
) -> ImportBatch:
    """Announce the files of a browser, which are sent one by one.

    Files that were announced before and not sent go on in the batch they were announced in, unless a table comes
    with them now or `new` asks for a batch of their own.
    """
    earlier = None if new or table is not None else _unfinished_drop(files, by)
    if earlier is not None:
        return announce(batch=earlier, files=files)
    return _begin(BatchKind.DROP, name or _name_of(files), "", files, table, by)


@transaction.atomic
def announce(*, batch: ImportBatch, files: Sequence[Announced]) -> ImportBatch:
    """Name more files of a browser's batch, or the same again; it goes on if it was stopped."""
    batch = ImportBatch.objects.select_for_update().get(pk=batch.pk)
    if batch.kind != BatchKind.DROP:
        raise Conflict("Files can be added to an import from a browser only.")
    known = dict(batch.files.values_list("path", "size"))
    _add(batch, [file for file in files if file.path not in known], None)
    for file in files:  # a file that changed since it was announced is another one: it is sent as it is now
        if known.get(file.path, file.size) != file.size:
            refusal = images.too_large(file.path, file.size)
            batch.files.filter(path=file.path).update(
                size=file.size, outcome=Outcome.REFUSED if refusal else Outcome.WAITING, sentence=refusal, image=None
            )
    if batch.state != BatchState.RUNNING and batch.files.filter(outcome=Outcome.WAITING).exists():
        batch.state, batch.finished_at = BatchState.RUNNING, None
        batch.save(update_fields=["state", "finished_at"])
    return batch


def in_zip(file: IO[bytes], *, name: str) -> list[Announced]:
    """The files of a zip. Raises Invalid where it is broken, encrypted or a bomb."""
    members = archives.Archive(file, name=name).members()
    return [Announced(member.path, member.size, member.refusal) for member in members]


@transaction.atomic
def _begin(
    kind: BatchKind,
    name: str,
    origin: str,
    files: Sequence[Announced],
    table: image_csv.Table | None,
    by: User | None,
    worker: str = "",
) -> ImportBatch:
    # What a person chose in a browser is taken whatever its name; a folder or a zip also holds other things.
    chosen = [file for file in files if kind == BatchKind.DROP or pictures.named_as_picture(file.path)]
    if not chosen:
        raise Invalid(NO_PICTURES.format(name or "what was given"))
    batch = ImportBatch.objects.create(kind=kind, name=name, origin=origin, created_by=by, worker=worker)
    _add(batch, chosen, table)
    others = sorted({file.path for file in files} - {file.path for file in chosen})
    _note(batch, *filter(None, [_named_by(table, batch), _left_out(others)]))
    _finish_if_done(batch)
    if kind != BatchKind.DROP and not worker:
        hints.hint(TASK)
    return batch


def _note(batch: ImportBatch, *sentences: str) -> None:
    batch.note = " ".join(sentences)
    batch.save(update_fields=["note"])


def _named_by(table: image_csv.Table | None, batch: ImportBatch) -> str:
    """How many files a catalogue knows; it names millions, so that none of its rows is missing."""
    if table is None or not table.catalogue:
        return ""
    named, total = batch.files.exclude(row={}).count(), batch.files.count()
    return f"The table names {named:,} of the {total:,} files."


def _left_out(paths: Sequence[str]) -> str:
    """What lay beside the pictures, so that nothing is passed over in silence."""
    if not paths:
        return ""
    more = f" and {len(paths) - NAMED:,} more" if len(paths) > NAMED else ""
    kind = "file that is no picture was" if len(paths) == 1 else "files that are no pictures were"
    return f"{len(paths):,} {kind} left out: {', '.join(paths[:NAMED])}{more}."


def _add(batch: ImportBatch, files: Sequence[Announced], table: image_csv.Table | None) -> None:
    matched = images.match([file.path for file in files], table)
    rows = [_announced(batch, file, *matched[file.path]) for file in {file.path: file for file in files}.values()]
    absent = images.missing(table, [row for row, _ in matched.values()])
    rows += [
        ImportedFile(batch=batch, path=fate.name, outcome=Outcome.MISSING, sentence=fate.sentence) for fate in absent
    ]
    ImportedFile.objects.bulk_create(rows, batch_size=500)


def _announced(batch: ImportBatch, file: Announced, row: image_csv.Row | None, refusal: str) -> ImportedFile:
    refusal = file.refusal or refusal or images.too_large(file.path, file.size)
    outcome = Outcome.REFUSED if refusal else Outcome.WAITING
    told = images.escaped(asdict(row)) if row else {}
    size = min(file.size, _LARGEST)
    return ImportedFile(batch=batch, path=file.path, size=size, row=told, outcome=outcome, sentence=refusal)


def _unfinished_drop(files: Sequence[Announced], by: User) -> ImportBatch | None:
    """The newest import of this person's browser that still waits for one of these files."""
    given = {(escape(file.path), file.size) for file in files}
    batches = ImportBatch.objects.filter(kind=BatchKind.DROP, created_by=by).exclude(state=BatchState.COMPLETE)
    for batch in batches.order_by("-id")[:20]:
        waiting = batch.files.filter(outcome=Outcome.WAITING).values_list("path", "size")
        if any((escape(path), size) in given for path, size in waiting.iterator()):
            return batch
    return None


def _name_of(files: Sequence[Announced]) -> str:
    """The folder that all files share, else how many they are."""
    tops = {file.path.partition("/")[0] for file in files if "/" in file.path}
    if len(tops) == 1 and all("/" in file.path for file in files):
        return tops.pop()
    return "1 file" if len(files) == 1 else f"{len(files):,} files"


# From a browser ---------------------------------------------------------------------------------------------------


def receive(*, batch: ImportBatch, path: str, data: bytes, by: User) -> ImportedFile:
    """Import one announced file of a browser; a file that came before keeps its fate.

    Raises
    ------
    Conflict
        If the batch was stopped.
    Invalid
        If the file was not announced, or arrived cut off; it then still waits.
    """
    file = batch.files.filter(path=path).first()
    if file is None:
        raise Invalid(f"{path} was not announced; choose the files again.")
    if file.outcome != Outcome.WAITING:
        return file
    if batch.state == BatchState.STOPPED:
        raise Conflict("This import was stopped; go on with it first.")
    if len(data) != file.size:
        raise Invalid(f"{path} arrived with {len(data):,} of its {file.size:,} bytes; send it again.")
    ready = _prepare(file, lambda _: data)
    with images.adding() as gallery:
        file = ImportedFile.objects.select_for_update().get(pk=file.pk)
        if file.outcome == Outcome.WAITING:
            _settle(file, ready, by, gallery)
            _finish_if_done(batch)
    return file


# In the background --------------------------------------------------------------------------------------------------


def run_waiting(*, stop: Stop) -> None:
    """Work on every folder and zip that waits and that nobody else works on."""
    for batch in ImportBatch.objects.filter(state=BatchState.RUNNING).exclude(kind=BatchKind.DROP).order_by("id"):
        token = claim(batch)
        if token:
            work(batch=batch, token=token, stop=stop)


def claim(batch: ImportBatch) -> str:
    """The name under which this process may work on the batch; blank where somebody else does."""
    if batch.worker and not _watch.stands_still(batch):
        return ""
    token = str(uuid.uuid4())
    mine = ImportBatch.objects.filter(
        pk=batch.pk, worker=batch.worker, beat=batch.beat, state=BatchState.RUNNING
    ).update(worker=token, beat=F("beat") + 1)
    return token if mine else ""


def work(
    *, batch: ImportBatch, token: str, stop: Stop, progress: Callable[[list[ImportedFile]], None] = lambda _: None
) -> None:
    """Import what waits, group by group, until all is done, or the batch is stopped or taken over by another."""
    gallery = Gallery()
    try:
        with _reader(batch) as read:
            while not stop.asked and (files := list(batch.files.filter(outcome=Outcome.WAITING)[:GROUP])):
                group = list(_prepare_group(files, read, gallery))
                if not _commit(batch, token, group, gallery):
                    return
                progress([file for file, _ in group])
    except FpcoError as error:  # the folder or the zip itself is gone: said once, and nothing is lost
        ImportBatch.objects.filter(pk=batch.pk, worker=token).update(
            state=BatchState.STOPPED, note=error.message, worker=""
        )
        return
    ImportBatch.objects.filter(pk=batch.pk, worker=token).update(worker="")


def stop(*, batch: ImportBatch) -> ImportBatch:
    """Let nothing more of a batch in; what waits can be gone on with later."""
    ImportBatch.objects.filter(pk=batch.pk, state=BatchState.RUNNING).update(state=BatchState.STOPPED, worker="")
    batch.refresh_from_db()
    return batch


def resume(*, batch: ImportBatch) -> ImportBatch:
    """Go on with a batch that was stopped."""
    changed = ImportBatch.objects.filter(pk=batch.pk, state=BatchState.STOPPED).update(
        state=BatchState.RUNNING, note="", worker=""
    )
    if changed and batch.kind != BatchKind.DROP:
        hints.hint(TASK)
    batch.refresh_from_db()
    return batch


def _prepare_group(
    files: list[ImportedFile], read: Callable[[str], bytes], gallery: Gallery
) -> Iterator[tuple[ImportedFile, Prepared | str]]:
    begun = time.monotonic()
    for file in files:
        yield file, _prepare(file, read, gallery)
        if time.monotonic() - begun > GROUP_SECONDS:
            return


def _prepare(file: ImportedFile, read: Callable[[str], bytes], gallery: Gallery | None = None) -> Prepared | str:
    """The file, ready to be kept, or the sentence that refuses it."""
    given = Given(file.path, file.size, lambda: read(file.path))
    try:
        data = images.read_whole(given)
        turn = int(file.row.get("rotation", 0))
        return images.prepare(data=data, name=file.path, rotation=turn, gallery=gallery)
    except FpcoError as error:
        return error.message


def _commit(
    batch: ImportBatch, token: str, group: Iterable[tuple[ImportedFile, Prepared | str]], gallery: Gallery
) -> bool:
    """Write the fates of a group, unless the batch is no longer ours."""
    with images.adding(gallery):
        mine = ImportBatch.objects.filter(pk=batch.pk, worker=token, state=BatchState.RUNNING)
        if not mine.update(beat=F("beat") + 1):
            return False
        for file, ready in group:
            _settle(file, ready, batch.created_by, gallery)
        _finish_if_done(batch)
    return True


def _settle(file: ImportedFile, ready: Prepared | str, by: User | None, gallery: Gallery) -> None:
    """Write what became of a file, in the caller's transaction."""
    try:
        fate = _refused(file, ready) if isinstance(ready, str) else _kept(file, ready, by, gallery)
    except FpcoError as error:
        fate = _refused(file, error.message)
    file.outcome, file.sentence, file.image = fate.outcome, fate.sentence, fate.image
    file.save(update_fields=["outcome", "sentence", "image"])


def _kept(file: ImportedFile, ready: Prepared, by: User | None, gallery: Gallery) -> Fate:
    row = image_csv.Row(**{**file.row, "cell": _cell(file.row)}) if file.row else image_csv.Row("", file.path)
    return images.settle(prepared=ready, row=row, by=by, gallery=gallery)


def _refused(file: ImportedFile, sentence: str) -> Fate:
    return Fate(file.path, Outcome.REFUSED, sentence)


def _cell(row: dict[str, Any]) -> Any:
    return tuple(row["cell"]) if row.get("cell") else None


def _finish_if_done(batch: ImportBatch) -> None:
    if batch.files.filter(outcome=Outcome.WAITING).exists():
        return
    ImportBatch.objects.filter(pk=batch.pk).update(state=BatchState.COMPLETE, finished_at=timezone.now(), worker="")
    if batch.kind == BatchKind.ZIP and not os.path.isabs(batch.origin):
        transaction.on_commit(lambda: default_storage.delete(batch.origin))


@contextmanager
def _reader(batch: ImportBatch) -> Iterator[Callable[[str], bytes]]:
    """What brings the bytes of a file of the batch by its path. Raises Invalid where the source is gone."""
    if batch.kind == BatchKind.FOLDER:
        folder = Path(batch.origin)
        if not folder.is_dir():
            raise Invalid(f"The folder {folder} is not there any more.")
        yield lambda path: _in_folder(folder, path)
        return
    with _opened(batch) as file:
        archive = archives.Archive(file, name=batch.name)
        yield lambda path: archive.read(path, most=settings.MAX_IMAGE_BYTES)


def _opened(batch: ImportBatch) -> IO[bytes]:
    try:
        return Path(batch.origin).open("rb") if os.path.isabs(batch.origin) else default_storage.open(batch.origin)
    except OSError as error:
        raise Invalid(f"{batch.name} is not there any more; import it again.") from error


def _in_folder(folder: Path, path: str) -> bytes:
    """The file, unless it became a link that leads out of the folder meanwhile."""
    found = (folder / path).resolve()
    if not found.is_relative_to(folder.resolve()):
        raise Invalid(f"{found.name} leads out of the folder.")
    return found.read_bytes()
