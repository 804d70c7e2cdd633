"""`manage.py freeze NAME`: a dataset of all approved items, after the same checks as on the page."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.services import freezing
from annotate.services.freezing import Level
from fpco_site.errors import FpcoError


class Command(BaseCommand):
    help = "Freeze the approved items as a dataset that nothing changes any more."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument(
            "--only-approved", action="store_true", help="accept that items which are not approved yet are left out"
        )
        parser.add_argument("--accept-warnings", action="store_true", help="accept every warning of the check list")
        parser.add_argument("--check", action="store_true", help="print the check list and freeze nothing")

    def handle(
        self, *args: Any, name: str, only_approved: bool, accept_warnings: bool, check: bool, **options: Any
    ) -> None:
        if check:
            self._check()
            return
        accepted = [freezing.unfinished().ticket] if only_approved else []
        try:
            dataset = freezing.freeze(name=name, by=None, accepted=accepted, accept_all=accept_warnings)
        except FpcoError as error:
            raise CommandError(error.message) from error
        for row in freezing.as_rows(dataset.checks):
            if row.level is Level.WARN:
                self._say(row)
        count = dataset.items.count()
        self.stdout.write(f"Froze {count} item{'' if count == 1 else 's'} as {dataset.name}.")
        self.stdout.write(f"Hash: {dataset.dataset_hash}")

    def _check(self) -> None:
        rows = freezing.checks(read_files=True)
        for row in rows:
            self._say(row)
        if any(row.level is Level.STOPS for row in rows):
            raise CommandError("Something stops it; nothing was frozen.")

    def _say(self, row: freezing.Check) -> None:
        named = f" ({', '.join(row.keys)}{', ...' if row.count > len(row.keys) else ''})" if row.keys else ""
        self.stdout.write(f"{row.level}: {row.text}{named}")
