"""`manage.py freeze NAME`: a dataset of all approved items."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.services import datasets
from fpco_site.errors import FpcoError


class Command(BaseCommand):
    help = "Freeze the approved items as a dataset that nothing changes any more."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--only-approved", action="store_true", help="leave out items that are not approved yet")

    def handle(self, *args: Any, name: str, only_approved: bool, **options: Any) -> None:
        left_out = datasets.readiness().unfinished if only_approved else 0
        try:
            dataset = datasets.freeze(name=name, by=None, only_approved=only_approved)
        except FpcoError as error:
            raise CommandError(error.message) from error
        count = dataset.items.count()
        self.stdout.write(f"Froze {count} item{'' if count == 1 else 's'} as {dataset.name}.")
        if left_out:
            self.stdout.write(f"Left out {left_out} that {'is' if left_out == 1 else 'are'} not approved yet.")
        self.stdout.write(f"Hash: {dataset.dataset_hash}")
