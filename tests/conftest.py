"""The cast and the clients that all tests share."""

import gc
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings as project_settings
from django.db import connection
from django.test import Client
from hypothesis import settings

from annotate.models import User
from annotate.models.people import Role
from fpco_site.llm.types import Provider
from tests import factories
from tests.engine import FAST, Background

# Local models have an environment of their own: `python -m tests.run local`.
collect_ignore = ["local"]

# A busy machine is no failure: examples have no time limit of their own. FPCO_EXAMPLES=1000 looks longer.
settings.register_profile("fpco", deadline=None, max_examples=int(os.environ.get("FPCO_EXAMPLES", "50")))
settings.load_profile("fpco")


def pytest_collection_finish() -> None:
    """What was imported stays: the collector need not look through all of it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Whether the test database is there already: a copy of one that was migrated once for the whole run."""
    return bool(project_settings.READY_SQLITE) and connection.vendor == "sqlite"


@pytest.fixture
def ada(db: None) -> User:
    """Ada curates."""
    return factories.person("ada", Role.AUTHOR)


@pytest.fixture
def ben(db: None) -> User:
    """Ben reviews."""
    return factories.person("ben", Role.AUTHOR)


@pytest.fixture
def lea(db: None) -> User:
    """Lea labels."""
    return factories.person("lea", Role.ANNOTATOR)


@pytest.fixture
def lou(db: None) -> User:
    """Lou labels too."""
    return factories.person("lou", Role.ANNOTATOR)


@pytest.fixture
def rita(db: None) -> User:
    """Rita reads."""
    return factories.person("rita", Role.READER)


@pytest.fixture
def as_(client: Client) -> Callable[[User], Client]:
    """A client signed in as that person: `as_(ada).get(...)`."""

    def sign_in(who: User) -> Client:
        signed = Client()
        signed.force_login(who)
        return signed

    return sign_in


@pytest.fixture
def background(transactional_db: None) -> Iterator[Callable[..., Background]]:
    """Starts engines that run beside the test and end with it: `background(provider)`."""
    started: list[Background] = []

    def start(provider: Provider | None = None, *, stay: bool = False) -> Background:
        started.append(Background(provider, stay=stay))
        return started[-1]

    yield start
    for engine in started:
        engine.stop.set()
        engine.join()


@pytest.fixture
def fast_engine(settings: Any) -> None:
    """An engine that waits for nothing longer than a test has to."""
    settings.ENGINE = dict(FAST)
