"""`manage.py export_labels SET FILE`: the labels of a set as Label Studio JSON, CSV or JSONL."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.interchange import FORMATS
from benchmark.management.finding import person_named, validation_set_named
from benchmark.services import label_files
from fpco_site.errors import FpcoError, Invalid


class Command(BaseCommand):
    help = (
        "Write the labels of a set; the file's ending tells the format (json is Label Studio's). While the set is "
        "open, say for whom the file is: it holds what this person may see."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("set", help="the label set's name")
        parser.add_argument("file", type=Path)
        parser.add_argument("--for", dest="person", metavar="NAME", help="who gets the file")

    def handle(self, *args: Any, file: Path, person: str | None, **options: Any) -> None:
        try:
            text = label_files.export(
                validation_set=validation_set_named(options["set"]),
                kind=_kind(file),
                user=person_named(person) if person else None,
                page="export_labels",
            )
            file.write_text(text, encoding="utf-8", newline="")
        except FpcoError as error:
            raise CommandError(error.message) from error
        except OSError as error:
            raise CommandError(f"{file} can't be written ({error.strerror}).") from error
        self.stdout.write(str(file))


def _kind(file: Path) -> str:
    kind = file.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise Invalid(f"{file.name} must end with {', '.join('.' + one for one in FORMATS)}.")
    return kind
