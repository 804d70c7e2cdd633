"""What another worker holds by now is left alone: every write is fenced on the token of its claim."""

from uuid import uuid4

import pytest
from django.utils import timezone

from annotate.models import User
from benchmark.models import Attempt, Detection, DetectionCall, DetectorLabel, Dialogue, Response, Spending
from benchmark.services import detectors, runs
from benchmark.services.detection_work import DetectionWork
from benchmark.services.dialogue_work import DialogueWork
from fpco_site.llm.engine import Call, leases
from fpco_site.llm.types import ErrorKind, Outcome, ProviderError, Reply, Usage
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.db]
LATE = Reply(Outcome.ANSWERED, '{"labels": [{"id": 1, "detect": false}]}', usage=Usage(input=5, output=5))
LOST = ProviderError(ErrorKind.TRANSIENT, "The connection was lost.")


@pytest.mark.parametrize("late", [{"reply": LATE}, {"error": LOST}])
def test_an_answer_to_a_dialogue_that_another_worker_took_over_leaves_nothing(ada: User, late: dict) -> None:
    run = runs.create(model=factories.model(), dataset=factories.dataset(items=1), by=ada)
    runs.start(run=run, by=ada)
    (claim,) = DialogueWork().claim(room=1, worker=leases.register())
    taken = uuid4()
    Dialogue.objects.update(lease_token=taken)
    assert DialogueWork().record([Call(claim=claim, request=None, started_at=timezone.now(), seconds=1, **late)]) == [
        None
    ]
    assert not Response.objects.exists()
    assert not Attempt.objects.exists()
    assert not Spending.objects.filter(calls__gt=0).exists()
    assert Dialogue.objects.values_list("state", "lease_token").get() == ("running", taken)


@pytest.mark.parametrize("late", [{"reply": LATE}, {"error": LOST}])
def test_a_verdict_on_what_another_worker_took_over_leaves_nothing(ada: User, late: dict) -> None:
    run = factories.run(answered=1, state="incomplete", dataset=factories.dataset(items=1))
    detector = detectors.create(by=ada, slug="rules", name="Rules", provider="rules", model_id="rules-1")
    detectors.request(detector=detector, dataset=run.dataset, by=ada)
    (claim,) = DetectionWork().claim(room=1, worker=leases.register())
    taken = uuid4()
    Detection.objects.update(lease_token=taken)
    assert DetectionWork().record([Call(claim=claim, request=None, started_at=timezone.now(), seconds=1, **late)]) == [
        None
    ]
    assert not DetectorLabel.objects.exists()
    assert not DetectionCall.objects.exists()
    assert Detection.objects.values_list("state", "lease_token").get() == ("running", taken)
