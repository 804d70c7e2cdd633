"""`manage.py import_images SOURCE [--table FILE]`: photographs of a folder or a zip, with their sources and places."""

import uuid
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.progress import Progress

from annotate import image_csv, image_tables
from annotate.models import ImportBatch, ImportedFile
from annotate.models.imports import BatchState, Outcome
from annotate.services import imports
from fpco_site.errors import FpcoError
from fpco_site.llm.engine.takeovers import Stop


class Command(BaseCommand):
    help = "Import the photographs of a folder or a zip; files that are there already stay as they are."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", type=Path, help="a folder or a zip")
        parser.add_argument(
            "--table",
            "--csv",
            type=Path,
            help="the annotation JSON of COCO, the CSV of Open Images, or a CSV of your own with the columns "
            f"{', '.join(image_csv.COLUMNS)} (all but file optional)",
        )

    def handle(self, *args: Any, source: Path, table: Path | None, **options: Any) -> None:
        try:
            rows = image_tables.parse(table.read_bytes(), name=table.name) if table else None
            token = str(uuid.uuid4())  # ours from the start, so that no worker takes it first
            batch = _begin(source, rows, token)
        except FpcoError as error:
            raise CommandError(error.message) from error
        except OSError as error:
            raise CommandError(f"{table} can't be read ({error.strerror}).") from error
        self._work(batch, token)
        self._report(batch)

    def _work(self, batch: ImportBatch, token: str) -> None:
        """Import here and now, as a worker would; Ctrl-C stops after the files in hand."""
        waiting = batch.files.filter(outcome=Outcome.WAITING).count()
        with Progress(disable=not self.stdout.isatty()) as bar:
            task = bar.add_task("Importing", total=waiting)

            def show(files: list[ImportedFile]) -> None:
                bar.advance(task, len(files))

            try:
                imports.work(batch=batch, token=token, stop=Stop(), progress=show)
            except KeyboardInterrupt:
                imports.stop(batch=batch)
                raise CommandError(
                    f"Stopped; go on with it under Images, Imports ({batch.pk}), or start again."
                ) from None

    def _report(self, batch: ImportBatch) -> None:
        batch.refresh_from_db()
        failed = batch.files.filter(outcome__in=[Outcome.REFUSED, Outcome.MISSING])
        for file in failed.iterator():
            self.stderr.write(f"{file.path}: {file.sentence}")
        counts = Counter(batch.files.values_list("outcome", flat=True))
        self.stdout.write(", ".join(f"{counts[outcome]} {words}" for outcome, words in WORDS.items()) + ".")
        if batch.note:
            self.stdout.write(batch.note)
        if batch.state != BatchState.COMPLETE:
            raise CommandError(f"The import did not end: {batch.note or 'somebody else works on it'}")
        if number := failed.count():
            raise CommandError(f"{number} of the files could not be imported; the others are in.")


def _begin(source: Path, table: image_csv.Table | None, worker: str) -> ImportBatch:
    if source.is_dir():
        return imports.begin_folder(folder=source, table=table, by=None, worker=worker)
    if not source.is_file():
        raise CommandError(f"There is no folder or zip {source}.")
    return imports.begin_zip(path=source, table=table, by=None, worker=worker)


WORDS = {
    Outcome.ADDED: "added",
    Outcome.PRESENT: "already there",
    Outcome.REFUSED: "refused",
    Outcome.MISSING: "named in the table but missing",
}
