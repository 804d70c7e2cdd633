"""Write the study's tables of a dataset, and what they rest on."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.models.labels import LabelSetState
from benchmark import study_tables, tables
from benchmark.management import finding
from benchmark.printed import FORMS
from benchmark.services import results
from benchmark.study_tables import ENTRIES, Study
from fpco_site.errors import FpcoError, Invalid


class Command(BaseCommand):
    help = (
        "Write the study's tables 2 to 7 of a dataset's default result set into a folder, with coverage.csv: how many "
        "answers each detector labelled. A table that can't be made is named with the reason."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--dataset", help="a dataset's name (default: the only one, or the newest with results)")
        parser.add_argument("--rounding", choices=["exact", "published"], default="exact")
        parser.add_argument("--format", choices=list(FORMS), default="csv", help="CSV, LaTeX or Markdown")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            study = self._study(options["dataset"], options["rounding"])
            self._write(study, options["folder"], options["format"])
        except FpcoError as error:
            raise CommandError(error.message) from error
        except OSError as error:
            raise CommandError(f"{options['folder']} can't be written ({error.strerror}).") from error

    def _study(self, name: str | None, rounding: tables.Rounding) -> Study:
        dataset = finding.dataset_named(name) if name is not None else results.newest_dataset()
        if dataset is None:
            raise Invalid("There is no dataset with results yet.")
        result_set = results.default(dataset)
        if result_set is None:
            raise Invalid("Nothing has run over this dataset yet, so there is nothing to tabulate.")
        # Nobody asks here by name, so only labels are told that are final.
        closed = study_tables.sets(result_set).filter(label_set__state=LabelSetState.CLOSED)
        study = Study(result_set, closed.first(), rounding)
        tables.require_pair(study.masks, rounding)
        return study

    def _write(self, study: Study, folder: Path, form: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        files = {"coverage.csv": tables.coverage_csv(study.masks)}
        for slug, entry in ENTRIES.items():
            try:
                files[f"{slug}.{form}"] = study.table(slug).written(form)
            except Invalid as error:
                self.stdout.write(f"Table {entry.number} ({entry.title}) can't be made: {error.message}")
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
            self.stdout.write(str(folder / name))
