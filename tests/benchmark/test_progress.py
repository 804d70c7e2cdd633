"""Every planned turn of a run is in one column; tokens, cost and coverage follow from rows."""

from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from benchmark import progress
from benchmark.models import Attempt, Dialogue, Run
from benchmark.models.detectors import JobState
from benchmark.services import spending
from fpco_site.llm.money import Sums
from fpco_site.llm.types import Usage
from tests import factories

pytestmark = [pytest.mark.db, pytest.mark.django_db]


def attempt(dialogue: Dialogue, turn: int, outcome: str, **more: Any) -> Attempt:
    """A call, added to what its run has spent as the engine's are."""
    usage = Usage(*(more.get(f"{name}_tokens") for name in ("input", "cached", "output", "reasoning")))
    spending.add_to_runs(sums={dialogue.run_id: Sums.of(None if outcome == "failed" else usage)})
    return Attempt.objects.create(dialogue=dialogue, turn=turn, outcome=outcome, started_at=timezone.now(), **more)


def test_every_planned_turn_is_in_exactly_one_column() -> None:
    """Four dialogues of ten turns: 10 answered; 4 then blocked; 2 then failed; none yet."""
    run = factories.run(dataset=factories.dataset(items=4), state="incomplete")
    whole, blocked, failed, _ = run.dialogues.all()
    factories.answers(whole, 10, state="complete", cut=(2,), refused=(3, 4))
    factories.answers(blocked, 4, state="stopped")
    factories.answers(failed, 2, state="failed")
    attempt(blocked, 5, "blocked")
    attempt(failed, 3, "failed")
    counts = progress.turn_counts(run)
    assert counts == progress.TurnCounts(
        answered=7 + 4 + 2, cut=1, refused=2, blocked=1, empty=0, failed=1, not_asked=5 + 7 + 10
    )
    assert counts.planned == 40
    assert counts.with_text == 16


def test_a_turn_that_will_be_asked_again_is_not_asked_rather_than_failed() -> None:
    run = factories.run(state="running")
    attempt(run.dialogues.get(), 1, "failed")
    assert progress.turn_counts(run) == progress.TurnCounts(not_asked=10)


def test_only_the_latest_attempt_says_how_a_turn_ended() -> None:
    run = factories.run(state="incomplete")
    dialogue = factories.answers(run.dialogues.get(), 3, state="stopped")
    attempt(dialogue, 4, "failed")
    attempt(dialogue, 4, "empty")
    assert progress.lost_turns([run.pk]) == {run.pk: {"empty": 1}}


def test_a_dialogue_that_was_stopped_with_its_run_lost_nothing() -> None:
    run = factories.run(state="stopped")
    dialogue = factories.answers(run.dialogues.get(), 3, state="stopped")
    attempt(dialogue, 3, "answered")
    assert progress.turn_counts(run) == progress.TurnCounts(answered=3, not_asked=7)


def test_the_cost_is_what_the_tokens_cost_at_the_models_prices() -> None:
    """(1,000,000 - 400,000) x 2 + 400,000 x 0.5 + 100,000 x 8, each per million: 1.2 + 0.2 + 0.8."""
    model = factories.model(provider="openai", price_input=2, price_cached_input=Decimal("0.5"), price_output=8)
    run = factories.run(model=model, simulated=False)
    attempt(run.dialogues.get(), 1, "answered", input_tokens=1_000_000, cached_tokens=400_000, output_tokens=100_000)
    assert progress.spent(run).cost == Decimal("2.2")


@pytest.mark.parametrize(
    ("prices", "tokens", "reason"),
    [
        ({}, {"input_tokens": 5, "output_tokens": 5}, "price unknown"),
        ({"price_input": 1, "price_output": 1}, {}, "no tokens reported"),
    ],
)
def test_a_cost_that_is_not_known_says_why_and_is_not_zero(
    prices: dict[str, int], tokens: dict[str, int], reason: str
) -> None:
    run = factories.run(model=factories.model(provider="openai", **prices), simulated=False)
    attempt(run.dialogues.get(), 1, "answered", **tokens)
    spent = progress.spent(run)
    assert (spent.cost, spent.reason) == (None, reason)


def test_calls_that_are_alike_are_one_group_with_its_newest_as_example() -> None:
    run = factories.run()
    dialogue = run.dialogues.get()
    attempt(dialogue, 1, "failed", error_class="transient", status=500)
    newest = attempt(dialogue, 1, "failed", error_class="transient", status=500)
    attempt(dialogue, 1, "empty")
    attempt(dialogue, 1, "answered")
    groups = progress.troubles(run)
    assert [(group.outcome, group.status, group.calls) for group in groups] == [("failed", 500, 2), ("empty", None, 1)]
    assert groups[0].example == newest.pk


def test_labelled_and_missing_make_up_what_has_text() -> None:
    run = factories.run(dataset=factories.dataset(items=2), answered=5)
    job = factories.detector_labels(factories.detector(), run)
    run.dialogues.last().labels.all().delete()  # type: ignore[union-attr]
    (row,) = progress.coverage(run, progress.turn_counts(run).with_text)
    assert (row.labelled, row.missing, row.with_text) == (5, 5, 10)
    assert row.can_ask
    job.state = JobState.RUNNING
    job.save()
    assert not progress.coverage(run, 10)[0].can_ask


@pytest.mark.parametrize(
    ("state", "live"), [("draft", False), ("running", True), ("paused", True), ("complete", False), ("stopped", False)]
)
def test_a_page_refreshes_itself_only_while_something_moves(state: str, live: bool) -> None:
    assert progress.is_live(factories.run(state=state)) is live


def test_an_ended_run_is_live_while_a_detector_works_on_it() -> None:
    run = factories.run(state="complete", answered=10)
    job = factories.detector_labels(factories.detector(), run)
    job.detections.update(state="waiting")
    assert not progress.is_live(Run.objects.get(pk=run.pk))
    job.state = JobState.RUNNING
    job.save()
    assert progress.is_live(run)
