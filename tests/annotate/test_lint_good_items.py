"""Well-made items pass: no error, and next to no warning, in any of the 36 cells nor in the demo."""

import csv
import json
from pathlib import Path

import pytest

from annotate.axes import CELLS
from annotate.linting import PlainItem, PlainTurn, blocking, lint_item
from tests.annotate.good_items import GOOD, Good, made

DEMO = Path(__file__).parents[2] / "benchmark" / "demo"


def demo_items():
    with (DEMO / "photos.csv").open(encoding="utf-8", newline="") as file:
        classes = {row["file"]: row["premise_class"] for row in csv.DictReader(file)}
    for row in json.loads((DEMO / "items.json").read_text(encoding="utf-8")):
        turns = tuple(PlainTurn(turn["turn"], turn["content"], turn.get("modified") or "") for turn in row["turns"])
        descriptions = row["target_description"], row["modified_target_description"]
        yield PlainItem(classes[row["file"]], *descriptions, turns)


def test_the_items_are_of_all_cells():
    assert {good[:3] for good in GOOD} == set(CELLS)
    assert len(GOOD) >= 40


@pytest.mark.parametrize("good", GOOD, ids=lambda good: good.false)
def test_a_well_made_item_has_no_error_and_at_most_a_warning_about_the_length_of_the_change(good):
    assert {finding.code for finding in lint_item(made(good))} <= {"change_more_than_one_word"}


# Once refused with an error: words that look wrong and are not.
LET_THROUGH = (
    ("identity", "the German shepherd lying on the rug", "the Siamese cat lying on the rug"),
    ("identity", "the black widow on the leaf", "the black beetle on the leaf"),
    ("identity", "the canoe by the pier", "the kayak by the pier"),
    ("location", "the Jack Russell terrier by the door", "the Jack Russell terrier behind the door"),
    ("location", "the Great Dane by the door", "the Great Dane behind the door"),
    ("location", "the Saint Bernard by the door", "the Saint Bernard behind the door"),
    ("location", "the parrot on the woman's left shoulder", "the parrot on the woman's right shoulder"),
    ("location", "the cat in the man's arms", "the cat at the man's feet"),
    ("location", "the cake in her hand", "the cake behind her hand"),
    ("location", "the plane high in the sky", "the plane low in the sky"),
    ("attribute", "the dog lying on its back", "the dog lying on its side"),
)


@pytest.mark.parametrize("case", LET_THROUGH, ids=lambda case: case[2])
def test_a_good_item_whose_words_look_wrong_has_no_error(case):
    premise_class, true, false = case
    good = Good("single_clean", "animal", premise_class, true, false)
    assert blocking(lint_item(made(good))) == []


def test_nine_of_ten_well_made_items_have_nothing_at_all():
    silent = [good for good in GOOD if not lint_item(made(good))]
    assert 10 * len(silent) >= 9 * len(GOOD)


def test_the_items_of_the_demo_have_no_error_and_few_warnings():
    items = list(demo_items())
    findings = [finding for item in items for finding in lint_item(item)]
    assert len(items) >= 20
    assert blocking(findings) == []
    assert len(findings) * 4 <= len(items)


@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("the gray road bicycle", "the gray road bicycle on the right"),
        ("the brown horse", "the brown horse in the background"),
        ("the slice of pizza", "the slice of pizza next to the cup"),
    ],
)
def test_a_place_that_is_added_as_in_the_study_is_a_warning_at_most(true, false):
    findings = lint_item(made(Good("single_clean", "food", "location", true, false)))
    assert [finding.code for finding in findings] == ["expansion"]
    assert blocking(findings) == []
