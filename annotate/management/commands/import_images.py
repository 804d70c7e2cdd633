"""`manage.py import_images FOLDER [--csv FILE]`: photographs of a folder, with their sources and places."""

from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.progress import track

from annotate import image_csv
from annotate.services import images
from fpco_site.errors import FpcoError


class Command(BaseCommand):
    help = "Import the photographs of a folder; files that are there already stay as they are."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--csv", type=Path, help=f"columns: {', '.join(image_csv.COLUMNS)} (all but file optional)")

    def handle(self, *args: Any, folder: Path, csv: Path | None, **options: Any) -> None:
        try:
            table = image_csv.parse(csv.read_bytes(), name=csv.name) if csv else None
            given = images.in_folder(folder)
        except FpcoError as error:
            raise CommandError(error.message) from error
        except OSError as error:
            raise CommandError(f"{csv} can't be read ({error.strerror}).") from error
        fates = images.import_many(given=given, table=table, by=None)
        counts: Counter[images.Outcome] = Counter()
        total = len(given)
        for fate in track(fates, description="Importing", total=total, disable=not self.stdout.isatty()):
            counts[fate.outcome] += 1
            if fate.outcome in {images.Outcome.REFUSED, images.Outcome.MISSING}:
                self.stderr.write(f"{fate.name}: {fate.sentence}")
        self.stdout.write(", ".join(f"{counts[outcome]} {words}" for outcome, words in WORDS.items()) + ".")
        if failed := counts[images.Outcome.REFUSED] + counts[images.Outcome.MISSING]:
            raise CommandError(f"{failed} of the files could not be imported; the others are in.")


WORDS = {
    images.Outcome.ADDED: "added",
    images.Outcome.PRESENT: "already there",
    images.Outcome.REFUSED: "refused",
    images.Outcome.MISSING: "named in the table but missing",
}
