"""`manage.py open_validation DATASET --per-cell 6 --seed 1 --annotators lea lou`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.models import Dataset, User
from benchmark.services import validation
from fpco_site.errors import FpcoError, Invalid


class Command(BaseCommand):
    help = "Draw answers of each model and class and open them for blind labelling."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset")
        parser.add_argument(
            "--per-cell", type=int, default=validation.STUDY_PER_CELL, help="answers of a model and class"
        )
        parser.add_argument("--seed", type=int, help="the same seed draws the same answers; without it, one is drawn")
        parser.add_argument("--annotators", nargs="+", required=True, metavar="NAME")
        parser.add_argument("--show-picture", action="store_true", help="show the picture beside each answer")
        parser.add_argument("--name", default="", help="what the annotators read as the set's name")

    def handle(self, *args: Any, dataset: str, annotators: list[str], **options: Any) -> None:
        try:
            made = validation.open(
                dataset=_dataset(dataset),
                annotators=[_person(name) for name in annotators],
                by=None,
                **{name: options[name] for name in ("per_cell", "seed", "show_picture", "name")},
            )
        except FpcoError as error:
            raise CommandError(error.message) from error
        drawn, short = made.design["drawn"], len(made.design["shortfalls"])
        self.stdout.write(f"Opened {made.label_set.name}: {drawn} answers for {', '.join(annotators)}.")
        if short:
            self.stdout.write(f"{short} of the cells held fewer than {made.per_cell} answers; all of theirs are in.")


def _dataset(name: str) -> Dataset:
    found = Dataset.objects.filter(name=name).first()
    if found is None:
        raise Invalid(f"There is no dataset named {name}.")
    return found


def _person(name: str) -> User:
    found = User.objects.filter(username=name).first()
    if found is None:
        raise Invalid(f"There is nobody named {name}.")
    return found
