"""The results page and its CSV say the same numbers, to those who may read them."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import User
from benchmark.models import Response, Run
from tests import factories

pytestmark = pytest.mark.django_db
type As = Callable[[User], Client]


@pytest.fixture
def run() -> Run:
    made = factories.run(dataset=factories.dataset("Pilot", items=3), answered=10, state="complete")

    def strict(response: Response) -> bool:
        return response.turn >= 6

    factories.detector_labels(factories.detector("strict"), made, strict)
    factories.detector_labels(factories.detector("lenient"), made, False)
    return made


def test_the_page_shows_what_the_csv_says(as_: As, rita: User, run: Run) -> None:
    page = as_(rita).get(reverse("results")).content.decode()
    sheet = as_(rita).get(reverse("results_table", args=[run.dataset.pk, "corr_tp", "csv"])).content.decode()
    assert sheet.splitlines()[-1].startswith(f"{run.model.name},10,0.714,0.000,0.357")
    for number in ("0.714", "0.000", "0.357"):
        assert number in page
    assert "simulated" in page


def test_all_numbers_are_the_pages_numbers_one_a_row(as_: As, rita: User, lea: User, run: Run) -> None:
    address = reverse("results_numbers", args=[run.dataset.pk])
    lines = as_(rita).get(address).content.decode().splitlines()
    assert lines[0].startswith("model,family,simulated,measure,k,axis,level,detector,value,low,high,n,corrections")
    found = [line for line in lines if ",corr_tp,10,premise_class,overall,avg," in line]
    assert len(found) == 1
    assert [line for line in lines if ",complexity,overall," in line] == []
    assert [line for line in lines if ",complexity,single_clean," in line] != []
    assert float(found[0].split(",")[8]) == pytest.approx(15 / 42)
    assert as_(lea).get(address).status_code == 404


def test_the_published_numbers_stand_beside(as_: As, rita: User, run: Run) -> None:
    page = as_(rita).get(reverse("results"), {"measure": "turn_corr", "k": 4}).content.decode()
    assert "Gemini 2.5 Flash" in page
    assert "0.645" in page


def test_an_empty_study_shows_the_published_results_and_what_to_do(as_: As, rita: User) -> None:
    page = as_(rita).get(reverse("results"))
    assert page.status_code == 200
    assert b"Nothing has run yet" in page.content


def test_choices_that_make_no_sense_fall_back(as_: As, rita: User, run: Run) -> None:
    page = as_(rita).get(reverse("results"), {"measure": "x", "k": "99", "axis": "y", "dataset": "0"})
    assert page.status_code == 200
    assert b"CorrTP@10 by model" in page.content


def test_a_dataset_without_detectors_says_so(as_: As, rita: User) -> None:
    factories.run(answered=10, state="complete")
    assert b"No detector has been asked" in as_(rita).get(reverse("results")).content


@pytest.mark.parametrize("name", ["lea"])
def test_annotators_find_no_results(as_: As, lea: User, run: Run, name: str) -> None:
    assert as_(lea).get(reverse("results")).status_code == 404
    assert as_(lea).get(reverse("results_table", args=[run.dataset.pk, "corr_tp", "csv"])).status_code == 404


def test_an_unknown_table_is_not_found(as_: As, rita: User, run: Run) -> None:
    assert as_(rita).get(reverse("results_table", args=[run.dataset.pk, "corr_xx", "csv"])).status_code == 404
