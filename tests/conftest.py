"""The cast and the clients that all tests share."""

from collections.abc import Callable

import pytest
from django.test import Client
from hypothesis import settings

from annotate.models import User
from annotate.models.people import Role
from tests import factories

# A busy machine is no failure: examples have no time limit of their own.
settings.register_profile("fpco", deadline=None)
settings.load_profile("fpco")


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
