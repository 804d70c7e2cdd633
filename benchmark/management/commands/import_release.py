"""Import a release folder as a new dataset, with its runs, answers and labels."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmark.services import releases
from fpco_site.consoles import progress_bars
from fpco_site.errors import FpcoError


class Command(BaseCommand):
    help = "Check a release folder line by line and import it whole, or not at all."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--dry-run", action="store_true", help="check everything, import nothing")
        parser.add_argument("--name", default="", help="the dataset's name here (default: the release's own)")

    def handle(self, *args: Any, **options: Any) -> None:
        dry_run = options["dry_run"]
        try:
            with progress_bars() as report:
                found = releases.import_folder(
                    folder=options["folder"], by=None, name=options["name"], dry_run=dry_run, progress=report
                )
        except FpcoError as error:
            raise CommandError(error.message) from error
        verb = "Would import" if dry_run else "Imported"
        self.stdout.write(
            f"{verb} {options['name'] or found.name}: {len(found.items):,} items, {len(found.models)} models, "
            f"{found.responses:,} responses, {len(found.label_response):,} detector labels, "
            f"{len(found.human):,} human labels."
        )
