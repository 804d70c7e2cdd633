"""The demo study's raw material keeps the study's rules for images, questions and premises."""

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from annotate.linting import PlainItem, PlainTurn, blocking, lint_item

DEMO = Path(__file__).parents[2] / "benchmark" / "demo"
COLUMNS = [
    "file",
    "source",
    "source_id",
    "author",
    "license",
    "license_url",
    "landing_url",
    "complexity",
    "category",
    "premise_class",
    "target",
]
AXES = {
    "complexity": {"single_clean", "multi_separated", "multi_overlapping"},
    "category": {"person", "vehicle", "animal", "food"},
    "premise_class": {"identity", "attribute", "location"},
}
PLACE = [*AXES, "target"]
PRONOUNS = {"he": "she", "his": "her", "him": "her", "himself": "herself"}

with (DEMO / "photos.csv").open(encoding="utf-8", newline="") as _handle:
    ROWS = {row["file"]: row for row in csv.DictReader(_handle)}
ITEMS: list[dict[str, Any]] = json.loads((DEMO / "items.json").read_text(encoding="utf-8"))
PHOTOS = sorted((DEMO / "photos").iterdir())

every_photo = pytest.mark.parametrize("path", PHOTOS, ids=lambda path: path.name)
every_item = pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["file"])


def words_that_differ(one: str, other: str) -> list[tuple[str, str]]:
    """Pairs of words that differ between two texts with the same number of words."""
    pairs = zip(re.findall(r"[\w']+|[^\w\s]", one), re.findall(r"[\w']+|[^\w\s]", other), strict=True)
    return [pair for pair in pairs if pair[0] != pair[1]]


@every_photo
def test_a_photo_is_a_small_rgb_jpeg_without_metadata(path: Path) -> None:
    with Image.open(path) as image:
        image.load()
        assert (image.format, image.mode) == ("JPEG", "RGB")
        assert min(image.size) >= 300
        assert max(image.size) <= 1024
        assert not image.getexif()
        assert not {"comment", "icc_profile", "xmp"} & set(image.info)


def test_the_photos_together_stay_small_and_none_is_there_twice() -> None:
    assert sum(path.stat().st_size for path in PHOTOS) < 4_000_000
    assert len({path.read_bytes() for path in PHOTOS}) == len(PHOTOS)


def test_the_list_of_photos_has_the_columns_of_an_import() -> None:
    with (DEMO / "photos.csv").open(encoding="utf-8") as handle:
        assert next(csv.reader(handle)) == COLUMNS


def test_the_list_names_exactly_the_photos_that_are_there() -> None:
    assert sorted(ROWS) == [path.name for path in PHOTOS]


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_each_photo_says_where_it_is_from_who_took_it_and_under_which_licence(row: dict[str, str]) -> None:
    assert row["source"] == "other"
    assert row["source_id"]
    assert row["author"]
    assert row["license"]
    assert re.fullmatch(r"https://\S+", row["license_url"])
    assert re.fullmatch(r"https?://\S+", row["landing_url"])


def test_the_table_of_photos_names_each_with_author_and_licence() -> None:
    table = [line for line in (DEMO / "PHOTOS.md").read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert len(table) == len(ROWS)
    for line, row in zip(table, ROWS.values(), strict=True):
        assert line.startswith(f"| `{row['file']}` |")
        assert f"| {row['author']} | [{row['license']}]({row['license_url']}) |" in line


def test_a_photo_has_a_whole_place_and_an_item_or_neither() -> None:
    with_item = {item["file"] for item in ITEMS}
    for file, row in ROWS.items():
        if file in with_item:
            assert all(row[axis] in levels for axis, levels in AXES.items())
            assert row["target"]
        else:
            assert not any(row[column] for column in PLACE)
    assert len(ROWS) - len(with_item) == 3


def test_the_approved_items_cover_every_level_with_six_of_each_premise_class() -> None:
    approved = [ROWS[item["file"]] for item in ITEMS if item["state"] == "approved"]
    assert len(approved) == 18
    assert Counter(row["premise_class"] for row in approved) == dict.fromkeys(AXES["premise_class"], 6)
    assert {(row["complexity"], row["premise_class"]) for row in approved} == {
        (complexity, premise) for complexity in AXES["complexity"] for premise in AXES["premise_class"]
    }
    assert {row["category"] for row in approved} == AXES["category"]


def test_one_item_waits_for_review_and_one_is_a_draft() -> None:
    states = Counter(item["state"] for item in ITEMS)
    assert states == {"approved": 18, "in_review": 1, "draft": 1}


@every_item
def test_an_item_has_ten_turns_and_a_false_premise_from_the_fourth(item: dict[str, Any]) -> None:
    assert [turn["turn"] for turn in item["turns"]] == list(range(1, 11))
    assert [turn["turn"] for turn in item["turns"] if "modified" in turn] == [4, 5, 6, 7, 8, 9, 10]


@every_item
def test_each_question_has_the_description_once_and_each_rewrite_the_false_one(item: dict[str, Any]) -> None:
    right, wrong = item["target_description"], item["modified_target_description"]
    for turn in item["turns"]:
        assert turn["content"].count(right) == 1
        assert wrong not in turn["content"]
        if "modified" in turn:
            assert turn["modified"].count(wrong) == 1
            assert right not in turn["modified"]


@every_item
def test_a_rewrite_changes_the_description_and_at_most_pronouns(item: dict[str, Any]) -> None:
    swaps = PRONOUNS.items() | {(after, before) for before, after in PRONOUNS.items()}
    identity = ROWS[item["file"]]["premise_class"] == "identity"
    for turn in item["turns"][3:]:
        replaced = turn["content"].replace(item["target_description"], item["modified_target_description"])
        if not identity:
            assert turn["modified"] == replaced
        assert set(words_that_differ(replaced, turn["modified"])) <= swaps


@every_item
def test_the_false_premise_changes_a_single_word(item: dict[str, Any]) -> None:
    right, wrong = item["target_description"], item["modified_target_description"]
    assert len(words_that_differ(right, wrong)) == 1
    assert len(right.split()) <= 11


@every_item
def test_questions_are_ten_different_sentences_about_the_target(item: dict[str, Any]) -> None:
    texts = [text for turn in item["turns"] for text in (turn["content"], turn.get("modified")) if text]
    assert len(set(texts)) == 17
    for text in texts:
        assert re.fullmatch(r"[A-Z][^?\n]+[^?\s]\?", text)
        assert "  " not in text


def test_no_question_of_one_item_is_that_of_another() -> None:
    contents = [turn["content"] for item in ITEMS for turn in item["turns"]]
    assert len(set(contents)) == len(contents)
    assert len({item["file"] for item in ITEMS}) == len(ITEMS)


@every_item
def test_an_item_lints_without_an_error(item: dict[str, Any]) -> None:
    turns = tuple(PlainTurn(turn["turn"], turn["content"], turn.get("modified", "")) for turn in item["turns"])
    premise_class = ROWS[item["file"]]["premise_class"]
    linted = PlainItem(premise_class, item["target_description"], item["modified_target_description"], turns)
    assert blocking(lint_item(linted)) == []
