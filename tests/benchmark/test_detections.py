"""A label is a real verdict on a response, given once, or it isn't there."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from annotate.models import User
from annotate.services import prompts
from benchmark.models import Detection, DetectionCall, DetectionJob, Detector, DetectorLabel, Response, Run
from benchmark.services import detectors, runs
from fpco_site.errors import Conflict, Invalid, NotConfigured
from fpco_site.llm.types import ErrorKind, Outcome, ProviderError, Reply, Request
from tests import factories
from tests.engine import FakeProvider, run_engine
from tests.stubs import StubServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker, pytest.mark.usefixtures("fast_engine")]


def made(ada: User, slug: str = "rules", **more: Any) -> Detector:
    values = {"name": slug, "provider": "rules", "model_id": "rules-1", "options": {"strictness": "strict"}}
    return detectors.create(by=ada, slug=slug, **{**values, **more})


def verdicts(request: Request) -> list[dict[str, Any]]:
    items = json.loads(request.messages[-1].text)["items"]
    return [{"id": item["id"], "detect": item["false_premise"]} for item in items]


def says(change: Callable[[list[dict[str, Any]]], Any]) -> FakeProvider:
    """A detector whose labels go through `change` before they are sent."""

    async def ask(request: Request) -> Reply:
        return Reply(Outcome.ANSWERED, json.dumps({"labels": change(verdicts(request))}), raw=b"raw")

    return FakeProvider(ask)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-stub")
    with StubServer() as server:
        yield server


def honest() -> FakeProvider:
    return says(lambda labels: labels)


def fresh(job: DetectionJob) -> DetectionJob:
    return DetectionJob.objects.get(pk=job.pk)


def test_a_rules_detector_labels_every_response(ada: User) -> None:
    run = factories.run(answered=10, state="complete", dataset=factories.dataset(items=3))
    job = detectors.request(detector=made(ada), dataset=run.dataset, by=ada)
    run_engine()
    assert fresh(job).state == "complete"
    assert DetectorLabel.objects.count() == Response.objects.count() == 30
    assert DetectionCall.objects.count() == 3
    assert all(call.ids == list(range(1, 11)) for call in DetectionCall.objects.all())
    assert Run.objects.get().patterns_dirty


def test_a_detector_sees_no_picture_and_not_who_answered(ada: User) -> None:
    run = factories.run(answered=10, state="complete")
    detectors.request(detector=made(ada), dataset=run.dataset, by=ada)
    seen: list[Request] = []

    async def ask(request: Request) -> Reply:
        seen.append(request)
        return Reply(Outcome.ANSWERED, json.dumps({"labels": verdicts(request)}))

    run_engine(FakeProvider(ask))
    request = seen[0]
    assert request.picture is None
    assert run.model.name not in request.messages[0].text
    items = json.loads(request.messages[0].text)["items"]
    assert [item["false_premise"] for item in items] == [False] * 3 + [True] * 7
    assert {item["false_class"] for item in items} == {"identity"}
    assert all(("modified" in item) == item["false_premise"] for item in items)


BAD = {
    "missing id": lambda labels: labels[:-1],
    "extra id": lambda labels: [*labels, {"id": 11, "detect": True}],
    "not a boolean": lambda labels: [*labels[:-1], {"id": 10, "detect": "true"}],
    "id twice": lambda labels: [*labels[:-1], labels[0]],
    "not a list": lambda labels: "all fine",
}


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_reply_is_asked_once_more_then_shown_as_failed_and_never_a_label(ada: User, bad: str) -> None:
    run = factories.run(answered=10, state="complete")
    job = detectors.request(detector=made(ada), dataset=run.dataset, by=ada)
    provider = says(BAD[bad])
    run_engine(provider)
    assert len(provider.asked) == 2
    assert Detection.objects.get().state == "failed"
    assert fresh(job).state == "incomplete"
    assert not DetectorLabel.objects.exists()
    assert not Run.objects.get().patterns_dirty
    calls = list(DetectionCall.objects.values_list("outcome", "error_class", "raw"))
    assert calls == [("failed", "unusable", b"raw")] * 2


@pytest.mark.parametrize("first", [Outcome.EMPTY, Outcome.BLOCKED, Outcome.CUT])
def test_one_unusable_reply_is_forgiven(ada: User, first: Outcome) -> None:
    run = factories.run(answered=10, state="complete")
    job = detectors.request(detector=made(ada), dataset=run.dataset, by=ada)
    given: list[Outcome] = []

    async def ask(request: Request) -> Reply:
        given.append(first)
        if len(given) == 1:
            return Reply(first, '{"labels": [' if first is Outcome.CUT else None)
        return Reply(Outcome.ANSWERED, json.dumps({"labels": verdicts(request)}))

    run_engine(FakeProvider(ask))
    assert fresh(job).state == "complete"
    assert DetectorLabel.objects.count() == 10
    assert DetectionCall.objects.count() == 2


@pytest.mark.parametrize("cut", [Outcome.CUT, Outcome.EMPTY])
def test_a_reply_that_was_cut_is_asked_once_more_with_twice_the_cap(ada: User, cut: Outcome, stub: StubServer) -> None:
    """`EMPTY` here: thoughts ate the cap before a word was said."""
    run = factories.run(answered=10, state="complete")
    detector = made(ada, provider="openai", model_id="gpt-4.1", base_url=stub.url("openai"), max_output_tokens=300)
    detectors.request(detector=detector, dataset=run.dataset, by=ada)
    stub.script(["truncated" if cut is Outcome.CUT else "thinking"])
    run_engine()
    assert [request.body["max_output_tokens"] for request in stub.requests] == [300, 600]
    assert list(DetectionCall.objects.values_list("max_output_tokens", flat=True)) == [300, 600]
    assert DetectorLabel.objects.count() == 10
    assert Detector.objects.count() == 1, "A larger cap for one call is no other detector."


def test_cut_again_it_is_missing_and_asking_again_keeps_the_larger_cap_within_its_bound(
    ada: User, stub: StubServer
) -> None:
    run = factories.run(answered=10, state="complete")
    values = {"provider": "openai", "model_id": "gpt-4.1", "base_url": stub.url("openai"), "max_output_tokens": 20_000}
    detector = made(ada, **values)
    detectors.request(detector=detector, dataset=run.dataset, by=ada)
    stub.script(["truncated", "truncated"])
    run_engine()
    assert Detection.objects.get().state == "failed"
    assert not DetectorLabel.objects.exists()
    detectors.request(detector=detector, dataset=run.dataset, by=ada, retry=True)
    run_engine()
    assert [request.body["max_output_tokens"] for request in stub.requests] == [20_000, 32_768, 32_768]
    assert DetectorLabel.objects.count() == 10


def test_prose_is_asked_once_more_with_the_same_cap(ada: User, stub: StubServer) -> None:
    run = factories.run(answered=10, state="complete")
    detector = made(ada, provider="openai", model_id="gpt-4.1", base_url=stub.url("openai"))
    detectors.request(detector=detector, dataset=run.dataset, by=ada)
    stub.script(["prose"])
    run_engine()
    assert [request.body["max_output_tokens"] for request in stub.requests] == [256, 256]
    assert DetectorLabel.objects.count() == 10


def test_a_worker_that_dies_after_a_bad_reply_leaves_one_try_with_the_larger_cap(ada: User) -> None:
    run = factories.run(answered=10, state="complete")
    detectors.request(detector=made(ada), dataset=run.dataset, by=ada)
    Detection.objects.update(bad=1, cap=512)  # as the dead worker left it
    provider = says(BAD["missing id"])
    run_engine(provider)
    assert len(provider.asked) == 1
    assert Detection.objects.get().state == "failed"
    assert DetectionCall.objects.get().max_output_tokens == 512


def test_failed_detections_are_asked_again_only_on_request(ada: User) -> None:
    run = factories.run(answered=10, state="complete")
    detector = made(ada)
    detectors.request(detector=detector, dataset=run.dataset, by=ada)
    run_engine(says(BAD["missing id"]))
    job = detectors.request(detector=detector, dataset=run.dataset, by=ada)
    assert job.state == "incomplete"
    run_engine(honest())
    assert not DetectorLabel.objects.exists()
    job = detectors.request(detector=detector, dataset=run.dataset, by=ada, retry=True)
    run_engine(honest())
    assert fresh(job).state == "complete"
    assert DetectorLabel.objects.count() == 10


def test_asking_twice_changes_nothing(ada: User) -> None:
    run = factories.run(answered=10, state="complete")
    detector = made(ada)
    for _ in range(2):
        job = detectors.request(detector=detector, dataset=run.dataset, by=ada)
        run_engine(honest())
    assert fresh(job).state == "complete"
    assert (DetectionJob.objects.count(), DetectionCall.objects.count(), DetectorLabel.objects.count()) == (1, 1, 10)


def test_an_open_job_labels_runs_that_come_later_once_their_dialogues_end(ada: User) -> None:
    data = factories.dataset(items=2)
    first = runs.start(run=runs.create(model=factories.model(), dataset=data, by=ada), by=ada)
    job = detectors.request(detector=made(ada), dataset=data, by=ada)
    assert job.state == "running"
    runs.pause(run=first, by=ada)
    second = runs.start(run=runs.create(model=factories.model(), dataset=data, by=ada), by=ada)
    run_engine()
    assert Run.objects.get(pk=second.pk).state == "complete"
    assert DetectorLabel.objects.filter(dialogue__run=second).count() == 20
    assert fresh(job).state == "running", "The paused run is still to be labelled."
    runs.resume(run=first, by=ada)
    run_engine()
    assert fresh(job).state == "complete"
    assert DetectorLabel.objects.count() == 40


def test_only_turns_with_text_are_labelled(ada: User) -> None:
    run = factories.run(answered=3, state="incomplete")
    run.dialogues.update(state="stopped")
    job = detectors.request(detector=made(ada), dataset=run.dataset, by=ada)
    run_engine(honest())
    assert fresh(job).state == "complete"
    assert list(DetectorLabel.objects.order_by("turn").values_list("turn", flat=True)) == [1, 2, 3]


def test_a_dialogue_without_any_text_needs_no_call(ada: User) -> None:
    run = factories.run(state="incomplete")
    run.dialogues.update(state="failed")
    job = detectors.request(detector=made(ada), dataset=run.dataset, by=ada)
    provider = honest()
    run_engine(provider)
    assert fresh(job).state == "complete"
    assert provider.asked == []


def test_after_a_retry_of_the_run_only_new_answers_are_labelled(ada: User) -> None:
    run = factories.run(answered=3, state="incomplete")
    run.dialogues.update(state="stopped")
    job = detectors.request(detector=made(ada), dataset=run.dataset, by=ada)
    run_engine(honest())
    runs.retry(run=run, outcomes=["not_asked"], by=ada)
    assert fresh(job).state == "running"
    Run.objects.update(prompt_name="inference", prompt_version="1", prompt_sha256=_inference_hash())
    run_engine()
    assert Run.objects.get().state == "complete"
    assert fresh(job).state == "complete"
    assert [call.ids for call in DetectionCall.objects.order_by("pk")] == [[1, 2, 3], [4, 5, 6, 7, 8, 9, 10]]
    assert DetectorLabel.objects.count() == 10


def test_a_permanent_error_pauses_the_job_and_says_what_to_do(ada: User) -> None:
    run = factories.run(answered=10, state="complete", dataset=factories.dataset(items=2))
    job = detectors.request(detector=made(ada), dataset=run.dataset, by=ada)

    async def ask(request: Request) -> Reply:
        raise ProviderError(ErrorKind.PERMANENT, "Quota is used up.", status=429, code="insufficient_quota")

    run_engine(FakeProvider(ask))
    assert fresh(job).state == "paused"
    assert fresh(job).pause_reason == ("Quota is used up. Add credit or raise the quota at the provider, then resume.")
    assert set(Detection.objects.values_list("state", flat=True)) == {"waiting"}
    detectors.resume(job=job, by=ada)
    run_engine(honest())
    assert fresh(job).state == "complete"


def test_a_prompt_that_has_changed_pauses_the_job(ada: User) -> None:
    run = factories.run(answered=10, state="complete")
    job = detectors.request(detector=made(ada), dataset=run.dataset, by=ada)
    Detector.objects.update(prompt_sha256="0" * 64)
    run_engine(honest())
    assert fresh(job).state == "paused"
    assert "detector.v1 is no longer the one" in fresh(job).pause_reason
    assert not DetectorLabel.objects.exists()


def test_before_any_run_there_is_nothing_to_detect(ada: User) -> None:
    with pytest.raises(Conflict, match="run a model first"):
        detectors.request(detector=made(ada), dataset=factories.dataset(), by=ada)


def test_a_detector_that_can_not_work_is_refused(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    run = factories.run(answered=1, state="complete")
    with pytest.raises(Invalid, match="release only"):
        detectors.request(detector=made(ada, "a", imported=True), dataset=run.dataset, by=ada)
    with pytest.raises(Invalid, match="inactive"):
        detectors.request(detector=made(ada, "b", active=False), dataset=run.dataset, by=ada)
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    keyless = made(ada, "c", provider="openai", model_id="gpt", api_key_env="NO_SUCH_KEY")
    with pytest.raises(NotConfigured, match="NO_SUCH_KEY"):
        detectors.request(detector=keyless, dataset=run.dataset, by=ada)


def test_a_detector_with_other_settings_is_a_new_version(ada: User) -> None:
    first = made(ada)
    with pytest.raises(Conflict, match="same model, prompt and settings"):
        made(ada, concurrency=9)
    second = made(ada, options={"strictness": "lenient"})
    assert (first.version, second.version) == (1, 2)
    assert second.simulated


def test_another_prompt_labels_afresh_and_overwrites_nothing(ada: User) -> None:
    run = factories.run(answered=10, state="complete")
    first = made(ada)
    detectors.request(detector=first, dataset=run.dataset, by=ada)
    run_engine(honest())
    before = list(DetectorLabel.objects.order_by("pk").values_list("response", "detector", "detect"))
    saved = prompts.save(name="detector", text="Label each answer.", note="Shorter.", by=ada)
    second = made(ada, prompt_version=saved.version)
    assert (second.version, second.prompt_version) == (2, str(saved.version))
    detectors.request(detector=second, dataset=run.dataset, by=ada)
    run_engine(says(lambda labels: [{**label, "detect": False} for label in labels]))
    after = list(DetectorLabel.objects.order_by("pk").values_list("response", "detector", "detect"))
    assert (len(before), after[:10]) == (10, before)
    assert {detector for _, detector, _ in after[10:]} == {second.pk}
    assert Detector.objects.get(pk=first.pk).prompt_version == first.prompt_version


def _inference_hash() -> str:
    from fpco_site.llm import prompts

    return prompts.load("inference").sha256
