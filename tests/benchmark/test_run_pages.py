"""Runs in the browser: started and controlled by authors, read by readers, unknown to annotators."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.models import User
from benchmark.models import Attempt, DetectionJob, Exposure, Run
from benchmark.services import runs
from tests import factories

pytestmark = pytest.mark.django_db
type As = Callable[[User], Client]
ACTIONS = ("run_start", "run_pause", "run_resume", "run_change", "run_stop", "run_retry")


def failed_run() -> Run:
    """A run whose only dialogue failed at turn 3."""
    run = factories.run(state="incomplete")
    dialogue = factories.answers(run.dialogues.get(), 2, state="failed")
    Attempt.objects.create(
        dialogue=dialogue,
        turn=3,
        outcome="failed",
        error_class="transient",
        error="The words of <the> error.",
        started_at=timezone.now(),
    )
    return run


def test_each_page_answers_those_whom_it_is_for(as_: As, ada: User, rita: User, lea: User) -> None:
    run = failed_run()
    read = [reverse("run_list"), *(reverse(name, args=[run.pk]) for name in ("run_detail", "run_live", "run_errors"))]
    read += [reverse("dataset_runs", args=[run.dataset_id])]
    write = [reverse("run_new"), reverse("run_estimate"), reverse("run_retry", args=[run.pk])]
    for address in read:
        assert as_(ada).get(address).status_code == 200, address
        assert as_(rita).get(address).status_code == 200, address
        assert as_(lea).get(address).status_code == 404, address
        assert Client().get(address).status_code == 302, address
    for address in write:
        assert as_(ada).get(address).status_code == 200, address
        assert as_(rita).get(address).status_code == 404, address
        assert as_(lea).get(address).status_code == 404, address


@pytest.mark.parametrize("action", ACTIONS)
def test_only_an_author_controls_a_run(as_: As, rita: User, lea: User, action: str) -> None:
    run = failed_run()
    for person in (rita, lea):
        assert as_(person).post(reverse(action, args=[run.pk]), {"outcomes": "failed"}).status_code == 404
    run.refresh_from_db()
    assert run.state == "incomplete"


def test_a_reader_sees_no_control(as_: As, rita: User) -> None:
    page = as_(rita).get(reverse("run_detail", args=[factories.run(state="running").pk])).content.decode()
    assert "Pause" not in page
    assert 'method="post" action="/runs/' not in page


def test_an_author_starts_several_models_at_once(as_: As, ada: User) -> None:
    models = [factories.model(), factories.model()]
    over = factories.dataset(items=2)
    values = {"dataset": over.pk, "models": [model.pk for model in models], "start": "1"}
    answer = as_(ada).post(reverse("run_new"), values)
    assert answer.status_code == 302
    assert {(run.model, run.state) for run in Run.objects.all()} == {(model, "running") for model in models}
    assert Run.objects.get(model=models[0]).dialogues.count() == 2


def test_where_one_model_cannot_run_none_is_started_and_the_choice_stays(as_: As, ada: User) -> None:
    free, busy = factories.model(), factories.model("Busy one")
    over = factories.dataset()
    factories.run(model=busy, dataset=over, state="running")
    page = as_(ada).post(reverse("run_new"), {"dataset": over.pk, "models": [free.pk, busy.pk]}).content.decode()
    assert "Busy one already has an open run" in page
    assert Run.objects.count() == 1
    assert page.count("checked") == 2


def test_the_estimate_is_dialogues_times_turns_times_models(as_: As, ada: User) -> None:
    over, models = factories.dataset(items=3), [factories.model(), factories.model()]
    query = {"dataset": over.pk, "models": [model.pk for model in models]}
    page = as_(ada).get(reverse("run_estimate"), query).content.decode()
    assert "In all, 60 calls" in page
    assert "<html" not in page


def test_a_model_that_cannot_be_asked_is_not_offered(as_: As, ada: User) -> None:
    factories.dataset()
    usable = factories.model("Usable one")
    factories.model("Imported one", imported=True)
    factories.model("Keyless one", provider="openai_compatible", api_key_env="NO_SUCH_KEY_HERE")
    page = as_(ada).get(reverse("run_new")).content.decode()
    assert usable.name in page
    for name in ("Imported one", "Keyless one"):
        assert name not in page


def test_a_run_is_started_paused_resumed_and_stopped(as_: As, ada: User) -> None:
    run = factories.run()
    client = as_(ada)
    for action, state in [("start", "running"), ("pause", "paused"), ("resume", "running"), ("stop", "stopped")]:
        answer = client.post(reverse(f"run_{action}", args=[run.pk]))
        assert answer.headers["Location"] == reverse("run_detail", args=[run.pk])
        run.refresh_from_db()
        assert run.state == state


def test_starting_twice_is_refused_with_one_sentence(as_: As, ada: User) -> None:
    run = factories.run(state="running")
    answer = as_(ada).post(reverse("run_start", args=[run.pk]))
    assert answer.status_code == 409
    assert "started already" in answer.content.decode()


def test_a_retry_shows_the_count_first_and_asks_again(as_: As, ada: User) -> None:
    run = failed_run()
    address = reverse("run_retry", args=[run.pk])
    page = as_(ada).get(address).content.decode()
    assert [row.outcome for row in runs.retriable(run=run)] == ["failed"]
    assert '<td class="num">1</td><td class="num">8</td>' in page  # one dialogue, turns 3 to 10
    assert "blocked" not in page
    assert "checked" not in page
    as_(ada).post(address, {"outcomes": ["failed"]})
    run.refresh_from_db()
    assert run.state == "running"
    assert run.dialogues.get().state == "waiting"


def test_what_a_stop_left_unasked_can_be_asked_later(as_: As, ada: User) -> None:
    run = factories.run(state="stopped")
    run.dialogues.update(state="stopped")
    page = as_(ada).get(reverse("run_retry", args=[run.pk])).content.decode()
    assert '<td class="num">1</td><td class="num">10</td>' in page


@pytest.mark.parametrize(("state", "polls"), [("running", True), ("paused", True), ("complete", False)])
def test_the_page_polls_while_something_moves_and_then_stops(as_: As, rita: User, state: str, polls: bool) -> None:
    run = factories.run(state=state, pause_reason="The key is wrong." if state == "paused" else "")
    for name in ("run_detail", "run_live"):
        page = as_(rita).get(reverse(name, args=[run.pk])).content.decode()
        assert (reverse("run_live", args=[run.pk]) in page) is polls
        assert ("The key is wrong." in page) is (state == "paused")


def test_outcomes_stand_in_columns_of_their_own(as_: As, rita: User) -> None:
    page = as_(rita).get(reverse("run_detail", args=[failed_run().pk])).content.decode()
    assert 'aria-label="Turns: answered 2, cut off 0, refused 0, blocked 0, empty 0, failed 1, not asked 7"' in page


def test_the_page_of_a_run_shows_no_words_of_an_answer_or_error(as_: As, ada: User) -> None:
    run = failed_run()
    page = as_(ada).get(reverse("run_detail", args=[run.pk])).content.decode()
    assert "word for word" not in page
    assert "The words of" not in page
    assert not Exposure.objects.exists()


def test_examples_of_errors_are_escaped_and_recorded(as_: As, ada: User) -> None:
    page = as_(ada).get(reverse("run_errors", args=[failed_run().pk])).content.decode()
    assert "The words of &lt;the&gt; error." in page
    assert Exposure.objects.get().person == ada


def test_examples_of_errors_are_withheld_from_an_author_who_labels(as_: As, ada: User) -> None:
    run = failed_run()
    factories.label_set(run.dataset, [ada])
    answer = as_(ada).get(reverse("run_errors", args=[run.pk]))
    assert answer.status_code == 403
    assert "The words of" not in answer.content.decode()
    assert as_(ada).get(reverse("run_detail", args=[run.pk])).status_code == 200


def test_the_list_is_filtered_by_dataset_model_and_state(as_: As, rita: User) -> None:
    one, other = factories.run(state="complete"), factories.run(state="running")
    for query in ({"state": "running"}, {"model": other.model_id}, {"dataset": other.dataset_id}):
        page = as_(rita).get(reverse("run_list"), query).content.decode()
        assert f"Run {other.pk}<" in page
        assert f"Run {one.pk}<" not in page


@pytest.mark.parametrize("query", ["state=x'", "model=abc", "dataset=-1", "page=zzz", "model=" + "9" * 40])
def test_nonsense_in_the_address_filters_nothing(as_: As, rita: User, query: str) -> None:
    run = factories.run()
    page = as_(rita).get(f"{reverse('run_list')}?{query}")
    assert page.status_code == 200
    assert f"Run {run.pk}<" in page.content.decode()


def test_the_dataset_page_gets_its_runs_and_a_detector_can_be_asked_there(as_: As, ada: User, rita: User) -> None:
    run, detector = factories.run(state="complete", answered=10), factories.detector()
    address = reverse("dataset_runs", args=[run.dataset_id])
    page = as_(ada).get(address, headers={"HX-Request": "true"}).content.decode()
    assert run.model.name in page
    assert "<html" not in page
    assert "<html" in as_(ada).get(address).content.decode()
    asked = {"dataset": run.dataset_id, "detector": detector.pk, "mode": ""}
    assert as_(rita).get(reverse("detector_ask"), asked).status_code == 404
    page = as_(ada).get(reverse("detector_ask"), asked).content.decode()
    assert "1 dialogue waits for labels now" in page
    assert not DetectionJob.objects.exists(), "It was only told what it takes."
    as_(ada).post(reverse("detector_request", args=[detector.pk]), asked)
    assert DetectionJob.objects.get().detector == detector


def test_a_run_without_dialogues_in_a_state_says_so(as_: As, rita: User) -> None:
    page = as_(rita).get(reverse("run_detail", args=[factories.run().pk]), {"state": "failed"}).content.decode()
    assert "No dialogue is in this state" in page


def test_empty_pages_say_what_to_do_next(as_: As, ada: User, rita: User) -> None:
    assert reverse("run_new") in as_(ada).get(reverse("run_list")).content.decode()
    assert reverse("run_new") not in as_(rita).get(reverse("run_list")).content.decode()
    assert reverse("model_list") in as_(ada).get(reverse("run_new")).content.decode()


def test_a_budget_that_is_spent_can_be_raised_on_the_page(as_: As, ada: User) -> None:
    model = factories.model(provider="openai_compatible", price_input="1", price_output="2")
    run = factories.run(model=model, state="paused", budget="1.00", pause_reason="The budget is spent.")
    page = as_(ada).get(reverse("run_detail", args=[run.pk])).content.decode()
    assert 'name="budget"' in page
    as_(ada).post(reverse("run_change", args=[run.pk]), {"concurrency": "3", "budget": "2.5"})
    run.refresh_from_db()
    assert (run.concurrency, str(run.budget)) == (3, "2.5000")
    as_(ada).post(reverse("run_change", args=[run.pk]), {"concurrency": "0", "budget": ""})
    run.refresh_from_db()
    assert (run.concurrency, str(run.budget)) == (3, "2.5000")
