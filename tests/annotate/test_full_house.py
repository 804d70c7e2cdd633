"""Over a study of the published size no page of the authors asks the database more than its budget."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.services import datasets
from tests import factories, full_house
from tests.bench import authoring

pytestmark = pytest.mark.django_db
BUDGET = 25


@pytest.fixture
def house(db: None) -> Client:
    """Two datasets over 1,080 items; signed in is Ada."""
    ada, ben = factories.person("ada"), factories.person("ben")
    full_house.build(author=ada, reviewer=ben)
    datasets.freeze(name="First", by=ada, only_approved=True)
    full_house.mend(by=ada)
    datasets.freeze(name="Second", by=ada, only_approved=True)
    client = Client()
    client.force_login(ada)
    return client


def test_every_page_of_the_authors_stays_within_its_budget_at_1080_items(house: Client) -> None:
    asked: dict[str, Any] = {}
    for name, path in authoring.addresses():
        house.get(path)  # what the first visitor makes is not counted
        with CaptureQueriesContext(connection) as queries:
            assert house.get(path).status_code == 200, path
        asked[name] = len(queries)
    assert {name: n for name, n in asked.items() if n > BUDGET} == {}
