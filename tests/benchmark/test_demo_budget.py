"""On the demo, every page answers, and asks the database little (at most 30 queries)."""

from collections import Counter

import pytest
from django.urls import get_resolver

from annotate.models import User
from tests import demo_pages
from tests.demo_pages import Visit

BUDGET = 30
# What an address that was only tried may say: what is missing, not yours, or for a POST alone.
REFUSALS = {400, 403, 404, 405}

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(900)]


def repeated(visit: Visit) -> str:
    """The query that comes most often, numbers apart: usually the one to join or to prefetch."""
    shapes = Counter("".join("N" if char.isdigit() else char for char in sql) for sql in visit.sql)
    sql, times = shapes.most_common(1)[0]
    return f"{times} x {sql[:300]}"


def test_every_page_that_a_person_reaches_answers_within_30_queries(demo_study: dict[str, User]) -> None:
    # A reader gets an author's pages with less on them.
    walks = [demo_pages.walk(demo_study[who], brief=who == "rita") for who in ("ada", "rita", "lea")]
    visits = [visit for walk in walks for visit in walk]
    broken = [str(visit) for visit in visits if not answers(visit)]
    greedy = [f"{visit}\n    {repeated(visit)}" for visit in visits if len(visit.sql) > BUDGET]
    assert not broken, "\n".join(broken)
    assert all(visit.sql for visit in visits if visit.status == 200)  # a signed-in page asks at least who it is
    assert not greedy, "\n".join(greedy)
    check_reach({visit.name for visit in visits})


def answers(visit: Visit) -> bool:
    """A link leads to a page or on to one; an address that was only tried may also refuse."""
    return 200 <= visit.status < 400 or (not visit.linked and visit.status in REFUSALS)


def check_reach(seen: set[str]) -> None:
    """The walk comes to every kind of page: what it doesn't see, it doesn't judge."""
    names = {demo_pages.name_of(f"/{route}") for route in demo_pages.routes(get_resolver()) if "<" not in route}
    assert names <= seen
    assert {"item_edit", "item_review", "item_history", "dataset_item", "run_detail", "dialogue_detail"} <= seen
    assert {"label_task", "label_set", "agreement_set", "validation_detail", "release_detail", "results_table"} <= seen
    assert {"picture", "thumb", "model_detail", "detector_detail", "image_detail", "attempt_raw"} <= seen
