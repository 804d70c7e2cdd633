"""Write the release of a dataset into a folder."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.models import Dataset
from benchmark.services import release_export
from fpco_site.consoles import progress_bars
from fpco_site.errors import FpcoError


class Command(BaseCommand):
    help = "Write a dataset with what ran over it as a release folder that others can check."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument("folder", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        dataset = Dataset.objects.filter(name=options["dataset"]).first()
        if dataset is None:
            raise CommandError(f"There is no dataset named {options['dataset']!r}.")
        try:
            with progress_bars() as report:
                digest = release_export.export(dataset=dataset, folder=options["folder"], progress=report)
        except FpcoError as error:
            raise CommandError(error.message) from error
        except OSError as error:
            raise CommandError(f"{options['folder']} can't be written ({error.strerror}).") from error
        self.stdout.write(f"{options['folder']} holds the release; its manifest has the sha256 {digest}.")
