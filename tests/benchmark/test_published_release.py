"""The made release has the published counts, and is the same for the same seed."""

import hashlib
import json
from collections import Counter

import numpy as np
import pytest

from benchmark import published
from tests.published_release import label_counts, made_items, made_labels, write_release


def test_made_labels_have_the_published_count_in_every_model_class_turn_and_detector():
    labels = made_labels(7)
    assert labels.shape == (20, 1080, 10, 2)
    for premise_class in published.PREMISE_CLASSES:
        rows = [item.number for item in made_items() if item.premise_class == premise_class]
        counts = labels[:, rows].sum(axis=1)
        for m, model in enumerate(published.models()):
            for d, detector in enumerate(published.DETECTORS):
                assert counts[m, :, d].tolist() == label_counts(model.name, detector, premise_class)


def test_detectors_mostly_agree_but_not_always():
    labels = made_labels(1)[:, :, 3:]
    agreement = (labels[..., 0] == labels[..., 1]).mean()
    assert 0.9 < agreement < 1


def test_every_cell_has_thirty_items():
    cells = Counter((item.complexity, item.category, item.premise_class) for item in made_items())
    assert set(cells.values()) == {30}
    assert len(cells) == 36


def test_a_tenth_has_three_items_a_cell_and_a_manifest_that_fits(tmp_path):
    counts = write_release(tmp_path, scale=0.1)
    assert counts == {"items.jsonl": 108, "responses.jsonl": 21_600, "labels.jsonl": 43_200}
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    for name, count in counts.items():
        content = (tmp_path / name).read_bytes()
        assert content.count(b"\n") == manifest["counts"][name] == count
        assert hashlib.sha256(content).hexdigest() == manifest["sha256"][name]
    cells = Counter()
    for line in (tmp_path / "items.jsonl").read_text().splitlines():
        item = json.loads(line)
        cells[item["complexity"], item["category"], item["premise_class"]] += 1
        assert len({turn["content"] for turn in item["turns"]}) == 10
    assert set(cells.values()) == {3}
    assert len(cells) == 36


def test_rows_are_unique_and_every_response_has_both_labels(tmp_path):
    write_release(tmp_path, scale=1 / 30, shuffle=True)
    responses = [json.loads(line) for line in (tmp_path / "responses.jsonl").read_text().splitlines()]
    labels = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    keys = {(row["model"], row["item"], row["turn"]) for row in responses}
    assert len(keys) == len(responses) == 20 * 36 * 10
    label_keys = {(row["model"], row["item"], row["turn"], row["detector"]) for row in labels}
    assert label_keys == {(*key, detector) for key in keys for detector in ("gpt", "gemini")}


@pytest.mark.parametrize("shuffle", [False, True])
def test_the_same_seed_gives_the_same_bytes(tmp_path, shuffle):
    for name in ("one", "two"):
        write_release(tmp_path / name, seed=3, scale=1 / 30, shuffle=shuffle)
    for file in ("manifest.json", "items.jsonl", "responses.jsonl", "labels.jsonl"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_another_seed_gives_other_labels():
    assert not np.array_equal(made_labels(1), made_labels(2))
