"""`manage.py import_labels SET FILE`: labels that were given elsewhere, all of a file or none."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate import interchange
from annotate.models import Assignment, LabelSet
from annotate.services import interchange as files
from annotate.services.interchange import Outcome
from benchmark.management.finding import validation_set_named
from fpco_site.errors import FpcoError, Invalid


class Command(BaseCommand):
    help = "Bring labels into an open set from Label Studio JSON, CSV or JSONL; the same file stores once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("set", help="the label set's name")
        parser.add_argument("file", type=Path)
        parser.add_argument("--annotator", metavar="NAME", help="whose labels these are, where the file does not say")
        parser.add_argument(
            "--who", action="append", default=[], metavar="NAME=ANNOTATOR", help="who is meant by a name in the file"
        )
        parser.add_argument("--replace", action="store_true", help="let labels that differ change the stored ones")
        parser.add_argument("--dry-run", action="store_true", help="say what it would do, and store nothing")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            label_set = validation_set_named(options["set"]).label_set
            interchange.check_size(file.stat().st_size, name=file.name)
            batch = files.read(
                label_set=label_set,
                data=file.read_bytes(),
                name=file.name,
                who=files.who_is_who(",".join(options["who"])),
                whose=_annotator(label_set, options["annotator"]),
            )
            self._say(files.look(label_set=label_set, batch=batch))
            if options["dry_run"]:
                self.stdout.write("Nothing is stored: this was a dry run.")
                return
            done = files.store(label_set=label_set, batch=batch, replace=options["replace"])
        except FpcoError as error:
            raise CommandError(error.message) from error
        except OSError as error:
            raise CommandError(f"{file} can't be read ({error.strerror}).") from error
        self.stdout.write(f"Stored {done.stored} labels.")

    def _say(self, outcome: Outcome) -> None:
        for row in outcome.people:
            self.stdout.write(
                f"{row.pseudonym}: {row.new} new, {row.changed} would change a label, {row.same} say what is stored, "
                f"{row.again} came with this file before."
            )
        if outcome.without:
            self.stdout.write(f"{outcome.without} tasks have no label in it.")


def _annotator(label_set: LabelSet, name: str | None) -> Assignment | None:
    if name is None:
        return None
    rows = label_set.assignments.select_related("label_set")
    found = rows.filter(pseudonym=name).first() or rows.filter(person__username=name).first()
    if found is None:
        raise Invalid(f"{name} does not label in {label_set.name}.")
    return found
