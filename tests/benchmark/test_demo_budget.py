"""On the demo, every page answers, and asks the database little (at most 30 queries)."""

from collections import Counter

import pytest

from annotate.models import User
from tests import demo_pages
from tests.demo_pages import Visit

BUDGET = 30
# What answers a signed-in reader otherwise than with a page: a form's target alone, or what is not theirs.
NOT_A_PAGE = {403, 404, 405}

pytestmark = pytest.mark.django_db


def repeated(visit: Visit) -> str:
    """The query that comes most often, numbers apart: usually the one to join or to prefetch."""
    shapes = Counter("".join("N" if char.isdigit() else char for char in sql) for sql in visit.sql)
    sql, times = shapes.most_common(1)[0]
    return f"{times} x {sql[:300]}"


@pytest.fixture(params=["ada", "rita", "lea"])
def visits(request: pytest.FixtureRequest, demo_study: dict[str, User]) -> list[Visit]:
    return list(demo_pages.walk(demo_study[request.param]))


def test_every_page_that_a_person_reaches_answers_within_30_queries(visits: list[Visit]) -> None:
    plain = set(demo_pages.plain_paths())
    broken = [str(visit) for visit in visits if not answers(visit, linked=visit.path not in plain)]
    greedy = [f"{visit}\n    {repeated(visit)}" for visit in visits if len(visit.sql) > BUDGET]
    assert not broken, "\n".join(broken)
    assert not greedy, "\n".join(greedy)


def answers(visit: Visit, *, linked: bool) -> bool:
    """A link leads to a page or on to one; an address that was only tried may also refuse."""
    return 200 <= visit.status < 400 or (not linked and visit.status in NOT_A_PAGE)
