"""Overview shows where the study stands, and to an author what waits; annotators go to their labels."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.models import User
from benchmark import overview
from benchmark.models import ResultSet, ValidationSet
from benchmark.models.detectors import DetectionState
from tests import factories

pytestmark = pytest.mark.django_db
type As = Callable[[User], Client]
PAGE = "/overview/"


def texts(user: User) -> list[str]:
    return [row.text for row in overview.waiting_for(user)]


def test_annotators_go_to_their_labels_and_strangers_to_the_sign_in(as_: As, lea: User) -> None:
    assert as_(lea).get(PAGE).headers["Location"] == reverse("label_home")
    assert Client().get(PAGE).headers["Location"].startswith(reverse("sign_in"))


def test_a_newcomer_is_led_from_the_first_step(as_: As, ada: User, rita: User) -> None:
    page = as_(ada).get(PAGE).content.decode()
    assert "Begin here" in page
    assert reverse("image_list") in page
    assert "Begin here" not in as_(rita).get(PAGE).content.decode()


def test_the_funnel_counts_each_stage_and_leads_there(as_: As, ada: User) -> None:
    factories.image()
    factories.item(state="in_review")
    factories.item(state="approved")
    factories.item(state="draft", target_description="")
    run = factories.run(dataset=factories.dataset(items=2), answered=10, state="complete")
    factories.detector_labels(factories.detector(), run)
    counts = [(stage.label, stage.count) for stage in overview.stages(ada)]
    assert counts == [
        ("images", 6),
        ("placed", 3),
        ("drafted", 2),
        ("in review", 1),
        ("approved", 1),
        ("frozen", 2),
        ("answered", 20),
        ("labelled", 20),
        ("labelled", 0),
    ]
    page = as_(ada).get(PAGE).content.decode()
    for name in ("image_list", "review_queue", "dataset_list", "run_list", "results", "agreement"):
        assert f'class="tile" href="{reverse(name)}' in page


def test_a_count_that_holds_simulated_work_is_marked(as_: As, ada: User) -> None:
    real = factories.run(answered=10, state="complete", simulated=False)
    assert [stage.label for stage in overview.stages(ada) if stage.simulated] == []
    factories.run(dataset=real.dataset, answered=1, state="complete", simulated=True)
    assert [stage.label for stage in overview.stages(ada) if stage.simulated] == ["answered"]
    factories.detector_labels(factories.detector(simulated=True), real)
    marked = [(stage.label, stage.unit) for stage in overview.stages(ada) if stage.simulated]
    assert marked == [("answered", "responses"), ("labelled", "by detectors")]
    assert as_(ada).get(PAGE).content.decode().count("simulated</span>") == 2


def test_every_link_leads_somewhere(as_: As, ada: User, rita: User) -> None:
    factories.item()
    for person in (ada, rita):
        client = as_(person)
        for stage in overview.stages(person):
            if stage.href:
                assert client.get(stage.href).status_code == 200, stage.href


def test_the_grid_has_the_36_cells_with_their_quota(as_: As, ada: User) -> None:
    factories.item()
    page = as_(ada).get(PAGE).content.decode()
    assert page.count("<small>/30</small>") == 36
    assert "1<small>/30</small>" in page


def test_a_reader_reads_and_nothing_waits_for_them(as_: As, rita: User) -> None:
    factories.item()
    page = as_(rita).get(PAGE).content.decode()
    assert "What waits for you" not in page
    assert reverse("review_queue") not in page
    assert overview.waiting_for(rita) == []


def test_nothing_waits_where_nothing_is_to_do(as_: As, ada: User) -> None:
    factories.item(state="approved")
    assert "Nothing waits for you" in as_(ada).get(PAGE).content.decode()


def test_a_paused_run_waits_with_its_reason(as_: As, ada: User) -> None:
    run = factories.run(state="paused", pause_reason="OPENAI_API_KEY is not set.")
    page = as_(ada).get(PAGE).content.decode()
    assert "OPENAI_API_KEY is not set." in page
    assert reverse("run_detail", args=[run.pk]) in page


def test_items_in_review_and_failed_drafts_wait(ada: User) -> None:
    item = factories.item(state="in_review")
    factories.draft(item, state="failed")
    assert texts(ada) == ["Review items", "Look at failed drafts"]
    factories.draft(item, state="ready")
    assert texts(ada) == ["Review items"]


def test_detections_that_failed_wait(ada: User) -> None:
    job = factories.detector_labels(factories.detector("strict"), factories.run(answered=10))
    job.detections.update(state=DetectionState.FAILED)
    assert texts(ada) == ["strict could not label dialogues"]


def test_my_labels_wait_and_nobody_elses(ada: User, ben: User) -> None:
    factories.label_set(factories.dataset(), [ada], tasks=3, name="Round 1")
    (row,) = overview.waiting_for(ada)
    assert (row.text, row.count, row.detail) == ("Label Round 1", 3, "3 of 3 left")
    assert texts(ben) == []


def test_a_validation_set_waits_to_be_closed_once_everybody_has_submitted(ada: User, lea: User, lou: User) -> None:
    over = factories.dataset()
    made = factories.label_set(over, [lea, lou], name="Round 1")
    results = ResultSet.objects.create(dataset=over, name="All")
    ValidationSet.objects.create(label_set=made, result_set=results, seed=1, per_cell=1)
    done = {"state": "submitted", "submitted_at": timezone.now()}
    made.assignments.filter(person=lea).update(**done)
    assert texts(ada) == []
    made.assignments.filter(person=lou).update(**done)
    assert texts(ada) == ["Close Round 1"]


def test_drafting_that_stopped_waits_with_its_reason(ada: User) -> None:
    draft = factories.draft(factories.item(state="draft"))
    type(draft.job).objects.update(state="stopped", stop_reason="Check the key.")
    assert texts(ada) == ["Drafting by Scripted has stopped"]
