"""What no call would mend pauses the work at once, after one call a lane at most; nothing is lost to it."""

from collections.abc import Iterator
from typing import Any

import pytest

from annotate.models import User
from benchmark.models import Attempt, DetectionCall, DetectionJob, Response, Run
from benchmark.services import detectors, runs
from tests import factories
from tests.engine import run_engine
from tests.stubs import Do, StubServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker, pytest.mark.usefixtures("fast_engine")]
LANES = 12
OUT: list[tuple[str, Do, str]] = [
    ("openai", Do("quota"), "Add credit or raise the quota at the provider, then resume."),
    ("openai_compatible", Do("unauthorized"), "Check the key in LAB_KEY, restart the worker, then resume."),
    ("gemini", Do("status", status=404), "Check that m-9 exists at this address"),
]


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    monkeypatch.setenv("LAB_KEY", "key-of-the-stub")
    with StubServer(latency=0.02) as server:
        yield server


def settings_of(stub: StubServer, provider: str) -> dict[str, Any]:
    return {"provider": provider, "model_id": "m-9", "base_url": stub.url(provider), "api_key_env": "LAB_KEY"}


def started(stub: StubServer, ada: User, provider: str = "openai", *, items: int = LANES, lanes: int = LANES) -> Run:
    model = factories.model(**settings_of(stub, provider))
    run = runs.create(model=model, dataset=factories.dataset(items=items), by=ada, concurrency=lanes)
    return runs.start(run=run, by=ada)


def outcome(run: Run) -> tuple[str, set[str]]:
    run.refresh_from_db()
    return run.state, set(run.dialogues.values_list("state", flat=True))


@pytest.mark.parametrize(("provider", "do", "advice"), OUT)
def test_a_run_pauses_after_one_call_a_lane(stub: StubServer, ada: User, provider: str, do: Do, advice: str) -> None:
    run = started(stub, ada, provider)
    stub.always(do)
    run_engine()

    assert outcome(run) == ("paused", {"waiting"})
    assert advice in run.pause_reason
    assert "key-of-the-stub" not in run.pause_reason
    assert 1 <= stub.counts.requests <= LANES
    assert Attempt.objects.count() == stub.counts.requests


def test_a_run_that_runs_out_of_credit_midway_goes_on_where_it_was(stub: StubServer, ada: User) -> None:
    run = started(stub, ada)
    stub.when(turn=4, do="quota")
    run_engine()
    assert outcome(run) == ("paused", {"waiting"})
    assert Attempt.objects.exclude(error_class="").count() <= LANES
    kept = Response.objects.count()

    stub.when(turn=4, do="answer")
    runs.resume(run=run, by=ada)
    before = stub.counts.requests
    run_engine()
    assert outcome(run) == ("complete", {"complete"})
    assert Response.objects.count() == 10 * LANES
    assert stub.counts.requests - before == 10 * LANES - kept, "No answer was paid for twice."


def test_a_server_that_is_gone_pauses_the_run_and_fails_nothing(stub: StubServer, ada: User) -> None:
    # One lane: of two, the one might be answered its second turn while the other loses its third, and be believed.
    run = started(stub, ada, items=2, lanes=1)
    stub.when(turn=3, do="cut_connection")
    run_engine()
    assert outcome(run) == ("paused", {"waiting"})
    assert "No call is answered: check the connection, the address and the provider, then resume." in run.pause_reason

    stub.when(turn=3, do="answer")
    runs.resume(run=run, by=ada)
    run_engine()
    assert outcome(run) == ("complete", {"complete"})


@pytest.mark.parametrize("do", [Do("unauthorized"), Do("status", status=503)])
def test_detecting_pauses_too_and_fails_no_detection(stub: StubServer, ada: User, do: Do) -> None:
    run = factories.run(answered=10, state="complete", dataset=factories.dataset(items=LANES))
    detector = detectors.create(
        by=ada, slug="judge", name="Judge", concurrency=LANES, **settings_of(stub, "openai_compatible")
    )
    job = detectors.request(detector=detector, dataset=run.dataset, by=ada)
    stub.always(do)
    run_engine()
    job = DetectionJob.objects.get(pk=job.pk)
    assert (job.state, set(job.detections.values_list("state", flat=True))) == ("paused", {"waiting"})
    assert job.pause_reason.endswith("resume.")
    assert DetectionCall.objects.count() == stub.counts.requests
    if do.what == "unauthorized":
        assert stub.counts.requests <= LANES

    stub.always(None)
    detectors.resume(job=job, by=ada)
    run_engine()
    assert DetectionJob.objects.get(pk=job.pk).state == "complete"
