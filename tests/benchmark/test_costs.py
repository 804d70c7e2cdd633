"""What was spent, by run, model and detector: the page, its CSV, the API and the rows say the same."""

import csv
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Drafter, User
from benchmark import costs, progress
from benchmark.models import DetectionJob, PriceChange, Run, Spending
from benchmark.services import spending
from fpco_site.errors import Conflict, Invalid
from fpco_site.llm import money
from fpco_site.llm.money import Sums
from fpco_site.llm.providers import gemini, openai
from fpco_site.llm.providers._wire import Answer
from fpco_site.llm.types import ProviderError, Usage
from tests import factories
from tests.benchmark.test_run_pages import As

pytestmark = [pytest.mark.db, pytest.mark.django_db]
PRICED: dict[str, Any] = {"price_input": Decimal(2), "price_cached_input": Decimal("0.5"), "price_output": Decimal(8)}
MILLION = Sums.of(Usage(1_000_000, 400_000, 100_000, 60_000))


@pytest.fixture
def house() -> tuple[Run, Run, DetectionJob]:
    """Two runs of one model at $2.20 each (one with a timeout), one without prices, one simulated, and a detector."""
    model = factories.model("Bold", provider="openai", **PRICED)
    first, second = (factories.run(model=model, simulated=False, state="complete") for _ in range(2))
    spending.add_to_runs(sums={first.pk: MILLION, second.pk: MILLION + Sums.of(None)})
    silent = factories.run(model=factories.model("Shy", provider="openai"), simulated=False)
    spending.add_to_runs(sums={silent.pk: MILLION})
    simulated = factories.run(model=factories.model("Scripted one"))
    spending.add_to_runs(sums={simulated.pk: MILLION})
    judge = factories.detector("judge", simulated=False, provider="openai", **PRICED)
    job = factories.detector_labels(judge, first)
    spending.add_to_jobs(sums={(job.pk, Decimal(0)): MILLION, (job.pk, Decimal("0.5")): MILLION})
    return first, second, job


@pytest.mark.usefixtures("house")
def test_lines_add_up_by_model_by_detector_and_in_all() -> None:
    lines = costs.lines()
    models = {row.name: row for row in costs.by_who(lines, costs.Kind.RUN)}
    assert (models["Bold"].cost, models["Bold"].sums.untold, models["Bold"].words) == (Decimal("4.4"), 1, "$4.40")
    assert models["Shy"].words == "unknown"
    assert (models["Scripted one"].words, models["Scripted one"].simulated) == ("$0.00", True)
    [judge] = costs.by_who(lines, costs.Kind.DETECTOR)
    assert judge.cost == Decimal("2.2") + Decimal("1.1")
    everything = costs.total("all", lines)
    assert (everything.cost, everything.unknown, everything.words) == (Decimal("7.7"), 1, "at least $7.70")
    assert sum(row.sums.calls for row in Spending.objects.all()) == everything.sums.calls == 7


@pytest.mark.usefixtures("house")
def test_page_csv_api_and_rows_agree(as_: As, rita: User) -> None:
    client = as_(rita)
    page = client.get(reverse("cost_list")).content.decode()
    rows = list(csv.DictReader(StringIO(client.get(reverse("cost_csv")).content.decode())))
    api = client.get("/api/v1/costs/").json()
    assert len(rows) == len(api) == len(costs.lines())
    for row, line in zip(rows, api, strict=True):
        assert (row["name"], row["input_tokens"]) == (line["who"], str(line["bill"]["input"]))
        assert Decimal(row["cost_usd"] or -1) == Decimal(line["bill"]["cost"] or -1)
    total = sum(Decimal(row["cost_usd"]) for row in rows if row["cost_usd"])
    assert total == sum(Decimal(line["bill"]["cost"]) for line in api if line["bill"]["cost"] is not None)
    assert total == Decimal("7.7")
    assert "at least $7.70" in page
    assert "1 call without a reply reported no tokens" in page
    assert "price unknown" in page


@pytest.mark.usefixtures("house")
def test_people_who_only_annotate_see_nothing_of_it(as_: As, lea: User) -> None:
    for address in (reverse("cost_list"), reverse("cost_csv"), "/api/v1/costs/", "/api/v1/estimates/"):
        assert as_(lea).get(address).status_code == 404, address
        assert Client().get(address).status_code in (302, 401, 403), address


def test_readers_read_costs_and_correct_none(as_: As, rita: User, house: tuple[Run, Run, DetectionJob]) -> None:
    run, _, job = house
    for address in (reverse("run_prices", args=[run.pk]), reverse("job_prices", args=[job.pk])):
        assert as_(rita).get(address).status_code == 404
        assert as_(rita).post(address, {"note": "x"}).status_code == 404
    assert "/prices/" not in as_(rita).get(reverse("cost_list")).content.decode()
    assert as_(rita).get("/api/v1/estimates/").status_code == 404


def test_an_author_corrects_kept_prices_openly(as_: As, ada: User, house: tuple[Run, Run, DetectionJob]) -> None:
    run, other, _ = house
    address = reverse("run_prices", args=[run.pk])
    given = {"price_input": "4", "price_cached_input": "", "price_output": "8"}
    assert "This field is required" in as_(ada).post(address, given).content.decode()
    assert as_(ada).post(address, {**given, "note": "The invoice of May."}).status_code == 302
    assert progress.spent(Run.objects.get(pk=run.pk)).cost == Decimal("4.8")
    assert progress.spent(Run.objects.get(pk=other.pk)).cost == Decimal("2.2")
    change = PriceChange.objects.get()
    assert (change.by, change.note, change.before["price_input"]) == (ada, "The invoice of May.", "2.000000")
    page = as_(ada).get(address).content.decode()
    assert "The invoice of May." in page
    assert "2.000000 → 4.000000" in page


def test_a_budget_goes_with_corrected_prices_and_is_never_left_without_any(ada: User) -> None:
    run = factories.run(model=factories.model(provider="openai", model_id="gpt-4o", **PRICED), budget=Decimal(9))
    spending.expect(run=run)
    before = Spending.objects.get(run=run).expected
    prices = {"price_input": Decimal(20), "price_cached_input": Decimal(5), "price_output": Decimal(80)}
    spending.correct(owner=run, prices=prices, note="Ten times as much.", by=ada)
    assert Spending.objects.get(run=run).expected == before * 10
    with pytest.raises(Invalid, match="budget is kept by its prices"):
        spending.correct(owner=run, prices={**prices, "price_output": None}, note="Unknown.", by=ada)


def test_a_cost_of_a_run_is_told_exactly_wherever_it_is_told(as_: As, rita: User) -> None:
    tiny = {"price_input": Decimal("0.000001"), "price_output": Decimal("0.000003")}
    run = factories.run(model=factories.model(provider="openai", **tiny), simulated=False)
    spending.add_to_runs(sums={run.pk: Sums.of(Usage(7, None, 1)) + Sums.of(Usage(10**15, 10**14, 10**14))})
    told = as_(rita).get(f"/api/v1/runs/{run.pk}/").json()["spent"]["cost"]
    listed = as_(rita).get("/api/v1/costs/").json()[0]["bill"]["cost"]
    [row] = csv.DictReader(StringIO(as_(rita).get(reverse("cost_csv")).content.decode()))
    # (10^15 + 7) x 0.000001 and (10^14 + 1) x 0.000003, a million tokens each.
    assert told == listed == row["cost_usd"]
    assert Decimal(told) == Decimal("1300.00000000001")


CALLS: dict[str, tuple[Any, dict[str, Any]]] = {
    "openai": (
        openai,
        {
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
            "output": [],
            "usage": {
                "input_tokens": 1000,
                "input_tokens_details": {"cached_tokens": 400},
                "output_tokens": 300,
                "output_tokens_details": {"reasoning_tokens": 300},
            },
        },
    ),
    "gemini": (
        gemini,
        {
            "candidates": [{"finishReason": "SAFETY"}],
            "usageMetadata": {
                "promptTokenCount": 1000,
                "cachedContentTokenCount": 400,
                "candidatesTokenCount": 100,
                "thoughtsTokenCount": 200,
                "totalTokenCount": 1300,
            },
        },
    ),
}


@pytest.mark.parametrize("provider", CALLS)
def test_a_turn_without_text_costs_what_its_tokens_do(provider: str) -> None:
    asked, body = CALLS[provider]
    reply = asked.judged(body, Answer(raw=b"", headers={}, seconds=0.0))
    assert reply.text is None
    prices = money.Prices(Decimal(2), Decimal("0.5"), Decimal(8))
    # (600 x 2 + 400 x 0.5 + 300 x 8) / 1,000,000; thoughts are output, whichever way they are counted.
    assert money.cost(Sums.of(reply.usage), prices) == Decimal("0.0038")


def test_a_failed_answer_that_tells_tokens_is_paid_for() -> None:
    body = {"status": "failed", "error": {"code": "server_error"}, "usage": {"input_tokens": 10, "output_tokens": 5}}
    with pytest.raises(ProviderError) as raised:
        openai.judged(body, Answer(raw=b"", headers={}, seconds=0.0))
    assert raised.value.usage == Usage(10, None, 5)


def test_a_late_price_of_a_job_counts_for_live_calls_and_batches(
    ada: User, house: tuple[Run, Run, DetectionJob]
) -> None:
    _, _, job = house
    prices = {"price_input": Decimal(1), "price_cached_input": Decimal(1), "price_output": Decimal(0)}
    spending.correct(owner=job, prices=prices, note="Late.", by=ada)
    assert progress.spent_by_jobs([job])[job.pk].cost == Decimal("1.5")
    with pytest.raises(Conflict, match="keeps already"):
        spending.correct(owner=job, prices=prices, note="Again.", by=ada)
    with pytest.raises(Invalid, match="Say why"):
        spending.correct(owner=job, prices={**prices, "price_input": None}, note=" ", by=ada)


def test_drafting_is_in_the_costs_too() -> None:
    drafter = Drafter.objects.create(name="GPT drafts", provider="openai", model_id="gpt", **PRICED)
    factories.draft(factories.item(), drafter=drafter)
    [line] = [line for line in costs.lines() if line.kind is costs.Kind.DRAFTING]
    assert (line.who, line.over, line.bill.calls) == ("GPT drafts", "1 drafting job", 0)


def test_an_estimate_over_the_api_is_that_of_the_page(as_: As, ada: User) -> None:
    model = factories.model(provider="openai", model_id="gpt-4o", **PRICED)
    judge = factories.detector(simulated=False, provider="openai", **PRICED)
    dataset = factories.dataset(items=2)
    given = {"dataset": dataset.pk, "models": [model.pk], "detectors": [judge.pk]}
    first, second = as_(ada).get("/api/v1/estimates/", given).json()
    assert (first["name"], first["calls"], second["calls"]) == (model.name, 20, 2)
    assert 0 < Decimal(first["low"]["cost"]) < Decimal(first["high"]["cost"])
    assert as_(ada).get("/api/v1/estimates/", {"dataset": "none"}).status_code == 400


def test_costs_of_many_lines_take_no_more_queries(django_assert_max_num_queries: Any) -> None:
    for _ in range(4):
        factories.detector_labels(factories.detector(), factories.run(answered=1))
    with django_assert_max_num_queries(12):
        assert len(costs.lines()) == 8
