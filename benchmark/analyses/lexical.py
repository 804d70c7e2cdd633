"""Is the ordering of the classes one of words? For datasets of variants: two substitutions a class and image."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark import frames_variants
from benchmark.analyses import inputs
from benchmark.analyses.inputs import CLASSES, MEAN, NAMES, Labels
from benchmark.analyses.kinds import Column, Kind, Parameters, Result, Section
from benchmark.charts import analyses as charts
from benchmark.frames_variants import BOTH, SETS
from benchmark.models import ResultSet
from benchmark.statistics.means import mean_over_models
from benchmark.statistics.orders import ordering
from benchmark.statistics.patterns import ItemCounts, mean_item_counts
from benchmark.statistics.rates import Estimate, estimate, rates
from benchmark.statistics.selections import By, falling, selected_rates
from fpco_site.errors import Invalid

REPETITIONS = 1_000
MOST = 100_000
PUBLISHED = "In the published study the ordering holds in 73.1 % of 1,000 selections, strictly for two of three models."


@dataclass(frozen=True)
class Inputs:
    """`items` has shape (image, class, 2): the position of each variant among the items of `labels`."""

    labels: Labels
    items: NDArray[np.int64]
    left_out: int


def read(result_set: ResultSet, parameters: Parameters) -> Inputs:
    found = frames_variants.read(result_set.dataset_id)
    if found is None:
        name = result_set.dataset.name
        raise Invalid(f"{name} holds no variants: this takes a dataset of six variants an image, two for each class.")
    if not len(found.items):
        raise Invalid("No image has both variants, A and B, of all three classes.")
    return Inputs(inputs.read(result_set), found.items, found.left_out)


def run(found: Inputs, parameters: Parameters, rng: np.random.Generator) -> Result:
    labels, repetitions = found.labels, parameters["repetitions"]
    counts = _counts(found, labels.chosen(parameters["label"]))
    by: By = "image" if parameters["by"] == "image" else "class"
    drawn = selected_rates(counts.n, counts.corrections, rng, repetitions=repetitions, by=by)
    # A model without labels has no part in the mean.
    there = counts.n.sum(axis=(1, 2, 3)) > 0
    means = drawn[:, there].mean(axis=1)
    seen = Counter(_ordering(row) for row in means)
    return {
        "images": len(found.items),
        "left_out": found.left_out,
        "repetitions": repetitions,
        "by": by,
        "label": inputs.label_words(labels, parameters["label"]),
        "k": labels.last,
        "share": _share(falling(means)),
        "models": [
            {
                "model": name,
                "family": labels.families[at],
                **_kept(falling(drawn[:, at]), counts, at),
            }
            for at, name in enumerate(labels.models)
        ],
        "orderings": [{"ordering": name, "share": n / repetitions, "n": n} for name, n in _by_number(seen)],
        "rates": _rates(labels, counts),
    }


def _counts(found: Inputs, detectors: list[int]) -> ItemCounts:
    """Labels over the false-premise turns; arrays of shape (model, image, class, 2)."""
    labels, flat = found.labels, found.items.ravel()
    counts = mean_item_counts(
        [labels.labelled[:, one][:, flat] for one in detectors],
        [labels.correction[:, one][:, flat] for one in detectors],
        [labels.false_window()],
    )
    shape = (len(labels.models), *found.items.shape)
    return ItemCounts(counts.n.reshape(shape), counts.corrections.reshape(shape))


def _share(held: NDArray[np.bool_]) -> dict[str, Any]:
    """The share of selections that hold, with the interval of having drawn so many and no more."""
    found = estimate(int(held.sum()), len(held))
    return {"value": found.value, "interval": [found.low, found.high], "n": found.n}


def _kept(held: NDArray[np.bool_], counts: ItemCounts, at: int) -> dict[str, Any]:
    pooled = counts.corrections[at].sum(axis=(0, 2)), counts.n[at].sum(axis=(0, 2))
    values = np.divide(pooled[0], pooled[1], out=np.full(len(CLASSES), np.nan), where=pooled[1] > 0)
    if np.isnan(values).any():
        missing = "a class has no labelled answer"
        return {"share": None, "share_interval": None, "pooled": _ordering(values), "holds": None, "reason": missing}
    found = _share(held)
    return {
        "share": found["value"],
        "share_interval": found["interval"],
        "pooled": _ordering(values),
        "holds": bool(falling(values)),
        "reason": "",
    }


def _ordering(values: NDArray[np.float64]) -> str:
    # Rounded, so that rates which are equal as fractions are told as equal.
    return ordering([None if np.isnan(value) else round(float(value), 9) for value in values], CLASSES)


def _by_number(seen: Counter[str]) -> list[tuple[str, int]]:
    return sorted(seen.items(), key=lambda pair: (-pair[1], pair[0]))


def _rates(labels: Labels, counts: ItemCounts) -> list[dict[str, Any]]:
    """The rate of each model and class under A, under B and under both; images are the clusters."""
    rows = []
    for at, name in enumerate(CLASSES):
        for letter, kept in ((SETS[0], [0]), (SETS[1], [1]), (BOTH, [0, 1])):
            chosen = ItemCounts(counts.n[:, :, at, kept].sum(axis=-1), counts.corrections[:, :, at, kept].sum(axis=-1))
            one = rates(chosen)
            rows += [_rate(model, name, letter, one.at(row)) for row, model in enumerate(labels.models)]
            mean = mean_over_models(ItemCounts(chosen.n[:, np.newaxis], chosen.corrections[:, np.newaxis]))
            rows.append(_rate("Mean over models", name, letter, mean.at(0)))
    return rows


def _rate(model: str, name: str, letter: str, found: Estimate) -> dict[str, Any]:
    ends = {"value": found.value, "low": found.low, "high": found.high, "n": found.n, "reason": found.reason}
    return {"model": model, "class": name, "set": letter, **ends}


def sections(result: Result) -> list[Section]:
    return [_selections(result), _orderings(result), _sets(result)]


def _selections(result: Result) -> Section:
    found, models = result["share"], result["models"]
    strict = [row["model"] for row in models if row["holds"]]
    families = len({row["family"] for row in models})
    per = (
        "for each class of each image on its own" if result["by"] == "class" else "for each image, for all its classes"
    )
    words = (
        f"{result['images']} images; a substitution A or B is picked at random {per}, "
        f"{result['repetitions']:,} times. By the mean over {len(models)} models of {families} families, identity > "
        f"attribute > location holds in {100 * found['value']:.1f} % of the selections. With A and B together it holds "
        f"strictly for {len(strict)} of {len(models)} models{': ' + ', '.join(strict) if strict else ''}. "
        f"Labels: {result['label']}."
    )
    if result["left_out"]:
        words += f" {result['left_out']} images are left out: not all six variants are there."
    columns = [
        Column("model", "Model"),
        Column("family", "Family"),
        Column("share", "Selections that keep the ordering", "rate"),
        Column("share_interval", "95 % interval of the draw", "interval"),
        Column("pooled", "Ordering with A and B together"),
        Column("holds", "Holds strictly"),
    ]
    mean = {"model": "Mean over models", "share": found["value"], "share_interval": found["interval"], "family": ""}
    pooled = _pooled(result)
    rows = [*models, {**mean, "pooled": pooled, "holds": pooled == " > ".join(CLASSES)}]
    return Section("How often the ordering survives", f"{words}\n\n{PUBLISHED}", columns, rows)


def _pooled(result: Result) -> str:
    mean = {
        row["class"]: row["value"]
        for row in result["rates"]
        if row["model"] == "Mean over models" and row["set"] == BOTH
    }
    return ordering([None if mean[name] is None else round(mean[name], 9) for name in CLASSES], CLASSES)


def _orderings(result: Result) -> Section:
    columns = [Column("ordering", "Ordering"), Column("share", "Share", "rate"), Column("n", "Selections", "count")]
    words = "Which orderings of the means the selections gave, the most frequent first."
    return Section("All orderings", words, columns, result["orderings"])


def _sets(result: Result) -> Section:
    rows = []
    for model in dict.fromkeys(row["model"] for row in result["rates"]):
        for name in CLASSES:
            of = {row["set"]: row for row in result["rates"] if (row["model"], row["class"]) == (model, name)}
            cells = {key: of[letter]["value"] for key, letter in (("a", "A"), ("b", "B"), ("both", BOTH))}
            ends = {
                f"{key}_interval": _interval(of[letter]) for key, letter in (("a", "A"), ("b", "B"), ("both", BOTH))
            }
            rows.append(
                {
                    "model": model,
                    "class": NAMES[name],
                    **cells,
                    **ends,
                    "n": of[BOTH]["n"],
                    "reason": of[BOTH]["reason"],
                }
            )
    points = [
        {**row, "class": NAMES[row["class"]]}
        for row in result["rates"]
        if row["set"] in SETS and row["value"] is not None
    ]
    columns = [Column("model", "Model"), Column("class", "Class")]
    for key, title in (("a", "A"), ("b", "B"), ("both", "A and B")):
        columns += [Column(key, title, "rate"), Column(f"{key}_interval", "95 % interval", "interval")]
    columns.append(Column("n", "n", "count"))
    metric = f"CorrTP@{result['k']}"
    words = (
        f"{metric} of each class under the substitutions A, B and both. Image, target, prefix and intent are the same."
        f"{inputs.few(result['images'])}"
    )
    return Section("A against B", words, columns, rows, charts.substitutions(points, metric=metric) if points else None)


def _interval(row: dict[str, Any]) -> list[float] | None:
    return None if row["low"] is None else [row["low"], row["high"]]


KIND = Kind(
    slug="lexical",
    title="Lexical sensitivity",
    question="Does the ordering of the classes hold when other words are substituted?",
    method="A dataset of variants: on each image two substitutions, A and B, for each of the three classes, with "
    "image, target, prefix and the intent of the question fixed (arXiv 2609.03331). At each selection a fair coin "
    "picks A or B, and the rates of the classes are compared; equal rates do not keep the ordering. The study does not "
    "say whether a coin is thrown for each class or each image, so that is a choice. The interval of a share is that "
    "of having drawn so many selections and no more (Wilson); it says nothing of other images. The ordering describes "
    f"these substitutions and is no causal effect of class. {inputs.CLUSTERED}",
    read=read,
    run=run,
    sections=sections,
    defaults={"repetitions": REPETITIONS, "by": "class", "label": MEAN},
    limits={"repetitions": (1, MOST)},
    choices={"by": [("class", "each class of each image"), ("image", "each image")]},
    names={"repetitions": "Selections", "by": "A coin for", "label": "Labels"},
    choices_of=inputs.label_choices,
)
