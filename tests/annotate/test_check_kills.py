"""A worker that is killed while it has variants checked asks about none twice: real processes and provider."""

import random
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from annotate.models import Drafter, User, VariantCheck
from annotate.services import variant_checks
from annotate.services.variant_check_work import VariantCheckWork
from tests import services
from tests import variants as written
from tests.stubs import StubServer
from tests.worker import Celery, until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]
KILLS = 2
FAMILIES = ("Alder", "Birch", "Cedar")


@pytest.fixture
def celery(tmp_path: Path) -> Iterator[Celery]:
    with ExitStack() as stack:
        broker = stack.enter_context(services.valkey(stack.enter_context(services.temporary_folder())))
        worker = Celery(broker, tmp_path, STUB_KEY="key-of-the-stub")
        stack.callback(worker.end)
        yield worker


@pytest.fixture
def stub() -> Iterator[StubServer]:
    with StubServer(latency=0.15, keep=False, plain=True) as server:
        yield server


@pytest.fixture
def planned(ada: User, stub: StubServer, monkeypatch: pytest.MonkeyPatch) -> int:
    """Two images of six variants before three models; some replies can't be read. How many verdicts are wanted."""
    monkeypatch.setenv("STUB_KEY", "key-of-the-stub")
    endpoint = {"base_url": stub.url("openai_compatible"), "api_key_env": "STUB_KEY"}
    checkers = [
        Drafter.objects.create(
            name=family, family=family, provider="openai_compatible", model_id=family, concurrency=2, **endpoint
        )
        for family in FAMILIES
    ]
    for category in ("animal", "food"):
        written.chosen(ada, category=category)
    stub.script([*["answer"] * 17, "prose"])
    return variant_checks.request(variants=variant_checks.rows_for(), checkers=checkers, by=ada).made


def test_killed_again_and_again_it_pays_twice_only_for_what_was_in_flight(
    planned: int, stub: StubServer, celery: Celery
) -> None:
    draw = random.Random()
    held: list[int] = []
    for kill in range(KILLS):
        goal = int(planned * (kill + draw.uniform(0.3, 0.9)) / (KILLS + 1))
        celery.start()
        until(lambda goal=goal: VariantCheck.objects.filter(state="ready").count() >= goal, celery)  # type: ignore[misc]
        time.sleep(draw.uniform(0, 0.1))
        celery.kill()
        held.append(VariantCheck.objects.filter(state="running").count())
    # Nobody is killed any more, so this one is counted. It comes after the first of each lane: a check that is asked
    # anew goes before all that were not asked yet, and must not meet a second one.
    stub.script([*["answer"] * 2 * len(FAMILIES), "prose"])
    celery.start()
    until(lambda: not VariantCheck.objects.filter(state__in=variant_checks.OPEN).exists(), celery)
    assert celery.terminate() == 0

    rows = VariantCheck.objects.all()
    assert (planned, rows.filter(state="ready").count(), rows.count()) == (36, 36, 36)
    kept = sum(rows.values_list("tries", flat=True))
    assert kept - planned == sum(rows.values_list("unusable", flat=True)) > 0, "What can't be read is asked for anew."
    assert 0 <= stub.counts.requests - kept <= sum(held), "A check has one call in flight; only those are asked again."
    assert all(count <= 2 * len(FAMILIES) for count in held)
    assert not rows.filter(lease_token__isnull=False).exists()


def test_killed_while_it_is_stopped_it_asks_nothing_more_until_it_goes_on(
    planned: int, stub: StubServer, celery: Celery
) -> None:
    celery.start()
    until(lambda: VariantCheck.objects.filter(state="ready").count() >= 6, celery)
    variant_checks.stop()
    celery.kill()
    held = VariantCheck.objects.filter(lease_token__isnull=False).count()
    assert not VariantCheckWork().pending()
    variant_checks.go_on()
    celery.start()
    until(lambda: VariantCheck.objects.filter(state="ready").count() == planned, celery)
    assert celery.terminate() == 0
    kept = sum(VariantCheck.objects.values_list("tries", flat=True))
    assert 0 <= stub.counts.requests - kept <= held
