"""A worker that is killed while it drafts makes nothing twice: real processes, broker, database and provider."""

import random
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from annotate.models import Draft, DraftCall, Drafter, DraftJob, Item, User
from annotate.models.drafts import BAD_REPLIES
from annotate.services import draft_jobs, items
from annotate.services.draft_jobs import Wish
from tests import factories, services
from tests.stubs import StubServer
from tests.worker import Celery, until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.timeout(600)]
KILLS = 2
ITEMS, BAD = 16, 2


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
def job(ada: User, stub: StubServer, monkeypatch: pytest.MonkeyPatch) -> DraftJob:
    """Questions, then premises, of cats and dogs; some replies can't be used."""
    monkeypatch.setenv("STUB_KEY", "key-of-the-stub")
    endpoint = {"base_url": stub.url("openai_compatible"), "api_key_env": "STUB_KEY"}
    drafter = Drafter.objects.create(
        name="Stub", provider="openai_compatible", model_id="stub", concurrency=4, **endpoint
    )
    for number in range(ITEMS):
        image = factories.image(target=("cat", "dog")[number % 2])
        items.place(image=image, cell=("single_clean", "animal", "identity"), by=ada)
    # So far apart that no draft meets two: one that is asked anew goes before all that were not asked yet.
    stub.script([*["answer"] * 15, "prose"] * BAD)
    return draft_jobs.start(wish=Wish("both"), drafter=drafter, by=ada)


def test_killed_again_and_again_it_drafts_no_item_twice_and_pays_only_for_what_was_in_flight(
    job: DraftJob, stub: StubServer, celery: Celery
) -> None:
    planned = 2 * ITEMS
    draw = random.Random()
    held: list[int] = []
    for kill in range(KILLS):
        goal = int(planned * (kill + draw.uniform(0.3, 0.9)) / (KILLS + 1))
        celery.start()
        until(lambda goal=goal: Draft.objects.filter(state="ready").count() >= goal, celery)  # type: ignore[misc]
        time.sleep(draw.uniform(0, 0.1))
        celery.kill()
        held.append(Draft.objects.filter(state="running").count())
    celery.start()
    until(lambda: DraftJob.objects.get().state == "complete", celery)
    assert celery.terminate() == 0

    made = list(Draft.objects.order_by("item", "-kind").values_list("item", "kind", "state"))
    keys = Item.objects.order_by("pk").values_list("pk", flat=True)
    assert made == [(pk, kind, "ready") for pk in keys for kind in ("questions", "premise")]
    paid_for_nothing = stub.counts.requests - DraftCall.objects.count()
    assert 0 <= paid_for_nothing <= sum(held), "A draft has one call in flight; only those may be asked again."
    assert all(count <= 4 for count in held)
    assert DraftCall.objects.filter(verdict="usable").count() == planned
    redrafted = DraftCall.objects.filter(verdict__in=BAD_REPLIES).values_list("draft", flat=True)
    assert len(redrafted) == len(set(redrafted)) > 0, "A draft is asked for anew once."
    assert not Draft.objects.filter(lease_token__isnull=False).exists()
    assert not Item.objects.exclude(target_description="").exists()
