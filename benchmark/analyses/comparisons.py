"""Which models differ? Every pair on the answers that both have, and groups that can't be told apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.analyses import inputs
from benchmark.analyses.inputs import CLASSES, MEAN, NAMES, Labels
from benchmark.analyses.kinds import Column, Kind, Parameters, Result, Section
from benchmark.models import ResultSet
from benchmark.statistics.comparisons import groups, holm, letters, shared_differences
from benchmark.statistics.patterns import by_image
from benchmark.statistics.rates import COVERED_IMAGES, Estimate, rates
from benchmark.statistics.studentised import Ratios, ratios
from fpco_site.errors import Invalid

REPETITIONS = 20_000  # Holm multiplies the smallest p by the number of pairs: 190 for twenty models
ALPHA = 0.05
ALL = "all"
MEASURES = {"corr_tp": "CorrTP", "corr_fp": "CorrFP"}


@dataclass(frozen=True)
class Inputs:
    labels: Labels
    detectors: list[int]
    window: int
    k: int
    kept: NDArray[np.bool_]


def read(result_set: ResultSet, parameters: Parameters) -> Inputs:
    labels = inputs.read(result_set)
    if len(labels.models) == 1:
        raise Invalid("A comparison needs two models; one has run over this dataset.")
    false = parameters["measure"] == "corr_tp"
    turns, window = (labels.false_turns, labels.false_window()) if false else (labels.true_turns, labels.true_window())
    if not turns:
        raise Invalid(f"This dataset has no turn that {MEASURES[parameters['measure']]} is about.")
    everything = np.ones(len(labels.images), dtype=bool)
    kept = everything if parameters["of"] == ALL else labels.of_class(parameters["of"])
    if not kept.any():
        raise Invalid(f"This dataset has no dialogue of the class {parameters['of']}.")
    return Inputs(labels, labels.chosen(parameters["label"]), window, turns[-1], kept)


def run(found: Inputs, parameters: Parameters, rng: np.random.Generator) -> Result:
    labels = found.labels
    own = rates(labels.counts(found.detectors, [found.window], found.kept))
    estimates = [own.at(at, 0) for at in range(len(labels.models))]
    order = sorted(range(len(estimates)), key=lambda at: (-_rate(estimates[at]), labels.models[at]))
    pairs = list(combinations(order, 2))
    differences = _differences(found, pairs, rng)
    rows = _pairs(found, pairs, differences)
    columns = groups(
        [labels.models[at] for at in order],
        {frozenset((row["first"], row["second"])) for row in rows if row["differ"]},
    )
    names = letters(len(columns))
    return {
        "metric": f"{MEASURES[parameters['measure']]}@{found.k}",
        "of": parameters["of"],
        "label": inputs.label_words(labels, parameters["label"]),
        "repetitions": REPETITIONS,
        "models": [_model(labels, at, estimates[at], columns, names) for at in order],
        "groups": [{"letter": name, "models": column} for name, column in zip(names, columns, strict=True)],
        "pairs": rows,
    }


def _rate(found: Estimate) -> float:
    return -1.0 if found.value is None else found.value


def _differences(found: Inputs, pairs: Sequence[tuple[int, int]], rng: np.random.Generator) -> Ratios:
    labels = found.labels
    by_item = shared_differences(
        [labels.labelled[:, one][:, found.kept] for one in found.detectors],
        [labels.correction[:, one][:, found.kept] for one in found.detectors],
        found.window,
        pairs,
    )
    counts = by_image(by_item, labels.images[found.kept])
    return ratios(counts.n, counts.corrections, bounds=(-1.0, 1.0), repetitions=REPETITIONS, rng=rng)


def _pairs(found: Inputs, pairs: Sequence[tuple[int, int]], differences: Ratios) -> list[dict[str, Any]]:
    adjusted = holm(differences.p)
    return [
        {
            "first": found.labels.models[first],
            "second": found.labels.models[second],
            "difference": _points(differences.value[at]),
            "interval": _interval(differences, at),
            "p": _known(differences.p[at]),
            "adjusted": _known(adjusted[at]),
            "differ": bool(adjusted[at] <= ALPHA),
            "n": int(differences.n[at]),
            "images": int(differences.images[at]),
            "reason": differences.reason[at],
        }
        for at, (first, second) in enumerate(pairs)
    ]


def _known(value: np.floating[Any]) -> float | None:
    return None if np.isnan(value) else float(value)


def _points(value: np.floating[Any]) -> float | None:
    return None if np.isnan(value) else float(100 * value)


def _interval(differences: Ratios, at: int) -> list[float] | None:
    low, high = _points(differences.low[at]), _points(differences.high[at])
    return None if low is None or high is None else [low, high]


def _model(
    labels: Labels, at: int, found: Estimate, columns: Sequence[Sequence[str]], names: Sequence[str]
) -> dict[str, Any]:
    of = [name for name, column in zip(names, columns, strict=True) if labels.models[at] in column]
    return {
        "model": labels.models[at],
        "family": labels.families[at],
        **inputs.estimate("value", found),
        "letters": " ".join(of),
        "reason": found.reason,
    }


def sections(result: Result) -> list[Section]:
    return [_groups(result), _every_pair(result)]


def _groups(result: Result) -> Section:
    from benchmark.charts.ranges import Range, ranges

    drawn: list[Range] = [
        {
            "name": row["model"],
            "value": row["value"],
            "low": (row["value_interval"] or [None, None])[0],
            "high": (row["value_interval"] or [None, None])[1],
            "note": row["letters"],
        }
        for row in result["models"]
    ]
    return Section(
        "Groups that can't be told apart",
        f"{_outcome(result)} Models that share a letter can't be told apart; those that share none differ. "
        "That two models share a letter doesn't mean that they are the same.",
        [
            Column("model", "Model"),
            Column("value", result["metric"], "rate"),
            Column("value_interval", "95 % interval", "interval"),
            Column("value_n", "n", "count"),
            Column("letters", "Groups"),
        ],
        result["models"],
        ranges(drawn, metric=result["metric"]),
    )


def _outcome(result: Result) -> str:
    pairs = result["pairs"]
    differ, unknown = sum(row["differ"] for row in pairs), sum(row["p"] is None for row in pairs)
    where = "" if result["of"] == ALL else f" on dialogues of the class {NAMES[result['of']].lower()}"
    said = f"{differ} of {len(pairs)} pairs of models differ{where} by {result['label']}."
    if unknown:
        said += f" {unknown} can't be tested; the table says why, and they count as not told apart."
    fewest = min(row["images"] for row in pairs)
    if fewest < COVERED_IMAGES:
        said += (
            f" The fewest images of a pair are {fewest}: below {COVERED_IMAGES}, p and intervals were not tried out."
        )
    return said


def _every_pair(result: Result) -> Section:
    return Section(
        "Every pair",
        "Differences in percentage points on the dialogues and turns that both models have a label for, the higher "
        "model first. Each interval stands for its pair alone; the adjusted p takes all pairs into account.",
        [
            Column("first", "Model"),
            Column("second", "Less"),
            Column("difference", "Difference, points", "points"),
            Column("interval", "95 % interval", "interval", 2),
            Column("p", "p", "p", 4),
            Column("adjusted", "Adjusted p", "p", 4),
            Column("differ", "Differ"),
            Column("n", "n", "count"),
            Column("images", "Images", "count"),
        ],
        result["pairs"],
    )


KIND = Kind(
    slug="comparisons",
    title="Model comparisons",
    question="Which models differ, and which can't be told apart?",
    method="Each pair is compared on the same dialogues and turns. A studentised bootstrap of the images, 20,000 "
    "repetitions with the same images for all pairs, gives each difference its interval and p (Davison and Hinkley "
    "1997, sections 2.4 and 4.4). Holm's method adjusts p for all pairs (Holm 1979), at 5 %, and letters mark groups "
    "(doi:10.1198/1061860043515).",
    read=read,
    run=run,
    sections=sections,
    defaults={"measure": "corr_tp", "of": ALL, "label": MEAN},
    choices={
        "measure": list(MEASURES.items()),
        "of": [(ALL, "all dialogues"), *((name, NAMES[name]) for name in CLASSES)],
    },
    choices_of=inputs.label_choices,
    names={"measure": "Measure", "of": "Over", "label": "Labels of"},
    long=True,
)
