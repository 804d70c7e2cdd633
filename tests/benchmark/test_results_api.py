"""Figures, case studies and reports over the API: what their pages and files say, to those who may open these."""

import csv
import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Dataset, User
from benchmark.figures import REGISTER
from benchmark.models import Dialogue, Exposure, Opened
from benchmark.reports.choice import Choice
from benchmark.services import cases, reports, results
from tests import factories

pytestmark = pytest.mark.django_db
As = Callable[[User], Client]


@pytest.fixture
def over(db: None) -> Dataset:
    """Two models over three dialogues, one of them unfinished; two detectors that differ on some answers."""
    row = factories.dataset("Pilot", items=3)
    strict, lenient = factories.detector("strict"), factories.detector("lenient")
    for name, answered in (("One", 10), ("Two", 2)):
        run = factories.run(dataset=row, model=factories.model(name), answered=answered, state="complete")
        factories.detector_labels(strict, run, lambda response: response.turn >= 6)
        factories.detector_labels(lenient, run, lambda response: response.turn >= 9)
    return row


def strict_json(reply: Any) -> Any:
    """The body, refusing what is no JSON."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} in {reply.request['PATH_INFO']}")

    assert reply.status_code == 200, reply.content
    return json.loads(reply.content, parse_constant=refuse)


def test_every_figure_has_the_rows_of_its_file_and_undefined_is_null_with_a_reason(
    over: Dataset, rita: User, as_: As
) -> None:
    client = as_(rita)
    listed = strict_json(client.get(reverse("api_figure-list")))
    assert [row["key"] for row in listed] == list(REGISTER)
    asked: dict[str, Any] = {
        "dataset": over.pk,
        "model": ["One", "Two"],
        "detector": "strict",
        "published": ["GPT-5.4"],
    }
    for key in REGISTER:
        made = strict_json(client.get(reverse("api_figure-detail", args=[key]), asked))
        file = client.get(reverse("figure_file", args=[over.pk, key, "csv"]), asked).content.decode()
        lines = list(csv.DictReader(StringIO(file)))
        said = [{name: "" if value is None else str(value) for name, value in row.items()} for row in made["rows"]]
        assert [{name: line[name] for name in row} for line, row in zip(lines, said, strict=True)] == said
        assert all(row["reason"] for row in made["rows"] if row["value"] is None)
        assert made["spec"]["description"]
        assert (made["models"], made["detector"], made["reason"]) == (["One", "Two"], "strict", "")
    assert any(row["value"] is None for row in made["rows"])  # Two answered nothing that is false
    assert Opened.objects.filter(person=rita, page="figures (API): decay").exists()


def test_a_figure_that_can_not_be_drawn_says_why(over: Dataset, rita: User, as_: As) -> None:
    client, nothing = as_(rita), factories.dataset()
    made = strict_json(client.get(reverse("api_figure-detail", args=["decay"]), {"dataset": nothing.pk}))
    assert (made["spec"], made["rows"], made["reason"]) == (None, [], "Nothing has run over this dataset yet.")
    bare = factories.run(answered=10, state="complete").dataset
    made = strict_json(client.get(reverse("api_figure-detail", args=["decay"]), {"dataset": bare.pk}))
    assert (made["spec"], made["detector"]) == (None, None)
    assert "No detector has been asked" in made["reason"]
    assert client.get(reverse("api_figure-detail", args=["no-such-figure"])).status_code == 404
    for odd in ("0", "-1", "x", "²", "9" * 30, "\0"):
        assert client.get(reverse("api_figure-detail", args=["decay"]), {"dataset": odd}).status_code in (400, 404)


def test_case_studies_are_read_whole_but_not_by_who_labels(
    over: Dataset, ada: User, ben: User, rita: User, as_: As
) -> None:
    dialogues = list(Dialogue.objects.filter(item=over.items.all()[0]).order_by("-pk"))
    case = cases.create(dataset=over, name="Quotes an answer", note="See.", dialogues=dialogues, by=ben)
    factories.label_set(over, [ada])
    (row,) = strict_json(as_(rita).get(reverse("api_case-list"), {"dataset": over.pk}))["results"]
    assert (row["name"], row["dialogues"], row["created_by"], row["reason"]) == ("Quotes an answer", 2, "ben", "")
    reply = as_(rita).get(reverse("api_case-detail", args=[case.pk]))
    assert "no-store" in reply["Cache-Control"]
    (item,) = strict_json(reply)["items"]
    assert [side["model"] for side in item["sides"]] == ["Two", "One"]
    turn = item["sides"][1]["turns"][8]
    assert (turn["response"], turn["outcome"]) == ("Answer 9 about cat.", "answered")
    assert [label["detect"] for label in turn["labels"]] == [True, True]
    assert item["sides"][0]["turns"][8]["response"] is None
    reply = as_(ada).get(reverse("api_case-list"))
    assert "Quotes" not in reply.content.decode()
    assert strict_json(reply)["results"][0]["reason"].startswith("This is withheld from you")
    assert as_(ada).get(reverse("api_case-detail", args=[case.pk])).status_code == 403
    seen = Exposure.objects.filter(page="case study (API)").order_by("pk").values_list("person__username", "withheld")
    assert list(seen) == [("rita", False), ("ada", True)]


def test_reports_say_what_they_hold_and_where_they_are(over: Dataset, rita: User, as_: As) -> None:
    result_set = results.default(over)
    assert result_set is not None
    report = reports.request(result_set=result_set, choice=Choice(tables=("corr_tp",)), by=rita)
    row = strict_json(as_(rita).get(reverse("api_report-detail", args=[report.pk])))
    assert (row["state"], row["html"], row["choice"]["tables"]) == ("waiting", None, ["corr_tp"])
    reports.build_waiting()
    (row,) = strict_json(as_(rita).get(reverse("api_report-list"), {"dataset": over.pk}))["results"]
    assert as_(rita).get(row["html"]).status_code == 200
    assert (row["state"], row["asked_by"], len(row["pdf_sha256"])) == ("ready", "rita", 64)
    assert strict_json(as_(rita).get(reverse("api_report-list"), {"dataset": over.pk + 1}))["results"] == []


@pytest.mark.parametrize("odd", ["9" * 30, "-1", "0", "x", "²", "1e3"])
def test_a_list_that_is_divided_oddly_is_divided_as_usual(over: Dataset, rita: User, as_: As, odd: str) -> None:
    for name in ("limit", "offset"):
        found = strict_json(as_(rita).get(reverse("api_run-list"), {name: odd}))
        assert (found["count"], len(found["results"])) == (2, 0 if (name, odd[0]) == ("offset", "9") else 2)


def test_annotators_and_strangers_find_none_of_it(over: Dataset, lea: User, ben: User, as_: As) -> None:
    case = cases.create(dataset=over, name="Case", by=ben)
    paths = [reverse(f"api_{name}-list") for name in ("figure", "case", "report")]
    paths += [reverse("api_figure-detail", args=["decay"]), reverse("api_case-detail", args=[case.pk])]
    for path in paths:
        assert as_(lea).get(path).status_code == 404
        assert Client().get(path).status_code in (401, 403)
        assert as_(ben).post(path).status_code == 405
