"""Write the study's tables 5, 6 and 7 of a dataset as CSV, and what they rest on."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.models import Dataset
from benchmark import frames, tables
from benchmark.services import results
from fpco_site.errors import FpcoError


class Command(BaseCommand):
    help = (
        "Write corr_tp.csv, turn_corr.csv and corr_fp.csv of a dataset's default result set into a folder, with "
        "coverage.csv: how many answers each detector labelled."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--dataset", help="a dataset's name (default: the only one, or the newest with results)")
        parser.add_argument("--rounding", choices=["exact", "published"], default="exact")

    def handle(self, *args: Any, **options: Any) -> None:
        result_set = results.default(self._dataset(options["dataset"]))
        if result_set is None:
            raise CommandError("Nothing has run over this dataset yet, so there is nothing to tabulate.")
        try:
            found = frames.masks(result_set)
            written = tables.write(found, options["folder"], options["rounding"])
            written.append(tables.write_coverage(found, options["folder"]))
        except FpcoError as error:
            raise CommandError(error.message) from error
        except OSError as error:
            raise CommandError(f"{options['folder']} can't be written ({error.strerror}).") from error
        self.stdout.write("\n".join(str(path) for path in written))

    def _dataset(self, name: str | None) -> Dataset:
        if name is not None:
            found = Dataset.objects.filter(name=name).first()
            if found is None:
                raise CommandError(f"There is no dataset named {name!r}.")
            return found
        for dataset in Dataset.objects.order_by("-id"):
            if results.counting_runs(dataset):
                return dataset
        raise CommandError("There is no dataset with results yet.")
