"""No page asks the database more than thirty times, however much there is to show.

Each page is opened over little and over more: a count that grows with the rows is a loop of queries.
Add yours to `PAGES`: the route's name, and the fixture study's object whose id it takes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.models import Dataset, DraftJob, User
from benchmark.models import Analysis, Attempt, Detector, Dialogue, EvaluatedModel, Run
from benchmark.services import analyses, results
from tests import factories

pytestmark = pytest.mark.django_db
type As = Callable[[User], Client]
BUDGET = 30
PAGES = [
    ("overview", ""),
    ("model_list", ""),
    ("model_new", ""),
    ("model_load", ""),
    ("model_detail", "model"),
    ("model_edit", "model"),
    ("detector_list", ""),
    ("detector_new", ""),
    ("detector_detail", "detector"),
    ("detector_live", "detector"),
    ("detector_version", "detector"),
    ("run_list", ""),
    ("run_new", ""),
    ("run_estimate", ""),
    ("run_detail", "run"),
    ("run_live", "run"),
    ("run_retry", "run"),
    ("run_errors", "run"),
    ("run_dialogues", "run"),
    ("run_answers", "run"),
    ("dataset_runs", "dataset"),
    ("dialogue_detail", "dialogue"),
    ("results", ""),
    ("analysis_list", ""),
    ("analysis_detail", "analysis"),
    ("agreement", ""),
    ("detector_agreement", ""),
    ("validation_list", ""),
    ("image_list", ""),
    ("review_queue", ""),
    ("placing", ""),
    ("cells", ""),
    ("study_settings", ""),
    ("dataset_freeze", ""),
    ("drafting_list", ""),
    ("drafting_live", ""),
    ("drafting_job", "draft_job"),
    ("drafter_list", ""),
    ("prompt_list", ""),
    ("dataset_list", ""),
    ("dataset_differences", "dataset"),
    ("dataset_detail", "dataset"),
    ("label_home", ""),
    ("release_list", ""),
    ("people", ""),
]


@dataclass(frozen=True)
class Study:
    """A study with something on every page."""

    dataset: Dataset
    model: EvaluatedModel
    detector: Detector
    run: Run
    dialogue: Dialogue
    draft_job: DraftJob
    analysis: Analysis


def grow(over: Dataset, detector: Detector, by: User) -> Run:
    """One more run, answered and labelled, with a failed dialogue, and one more of everything around it."""
    run = factories.run(dataset=over, answered=10, state="incomplete")
    factories.detector_labels(detector, run)
    lost = run.dialogues.create(item=factories.dataset_item(over), state="failed")
    for turn in range(1, 4):
        Attempt.objects.create(
            dialogue=lost, turn=1, outcome="failed", error_class=f"kind {turn}", started_at=timezone.now()
        )
    factories.run(model=factories.model(), dataset=over, state="paused", pause_reason="No key.")
    factories.draft(factories.item(), state="failed", job=DraftJob.objects.order_by("pk").first())
    factories.draft(factories.item(), payload={"target_description": "the cat", "questions": {}})
    factories.detector_labels(factories.detector(), run)
    factories.label_set(over, [], tasks=2)
    return run


@pytest.fixture
def study(ada: User) -> Study:
    over, detector = factories.dataset(items=2), factories.detector("strict")
    run = grow(over, detector, ada)
    dialogue = run.dialogues.filter(state="complete").first()
    assert dialogue is not None
    result_set = results.default(over)
    assert result_set is not None
    analysis = analyses.request(kind="truncation", result_set=result_set, by=ada)
    return Study(over, run.model, detector, run, dialogue, DraftJob.objects.earliest("pk"), analysis)


def queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert client.get(address).status_code == 200, address
    return len(asked)


def addresses(study: Study) -> Iterator[str]:
    for name, of in PAGES:
        yield reverse(name, args=[getattr(study, of).pk] if of else [])


def test_no_page_asks_more_than_its_budget_or_more_for_more_rows(as_: As, ada: User, study: Study) -> None:
    client = as_(ada)
    few = {}
    for address in addresses(study):
        client.get(address)  # what the first visitor makes, such as a default result set, is not counted
        few[address] = queries(client, address)
    for _ in range(3):
        grow(study.dataset, study.detector, ada)
    for address in addresses(study):
        client.get(address)
    many = {address: queries(client, address) for address in addresses(study)}
    assert {address: n for address, n in many.items() if n > BUDGET} == {}
    assert {address: (n, many[address]) for address, n in few.items() if many[address] > n + 1} == {}
