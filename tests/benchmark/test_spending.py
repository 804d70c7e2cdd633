"""What a run and a detection job used is kept with its calls, at the prices of its day."""

import json
import random
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from annotate.models import User
from annotate.services import datasets
from benchmark import progress
from benchmark.models import Attempt, DetectionCall, Detector, EvaluatedModel, Run, Spending
from benchmark.services import detectors, release_export, releases, runs, spending
from fpco_site.llm.engine import writer
from fpco_site.llm.money import Sums
from fpco_site.llm.types import ErrorKind, Outcome, ProviderError, Reply, Request, Usage
from tests import factories
from tests.engine import FakeProvider, run_engine
from tests.spending import assert_sums_agree

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.worker, pytest.mark.usefixtures("fast_engine")]
PRICED = {"price_input": Decimal(2), "price_cached_input": Decimal("0.5"), "price_output": Decimal(8)}


def moody(seed: int) -> FakeProvider:
    """Answers, times out, is blocked, and tells its tokens in full, in part or not at all."""
    draw = random.Random(seed)

    async def ask(request: Request) -> Reply:
        mood = draw.random()
        if mood < 0.05:
            raise ProviderError(ErrorKind.TRANSIENT, "Failed half-way.", code="failed", usage=Usage(900, 512, 12))
        if mood < 0.15:
            raise ProviderError(ErrorKind.TRANSIENT, "Too slow.", code="timeout")
        usage = draw.choice([Usage(900, 512, 30, 7), Usage(900, None, 30), Usage(900), Usage(), Usage(5, 9, 1, 4)])
        if request.schema is not None and mood < 0.5:
            return Reply(Outcome.ANSWERED, "Let me think.", usage=usage)
        if request.schema is not None:
            ids = [item["id"] for item in json.loads(request.messages[0].text)["items"]]
            labels = [{"id": number, "detect": True} for number in ids]
            return Reply(Outcome.ANSWERED, json.dumps({"labels": labels}), usage=usage)
        outcome = Outcome.BLOCKED if mood < 0.2 else Outcome.ANSWERED
        return Reply(outcome, None if outcome is Outcome.BLOCKED else "yes", usage=usage)

    return FakeProvider(ask)


def made(ada: User, **more: Any) -> Detector:
    return detectors.create(by=ada, slug="rules", name="Rules", provider="rules", model_id="rules-1", **more)


@pytest.mark.parametrize("seed", [1, 2])
def test_kept_sums_are_those_of_the_calls_through_errors_retries_and_replays(
    ada: User, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = factories.dataset(items=4)
    run = runs.start(run=runs.create(model=factories.model(concurrency=3), dataset=dataset, by=ada), by=ada)
    detectors.request(detector=made(ada), dataset=dataset, by=ada)
    apply, groups = writer._apply, [0]

    def breaks_now_and_then(group: Sequence[writer._Job]) -> list[Any]:
        """A group that is rolled back is replayed one by one: nothing of the first try may stay."""
        results = apply(group)
        groups[0] += len(group) > 1
        if len(group) > 1 and groups[0] % 3 == 0:
            raise RuntimeError("The group is rolled back.")
        return results

    monkeypatch.setattr(writer, "_apply", breaks_now_and_then)
    run_engine(moody(seed))
    run.refresh_from_db()
    if run.state == "incomplete":
        runs.retry(run=run, outcomes=["blocked", "failed"], by=ada)
        run_engine(moody(seed + 10))
    assert_sums_agree()
    kept = Spending.objects.get(run=run)
    assert (kept.calls, kept.job) == (Attempt.objects.count(), None)
    assert 0 < kept.counted < kept.replies < kept.calls
    assert sum(row.calls for row in Spending.objects.filter(run=None)) == DetectionCall.objects.count() > 4


def test_a_run_keeps_the_prices_that_it_was_made_with(ada: User) -> None:
    run = runs.create(model=factories.model(**PRICED), dataset=factories.dataset(), by=ada)
    spending.add_to_runs(sums={run.pk: Sums.of(Usage(1_000_000, 400_000, 100_000))})
    Run.objects.update(simulated=False)
    before = progress.spent(fresh(run)).cost
    EvaluatedModel.objects.update(price_input=999, price_output=999)
    assert progress.spent(fresh(run)).cost == before == Decimal("2.2")


def test_a_detection_job_keeps_its_prices_and_those_of_its_batches_are_let_off(ada: User) -> None:
    run = factories.run(answered=10, state="complete")
    detector = made(ada, **PRICED)
    type(detector).objects.update(simulated=False)
    job = detectors.request(detector=detector, dataset=run.dataset, by=ada)
    type(detector).objects.update(price_input=999)
    call = Sums.of(Usage(1_000_000, 0, 0))
    spending.add_to_jobs(sums={(job.pk, Decimal(0)): call, (job.pk, Decimal("0.5")): call})
    spending.add_to_jobs(sums={(job.pk, Decimal("0.5")): call})
    assert progress.spent_by_jobs([job])[job.pk].cost == Decimal(2) + 2 * Decimal(1)
    detectors.request(detector=detector, dataset=run.dataset, by=ada)
    assert Spending.objects.filter(job=job).count() == 2


def test_an_imported_run_has_what_its_answers_tell_and_no_price(ada: User, tmp_path: Path) -> None:
    factories.item(state="approved")
    run = factories.run(
        model=factories.model(**PRICED),
        dataset=datasets.freeze(name="Pilot", by=None),
        state="complete",
        simulated=False,
    )
    dialogue = factories.answers(run.dialogues.get(), 10)
    dialogue.responses.filter(turn__lte=4).update(input_tokens=100, cached_tokens=60, output_tokens=10)
    release_export.export(dataset=run.dataset, folder=tmp_path)
    releases.import_folder(folder=tmp_path, by=None, name="Theirs")
    imported = Run.objects.get(imported=True)
    assert_sums_agree()
    bill = progress.spent(imported)
    assert (bill.calls, bill.counted, bill.input, bill.cached, bill.output) == (10, 4, 400, 240, 40)
    assert (bill.cost, bill.reason) == (None, "price unknown")


def fresh(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)
