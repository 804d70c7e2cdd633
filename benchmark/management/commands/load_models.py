"""Load models, detectors and drafters from a catalogue file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmark.services import models
from fpco_site.errors import FpcoError
from fpco_site.llm.providers import transformers


class Command(BaseCommand):
    help = "Create or update the models, detectors and drafters of a models.toml; all of them or, at an error, none."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="for instance models.toml")

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{path} can't be read ({error.strerror}).") from error
        except UnicodeDecodeError as error:
            raise CommandError(f"{path} is not UTF-8 text.") from error
        try:
            loaded = models.load_catalogue(text=text, by=None)
        except FpcoError as error:
            raise CommandError(f"{path}: {error.message}") from error
        self.stdout.write(f"{path}: {loaded}.")
        local = loaded.local
        if local and not transformers.is_installed():
            self.stdout.write(
                f"{local} of its models are local: the worker that asks them needs the extra local "
                "(uv sync --extra local), which is not installed here. See docs/local-models.md."
            )
