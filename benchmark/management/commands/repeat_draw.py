"""`manage.py repeat_draw "Validation 1 of pilot" [--out draw.json]`."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmark.models import ValidationSet
from benchmark.services import validation
from fpco_site.errors import FpcoError


class Command(BaseCommand):
    help = "Draw a validation set again from its seed and data; fails where it is not the same, byte for byte."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="the set's name")
        parser.add_argument("--out", type=Path, help="write the draw there as canonical JSON; it tells what was drawn")

    def handle(self, *args: Any, name: str, out: Path | None, **options: Any) -> None:
        row = ValidationSet.objects.select_related("result_set__dataset").filter(label_set__name=name).first()
        if row is None:
            raise CommandError(f"There is no validation set named {name}.")
        try:
            made = validation.repeat(validation_set=row)
        except FpcoError as error:
            raise CommandError(error.message) from error
        if out is not None:
            out.write_text(made.canonical, encoding="utf-8")
        if not made.same:
            raise CommandError(made.sentence)
        self.stdout.write(made.sentence)
