"""The leaderboard: page, CSV, API and the dialogues behind a number say the same, whatever the labels are."""

import csv
import io
import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.models import Dataset, User
from benchmark import behind, frames
from benchmark.models import DetectorLabel
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
