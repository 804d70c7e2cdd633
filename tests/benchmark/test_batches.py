"""A batch asks about each dialogue once, keeps whatever came, and is submitted once wherever its worker died."""

from collections.abc import Iterator
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.db.models import Count

from annotate.models import User
from benchmark.models import (
    BatchJob,
    BatchRequest,
    Detection,
    DetectionCall,
    DetectionJob,
    DetectorLabel,
    Response,
    Run,
    Spending,
)
from benchmark.services import batch_steps, batches, detectors, runs
from fpco_site.errors import Conflict, Invalid
from fpco_site.llm import batches as providers
from fpco_site.llm.batches import Limits
from fpco_site.llm.batches.openai import OpenAIBatches
from tests import factories, services
from tests.engine import run_engine
from tests.stubs import StubServer
from tests.stubs.batches import Made
from tests.worker import Celery, until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("fast_engine")]
BOTH = pytest.mark.parametrize("provider", ["openai", "gemini"])
CANARY = "sk-canary-of-the-batches"


class Killed(BaseException):
    """As if the process had ended here."""


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[StubServer]:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setenv("GEMINI_API_KEY", CANARY)
    settings.BATCH_POLL = 0.0
    with StubServer() as server:
        yield server


def job_over(run: Run, stub: StubServer, by: User, provider: str = "openai", **more: Any) -> DetectionJob:
    values = {"name": provider, "slug": provider, "provider": provider, "model_id": "gpt-4.1", **more}
    detector = detectors.create(by=by, base_url=stub.url(provider), **values)
    return detectors.request(detector=detector, dataset=run.dataset, by=by, mode="batch")


def ran(items: int = 3) -> Run:
    return factories.run(answered=10, state="complete", dataset=factories.dataset(items=items))


def fresh(job: DetectionJob) -> DetectionJob:
    return DetectionJob.objects.get(pk=job.pk)


def fates(batch: BatchJob) -> dict[str, int]:
    return dict(batch.requests.order_by().values_list("fate").annotate(n=Count("pk")))


def assert_once_each(run: Run) -> None:
    """Every answer has one label, and nothing is held any more."""
    assert DetectorLabel.objects.count() == Response.objects.filter(dialogue__run=run).count()
    assert not Detection.objects.exclude(state="complete", lease_token=None).exists()


@BOTH
@pytest.mark.worker
def test_a_batch_labels_every_answer_at_half_the_price(ada: User, stub: StubServer, provider: str) -> None:
    run = ran()
    job = job_over(run, stub, ada, provider)
    stub.batches.working = True
    batch_steps.work()
    batch = BatchJob.objects.get()
    assert (batch.state, len(stub.batches.made)) == ("submitted", 1)
    assert stub.batches.made[0].key.endswith(str(batch.key))
    assert set(Detection.objects.values_list("state", "lease_token")) == {("batched", batch.key)}
    run_engine()
    assert not stub.requests, "Live lanes leave alone what is in a batch."
    stub.batches.working = False
    batch_steps.work()
    assert_once_each(run)
    batch.refresh_from_db()
    assert (batch.state, fates(batch), fresh(job).state) == ("collected", {"labelled": 3}, "complete")
    call = DetectionCall.objects.first()
    assert call is not None
    assert (call.batch, call.discount, call.ids) == (batch, Decimal("0.5"), list(range(1, 11)))
    assert (call.input_tokens, call.cached_tokens) == (900, 512)
    assert call.output_tokens
    assert b"labels" in (call.raw or b"")
    spent = Spending.objects.get(job=job, discount=Decimal("0.5"))
    assert (spent.calls, spent.input_tokens) == (3, 2700)


@BOTH
def test_results_come_in_any_order_twice_and_with_ids_that_nobody_asked_for(
    ada: User, stub: StubServer, provider: str
) -> None:
    run = ran()
    job_over(run, stub, ada, provider)
    stub.batches.backwards = stub.batches.twice = stub.batches.unknown = True
    batch_steps.work()
    batch_steps.work()
    assert_once_each(run)
    assert DetectionCall.objects.count() == 3
    assert BatchJob.objects.get().error == "1 line names a request that was not sent; nothing came of it."


@pytest.mark.parametrize(("provider", "how"), [("openai", "expired"), ("gemini", "cancelled")])
def test_a_batch_that_ends_early_keeps_what_came_and_asks_the_rest_again(
    ada: User, stub: StubServer, provider: str, how: str
) -> None:
    run = ran()
    job = job_over(run, stub, ada, provider)
    stub.batches.ends_as, stub.batches.only = how, 2
    batch_steps.work()
    batch_steps.work()
    first = BatchJob.objects.order_by("pk")[0]
    assert (first.state, first.provider_status, fates(first)) == ("collected", how, {"labelled": 2, "returned": 1})
    stub.batches.ends_as = "completed"
    batch_steps.work()
    batch_steps.work()
    assert_once_each(run)
    assert [batch.requests.count() for batch in BatchJob.objects.order_by("pk")] == [3, 1]
    assert (DetectionCall.objects.count(), fresh(job).state) == (3, "complete")


def test_two_batches_that_bring_nothing_pause_the_job(ada: User, stub: StubServer) -> None:
    job = job_over(ran(), stub, ada)
    stub.batches.ends_as, stub.batches.only = "expired", 0
    for _ in range(6):
        batch_steps.work()
    assert (BatchJob.objects.count(), fresh(job).state) == (2, "paused")
    assert "the last ended as expired. Ask live, or resume" in fresh(job).pause_reason


@BOTH
def test_single_bad_replies_are_asked_once_more_live_by_the_same_rules(
    ada: User, stub: StubServer, provider: str
) -> None:
    run = ran(items=4)
    job = job_over(run, stub, ada, provider)
    stub.batches.spoil = {0: "prose", 1: "truncated", 2: "500"}
    batch_steps.work()
    batch_steps.work()
    batch = BatchJob.objects.get()
    assert fates(batch) == {"unusable": 2, "failed": 1, "labelled": 1}
    run_engine()
    assert_once_each(run)
    assert fresh(job).state == "complete"
    caps = list(DetectionCall.objects.order_by("pk").values_list("batch", "max_output_tokens", "discount"))
    assert sorted(cap or 0 for made, cap, _ in caps if made is None) == [256, 256, 512]
    assert {discount for made, _, discount in caps if made is None} == {Decimal(0)}


@BOTH
def test_a_request_that_is_refused_for_itself_fails_and_a_bad_key_pauses_the_job(
    ada: User, stub: StubServer, provider: str
) -> None:
    job = job_over(ran(items=2), stub, ada, provider)
    stub.batches.spoil = {0: "422"}
    batch_steps.work()
    batch_steps.work()
    assert sorted(Detection.objects.values_list("state", flat=True)) == ["complete", "failed"]
    detectors.request(detector=job.detector, dataset=job.dataset, by=ada, retry=True)
    stub.batches.spoil = {0: "401"}
    batch_steps.work()
    batch_steps.work()
    assert (fresh(job).state, "Check the key" in fresh(job).pause_reason) == ("paused", True)
    assert Detection.objects.filter(state="waiting", live=False).count() == 1


def test_bad_in_the_batch_and_again_live_is_missing(ada: User, stub: StubServer) -> None:
    job = job_over(ran(items=2), stub, ada)
    stub.batches.spoil = {0: "not_boolean"}
    batch_steps.work()
    batch_steps.work()
    stub.always("missing_id")
    run_engine()
    assert sorted(Detection.objects.values_list("state", flat=True)) == ["complete", "failed"]
    assert (DetectorLabel.objects.count(), fresh(job).state) == (10, "incomplete")


@BOTH
def test_a_create_whose_answer_was_lost_is_adopted(ada: User, stub: StubServer, provider: str) -> None:
    run = ran()
    job_over(run, stub, ada, provider)
    stub.batches.made += [_strangers(stub, provider, number) for number in range(3)]
    stub.batches.lose_answer = True
    batch_steps.work()
    assert BatchJob.objects.get().state == "submitting"
    batch_steps.work()
    assert BatchJob.objects.get().state == "collected"
    assert stub.batches.calls.count("create") == 1
    assert_once_each(run)


def test_a_create_that_never_arrived_is_sent_again_after_two_looks(ada: User, stub: StubServer) -> None:
    run = ran()
    job_over(run, stub, ada)
    stub.batches.refuse = {"create": 503}
    for _ in range(4):
        batch_steps.work()
    calls = [call for call in stub.batches.calls if call in ("create", "list")]
    assert calls == ["create", "list", "list", "create"]
    batch_steps.work()
    assert_once_each(run)


@BOTH
@pytest.mark.worker
def test_a_kill_after_any_step_submits_nothing_twice_and_loses_nothing(
    ada: User, stub: StubServer, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One batch, killed once in every step: right after what it does at the provider, before that is committed."""
    run = ran()
    job = job_over(run, stub, ada, provider)
    real, write = providers.make, batch_steps._Hold.write
    deaths = iter(["upload", "create", "find", "get", "results"])

    class Dying:
        """A provider whose user dies as soon as one of its answers is there."""

        def __init__(self, remote: Any, at: str) -> None:
            self._remote, self._at = remote, at

        def __getattr__(self, name: str) -> Any:
            found = getattr(self._remote, name)
            if name != self._at:
                return found

            def and_die(*given: Any) -> Any:
                list(answer) if hasattr(answer := found(*given), "__next__") else None
                raise Killed

            return and_die

    for at in deaths:
        monkeypatch.setattr(providers, "make", lambda endpoint, at=at: Dying(real(endpoint), at))
        with pytest.raises(Killed):
            batch_steps.work()
    monkeypatch.setattr(providers, "make", real)

    def kept_then_dead(hold: Any, **columns: Any) -> None:
        write(hold, **columns)
        if not columns:
            raise Killed

    monkeypatch.setattr(batch_steps._Hold, "write", kept_then_dead)
    with pytest.raises(Killed):
        batch_steps.work()
    monkeypatch.setattr(batch_steps._Hold, "write", write)
    batch_steps.work()
    assert stub.batches.calls.count("create") == 1
    assert_once_each(run)
    assert (DetectionCall.objects.count(), fresh(job).state) == (3, "complete")


def test_a_prepared_batch_is_gone_on_with_by_the_next_worker(ada: User, stub: StubServer) -> None:
    """Killed between the commit of the key and the upload."""
    run = ran()
    job = job_over(run, stub, ada)
    assert batches.prepare(job=job) is not None
    batch_steps.work()
    batch_steps.work()
    assert BatchJob.objects.count() == 1
    assert_once_each(run)


@pytest.mark.worker
def test_a_worker_that_lives_keeps_its_batch_and_a_dead_one_loses_it(
    ada: User, stub: StubServer, settings: Any
) -> None:
    job = job_over(ran(), stub, ada)
    batch = batches.prepare(job=job)
    assert batch is not None
    BatchJob.objects.update(worker="somebody", beat=7)
    batch_steps.work()
    assert BatchJob.objects.get().state == "prepared"
    BatchJob.objects.update(beat=8)
    settings.ENGINE = {**settings.ENGINE, "stale": 0.0}
    batch_steps.work()
    assert BatchJob.objects.get().state == "prepared", "Its counter moved."
    batch_steps.work()
    assert (BatchJob.objects.get().state, BatchJob.objects.get().worker) == ("submitted", "")


@pytest.mark.worker
def test_who_was_taken_over_cancels_what_it_submitted_late(
    ada: User, stub: StubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ran()
    job_over(run, stub, ada)
    real = OpenAIBatches.create

    def slow(self: OpenAIBatches, file: str, key: str) -> Any:
        BatchJob.objects.update(worker="another")
        return real(self, file, key)

    monkeypatch.setattr(OpenAIBatches, "create", slow)
    batch_steps.work()
    monkeypatch.setattr(OpenAIBatches, "create", real)
    assert [made.status for made in stub.batches.made] == ["cancelled"]
    BatchJob.objects.update(worker="")
    for _ in range(4):
        batch_steps.work()
    assert_once_each(run)


@BOTH
def test_a_pause_cancels_at_the_provider_and_keeps_what_came(ada: User, stub: StubServer, provider: str) -> None:
    run = ran()
    job = job_over(run, stub, ada, provider)
    stub.batches.working, stub.batches.only = True, 1
    batch_steps.work()
    detectors.pause(job=job, by=ada)
    batch_steps.work()
    batch = BatchJob.objects.get()
    assert (batch.state, batch.provider_status, fates(batch)) == (
        "collected",
        "cancelled",
        {"labelled": 1, "returned": 2},
    )
    assert (DetectorLabel.objects.count(), fresh(job).state) == (10, "paused")
    stub.batches.working, stub.batches.only = False, None
    detectors.resume(job=job, by=ada)
    batch_steps.work()
    batch_steps.work()
    assert_once_each(run)


def test_a_pause_before_anything_was_submitted_submits_nothing(ada: User, stub: StubServer) -> None:
    job = job_over(ran(), stub, ada)
    batches.prepare(job=job)
    detectors.pause(job=job, by=ada)
    batch_steps.work()
    assert not stub.batches.calls
    assert BatchJob.objects.get().state == "withdrawn"
    assert set(Detection.objects.values_list("state", flat=True)) == {"waiting"}


@pytest.mark.parametrize(("provider", "at"), [("openai", "upload"), ("gemini", "create")])
def test_a_refusal_gives_everything_back_and_says_what_to_do(
    ada: User, stub: StubServer, provider: str, at: str
) -> None:
    job = job_over(ran(), stub, ada, provider)
    stub.batches.refuse = {at: 401}
    batch_steps.work()
    batch_steps.work()
    assert (fresh(job).state, BatchJob.objects.get().state) == ("paused", "withdrawn")
    variable = "OPENAI_API_KEY" if provider == "openai" else "GEMINI_API_KEY"
    assert f"Check the key in {variable}, restart the worker, then resume." in fresh(job).pause_reason
    assert set(Detection.objects.values_list("state", flat=True)) == {"waiting"}
    assert CANARY not in str(list(BatchJob.objects.values()))


@BOTH
def test_a_file_that_fails_validation_is_given_back_with_the_reason(ada: User, stub: StubServer, provider: str) -> None:
    job = job_over(ran(), stub, ada, provider)
    stub.batches.invalid = "Enqueued token limit reached."
    batch_steps.work()
    batch_steps.work()
    assert BatchJob.objects.get().state == "withdrawn"
    assert "Enqueued token limit reached. Mend the cause, then resume." in fresh(job).pause_reason
    detectors.resume(job=job, by=ada)
    batch_steps.work()
    batch_steps.work()
    assert DetectorLabel.objects.count() == 30


@BOTH
def test_trouble_on_the_way_is_shown_and_goes_by(ada: User, stub: StubServer, provider: str) -> None:
    run = ran()
    job_over(run, stub, ada, provider)
    stub.batches.refuse = {"upload": 503, "get": 500, "results": 502}
    batch_steps.work()
    assert (BatchJob.objects.get().state, "503" in BatchJob.objects.get().error) == ("prepared", True)
    for _ in range(4):
        batch_steps.work()
    assert_once_each(run)
    assert (stub.batches.calls.count("create"), BatchJob.objects.get().error) == (1, "")


@BOTH
def test_answers_that_the_provider_has_no_more_are_asked_again_only_by_a_person(
    ada: User, stub: StubServer, provider: str
) -> None:
    run = ran()
    job = job_over(run, stub, ada, provider)
    batch_steps.work()
    stub.batches.refuse = {"results": 404}
    batch_steps.work()
    assert (BatchJob.objects.get().state, fresh(job).state) == ("withdrawn", "paused")
    assert "no longer has what it answered. Resume to ask again" in fresh(job).pause_reason
    batch_steps.work()
    assert stub.batches.calls.count("create") == 1, "It was paid for; nobody pays again unasked."
    detectors.resume(job=job, by=ada)
    batch_steps.work()
    batch_steps.work()
    assert_once_each(run)


def test_of_two_files_one_that_is_gone_takes_nothing_from_the_other(ada: User, stub: StubServer) -> None:
    run = ran()
    job = job_over(run, stub, ada)
    stub.batches.spoil, stub.batches.missing = {1: "500"}, "errors"
    batch_steps.work()
    batch_steps.work()
    assert DetectorLabel.objects.count() == 20
    assert fates(BatchJob.objects.get()) == {"labelled": 2, "returned": 1}
    assert fresh(job).state == "paused"


@BOTH
def test_a_batch_that_the_provider_no_longer_knows_pauses_instead_of_being_paid_twice(
    ada: User, stub: StubServer, provider: str
) -> None:
    job = job_over(ran(), stub, ada, provider)
    batch_steps.work()
    stub.batches.refuse = {"get": 404}
    batch_steps.work()
    batch_steps.work()
    assert stub.batches.calls.count("create") == 1
    assert "was the key changed?" in fresh(job).pause_reason


def test_a_person_ends_a_batch_that_never_ends(ada: User, stub: StubServer) -> None:
    job = job_over(ran(), stub, ada)
    stub.batches.working = True
    for _ in range(3):
        batch_steps.work()
    assert BatchJob.objects.get().state == "submitted"
    detectors.pause(job=job, by=ada)
    batch_steps.work()
    assert (BatchJob.objects.get().state, stub.batches.made[0].status) == ("collected", "cancelled")
    assert not Detection.objects.filter(state="batched").exists()


def test_a_batch_whose_metadata_got_lost_is_known_by_its_file(ada: User, stub: StubServer) -> None:
    run = ran()
    job_over(run, stub, ada)
    stub.batches.lose_answer = stub.batches.strips = True
    for _ in range(3):
        batch_steps.work()
    assert stub.batches.calls.count("create") == 1
    assert_once_each(run)


def test_a_person_cancels_the_batches_of_a_job_that_the_engine_paused(ada: User, stub: StubServer) -> None:
    job = job_over(ran(), stub, ada)
    stub.batches.working, stub.batches.only = True, 2
    batch_steps.work()
    detectors.pause_by_engine(job=job.pk, reason="No quota.")
    detectors.pause(job=job, by=ada)
    batch_steps.work()
    assert (stub.batches.made[0].status, fresh(job).pause_reason) == ("cancelled", "No quota.")
    with pytest.raises(Conflict, match="running can be paused"):
        detectors.pause(job=job, by=ada)


def test_a_prepared_batch_whose_prompt_has_changed_is_given_back(ada: User, stub: StubServer) -> None:
    job = job_over(ran(), stub, ada)
    assert batches.prepare(job=job) is not None
    type(job.detector).objects.update(prompt_sha256="0" * 64)
    batch_steps.work()
    assert (BatchJob.objects.get().state, fresh(job).state) == ("withdrawn", "paused")
    assert "no longer the one" in fresh(job).pause_reason
    assert not Detection.objects.filter(state="batched").exists()


def test_an_enormous_reply_with_nuls_is_kept_and_read(ada: User, stub: StubServer) -> None:
    run = ran(items=1)
    job_over(run, stub, ada)
    stub.batches.pads = "\x00\u2028 " * 350_000
    batch_steps.work()
    batch_steps.work()
    assert_once_each(run)
    assert len(bytes(DetectionCall.objects.get().raw or b"")) > 1_000_000


@pytest.mark.worker
def test_files_stay_within_the_providers_limits(ada: User, stub: StubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ran(items=5)
    monkeypatch.setattr(OpenAIBatches, "limits", Limits(requests=2, size=10**9))
    job = job_over(run, stub, ada)
    batch_steps.work()
    assert [batch.requests.count() for batch in BatchJob.objects.order_by("pk")] == [2, 2, 1]
    batch_steps.work()
    assert fresh(job).state == "complete"
    size = len(next(iter(stub.batches.files.values()))) // 2
    monkeypatch.setattr(OpenAIBatches, "limits", Limits(requests=100, size=int(size * 3.5)))
    job_over(run, stub, ada, slug="second")
    batch_steps.work()
    batch_steps.work()
    assert [len(data.splitlines()) for data in stub.batches.files.values()] == [2, 2, 1, 3, 2]
    assert DetectorLabel.objects.count() == 100


def test_batches_wait_for_models_that_still_answer(ada: User, stub: StubServer) -> None:
    data = factories.dataset(items=2)
    run = runs.start(run=runs.create(model=factories.model(), dataset=data, by=ada), by=ada)
    job = job_over(run, stub, ada)
    run.dialogues.filter(pk=run.dialogues.first().pk).update(state="stopped")  # type: ignore[union-attr]
    batch_steps.work()
    assert not BatchJob.objects.exists(), "One dialogue has ended, and another will soon."
    run_engine()
    batch_steps.work()
    assert BatchRequest.objects.count() >= 1
    batch_steps.work()
    assert fresh(job).state == "complete"


def test_an_answer_that_came_while_its_dialogue_was_in_a_batch_gets_its_label_too(ada: User, stub: StubServer) -> None:
    run = factories.run(answered=3, state="incomplete")
    run.dialogues.update(state="stopped")
    job_over(run, stub, ada)
    stub.batches.working = True
    batch_steps.work()
    dialogue = run.dialogues.get()
    Response.objects.create(dialogue=dialogue, turn=4, text="It is a cat.")
    stub.batches.working = False
    for _ in range(4):
        batch_steps.work()
    assert list(BatchRequest.objects.order_by("pk").values_list("ids", flat=True)) == [[1, 2, 3], [4]]
    assert_once_each(run)


def test_what_has_no_batches_says_so(ada: User, stub: StubServer) -> None:
    run = ran(items=1)
    rules = detectors.create(by=ada, slug="rules", name="Rules", provider="rules", model_id="rules-1", options={})
    with pytest.raises(Invalid, match="A simulated detector answers here"):
        detectors.request(detector=rules, dataset=run.dataset, by=ada, mode="batch")
    with pytest.raises(Invalid, match="ask this one live"):
        job_over(run, stub, ada, "openai_compatible")
    assert not DetectionJob.objects.exists()


def test_asking_again_in_the_other_way_changes_only_what_waits(ada: User, stub: StubServer) -> None:
    run = ran()
    job = job_over(run, stub, ada)
    stub.batches.working, stub.batches.only = True, 2
    batch_steps.work()
    detectors.request(detector=job.detector, dataset=run.dataset, by=ada, mode="live")
    run_engine()
    assert not stub.requests, "What is in the batch stays there."
    stub.batches.working, stub.batches.ends_as = False, "expired"
    batch_steps.work()
    run_engine()
    assert (len(stub.requests), BatchJob.objects.count()) == (1, 1)
    assert_once_each(run)


@pytest.mark.timeout(300)
def test_kill_9_while_a_submission_is_on_its_way_submits_nothing_twice(
    ada: User, stub: StubServer, tmp_path: Path
) -> None:
    """A real worker, killed when the provider has made the batch and has not said so yet; the next one adopts it."""
    run = ran()
    with ExitStack() as stack:
        broker = stack.enter_context(services.valkey(stack.enter_context(services.temporary_folder())))
        celery = Celery(broker, tmp_path, OPENAI_API_KEY=CANARY, FPCO_BATCH_POLL="0.2")
        stack.callback(celery.end)
        stub.batches.hang = True
        job = job_over(run, stub, ada)
        celery.start()
        until(lambda: bool(stub.batches.made), celery)
        celery.kill()
        assert BatchJob.objects.get().state == "submitting"
        assert BatchJob.objects.get().worker
        stub.batches.hang = False
        celery.start()
        until(lambda: fresh(job).state == "complete", celery)
        assert celery.terminate() == 0
    assert (len(stub.batches.made), BatchJob.objects.count()) == (1, 1)
    assert_once_each(run)


def _strangers(stub: StubServer, provider: str, number: int) -> Any:
    """Batches of the same account that are none of ours."""
    stub.batches.files["other"] = b"{}\n"
    return Made(f"other{number}", provider, f"somebody-{number}", "other", number, status="completed")
