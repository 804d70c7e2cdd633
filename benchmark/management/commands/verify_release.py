"""Check a release folder: hashes, counts, references, dataset hash, and its tables from its labels."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmark.services import releases
from fpco_site.consoles import progress_bars
from fpco_site.errors import FpcoError


class Command(BaseCommand):
    help = "Check that a release holds together; needs no database."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with progress_bars() as report:
                found = releases.verify(folder=options["folder"], progress=report)
        except FpcoError as error:
            raise CommandError(error.message) from error
        self.stdout.write(
            f"{options['folder']} holds together: {len(found.hashes)} files, {len(found.items):,} items, "
            f"{found.responses:,} responses, {len(found.label_response):,} detector labels."
        )
