"""The leaderboard: page, CSV, API and the dialogues behind a number say the same, whatever the labels are."""

import csv
import io
import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from annotate.models import Dataset, User
from benchmark import behind, families, frames, frames_patterns, published
from benchmark.leaderboard_choice import Choice
from benchmark.models import DetectorLabel, Exposure, Opened, Run
from benchmark.services import results
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.db]
type As = Callable[[User], Client]
PLACES = {
    "complexity": ("single_clean", "multi_separated", "multi_overlapping"),
    "category": ("person", "vehicle", "animal", "food"),
    "premise_class": ("identity", "attribute", "location"),
}


def study(seed: int, *, items: int = 6, models: int = 2, detectors: int = 2, **odd: Any) -> Dataset:
    """Random labels over random places. `odd`: `missing` is a share of labels that are not there; `corrected` a share
    of corrections; `turns` how many are answered; `detectors` may be one."""
    dice = random.Random(seed)
    over = factories.dataset(f"random-{seed}", items=0)
    for _ in range(items):
        factories.dataset_item(over, image=None, **{axis: dice.choice(names) for axis, names in PLACES.items()})
    judges = [factories.detector(f"judge-{seed}-{number}") for number in range(detectors)]
    for number in range(models):
        of = factories.model(f"Model {seed}-{number}", family=("Qwen", "Elsewhere")[number % 2])
        run = factories.run(model=of, dataset=over, answered=odd.get("turns", 10), state="complete")
        for judge in judges:
            factories.detector_labels(judge, run, lambda _: dice.random() < odd.get("corrected", 0.4))
    gone = [pk for pk in DetectorLabel.objects.values_list("pk", flat=True) if dice.random() < odd.get("missing", 0)]
    DetectorLabel.objects.filter(pk__in=gone).delete()
    return over


@pytest.fixture
def rita_sees(as_: As, rita: User) -> Callable[..., Any]:
    client = as_(rita)
    return lambda name, *args, **query: client.get(reverse(name, args=args), query)


def sheet(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def as_text(value: Any) -> str:
    return "" if value is None else str(value)


ODD: list[dict[str, Any]] = [
    {"missing": 0.3},
    {"detectors": 1, "missing": 0.2},
    {"turns": 3},
    {"items": 1},
    {"corrected": 0.0},
    {"corrected": 1.0, "missing": 0.9},
]


@pytest.mark.parametrize(
    ("seed", "odd"), list(enumerate(ODD)), ids=[", ".join(odd) + str(list(odd.values())) for odd in ODD]
)
def test_page_file_api_and_dialogues_say_the_same_numbers(
    rita_sees: Callable[..., Any], seed: int, odd: dict[str, Any]
) -> None:
    over = study(seed, **odd)
    dice = random.Random(seed)
    tidy = sheet(rita_sees("results_numbers", over.pk).content.decode())
    for measure in frames.MEASURES:
        axis = dice.choice(frames.BREAKDOWNS)
        level = dice.choice(("overall", *PLACES[axis]))
        k = dice.choice((1, 2, 3) if measure == "corr_fp" else range(4, 11))
        column = dice.choice(sorted({row["detector"] for row in tidy}))
        asked = {"dataset": over.pk, "measure": measure, "k": k, "column": column, "who": "own"}
        asked |= {axis: level} if level != "overall" else {}
        of_api = rita_sees("api_leaderboard-list", **asked)
        of_file = sheet(rita_sees("leaderboard_csv", **asked).content.decode())
        page = rita_sees("leaderboard", **asked, columns="n").content.decode()
        assert re.search(r"\bnan\b", of_api.content.decode() + page, re.I) is None
        assert len(of_api.json()) == len(of_file) == odd.get("models", 2)
        for row, line in zip(of_api.json(), of_file, strict=True):
            assert {name: as_text(value) for name, value in row.items()} == line
            wanted = {"model": row["model"], "measure": measure, "k": str(k), "level": level, "detector": column}
            (number,) = [
                one for one in tidy if wanted.items() <= one.items() and one["axis"] in (axis, "premise_class")
            ]
            for name in ("value", "low", "high", "corrections", "value_gaps_as_no"):
                assert as_text(row[name]) == number[name], name
            assert (str(row["n"]), str(row["planned"])) == (number["n"], number["planned"])
            check_page(page, row)
            check_behind(rita_sees, row, {**asked, "model": row["model"]})


def check_page(page: str, row: dict[str, Any]) -> None:
    (line,) = [line for line in page.split("</tr>") if f"{row['model']} <span" in line]
    if row["value"] is None:
        assert row["reason"] in line
    else:
        assert f'>{row["value"]:.3f}</a> <span class="estimate-range">[{row["low"]:.3f}, {row["high"]:.3f}]' in line
    assert f'<td class="num">{row["n"]:,}' in line
    if row["n"] not in (0, row["planned"]):
        assert f"gaps as no: {row['value_gaps_as_no']:.3f}" in line


def check_behind(rita_sees: Callable[..., Any], row: dict[str, Any], asked: dict[str, Any]) -> None:
    """What the page counts from single answers is what the number was made from."""
    response = rita_sees("results_cell", **asked)
    number = response.context["number"]
    assert (number.n, number.corrections) == (row["n"], pytest.approx(row["corrections"]))
    assert number.counts["missing"] == row["planned"] - row["n"]
    shown = response.context["rows"]
    assert sum(one.n for one in shown) == row["n"]
    assert sum(one.corrections for one in shown) == pytest.approx(row["corrections"])
    labels = DetectorLabel.objects.filter(dialogue__run=row["run"], detect=True, detector__slug=asked["column"])
    said = [one for line in shown for cell in line.turns for one in cell.said if one.verdict == behind.CORRECTED]
    if asked["column"] != frames.AVG:
        counted = labels.filter(turn__in=number.turns, dialogue__item__in=[line.item for line in shown])
        assert len(said) == counted.count() == row["corrections"]


def labelled(**more: Any) -> Run:
    """One run of three dialogues, one of each class, that two detectors labelled whole."""
    run = factories.run(dataset=factories.dataset(items=3), answered=10, state="complete", **more)
    for slug in ("one", "two"):
        factories.detector_labels(factories.detector(slug), run, lambda response: response.turn % 2 == 0)
    return run


@pytest.mark.django_db(transaction=True)
def test_a_label_that_has_just_changed_is_on_the_page(rita_sees: Callable[..., Any]) -> None:
    run = labelled()

    def shown() -> float:
        (row,) = rita_sees("api_leaderboard-list", who="own").json()
        page = rita_sees("leaderboard", who="own").content.decode()
        assert f">{row['value']:.3f}</a>" in page
        assert f">{row['value']:.3f}</a>" in rita_sees("results").content.decode()
        return float(row["corrections"])

    assert shown() == 12
    result_set = results.default(run.dataset)
    assert result_set is not None
    assert frames.masks(result_set).labelled is frames.masks(result_set).labelled  # read once
    label = DetectorLabel.objects.filter(detector__slug="one", turn=4).first()
    assert label is not None
    label.delete()
    DetectorLabel.objects.create(**{**vars_of(label), "detect": False})
    Run.objects.filter(pk=run.pk).update(patterns_dirty=True)
    assert shown() == 11.5
    factories.detector_labels(factories.detector("three"), run, True)
    assert rita_sees("api_leaderboard-list", who="own", column="three").json()[0]["value"] == 1


def vars_of(label: DetectorLabel) -> dict[str, Any]:
    names = ("response_id", "detector_id", "dialogue_id", "turn")
    return {name: getattr(label, name) for name in names}


def test_nothing_is_kept_of_what_may_yet_be_taken_back() -> None:
    run = labelled()
    result_set = results.default(run.dataset)
    assert result_set is not None
    before = len(frames_patterns._kept)
    assert frames.masks(result_set).labelled is not frames.masks(result_set).labelled
    assert len(frames_patterns._kept) == before


def test_the_papers_rows_are_as_printed_and_alone_where_nothing_has_run(rita_sees: Callable[..., Any]) -> None:
    rows = rita_sees("api_leaderboard-list", k=7, premise_class="location", column="gemini").json()
    assert len(rows) == 20
    for row in rows:
        assert f"{row['value']:.3f}" == published.cell("corr_tp", row["model"], 7, "location_gemini")
        assert (row["published"], row["n"], row["low"], row["corrections"]) == (True, 360 * 4, None, None)
        assert row["reason"]
    assert [row["rank"] for row in rows] == sorted(row["rank"] for row in rows)
    page = rita_sees("leaderboard").content.decode()
    assert "Nothing has run here yet" in page
    assert "Qwen-VL-Max" in page


def test_what_the_paper_does_not_print_is_left_out_with_a_sentence(rita_sees: Callable[..., Any]) -> None:
    labelled()
    for asked, why in (
        ({"category": "food"}, "no rate of single models for food"),
        ({"column": "one"}, "one isn&#x27;t known to be a detector of the paper"),
    ):
        page = rita_sees("leaderboard", **asked).content.decode()
        assert why in page
        assert "Qwen-VL-Max" not in page
        assert {row["published"] for row in rita_sees("api_leaderboard-list", **asked).json()} == {False}


def test_an_own_run_stands_beside_the_papers_marked_and_ranked_with_them(rita_sees: Callable[..., Any]) -> None:
    run = labelled(model=factories.model("Newcomer", family="Elsewhere"))
    rows = rita_sees("api_leaderboard-list").json()
    (own,) = [row for row in rows if not row["published"]]
    assert own["rank"] == 1 + sum(row["value"] > own["value"] for row in rows if row["published"])
    assert (own["protocol"], own["settings"], own["detectors"]) == ("differs", "differs", "differs")
    assert own["answered"] == own["labelled"] == 30
    page = rita_sees("leaderboard", q="newcomer").content.decode()
    assert "simulated" in page
    assert f"model={run.model.name}" in page
    assert "Qwen-VL-Max" not in page
    assert rita_sees("leaderboard", family="GPT").content.decode().count('<tr class="is-published">') == 4


def test_sorting_filters_and_columns_are_in_the_address(rita_sees: Callable[..., Any]) -> None:
    labelled()
    asked = QueryDict(
        "measure=turn_corr&k=6&premise_class=identity&gaps=as_no&who=published&family=Qwen&family=GPT&sort=name"
        "&columns=&columns=classes"
    )
    choice = Choice.read(asked, None)
    assert (choice.k, choice.family, choice.columns, choice.sort) == (6, ("GPT", "Qwen"), ("classes",), "name")
    assert Choice.read(QueryDict(choice.query()), None) == choice
    assert Choice.read(QueryDict("columns="), None).columns == ()
    assert Choice.read(QueryDict(Choice.read(QueryDict("columns="), None).query()), None).columns == ()
    response = rita_sees("leaderboard", **asked.dict())
    assert [row.name for row in response.context["board"].rows] == sorted(
        row.name for row in response.context["board"].rows
    )
    assert "Turns planned" not in response.content.decode()


def test_an_address_that_makes_no_sense_falls_back(rita_sees: Callable[..., Any]) -> None:
    labelled()
    page = rita_sees("leaderboard", measure="x", k="99", column="y", category="z", sort="w", gaps="v", dataset="0")
    assert b"CorrTP@10, mean of the pair" in page.content
    assert rita_sees("leaderboard", k="1").context["choice"].k == 4


def test_each_family_has_a_colour_and_a_mark_of_its_own() -> None:
    made = families.marks(["Mine", "Qwen"])
    assert len({(mark.colour, mark.path) for mark in made.values()}) == len(made) == 6
    assert made["Qwen"] == families.marks([])["Qwen"]


# The dialogues behind a number ------------------------------------------------------------------------


def test_the_dialogues_behind_a_number_can_be_narrowed_to_what_was_counted(rita_sees: Callable[..., Any]) -> None:
    run = factories.run(dataset=factories.dataset(items=3), answered=5, state="incomplete")
    factories.detector_labels(factories.detector("one"), run, lambda response: response.turn == 4)
    factories.detector_labels(factories.detector("two"), run, False)
    asked = {"model": run.model.name, "axis": "premise_class", "level": "identity"}
    whole = rita_sees("results_cell", **asked)
    number = whole.context["number"]
    assert (number.n, number.corrections, number.counts["split"], number.counts["missing"]) == (2, 0.5, 1, 5)
    page = whole.content.decode()
    assert "0.250" in page
    assert "turn 4, one: correction, two: no correction" in page
    assert "turn 6, one: no answer, two: no answer" in page
    dialogue = run.dialogues.get(item__premise_class="identity")
    assert f"{reverse('dialogue_detail', args=[dialogue.pk])}#turn-4" in page
    assert len(rita_sees("results_cell", **asked, show="corrected").context["rows"]) == 1
    strict = rita_sees("results_cell", **asked, column="one", show="not", k="4")
    assert strict.context["rows"] == []
    assert b"No such dialogue" in strict.content


@pytest.mark.parametrize("wrong", [{"model": "Nobody"}, {"k": "3"}, {"column": "x"}, {"level": "x"}, {"measure": "x"}])
def test_a_number_that_there_is_not_is_not_found(rita_sees: Callable[..., Any], wrong: dict[str, str]) -> None:
    run = labelled()
    asked = {"model": run.model.name, "axis": "premise_class", **wrong}
    assert rita_sees("results_cell", **asked).status_code == 404


def test_whoever_labels_sees_the_leaderboard_and_not_what_is_behind_it(
    as_: As, ada: User, rita: User, lea: User
) -> None:
    run = labelled()
    asked = {"model": run.model.name}
    factories.label_set(run.dataset, [ada])
    page = as_(ada).get(reverse("leaderboard"))
    assert b"0.571" in page.content
    assert reverse("results_cell").encode() not in page.content
    assert as_(ada).get(reverse("results_cell"), asked).status_code == 403
    assert as_(rita).get(reverse("results_cell"), asked).status_code == 200
    seen = Exposure.objects.filter(page="dialogues behind a number").order_by("pk")
    assert list(seen.values_list("person", "withheld")) == [(ada.pk, True), (rita.pk, False)]
    assert Opened.objects.filter(person=ada, page="leaderboard").exists()
    for name in ("leaderboard", "leaderboard_csv", "results_cell"):
        assert as_(lea).get(reverse(name), asked).status_code == 404
    assert as_(lea).get(reverse("api_leaderboard-list")).status_code == 404
