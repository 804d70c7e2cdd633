"""What a run would cost is said before it starts, as a range, with what it rests on."""

import doctest
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from annotate.models import User
from benchmark import estimates, estimating
from benchmark.models import ConnectionTest, Dialogue, Response, Run
from benchmark.services import runs
from fpco_site.llm import dialogue, image_tokens
from tests import factories
from tests.benchmark.test_run_pages import As

pytestmark = [pytest.mark.db, pytest.mark.django_db]
PRICED: dict[str, Any] = {"price_input": Decimal(2), "price_cached_input": Decimal("0.5"), "price_output": Decimal(8)}
NUMBERS = st.integers(1, 400).map(Decimal)


@given(NUMBERS, NUMBERS, st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=12))
def test_every_turn_resends_all_before_it(
    system: Decimal, picture: Decimal, talk: list[tuple[Decimal, Decimal]]
) -> None:
    """Against the requests that are really built: each message's length is its tokens here."""
    questions, answers = ["q" * int(asked) for asked, _ in talk], ["a" * int(said) for _, said in talk]
    sent = estimating.inputs(
        system=system,
        picture=picture,
        questions=[asked for asked, _ in talk],
        answers=[said for _, said in talk],
        overhead=3,
    )
    for turn in range(1, len(talk) + 1):
        request = dialogue.request(
            system="s" * int(system), questions=questions[:turn], answers=answers[: turn - 1], picture=None
        )
        texts = [request.system, *(message.text for message in request.messages)]
        assert sent[turn - 1] == picture + sum(len(text) + 3 for text in texts)


def test_ten_turns_by_hand() -> None:
    """10 x (20 + 1000) + 5 x (1 + ... + 10) + 7 x (0 + ... + 9) + 4 x 2 x (1 + ... + 10) = 10200 + 275 + 315 + 440."""
    side = estimating.dialogue(
        system=Decimal(20),
        picture=Decimal(1000),
        questions=[Decimal(5)] * 10,
        answers=[Decimal(7)] * 10,
        output=Decimal(9),
        cached=False,
    )
    assert (side.calls, side.input, side.cached, side.output) == (10, 11230, 0, 90)
    assert estimating.seconds(dialogues=5, turns=Decimal(10), concurrency=2, latency=Decimal(3)) == 75


def test_the_cache_holds_what_the_turn_before_sent_in_whole_steps() -> None:
    """Turn 1 sends 1033 tokens, of which 1024 are cached for turn 2; turn 2 1053, again 1024; below that none."""
    talk: dict[str, Any] = {"questions": [Decimal(5)] * 3, "answers": [Decimal(7)] * 3, "output": Decimal(0)}
    long = estimating.dialogue(system=Decimal(20), picture=Decimal(1000), cached=True, **talk)
    assert (long.input, long.cached) == (1033 + 1053 + 1073, 2048)
    assert estimating.dialogue(system=Decimal(20), picture=Decimal(900), cached=True, **talk).cached == 0


def test_a_retry_pays_for_the_history_but_not_for_its_turns() -> None:
    """Turns 9 and 10 of a dialogue whose turns send 1 more token each: the same two inputs as in a whole one."""
    talk: dict[str, Any] = {"questions": [Decimal(1)] * 10, "answers": [Decimal(0)] * 10, "output": Decimal(2)}
    side = estimating.dialogue(system=Decimal(0), picture=Decimal(0), cached=False, first=9, **talk)
    assert (side.calls, side.input, side.output) == (2, (9 + 4 * 18) + (10 + 4 * 20), 4)


def test_the_published_examples_of_picture_rules_hold() -> None:
    assert doctest.testmod(image_tokens).failed == doctest.testmod(estimating).failed == 0


@pytest.mark.parametrize(
    ("provider", "model", "tokens"),
    [
        ("openai", "gpt-4o", (765, 765)),
        ("openai", "gpt-5", (630, 630)),
        ("openai", "gpt-4.1-mini", (1659, 1659)),
        ("openai", "gpt-5.4", (1024, 1659)),
        ("gemini", "gemini-2.5-pro", (1032, 1032)),
        ("gemini", "gemini-3.1-pro-preview", (1120, 1120)),
        ("openai_compatible", "Qwen/Qwen2.5-VL-7B-Instruct", (1298, 1298)),
        ("transformers", "llava-hf/llava-1.5-7b-hf", (576, 576)),
        ("openai_compatible", "something-new", (250, 3000)),
        ("scripted", "scripted-skeptic", (0, 0)),
    ],
)
def test_a_picture_of_1024_by_1024(provider: str, model: str, tokens: tuple[int, int]) -> None:
    found = image_tokens.rule(provider, model).tokens(1024, 1024)
    if model.startswith("Qwen"):
        assert found[0] == found[1] <= 1282
        return
    assert found == tokens


@given(st.integers(1, 6000), st.integers(1, 6000), st.sampled_from(["gpt-4o", "gpt-4.1-nano", "gpt-5.4", "qwen3-vl"]))
def test_a_rule_has_its_low_end_below_its_high_end_and_its_cap(width: int, height: int, model: str) -> None:
    low, high = image_tokens.rule("openai_compatible" if "qwen" in model else "openai", model).tokens(width, height)
    assert 0 < low <= high
    assert image_tokens.patches(width, height) <= 1536


def estimate(**more: Any) -> estimates.Estimate:
    model = factories.model(provider="openai", model_id="gpt-4o", **more)
    [found] = estimates.of_models(models=[model], dataset=factories.dataset(items=3))
    return found


def test_an_estimate_counts_every_call_and_says_what_it_rests_on() -> None:
    found = estimate(**PRICED)
    assert (found.dialogues, found.calls, found.low.calls) == (3, 30, 30)
    assert found.low.cost is not None
    assert found.high.cost is not None
    assert 0 < found.low.cost < found.high.cost
    # The picture of 64 x 48 pixels is one tile: 255 tokens in each of 30 calls, whatever the texts are.
    assert found.low.input > 30 * 255
    assert found.high.output == 30 * 256
    words = " ".join(found.basis)
    assert "3 of the dataset's own dialogues" in words
    assert "85 and 170 for each tile" in words
    assert "no answer of this model is known" in words
    assert "nothing is" in words


def test_without_prices_the_tokens_are_told_and_the_cost_is_unknown() -> None:
    found = estimate()
    assert found.words == "unknown"
    assert found.high.reason == "price unknown"
    assert found.high.input > 0
    assert estimates.total([found]).unknown == (found.name,)


def test_earlier_answers_of_the_model_narrow_the_range() -> None:
    model = factories.model(provider="openai", model_id="gpt-4o", **PRICED)
    run = factories.run(model=model, answered=10)
    run.dialogues.get().responses.update(output_tokens=100, seconds=2.0)
    [found] = estimates.of_models(models=[model], dataset=run.dataset)
    assert (found.low.output, found.high.output) == (10 * 80, 10 * 125)
    assert found.seconds == (16, 30)
    assert any("10 earlier answers of this model, 100 tokens each" in line for line in found.basis)


def test_without_answers_the_newest_connection_test_tells_latency_and_thoughts() -> None:
    model = factories.model(provider="openai", model_id="gpt-5", max_output_tokens=4000, **PRICED)
    done = {"model": model, "state": "done", "verdict": "passed", "answered": 4}
    ConnectionTest.objects.create(**done, seconds=80.0, reasoning_tokens=9999)
    ConnectionTest.objects.create(**done, seconds=8.0, reasoning_tokens=400)
    ConnectionTest.objects.create(**done | {"answered": 0, "verdict": "failed"})
    dataset = factories.dataset()
    [found] = estimates.of_models(models=[model], dataset=dataset)
    assert found.seconds == (16, 30), "Ten calls of two seconds, 20 % less to 50 % more."
    assert (found.low.output, found.high.output) == (10 * (30 + 80), 10 * 4000)
    assert "2.0 s a call, in its connection test" in found.basis
    ConnectionTest.objects.update(reasoning_tokens=0)
    [found] = estimates.of_models(models=[model], dataset=dataset)
    assert (found.low.output, found.high.output) == (10 * 30, 10 * 400), "What does not think is billed its text."


def test_detectors_read_answers_as_long_as_those_over_the_dataset() -> None:
    judge = factories.detector(simulated=False, provider="openai", model_id="gpt-5.4", max_output_tokens=8192, **PRICED)
    run = factories.run(dataset=factories.dataset(items=2))
    [before] = estimates.of_detectors(detectors=[judge], dataset=run.dataset)
    told = [Response(dialogue=row, turn=turn, text="x" * 4700) for row in run.dialogues.all() for turn in range(1, 11)]
    Response.objects.bulk_create(told)
    [found] = estimates.of_detectors(detectors=[judge], dataset=run.dataset)
    # 4,700 characters are 1,000 tokens at the low end, taken at 20 % less, in the place of 30 assumed ones.
    assert found.low.input - before.low.input == 2 * 10 * (800 - 30)
    assert any("20 answers over this dataset, 4,700 characters each" in line for line in found.basis)
    ConnectionTest.objects.create(detector=judge, state="done", answered=2, seconds=6.0, reasoning_tokens=1000)
    [found] = estimates.of_detectors(detectors=[judge], dataset=run.dataset)
    assert "3.0 s a call, in its connection test" in found.basis
    assert (found.low.output, found.high.output) == (2 * (120 + 400), 2 * (400 + 625))


def test_a_cap_bounds_what_answers_can_cost() -> None:
    model = factories.model(provider="openai", model_id="gpt-4o", **PRICED)
    [found] = estimates.of_models(models=[model], dataset=factories.dataset(), cap=7)
    assert found.low.output == found.high.output == 70


def test_a_sample_stands_for_all(django_assert_max_num_queries: Any) -> None:
    dataset = factories.dataset(items=estimates.SAMPLE + 5)
    models = [factories.model(provider="openai", model_id="gpt-4o") for _ in range(4)]
    with django_assert_max_num_queries(12):
        found = estimates.of_models(models=models, dataset=dataset)
    assert {row.calls for row in found} == {10 * (estimates.SAMPLE + 5)}
    assert f"{estimates.SAMPLE} of the dataset's own dialogues" in found[0].basis[0]


def test_a_retry_is_estimated_at_the_prices_that_the_run_keeps() -> None:
    model = factories.model(provider="openai", model_id="gpt-4o", **PRICED)
    run = factories.run(model=model, dataset=factories.dataset(items=2), state="incomplete", simulated=False)
    near, far = run.dialogues.all()
    factories.answers(near, 9, state="stopped")
    factories.answers(far, 4, state="stopped")
    type(model).objects.update(price_input=None)
    run = Run.objects.get(pk=run.pk)
    found = estimates.retry(run=run, dialogues=[near.pk, far.pk])
    assert (found.dialogues, found.calls) == (2, 1 + 6)
    assert found.high.cost is not None
    assert estimates.retry(run=run, dialogues=[near.pk]).calls == 1
    ids = {row.outcome: list(row.ids) for row in runs.retriable(run=run)}
    assert ids["not_asked"] == list(Dialogue.objects.order_by("pk").values_list("pk", flat=True))


def test_a_detector_takes_one_call_a_dialogue_and_half_the_price_in_a_batch() -> None:
    judge = factories.detector(simulated=False, provider="openai", model_id="gpt-5.4", max_output_tokens=8192, **PRICED)
    dataset = factories.dataset(items=3)
    [live] = estimates.of_detectors(detectors=[judge], dataset=dataset)
    [batch] = estimates.of_detectors(detectors=[judge], dataset=dataset, discount=Decimal("0.5"))
    assert (live.calls, live.low.output, live.high.output) == (3, 3 * 120, 3 * 400)
    assert live.high.cost == 2 * (batch.high.cost or Decimal(0)) != 0


def test_the_page_shows_the_estimate_of_each_model_and_their_sum(as_: As, ada: User) -> None:
    dataset = factories.dataset(items=2)
    first, second = (factories.model(**PRICED) for _ in range(2))
    page = as_(ada).get(
        reverse("run_estimate"), {"dataset": dataset.pk, "models": [first.pk, second.pk], "concurrency": "4"}
    )
    text = page.content.decode()
    assert "20 calls, " in text
    assert "In all, 40 calls" in text
    assert "simulated" in text
