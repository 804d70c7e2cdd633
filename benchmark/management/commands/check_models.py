"""Test whether models can really be asked."""

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmark import connections as reads
from benchmark.management import waiting
from benchmark.management.finding import model_named
from benchmark.management.waiting import Standing
from benchmark.models import ConnectionTest
from benchmark.models.connections import TestState
from benchmark.services import connections
from fpco_site.errors import FpcoError


class Command(BaseCommand):
    help = (
        "Test the connection of these models, or of every active one: key, model, picture, second turn, settings, "
        "tokens. Two or three short calls each. Exits 0 only when none of them is red."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help="a model's name (default: every active model)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            subjects = [model_named(name) for name in options["names"]] or reads.testable()["model"]
            tests = connections.request_all(subjects=subjects, by=None)
        except FpcoError as error:
            raise CommandError(error.message) from error
        if not tests:
            raise CommandError("There is no model that can be asked: load models.toml, or add one.")
        try:
            waiting.wait("Testing", lambda: _standing(tests), asked=[subject.provider for subject in subjects])
        except KeyboardInterrupt:
            raise CommandError("Left the tests as they are; the same command goes on with them.") from None
        self._conclude(reads.standings(subjects))

    def _conclude(self, rows: Sequence[reads.Standing]) -> None:
        for row in rows:
            self.stdout.write(f"{row.subject}: {row.state}. {row.sentence}")
        red = [str(row.subject) for row in rows if row.state not in reads.GREEN]
        if red:
            raise CommandError(f"{len(red)} of {len(rows)} can't be asked as they are: {', '.join(red)}.")


def _standing(tests: Sequence[ConnectionTest]) -> Standing:
    left = ConnectionTest.objects.filter(pk__in=[test.pk for test in tests]).exclude(state=TestState.DONE).count()
    return Standing(len(tests) - left, len(tests), note="models", over=not left)
