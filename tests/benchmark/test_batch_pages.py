"""Batches and coverage on pages and over the API: authors ask, readers read, annotators find nothing."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotate.models import User
from annotate.services import prompts as saved
from benchmark.models import (
    BatchJob,
    BatchRequest,
    Detection,
    DetectionCall,
    DetectionJob,
    Detector,
    DetectorLabel,
    Run,
)
from benchmark.services import spending
from fpco_site.llm import prompts
from tests import factories

pytestmark = pytest.mark.django_db
As = Callable[[User], Client]


@pytest.fixture
def gpt(monkeypatch: pytest.MonkeyPatch) -> Detector:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    prices = {"price_input": 2, "price_output": 8}
    prompt = prompts.load("detector")
    named = {"prompt_name": "detector", "prompt_version": str(prompt.version), "prompt_sha256": prompt.sha256}
    return factories.detector("gpt", provider="openai", model_id="gpt-4.1", simulated=False, **prices, **named)


def batch_of(detector: Detector, run: Run, **more: object) -> BatchJob:
    """A batch over a run of three dialogues: one labelled, one unusable, one still to come."""
    job = DetectionJob.objects.create(detector=detector, dataset=run.dataset, mode="batch")
    values = {"state": "submitted", "provider_status": "in_progress", "provider_id": "batch_1", "done": 2, **more}
    batch = BatchJob.objects.create(job=job, discount=Decimal("0.5"), **values)
    spending.open_job(job=job, discount=batch.discount)
    for dialogue, fate in zip(run.dialogues.order_by("pk"), ("labelled", "unusable", "waiting"), strict=True):
        state = "batched" if fate == "waiting" else "complete"
        row = job.detections.create(detector=detector, dialogue=dialogue, state=state)
        BatchRequest.objects.create(batch=batch, detection=row, ids=[1], fate=fate)
        if fate != "waiting":
            DetectionCall.objects.create(
                detection=row,
                batch=batch,
                discount="0.5",
                outcome="answered",
                started_at=batch.prepared_at,
                input_tokens=1_000_000,
                cached_tokens=0,
                output_tokens=500_000,
            )
    return batch


def three() -> Run:
    return factories.run(answered=10, state="complete", dataset=factories.dataset(items=3))


def test_asking_in_batches_is_offered_where_the_provider_has_them(as_: As, ada: User, gpt: Detector) -> None:
    run = three()
    page = as_(ada).get(reverse("detector_detail", args=[gpt.pk])).content.decode()
    assert "in batches: half the price, within a day" in page
    asked = {"dataset": run.dataset_id, "mode": "batch"}
    page = as_(ada).post(reverse("detector_request", args=[gpt.pk]), asked, follow=True).content.decode()
    assert "in batches, and those still to come." in page
    assert DetectionJob.objects.get().mode == "batch"
    as_(ada).post(reverse("detector_request", args=[gpt.pk]), {"dataset": run.dataset_id})
    assert DetectionJob.objects.get().mode == "batch", "Asked again in no particular way, it stays as it was."
    simulated = factories.detector()
    assert "in batches" not in as_(ada).get(reverse("detector_detail", args=[simulated.pk])).content.decode()
    page = as_(ada).post(reverse("detector_request", args=[simulated.pk]), asked, follow=True).content.decode()
    assert "A simulated detector answers here, offline and at once, so it has no batches: ask it live." in page


def test_before_asking_count_and_cost_are_told_in_a_batch_at_half(as_: As, ada: User, gpt: Detector) -> None:
    run = three()
    factories.detector_labels(gpt, run)
    last = Detection.objects.order_by("pk").last()
    assert last is not None
    Detection.objects.filter(pk=last.pk).update(state="waiting")
    asked = {"detector": gpt.pk, "dataset": run.dataset_id}
    live = as_(ada).get(reverse("detector_ask"), {**asked, "mode": "live"}).context["plan"]
    batch = as_(ada).get(reverse("detector_ask"), {**asked, "mode": "batch"})
    plan = batch.context["plan"]
    assert (plan.now, plan.later, plan.labelled, plan.estimate.calls) == (1, 0, 2, 1)
    assert live.estimate.high.cost == 2 * plan.estimate.high.cost > 0
    page = batch.content.decode()
    assert "1 dialogue waits for labels now; 2 are labelled already." in page
    assert plan.estimate.words in page
    assert "Label in batches" in page
    assert as_(ada).get(reverse("detector_ask"), {"detector": gpt.pk, "dataset": "x"}).status_code == 302
    row = as_(ada).get(f"/api/v1/detectors/{gpt.pk}/plan/", {"dataset": run.dataset_id, "mode": "batch"}).json()
    assert (row["now"], Decimal(row["estimate"]["high"]["cost"])) == (1, plan.estimate.high.cost)


def test_a_batch_is_told_with_its_state_counts_and_cost(as_: As, rita: User, gpt: Detector) -> None:
    batch = batch_of(gpt, three(), error="The provider was slow.")
    page = as_(rita).get(reverse("detector_live", args=[gpt.pk])).content.decode()
    assert "at the provider" in page
    assert "The provider says: in_progress, 2 of 3 ended." in page
    assert "1 dialogue in batches now." in page
    assert "The provider was slow." in page
    assert "$6.00" in page, "Half of 2 x (2 + 4) dollars."
    rows = as_(rita).get(f"/api/v1/detectors/{gpt.pk}/batches/").json()
    assert (rows[0]["key"], Decimal(rows[0]["cost"])) == (str(batch.key), 6)
    assert (rows[0]["requests"], rows[0]["labelled"], rows[0]["unusable"], rows[0]["waiting"]) == (3, 1, 1, 1)


def test_a_price_that_is_not_known_is_no_cost(as_: As, rita: User, gpt: Detector) -> None:
    Detector.objects.update(price_output=None)
    gpt.refresh_from_db()
    batch_of(gpt, three())
    row = as_(rita).get(f"/api/v1/detectors/{gpt.pk}/batches/").json()[0]
    assert (row["cost"], row["reason"]) == (None, "price unknown")


def test_the_wrong_person_reads_and_asks_nothing(as_: As, rita: User, lea: User, gpt: Detector) -> None:
    run = three()
    batch_of(gpt, run)
    ask = f"/api/v1/detectors/{gpt.pk}/request/"
    given = {"dataset": run.dataset_id, "mode": "batch"}
    assert as_(rita).post(ask, given, content_type="application/json").status_code == 404
    assert as_(rita).post(reverse("detector_request", args=[gpt.pk]), given).status_code == 404
    for path in (f"/api/v1/detectors/{gpt.pk}/batches/", "/api/v1/results/coverage/"):
        assert as_(lea).get(path).status_code == 404
        assert Client().get(path).status_code == 403
    assert as_(lea).get(reverse("results_coverage", args=[run.dataset_id])).status_code == 404


def test_another_prompt_is_one_click_away(as_: As, ada: User, rita: User, gpt: Detector) -> None:
    page = as_(ada).get(reverse("detector_detail", args=[gpt.pk])).content.decode()
    assert reverse("prompt_new", args=["detector"]) in page, "There is no other version yet."
    made = saved.save(name="detector", text=prompts.load("detector").text + "\nBe strict.", note="Strict.", by=ada)
    href = f"{reverse('detector_version', args=[gpt.pk])}?prompt={made.version}"
    assert href in as_(ada).get(reverse("detector_detail", args=[gpt.pk])).content.decode()
    assert href not in as_(rita).get(reverse("detector_detail", args=[gpt.pk])).content.decode()
    form = as_(ada).get(href).context["form"]
    given = {name: "" if value is None else value for name, value in form.initial.items()} | {"options": "{}"}
    assert given["prompt_version"] == made.version
    as_(ada).post(reverse("detector_version", args=[gpt.pk]), given)
    second = Detector.objects.get(slug="gpt", version=2)
    assert (second.prompt_version, second.model_id) == (str(made.version), gpt.model_id)
    gpt.refresh_from_db()
    assert gpt.version == 1


def test_coverage_stands_with_the_rates_everywhere(as_: As, ada: User, rita: User, tmp_path: Path) -> None:
    run, detector = three(), factories.detector("rules")
    factories.detector_labels(detector, run)
    DetectorLabel.objects.filter(turn=10).delete()
    page = as_(rita).get(reverse("results")).content.decode()
    assert "27 of 30" in page
    assert "(3 missing)" in page
    row = as_(rita).get("/api/v1/results/coverage/").json()[0]
    assert (row["planned"], row["with_text"], row["labelled"], row["missing"]) == (30, 30, 27, 3)
    text = as_(rita).get(reverse("results_coverage", args=[run.dataset_id])).content.decode()
    assert text.splitlines()[0] == "model,family,simulated,detector,planned,with_text,labelled,missing"
    assert text.splitlines()[1].endswith(",rules,30,30,27,3")
    call_command("export_tables", str(tmp_path))
    assert (tmp_path / "coverage.csv").read_text() == text


def test_the_command_asks_in_batches_and_says_where_there_are_none(gpt: Detector) -> None:
    run = three()
    call_command("detect", "gpt", run.dataset.name, "--batch")
    assert DetectionJob.objects.get().mode == "batch"
    call_command("detect", "gpt", run.dataset.name, "--live")
    assert DetectionJob.objects.get().mode == "live"
    factories.detector("offline")
    with pytest.raises(CommandError, match="so it has no batches: ask it live"):
        call_command("detect", "offline", run.dataset.name, "--batch")
