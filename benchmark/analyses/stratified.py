"""Does the ordering of the classes hold with fewer images, or others? The study's bootstrap by cell."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.analyses import inputs
from benchmark.analyses.inputs import CLASSES, MEAN, NAMES, Labels
from benchmark.analyses.kinds import Column, Kind, Parameters, Result, Section
from benchmark.models import ResultSet
from benchmark.statistics.patterns import ItemCounts
from benchmark.statistics.stratified import Orderings, in_order, resampled_orderings, stratified_weights
from fpco_site.errors import Invalid

SIZES = (10, 15, 20, 25, 30)
REPETITIONS = 1_000
ORDER = " > ".join(CLASSES)
SEVERAL_CELLS = "An image of this dataset lies in several cells, so that cells can't be drawn one by one."


@dataclass(frozen=True)
class Inputs:
    """`cells` and `classes` are those of each image, in the order in which images first come."""

    labels: Labels
    detectors: list[int]
    cells: NDArray[np.int64]
    classes: NDArray[np.str_]


def read(result_set: ResultSet, parameters: Parameters) -> Inputs:
    labels = inputs.read(result_set)
    places = np.stack([labels.places[axis] for axis in sorted(labels.places)], axis=1)
    cells = np.unique(places, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    first = np.sort(np.unique(labels.images, return_index=True)[1])
    if len(np.unique(np.stack([labels.images, cells]), axis=1).T) != len(first):
        raise Invalid(SEVERAL_CELLS)
    classes = labels.places["premise_class"]
    if missing := [name for name in CLASSES if not (classes == name).any()]:
        raise Invalid(f"The ordering needs all three classes; this dataset has no dialogue of {' or '.join(missing)}.")
    return Inputs(labels, labels.chosen(parameters["label"]), cells[first], classes[first])


def run(found: Inputs, parameters: Parameters, rng: np.random.Generator) -> Result:
    counts = found.labels.counts(found.detectors, [found.labels.false_window()])
    by_class = _by_class(counts, found.classes)
    there = ~np.isnan(by_class).any(axis=0)
    if not there.any():
        raise Invalid("No model has a labelled answer of each class.")
    kept = ItemCounts(counts.n[there, 0], counts.corrections[there, 0])
    means = by_class[:, there].mean(axis=1)
    draws = [_draw(found, kept, size, replace, rng) for replace in (True, False) for size in SIZES]
    return {
        "k": found.labels.last,
        "label": inputs.label_words(found.labels, parameters["label"]),
        "repetitions": REPETITIONS,
        "cells": len(np.unique(found.cells)),
        "images": len(found.cells),
        "means": dict(zip(CLASSES, means.tolist(), strict=True)),
        "holds": bool(in_order(means)),
        "models": [
            {"model": name, "holds": bool(in_order(by_class[:, at])) if there[at] else None}
            for at, name in enumerate(found.labels.models)
        ],
        "draws": [_spread(draw, there) for draw in draws],
    }


def _by_class(counts: ItemCounts, classes: NDArray[np.str_]) -> NDArray[np.float64]:
    """Rates, shape (class, model); NaN where there is no label."""
    n = np.stack([counts.n[:, 0, classes == name].sum(axis=-1) for name in CLASSES])
    corrections = np.stack([counts.corrections[:, 0, classes == name].sum(axis=-1) for name in CLASSES])
    rate: NDArray[np.float64] = np.divide(corrections, n, out=np.full(n.shape, np.nan), where=n > 0)
    return rate


def _draw(found: Inputs, counts: ItemCounts, size: int, replace: bool, rng: np.random.Generator) -> dict[str, Any]:
    smallest = int(np.bincount(found.cells).min())
    made: dict[str, Any] = {"size": size, "replace": replace, "orderings": None, "reason": ""}
    if not replace and smallest < size:
        return {**made, "reason": f"a cell has {smallest} image{'s' if smallest != 1 else ''}"}
    weights = stratified_weights(found.cells, size, replace=replace, repetitions=REPETITIONS, rng=rng)
    return {**made, "orderings": resampled_orderings(counts, found.classes, CLASSES, weights)}


def _spread(draw: dict[str, Any], there: NDArray[np.bool_]) -> dict[str, Any]:
    """A draw as plain values; models that lack a class have no share."""
    orderings: Orderings | None = draw.pop("orderings")
    if orderings is None:
        return {**draw, "kept": None, "share": None, "undefined": None, "by_model": None, "classes": None}
    shares: list[float | None] = [None] * len(there)
    for at, kept in zip(np.flatnonzero(there), orderings.kept_by_model, strict=True):
        shares[at] = float(kept / REPETITIONS)
    return {
        **draw,
        "kept": orderings.kept,
        "share": orderings.kept / REPETITIONS,
        "undefined": orderings.undefined,
        "by_model": shares,
        "classes": {name: _class(means) for name, means in zip(CLASSES, orderings.means, strict=True)},
    }


def _class(means: NDArray[np.float64]) -> dict[str, Any]:
    defined = means[~np.isnan(means)]
    if not len(defined):
        return {"mean": None, "deviation": None, "middle": None}
    low, high = np.quantile(defined, [0.025, 0.975])
    return {
        "mean": float(defined.mean()),
        "deviation": float(100 * defined.std()),
        "middle": [float(low), float(high)],
    }


def sections(result: Result) -> list[Section]:
    draws = [{**draw, "way": "with replacement" if draw["replace"] else "without"} for draw in result["draws"]]
    return [_ordering(result, draws), _models(result, draws), _spreads(result, draws)]


def _ordering(result: Result, draws: list[dict[str, Any]]) -> Section:
    rows = [{**draw, **{name: (draw["classes"] or {}).get(name, {}).get("mean") for name in CLASSES}} for draw in draws]
    return Section(
        f"Does {ORDER} hold?",
        f"{_observed(result)} {_outcome(result)}",
        [
            Column("way", "Drawn"),
            Column("size", "Images a cell", "count"),
            Column("kept", f"Repetitions of {result['repetitions']:,} that keep it", "count"),
            Column("share", "Share", "rate"),
            Column("undefined", "Undefined", "count"),
            *(Column(name, f"{NAMES[name]}, mean", "rate") for name in CLASSES),
        ],
        rows,
    )


def _observed(result: Result) -> str:
    means = ", ".join(f"{name} {result['means'][name]:.3f}" for name in CLASSES)
    return (
        f"Over all {result['images']:,} images in {result['cells']} cells, the means over models of "
        f"CorrTP@{result['k']} by {result['label']} are {means}: the ordering "
        f"{'holds' if result['holds'] else 'does not hold'}."
    )


def _outcome(result: Result) -> str:
    done = [draw for draw in result["draws"] if draw["kept"] is not None]
    if all(draw["kept"] == result["repetitions"] for draw in done):
        said = f"It is kept in every one of {len(done) * result['repetitions']:,} repetitions."
    else:
        worst = min(done, key=lambda draw: draw["kept"])
        way = "with" if worst["replace"] else "without"
        said = (
            f"It is kept least often with {worst['size']} images a cell {way} replacement: in {worst['kept']:,} of "
            f"{result['repetitions']:,} repetitions."
        )
    left = len(result["draws"]) - len(done)
    return f"{said} {left} draws are not possible; the table says why." if left else said


def _models(result: Result, draws: list[dict[str, Any]]) -> Section:
    def key(draw: dict[str, Any]) -> str:
        return f"{'with' if draw['replace'] else 'without'}_{draw['size']}"

    done = [draw for draw in draws if draw["by_model"] is not None]
    rows = [
        {
            **row,
            **{key(draw): draw["by_model"][at] for draw in done},
            "reason": "no labelled answer of some class" if row["holds"] is None else "",
        }
        for at, row in enumerate(result["models"])
    ]
    own = sum(row["holds"] is True for row in rows)
    known = sum(row["holds"] is not None for row in rows)
    return Section(
        "Each model by itself",
        f"{own} of {known} models have the ordering over all images. The ordering of the means says nothing of single "
        "models: here is the share of repetitions in which each one's own rates keep it, by images a cell, drawn with "
        "replacement or without.",
        [
            Column("model", "Model"),
            Column("holds", "All images"),
            *(Column(key(draw), f"{draw['size']}{'' if draw['replace'] else ' without'}", "rate") for draw in done),
        ],
        rows,
    )


def _spreads(result: Result, draws: list[dict[str, Any]]) -> Section:
    rows = [
        {**draw, "class": NAMES[name], **draw["classes"][name]}
        for name in CLASSES
        for draw in draws
        if draw["classes"] is not None
    ]
    return Section(
        f"Spread of CorrTP@{result['k']} by class",
        "How far the mean over models moves from repetition to repetition: its standard deviation in points, and where "
        "the middle 95 % lie. A draw of every image of each cell without replacement is the dataset itself.",
        [
            Column("class", "Class"),
            Column("way", "Drawn"),
            Column("size", "Images a cell", "count"),
            Column("mean", "Mean", "rate"),
            Column("deviation", "Standard deviation, points", "points"),
            Column("middle", "Middle 95 %", "interval"),
        ],
        rows,
    )


KIND = Kind(
    slug="stratified",
    title="Stratified bootstrap",
    question="Does the ordering of the classes hold with fewer images, or others?",
    method="As in the study (arXiv 2609.03331): 10, 15, 20, 25 or 30 images are drawn from each cell of complexity, "
    "category and class, with replacement and without, 1,000 times each; in each repetition the CorrTP at the last "
    "cutoff of each class is averaged over the models. A tie does not keep the ordering.",
    read=read,
    run=run,
    sections=sections,
    defaults={"label": MEAN},
    choices_of=inputs.label_choices,
    names={"label": "Labels of"},
)
