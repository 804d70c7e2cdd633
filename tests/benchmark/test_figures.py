"""Figures: their numbers are the tables', they say what they show, and who may see them."""

import csv
import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import User
from benchmark import figures, frames, published
from benchmark.figures import REGISTER, Options
from benchmark.models import Opened, Response, Run
from benchmark.services import results
from fpco_site.errors import Invalid
from tests import factories

pytestmark = pytest.mark.django_db
type As = Callable[[User], Client]
MODELS = ("Alpha", "Beta <b>")


@pytest.fixture
def runs() -> list[Run]:
    """Two models over six dialogues; the lenient detector sees fewer corrections, and none in the last dialogue."""
    over = factories.dataset("Pilot", items=6)
    made = [
        factories.run(dataset=over, model=factories.model(name, family=name[0]), answered=10, state="complete")
        for name in MODELS
    ]
    strict, lenient = factories.detector("strict"), factories.detector("lenient")
    last = over.items.order_by("key").last()
    for number, run in enumerate(made):

        def seen(response: Response, number: int = number) -> bool:
            return response.turn >= 5 + number

        def rarely(response: Response, number: int = number) -> bool:
            return response.turn >= 7 + number and response.dialogue.item_id != last.pk

        factories.detector_labels(strict, run, seen)
        factories.detector_labels(lenient, run, rarely)
    return made


@pytest.fixture
def found(runs: list[Run]) -> frames.Masks:
    result_set = results.default(runs[0].dataset)
    assert result_set is not None
    return frames.masks(result_set)


def plain(name: str) -> str:
    return name.removesuffix(" (simulated)")


@pytest.mark.parametrize("measure", frames.MEASURES)
def test_curves_show_the_numbers_of_the_tables(found: frames.Masks, measure: str) -> None:
    drawn = REGISTER[f"{measure.replace('_', '-')}-curves"].rows(found)
    table = {
        (row["model"], row["level"], row["k"]): row for row in frames.rows(found, measure) if row["detector"] == "avg"
    }
    assert len(drawn) == len(table)
    for row in drawn:
        cell = table[plain(row["model"]), row["premise_class"].lower(), row["k"]]
        assert [row[key] for key in ("value", "low", "high", "n")] == [cell[k] for k in ("value", "low", "high", "n")]


def test_models_together_are_the_mean_where_nothing_is_missing_and_the_cells_add_up(found: frames.Masks) -> None:
    cells = REGISTER["cells"].rows(found)
    assert len(cells) == 36
    whole = [row for row in REGISTER["corr-tp-by-class"].rows(found) if row["premise_class"] == "Overall"]
    assert sum(row["n"] for row in cells) == sum(row["n"] for row in whole) == 2 * 6 * 7
    assert sum(row["corrections"] for row in cells) == sum(row["corrections"] for row in whole)
    empty = [row for row in cells if row["n"] == 0]
    assert len(empty) == 33
    assert {(row["value"], row["reason"]) for row in empty} == {(None, "no labelled response")}


def test_chosen_models_come_one_by_one_beside_all_together(found: frames.Masks) -> None:
    names = [row["model"] for row in REGISTER["class-by-complexity"].rows(found, Options(models=MODELS))]
    assert list(dict.fromkeys(names)) == ["All 2 models together", "Alpha (simulated)", "Beta <b> (simulated)"]


def test_the_decay_is_turncorr_at_both_ends(found: frames.Masks) -> None:
    rows = REGISTER["decay"].rows(found, Options(column="strict"))
    assert [(plain(row["model"]), row["turn"], row["value"]) for row in rows] == [
        ("Alpha", 4, 0.0),
        ("Alpha", 10, 1.0),
        ("Beta <b>", 4, 0.0),
        ("Beta <b>", 10, 1.0),
    ]


def test_disagreement_counts_answers_on_which_the_two_differ(found: frames.Masks) -> None:
    rows = REGISTER["detector-disagreement"].rows(found, Options(models=("Alpha",)))
    whole = {row["k"]: (row["value"], row["n"]) for row in rows if row["premise_class"] == "Overall"}
    assert whole == {**dict.fromkeys((1, 2, 3, 4), (0.0, 6)), 5: (1.0, 6), 6: (1.0, 6)} | dict.fromkeys(
        (7, 8, 9, 10), (1 / 6, 6)
    )


def test_a_figure_of_two_detectors_is_refused_where_there_is_one(found: frames.Masks) -> None:
    from dataclasses import replace

    alone = replace(found, detectors=found.detectors[:1])
    with pytest.raises(Invalid, match="only one has been asked"):
        REGISTER["detector-disagreement"].spec(alone)
    with pytest.raises(Invalid, match="No detector has been asked"):
        REGISTER["cells"].spec(replace(found, detectors=[]))


def test_published_models_stand_beside_as_printed(found: frames.Masks) -> None:
    asked = Options(published=("GPT-5.4", "No such model"))
    rows = [row for row in REGISTER["corr-tp-curves"].rows(found, asked) if "published" in row["model"]]
    assert len(rows) == 4 * 7
    last = next(row for row in rows if (row["premise_class"], row["k"]) == ("Overall", 10))
    assert last["value"] == float(published.cell("corr_tp", "GPT-5.4", 10, "overall_avg"))
    assert (last["low"], last["n"]) == (None, 7560)


@pytest.mark.parametrize("slug", REGISTER)
def test_every_figure_has_a_text_alternative_a_table_and_data(found: frames.Masks, slug: str) -> None:
    figure = REGISTER[slug]
    rows = figure.rows(found)
    assert "Alpha (simulated)" in figure.spec(found)["description"] or figure.merged
    table = figures.data_table(figure, rows)
    assert sum(cell is not None for _, cells in table.lines for cell in cells) == len(rows)
    assert len(list(csv.DictReader(StringIO(figure.csv(found))))) == len(rows)
    assert figure.csv(found) == figure.csv(found)
    json.dumps(figure.spec(found), allow_nan=False)


def test_of_many_models_the_best_of_each_family_are_shown(monkeypatch: pytest.MonkeyPatch, found: frames.Masks) -> None:
    names = [f"M{n:02}" for n in range(20)]
    many: Any = type(
        "Many",
        (),
        {"models": [frames.ModelRow(n, "AB"[i % 2], i, False, False, "complete") for i, n in enumerate(names)]},
    )
    monkeypatch.setattr(figures.figure_rows, "ranked", lambda *_: names)
    assert figures.default_models(many, "avg", few=True) == ("M00", "M01", "M02", "M03", "M04")
    assert len(figures.default_models(many, "avg", few=False)) == 20


# The pages -------------------------------------------------------------------------------------------


def test_rita_reads_a_figure_with_its_data_and_takes_it_away(as_: As, rita: User, runs: list[Run]) -> None:
    asked = {"model": ["Alpha"], "colour": ["Alpha:orange"]}
    page = as_(rita).get(reverse("figure", args=["corr-tp-curves"]), asked).content.decode()
    assert "1 of 2 models" in page
    assert "Alpha, Overall: 0.000 at K = 4" in page.replace(" (simulated)", "")
    spec = as_(rita).get(reverse("figure_file", args=[runs[0].dataset_id, "corr-tp-curves", "json"]), asked).json()
    assert spec["spec"]["layer"][1]["encoding"]["color"]["scale"]["range"] == ["#E69F00"]
    sheet = as_(rita).get(reverse("figure_file", args=[runs[0].dataset_id, "corr-tp-curves", "csv"]), asked)
    assert sheet.content.decode().splitlines()[1].startswith("Alpha (simulated),A,Overall,4,0.0,")
    assert Opened.objects.filter(person=rita, page="figures: corr-tp-curves").exists()


@pytest.mark.parametrize(("form", "start"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_a_drawn_file_is_the_same_twice_and_is_not_sent_to_who_has_it(
    as_: As, rita: User, runs: list[Run], form: str, start: bytes
) -> None:
    address = reverse("figure_file", args=[runs[0].dataset_id, "class-by-complexity", form])
    first, again = (as_(rita).get(address, {"width": "single"}) for _ in range(2))
    assert first.content.startswith(start)
    assert first.content == again.content
    assert f"class-by-complexity_84mm.{form}" in first["Content-Disposition"]
    assert as_(rita).get(address, {"width": "single"}, headers={"If-None-Match": first["ETag"]}).status_code == 304


def test_what_a_form_left_empty_is_not_kept_in_the_address(as_: As, rita: User, runs: list[Run]) -> None:
    address = reverse("figure", args=["decay"])
    answer = as_(rita).get(address, {"colour": ["", "Alpha:sky", ""], "model": "Alpha", "k": ""})
    assert answer["Location"] == f"{address}?colour=Alpha%3Asky&model=Alpha"


def test_choices_that_make_no_sense_fall_back(as_: As, rita: User, runs: list[Run]) -> None:
    asked = {"model": "nobody", "colour": ["Alpha:red", "x", ":blue"], "k": "99", "detector": "x", "published": "y"}
    page = as_(rita).get(reverse("figure", args=["corr-tp-by-class"]), asked)
    assert page.status_code == 200
    assert b"CorrTP@10 by premise class" in page.content
    assert b"2 of 2 models" in page.content


def test_a_models_name_is_text_on_the_page_and_in_the_drawing(as_: As, rita: User, runs: list[Run]) -> None:
    page = as_(rita).get(reverse("figure", args=["decay"])).content.decode()
    assert "<b>" not in page
    drawing = as_(rita).get(reverse("figure_file", args=[runs[0].dataset_id, "decay", "svg"])).content.decode()
    assert "Beta &lt;b&gt;" in drawing


def test_a_study_without_results_or_labels_says_what_to_do(as_: As, rita: User) -> None:
    assert b"Nothing has run yet" in as_(rita).get(reverse("figures")).content
    assert as_(rita).get(reverse("figure", args=["decay"]))["Location"] == reverse("figures")
    run = factories.run(answered=10, state="complete")
    assert b"No detector has been asked" in as_(rita).get(reverse("figures")).content
    assert b"No detector has been asked" in as_(rita).get(reverse("figure", args=["decay"])).content
    assert as_(rita).get(reverse("figure_file", args=[run.dataset_id, "decay", "csv"])).status_code == 400


def test_who_only_labels_finds_no_figure_and_a_stranger_is_sent_to_sign_in(
    as_: As, lea: User, runs: list[Run], client: Client
) -> None:
    addresses = [
        reverse("figures"),
        reverse("figure", args=["decay"]),
        reverse("figure_file", args=[runs[0].dataset_id, "decay", "csv"]),
    ]
    assert {as_(lea).get(address).status_code for address in addresses} == {404}
    assert {client.get(address).status_code for address in addresses} == {302}


def test_there_is_no_such_figure_or_form(as_: As, rita: User, runs: list[Run]) -> None:
    for address in ("/results/figures/nothing/", f"/results/{runs[0].dataset_id}/figures/decay.gif"):
        assert as_(rita).get(address).status_code == 404
