"""The demo study, loaded once for the tests of a module that only look at it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import override_settings

from annotate.models import User
from benchmark.services import demo_house
from tests.engine import FAST


@pytest.fixture(scope="module")
def demo_study(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, User]]:
    """The people of the demo, by name; its rows are removed after the module's last test.

    Use it only where every test of the module rolls back: a `transaction=True` would empty it.
    """
    folder: Path = tmp_path_factory.mktemp("demo")
    with (
        django_db_blocker.unblock(),
        override_settings(DATA_DIR=folder, MEDIA_ROOT=folder / "media", ENGINE={**FAST, "stale": 30.0}),
    ):
        demo_house.load()
        try:
            yield {person.username: person for person in User.objects.all()}
        finally:
            call_command("flush", interactive=False, verbosity=0)
