"""Writes a release of the published size whose counts are the published ones.

Every text and label in it is made: only the counts per model, class, turn and detector are the
study's. `scale` keeps fewer images a cell, for a quick pass; the counts are then not published ones.

    python -m tests.published_release FOLDER [SCALE]
"""

import hashlib
import json
import random
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmark import published
from benchmark.published import DETECTORS, PREMISE_CLASSES

COMPLEXITIES = ("single_clean", "multi_separated", "multi_overlapping")
CATEGORIES = ("person", "vehicle", "animal", "food")
IMAGES_PER_CELL = 30
TURNS = 10
PREFIX = 3

DESCRIPTIONS = {
    ("person", "identity"): ("woman", "the {} woman in a blue coat", "the {} man in a blue coat"),
    ("person", "attribute"): ("woman", "the {} woman in a blue coat", "the {} woman in a red coat"),
    ("person", "location"): ("woman", "the {} woman in a blue coat", "the {} woman in a blue coat on the left"),
    ("vehicle", "identity"): ("bus", "the {} bus with wide windows", "the {} tram with wide windows"),
    ("vehicle", "attribute"): ("bus", "the {} bus with wide windows", "the {} bus with narrow windows"),
    ("vehicle", "location"): ("bus", "the {} bus with wide windows", "the {} bus with wide windows under the bridge"),
    ("animal", "identity"): ("dog", "the {} dog with pointed ears", "the {} cat with pointed ears"),
    ("animal", "attribute"): ("dog", "the {} dog with pointed ears", "the {} dog with floppy ears"),
    ("animal", "location"): ("dog", "the {} dog with pointed ears", "the {} dog with pointed ears on the right"),
    ("food", "identity"): ("pizza", "the {} pizza with a thin crust", "the {} omelette with a thin crust"),
    ("food", "attribute"): ("pizza", "the {} pizza with a thin crust", "the {} pizza with a thick crust"),
    ("food", "location"): ("pizza", "the {} pizza with a thin crust", "the {} pizza with a thin crust on the floor"),
}
SIZES = ("small", "large", "young", "old", "pale", "dark")
QUESTIONS = (
    "What is {} doing in this picture?",
    "What can be seen right behind {}?",
    "How much of the picture does {} fill?",
    "Is anything touching {}?",
    "Which way does {} seem to face?",
    "What is the light on {} like?",
    "Does {} look still or in motion?",
    "What is the nearest thing to {}?",
    "What part of {} stands out most?",
    "What role does {} play in the scene?",
)
CORRECTIONS = (
    "I think there is a mix-up: what I see is {}, not what you describe.",
    "The picture does not show that. It shows {}.",
    "A small correction first: this is {}. It takes up the middle of the scene.",
)
ANSWERS = (
    "It is near the centre, facing slightly away from the camera.",
    "It looks still, and the light comes from the left.",
    "There is a plain wall behind it and nothing is in contact with it.",
    "It fills roughly a third of the frame and draws the eye first.",
)


@dataclass(frozen=True)
class MadeItem:
    """An item with its cell; `number` is its place in the label array, from 0."""

    id: str
    number: int
    complexity: str
    category: str
    premise_class: str


def made_items() -> list[MadeItem]:
    """All 1,080 items, 30 a cell, in the order of the label array."""
    cells = product(COMPLEXITIES, CATEGORIES, PREMISE_CLASSES, range(IMAGES_PER_CELL))
    return [
        MadeItem(f"made-{number + 1:04d}", number, complexity, category, premise_class)
        for number, (complexity, category, premise_class, _) in enumerate(cells)
    ]


def made_labels(seed: int) -> NDArray[np.bool_]:
    """Labels [model, item, turn, detector] with exactly the published counts.

    For each model and class an item has a leaning; the detectors see it through a little noise of
    their own, and the items that lean most get the count's corrections. So detectors mostly agree.
    """
    rng = np.random.default_rng(seed)
    rows = {
        name: np.array([item.number for item in made_items() if item.premise_class == name]) for name in PREMISE_CLASSES
    }
    labels = np.zeros((len(published.models()), len(made_items()), TURNS, len(DETECTORS)), dtype=np.bool_)
    for m, model in enumerate(published.models()):
        for premise_class in PREMISE_CLASSES:
            leaning = rng.normal(size=len(rows[premise_class]))
            for d, detector in enumerate(DETECTORS):
                for t, count in enumerate(label_counts(model.name, detector, premise_class)):
                    seen_as = leaning + rng.normal(scale=0.1, size=len(leaning))
                    labels[m, rows[premise_class][np.argsort(-seen_as)[:count]], t, d] = True
    return labels


def label_counts(model: str, detector: str, premise_class: str) -> list[int]:
    """Published corrections at each of the ten turns, of 360."""
    cumulative = published.prefix_counts(model, detector, premise_class)
    prefix = [later - earlier for earlier, later in zip([0, *cumulative], cumulative, strict=False)]
    return prefix + published.turn_counts(model, detector, premise_class)


def write_release(folder: Path, *, seed: int = 1, scale: float = 1.0, shuffle: bool = False) -> dict[str, int]:
    """Write the release folder and return the number of rows of each file.

    Parameters
    ----------
    folder : Path
        Made if it is missing.
    seed : int
        Of the labels, the texts and the order.
    scale : float
        Share of the 30 images a cell to keep; at least one.
    shuffle : bool
        Whether the rows of each file come in a random order.
    """
    kept = max(1, round(IMAGES_PER_CELL * scale))
    items = [item for item in made_items() if item.number % IMAGES_PER_CELL < kept]
    labels = made_labels(seed)
    folder.mkdir(parents=True, exist_ok=True)
    lines = {
        "items.jsonl": [json.dumps(item_row(item), ensure_ascii=False) for item in items],
        "responses.jsonl": list(response_lines(items, labels, seed)),
        "labels.jsonl": list(label_lines(items, labels)),
    }
    if shuffle:
        for rows in lines.values():
            random.Random(seed).shuffle(rows)
    hashes = {name: _write(folder / name, rows) for name, rows in lines.items()}
    counts = {name: len(rows) for name, rows in lines.items()}
    manifest = {
        "format": "fpco-release/1",
        "dataset": "made-published" if kept == IMAGES_PER_CELL else f"made-{kept}-a-cell",
        "note": "Texts and labels are made; only the counts at full size are the published ones.",
        "source": published.CITATION,
        "counts": counts,
        "sha256": hashes,
        "protocol": {
            "name": "FPCO-Dialog" if kept == IMAGES_PER_CELL else f"FPCO-Dialog, {kept} a cell",
            "turns": TURNS,
            "false_turns": list(range(PREFIX + 1, TURNS + 1)),
            "per_cell": kept,
        },
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return counts


def item_row(item: MadeItem) -> dict[str, object]:
    """One row of items.jsonl, without a picture."""
    target, description, modified = DESCRIPTIONS[item.category, item.premise_class]
    size = SIZES[item.number % len(SIZES)]
    description, modified = description.format(size), modified.format(size)
    turns = []
    for turn, question in enumerate(QUESTIONS, start=1):
        false_premise = turn > PREFIX
        rewritten = question.format(modified) if false_premise else None
        turns.append(
            {
                "turn": turn,
                "false_premise": false_premise,
                "content": question.format(description),
                "modified": rewritten,
            }
        )
    return {
        "item": item.id,
        "image": None,
        "sha256": None,
        "source": "other",
        "source_id": item.id,
        "complexity": item.complexity,
        "category": item.category,
        "premise_class": item.premise_class,
        "target": target,
        "target_description": description,
        "modified_target_description": modified,
        "turns": turns,
    }


def response_lines(items: Iterable[MadeItem], labels: NDArray[np.bool_], seed: int) -> Iterator[str]:
    """Lines of responses.jsonl, by model, item and turn."""
    rng = random.Random(seed)
    answers = [json.dumps(text) for text in ANSWERS]
    rows = [(item, _corrections(item)) for item in items]
    for m, model in enumerate(published.models()):
        head = f'{{"model": {json.dumps(model.name)}, "family": {json.dumps(model.family)}, "item": '
        corrected = labels[m].any(axis=2)
        for item, corrections in rows:
            for t, correction in enumerate(corrected[item.number].tolist()):
                text = rng.choice(corrections if correction else answers)
                yield (
                    f'{head}"{item.id}", "turn": {t + 1}, "outcome": "answered", '
                    f'"response": {text}, "finish_reason": "stop"}}'
                )


def label_lines(items: Iterable[MadeItem], labels: NDArray[np.bool_]) -> Iterator[str]:
    """Lines of labels.jsonl, by model, item, turn and detector."""
    numbers = [(item.id, item.number) for item in items]
    for m, model in enumerate(published.models()):
        head = f'{{"model": {json.dumps(model.name)}, "item": '
        for item_id, number in numbers:
            for t, verdicts in enumerate(labels[m, number].tolist()):
                for detector, detect in zip(DETECTORS, verdicts, strict=True):
                    yield (
                        f'{head}"{item_id}", "turn": {t + 1}, "detector": "{detector}", '
                        f'"detect": {"true" if detect else "false"}}}'
                    )


def _corrections(item: MadeItem) -> list[str]:
    description = str(item_row(item)["target_description"])
    return [json.dumps(text.format(description)) for text in CORRECTIONS]


def _write(path: Path, lines: list[str]) -> str:
    content = ("\n".join(lines) + "\n").encode()
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    written = write_release(Path(sys.argv[1]), scale=float(sys.argv[2]) if len(sys.argv) > 2 else 1.0)
    sys.stdout.write(f"{written}\n")
