"""Watching a run: its pace and why, its dialogues by filters, its newest answers, and what an error never becomes."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.models import User
from benchmark import finding, naming, pace, progress, reader
from benchmark.finding import Filters
from benchmark.models import Attempt, Dialogue, Exposure, Response, Run
from benchmark.services import runs, versions
from fpco_site.errors import Invalid
from fpco_site.llm.engine.gate_rows import key_of
from fpco_site.llm.models import Gate, Worker
from tests import factories

pytestmark = pytest.mark.django_db
type As = Callable[[User], Client]
CANARY = "Error canary 8c1f: quota of tenant 77 is spent"


def called(dialogue: Dialogue, turn: int, outcome: str, **more: Any) -> Attempt:
    values = {"started_at": timezone.now(), **more}
    return Attempt.objects.create(dialogue=dialogue, turn=turn, outcome=outcome, **values)


@pytest.fixture
def run() -> Run:
    """Six dialogues: whole, cut and refused, empty at 3, blocked at 3, failed at 1, waiting."""
    made = factories.run(dataset=factories.dataset(items=6), state="incomplete")
    whole, odd, empty, blocked, failed, _ = made.dialogues.order_by("pk")
    factories.answers(whole, 10)
    factories.answers(odd, 10, cut=(2,), refused=(9,))
    factories.answers(empty, 2, state="stopped")
    called(empty, 3, "empty", reasoning_tokens=256, reason="No text before the token cap.", settings=made.settings)
    factories.answers(blocked, 2, state="stopped")
    called(blocked, 3, "blocked", reason="SAFETY")
    factories.answers(failed, 0, state="failed")
    called(failed, 1, "failed", error=CANARY, error_class="transient timeout")
    return made


def fits(run: Run, **filters: str) -> list[int]:
    """Which of the run's dialogues fit, counted from 0."""
    order = list(run.dialogues.order_by("pk").values_list("pk", flat=True))
    return [order.index(pk) for pk in finding.matching(run, Filters.read(filters))]


# Outcomes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "where"),
    [
        ("answered", [0, 1, 2, 3]),
        ("cut", [1]),
        ("refused", [1]),
        ("empty", [2]),
        ("blocked", [3]),
        ("failed", [4]),
        ("not_asked", [2, 3, 4, 5]),
    ],
)
def test_a_filter_by_outcome_agrees_with_the_columns_of_the_run(run: Run, outcome: str, where: list[int]) -> None:
    assert fits(run, outcome=outcome) == where
    assert bool(getattr(progress.turn_counts(run), outcome)) == bool(where)


def test_every_planned_turn_is_in_one_column(run: Run) -> None:
    counts = progress.turn_counts(run)
    assert counts == progress.TurnCounts(answered=22, cut=1, refused=1, blocked=1, empty=1, failed=1, not_asked=60 - 27)


def test_the_text_of_an_error_is_nowhere_an_answer(as_: As, rita: User, run: Run) -> None:
    client = as_(rita)
    failed = run.dialogues.get(state="failed")
    page = client.get(reverse("dialogue_detail", args=[failed.pk])).content.decode()
    assert f"No text: {CANARY}" in page
    turn = client.get(f"/api/v1/dialogues/{failed.pk}/").json()["turns"][0]
    assert (turn["response"], turn["outcome"], turn["attempts"][0]["error"]) == (None, "failed", CANARY)
    answers = client.get(f"/api/v1/runs/{run.pk}/responses/?page_size=100").content.decode()
    assert "Answer 1" in answers
    for text in (
        answers,
        client.get(reverse("run_answers", args=[run.pk])).content.decode(),
        client.get(reverse("run_detail", args=[run.pk])).content.decode(),
        client.get(reverse("results")).content.decode(),
    ):
        assert CANARY not in text


def test_a_retry_shows_dialogues_and_turns_of_each_outcome(run: Run) -> None:
    found = {row.outcome: (row.dialogues, row.turns) for row in runs.retriable(run=run)}
    assert found == {"failed": (1, 10), "blocked": (1, 8), "empty": (1, 8)}


# Filters ------------------------------------------------------------------------------------------


def test_a_filter_that_is_not_known_is_no_filter(run: Run) -> None:
    given = {"look": "run__model__name", "outcome": "x' OR 1=1", "longer": "7", "state": "complete", "page": "2"}
    assert Filters.read(given).chosen == {"state": "complete"}
    assert fits(run, **given) == [0, 1]


def test_dialogues_are_found_where_detectors_disagree_or_a_correction_was_given_up(run: Run) -> None:
    whole = run.dialogues.order_by("pk")[0]
    factories.detector_labels(factories.detector("strict"), run, lambda r: r.dialogue_id == whole.pk and r.turn < 8)
    factories.detector_labels(factories.detector("lenient"), run, lambda r: False)
    assert fits(run, look="disagree") == [0]
    assert fits(run, look="gave_in") == [0]


def test_long_answers_and_those_that_name_a_model_are_found(run: Run) -> None:
    waiting = run.dialogues.get(state="waiting")
    Response.objects.create(dialogue=waiting, turn=1, text="As Gemini, made by Google, I see it." + 500 * "x")
    assert fits(run, longer="500") == [5]
    assert fits(run, longer="1000") == []
    assert fits(run, look="self_named") == [5]
    assert fits(run, look="self_named", state="complete") == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("I am ChatGPT, made by OpenAI.", True),
        ("As an AI developed by Google, I can't tell.", True),
        ("I'm Claude.", True),
        ("There is a Google logo on the wall.", False),
        ("The sign of Gemini hangs over the door.", False),
        ("It was built by the meta carpenters.", True),
        ("A llama stands beside the car.", False),
    ],
)
def test_a_model_that_names_itself_is_told_from_a_picture_of_a_name(text: str, named: bool) -> None:
    assert bool(naming.named(text)) is named
    assert not named or any(stem in text.lower() for stem in naming.STEMS)


def test_one_walks_through_what_fits_alone(as_: As, rita: User, run: Run) -> None:
    first, second = run.dialogues.filter(state="complete").order_by("pk")
    page = as_(rita).get(reverse("dialogue_detail", args=[first.pk]) + "?state=complete").content.decode()
    assert "<strong>1</strong> of 2 dialogues that fit" in page
    assert f'href="{reverse("dialogue_detail", args=[second.pk])}?state=complete" data-key="arrowright n"' in page
    last = as_(rita).get(reverse("dialogue_detail", args=[second.pk]) + "?state=complete").content.decode()
    assert 'data-key="arrowright n"' not in last
    apart = as_(rita).get(reverse("dialogue_detail", args=[second.pk]) + "?state=failed").content.decode()
    assert "Not among the 1 dialogue that fits" in apart


# Blindness ----------------------------------------------------------------------------------------


def test_pages_of_answers_are_for_readers_with_open_eyes(as_: As, ada: User, rita: User, lea: User, run: Run) -> None:
    attempt = Attempt.objects.get(outcome="failed")
    addresses = [reverse(name, args=[run.pk]) for name in ("run_dialogues", "run_answers")]
    addresses.append(reverse("attempt_detail", args=[attempt.pk]))
    for address in addresses:
        answer = as_(rita).get(address)
        assert answer.status_code == 200, address
        assert "no-store" in answer.headers["Cache-Control"]
        assert as_(lea).get(address).status_code == 404, address
        assert Client().get(address).status_code == 302, address
    assert Exposure.objects.filter(person=rita, withheld=False).count() == 3
    factories.label_set(run.dataset, [ada])
    for address in addresses:
        answer = as_(ada).get(address)
        assert answer.status_code == 403, address
        assert "Answer 1" not in answer.content.decode()
        assert CANARY not in answer.content.decode()
    assert Exposure.objects.filter(person=ada, withheld=True).count() == 3
    page = as_(ada).get(reverse("run_detail", args=[run.pk])).content.decode()
    assert "Withheld from you while you label" in page
    assert reverse("run_answers", args=[run.pk]) not in page


def test_a_page_of_answers_that_refreshes_itself_is_one_look_and_closes_with_the_eyes(
    as_: As, ada: User, ben: User, run: Run
) -> None:
    Run.objects.filter(pk=run.pk).update(state="running")
    address = reverse("run_answers", args=[run.pk])
    page = as_(ada).get(address).content.decode()
    poll = page.split('hx-get="')[1].split('"')[0]
    assert as_(ada).get(poll, headers={"HX-Request": "true"}).status_code == 200
    assert Exposure.objects.count() == 1
    assert as_(ben).get(poll).status_code == 200
    assert Exposure.objects.filter(person=ben).count() == 1, "Another person's token records nobody's look."
    factories.label_set(run.dataset, [ada])
    assert as_(ada).get(poll).status_code == 403


# Pace and concurrency -------------------------------------------------------------------------------


def test_the_rate_is_measured_from_stored_times_and_the_time_left_follows() -> None:
    run = factories.run(dataset=factories.dataset(items=2), state="running", started_at=timezone.now())
    now = timezone.now()
    Run.objects.filter(pk=run.pk).update(started_at=now - timedelta(minutes=10))
    run.refresh_from_db()
    factories.answers(run.dialogues.order_by("pk")[0], 10)
    Response.objects.update(created_at=now - timedelta(seconds=100))
    found = pace.pace(run, now=now)
    assert (found.answers, found.seconds, found.rate) == (10, 300.0, 2.0)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 2.0 < found.high
    left = found.left(pace.turns_left(run, progress.dialogue_counts([run])[run.pk]))
    assert left is not None
    assert (left.turns, left.expected) == (10, timedelta(minutes=5))
    assert left.best < left.expected < left.worst
    assert pace.pace(run, now=now + timedelta(minutes=10)).rate is None


def why(run: Run) -> str:
    return pace.concurrency(run, progress.dialogue_counts([run])[run.pk]).why


def test_a_run_says_what_bounds_its_concurrency() -> None:
    run = factories.run(dataset=factories.dataset(items=3), state="running", concurrency=2)
    assert "No worker is running" in why(run)
    Worker.objects.create(host="lab", pid=1)
    assert why(run) == "Workers are taking up dialogues."
    run.dialogues.filter(pk__in=run.dialogues.values("pk")[:2]).update(state="running")
    assert why(run) == "As many at once as this run's setting allows."
    gate = Gate.objects.create(key=key_of(run.endpoint()), limit=1.5, reason="slow down")
    assert why(run).startswith("Held to 1 calls at once by the provider's rate limit")
    Gate.objects.filter(pk=gate.pk).update(wait=60, closed_at=timezone.now())
    assert why(run).startswith("The provider asked to wait; calls go on in ")


# Other settings -----------------------------------------------------------------------------------


def test_a_run_with_a_larger_cap_is_a_new_run_offered_in_one_click(as_: As, ada: User, run: Run) -> None:
    empty = Attempt.objects.get(outcome="empty").dialogue
    page = as_(ada).get(reverse("dialogue_detail", args=[empty.pk])).content.decode()
    assert "256 reasoning tokens went into a cap of 256" in page
    offer = f"{reverse('run_new')}?from={run.pk}&amp;cap=1024"
    for address in (reverse("run_retry", args=[run.pk]), reverse("run_detail", args=[run.pk])):
        assert offer in as_(ada).get(address).content.decode()
    form = as_(ada).get(offer.replace("&amp;", "&")).context["form"]
    given = {name: form.initial[name] for name in ("dataset", "models", "concurrency", "max_output_tokens")}
    assert given == {
        "dataset": run.dataset_id,
        "models": [run.model_id],
        "concurrency": run.concurrency,
        "max_output_tokens": 1024,
    }
    assert as_(ada).post(reverse("run_new"), {**given, "temperature": "0.5", "keep": "1"}).status_code == 302
    made = Run.objects.latest("pk")
    assert (made.settings["max_output_tokens"], made.settings["temperature"]) == (1024, 0.5)
    assert made.endpoint().max_output_tokens == 1024
    run.model.refresh_from_db()
    assert run.model.max_output_tokens == 256
    listed = as_(ada).get(reverse("run_list")).content.decode()
    assert "1,024 tokens" in listed
    assert "256 tokens" in listed


def test_settings_of_a_run_alone_follow_the_rules_of_models(ada: User, as_: As) -> None:
    over = factories.dataset()
    with pytest.raises(Invalid, match="at least 1"):
        runs.create(model=factories.model(), dataset=over, by=ada, overrides={"max_output_tokens": 0})
    with pytest.raises(Invalid, match="plain numbers"):
        runs.create(model=factories.model(), dataset=over, by=ada, overrides={"temperature": float("nan")})
    with pytest.raises(Invalid, match="base_url of its own"):
        runs.create(model=factories.model(), dataset=over, by=ada, overrides={"base_url": "http://elsewhere"})
    values = {"model": factories.model().pk, "dataset": over.pk, "overrides": {"max_output_tokens": 777}}
    made = as_(ada).post("/api/v1/runs/", values, content_type="application/json")
    assert made.status_code == 201
    assert made.json()["settings"]["max_output_tokens"] == 777


def test_answers_of_any_characters_are_shown(as_: As, rita: User, run: Run) -> None:
    waiting = run.dialogues.get(state="waiting")
    Response.objects.create(dialogue=waiting, turn=1, text="nul \x00 half \ud800 right \u202e left \U0001f600")
    page = as_(rita).get(reverse("dialogue_detail", args=[waiting.pk])).content.decode()
    assert "nul \\x00 half \\ud800 right \u202e left \U0001f600" in page
    assert as_(rita).get(reverse("run_answers", args=[run.pk])).status_code == 200
    turn = as_(rita).get(f"/api/v1/dialogues/{waiting.pk}/").json()["turns"][0]
    assert turn["response"] == "nul \x00 half \ud800 right \u202e left \U0001f600"


def test_the_api_tells_how_each_answer_came(as_: As, rita: User, run: Run) -> None:
    whole = run.dialogues.order_by("pk")[0]
    refused = {"top_p": "The model takes none."}
    settings = {**run.settings, "temperature": 0, "top_p": 1, "not_sent": refused, "sha256": "p" * 64}
    settings["prompt"] = "inference.v1"
    software = versions.row_of({"fpco-studio": "9.8.7"})
    called(whole, 1, "answered", settings=settings, software=software, image_sha256="a" * 64, status=200)
    turn = as_(rita).get(f"/api/v1/dialogues/{whole.pk}/").json()["turns"][0]
    call = turn["attempts"][0]
    asked = call["provenance"]
    assert asked["model_asked"] == run.model.model_id
    assert (asked["prompt"], asked["prompt_sha256"], asked["image_sha256"]) == ("inference.v1", "p" * 64, "a" * 64)
    assert asked["software"] == {"fpco-studio": "9.8.7"}
    assert asked["not_sent"] == {"temperature": reader.BY_RULE, "top_p": "The model takes none."}
    assert not {"api_key_env", "temperature", "top_p"} & asked["settings"].keys()
    assert {"input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "status"} <= call.keys()
    assert {"model_answered", "seconds", "tokens"} <= turn.keys()
