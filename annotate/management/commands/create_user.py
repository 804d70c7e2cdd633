"""`manage.py create_user NAME --role author|annotator|reader`."""

import getpass
import os
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotate.models.people import Role
from annotate.services import people
from fpco_site.errors import FpcoError


class Command(BaseCommand):
    help = "Create a person. The password is FPCO_PASSWORD, else asked for, else made up and printed once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--role", required=True, choices=Role.values)

    def handle(self, *args: Any, name: str, role: str, **options: Any) -> None:
        given = os.environ.get("FPCO_PASSWORD") or _ask()
        try:
            person, secret = people.create(username=name, role=role, password=given or None)
        except FpcoError as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"Created {person.username} ({person.role}).")
        if not given:
            self.stdout.write(f"Password (shown only now): {secret}")


def _ask() -> str:
    if not sys.stdin.isatty():
        return ""
    password = getpass.getpass("Password (empty: one is made up): ")
    if password and password != getpass.getpass("Again: "):
        raise CommandError("The two passwords differ.")
    return password
