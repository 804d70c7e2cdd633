"""How sure is each rate? Two intervals for every number, and bands that hold for a whole curve."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmark.analyses import inputs
from benchmark.analyses.inputs import CLASSES, MEAN, NAMES, Labels
from benchmark.analyses.kinds import Column, Kind, Parameters, Result, Section
from benchmark.models import ResultSet
from benchmark.statistics.bands import simultaneous_bands
from benchmark.statistics.patterns import ItemCounts, cumulative_windows, single_windows
from benchmark.statistics.rates import caution, design_effect, rates
from benchmark.statistics.studentised import ratios
from fpco_site.errors import Invalid

REPETITIONS = 2_000
OVERALL = "overall"
MEASURES = {"corr_tp": "CorrTP", "turn_corr": "TurnCorr", "corr_fp": "CorrFP"}


@dataclass(frozen=True)
class Inputs:
    labels: Labels
    detectors: list[int]
    turns: list[int]


def read(result_set: ResultSet, parameters: Parameters) -> Inputs:
    labels = inputs.read(result_set)
    turns = labels.true_turns if parameters["measure"] == "corr_fp" else labels.false_turns
    if not turns:
        raise Invalid(f"This dataset has no turn that {MEASURES[parameters['measure']]} is about.")
    return Inputs(labels, labels.chosen(parameters["label"]), turns)


def run(found: Inputs, parameters: Parameters, rng: np.random.Generator) -> Result:
    windows = (single_windows if parameters["measure"] == "turn_corr" else cumulative_windows)(found.turns)
    everything = np.ones(len(found.labels.images), dtype=bool)
    kept = {OVERALL: everything, **{name: found.labels.of_class(name) for name in CLASSES}}
    return {
        "metric": MEASURES[parameters["measure"]],
        "label": inputs.label_words(found.labels, parameters["label"]),
        "turns": found.turns,
        "repetitions": REPETITIONS,
        "rows": [
            row
            for level, keep in kept.items()
            if keep.any()
            for row in _rows(found, level, found.labels.counts(found.detectors, windows, keep), rng)
        ],
    }


def _rows(found: Inputs, level: str, counts: ItemCounts, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """One row a model and cutoff."""
    wilson, effects = rates(counts), design_effect(counts)
    bands = simultaneous_bands(counts, repetitions=REPETITIONS, rng=rng)
    images = counts.n.shape[-1]
    flat = counts.n.reshape(-1, images), counts.corrections.reshape(-1, images)
    drawn = ratios(*flat, repetitions=REPETITIONS, rng=rng)
    for at, (model, window) in enumerate(np.ndindex(*wilson.value.shape)):
        estimate = wilson.at(model, window)
        yield {
            "model": found.labels.models[model],
            "family": found.labels.families[model],
            "level": level,
            "k": found.turns[window],
            **inputs.estimate("value", estimate),
            "images": int(drawn.images[at]),
            "bootstrap": _pair(drawn.low.item(at), drawn.high.item(at)),
            "band": _pair(bands.low.item(model, window), bands.high.item(model, window)),
            "critical": float(bands.critical[model]),
            "design_effect": float(effects[model, window]) if estimate.n else None,
            "reason": estimate.reason or drawn.reason[at],
            "caution": caution(estimate.value, int(drawn.images[at])),
        }


def _pair(low: float, high: float) -> list[float] | None:
    return None if math.isnan(low) or math.isnan(high) else [low, high]


def sections(result: Result) -> list[Section]:
    rows = [{**row, "level_name": NAMES.get(row["level"], "Overall")} for row in result["rows"]]
    return [_last(result, rows), _curves(result, rows), _all(result, rows)]


def _last(result: Result, rows: list[dict[str, Any]]) -> Section:
    last = result["turns"][-1]
    shown = [row for row in rows if row["k"] == last]
    metric = f"{result['metric']}@{last}"
    return Section(
        f"{metric} with two intervals",
        f"Labels are {result['label']}. {_apart(shown)} {_cautions(shown)}".strip(),
        [
            Column("model", "Model"),
            Column("level_name", "Class"),
            Column("value", metric, "rate"),
            Column("value_interval", "Wilson, effective n", "interval"),
            Column("bootstrap", "Bootstrap", "interval"),
            Column("value_n", "n", "count"),
            Column("images", "Images", "count"),
            Column("design_effect", "Design effect", "number", 2),
            Column("caution", "Caution"),
        ],
        shown,
    )


def _apart(rows: list[dict[str, Any]]) -> str:
    both = [(row["value_interval"], row["bootstrap"]) for row in rows if row["value_interval"] and row["bootstrap"]]
    if not both:
        return "No rate has both intervals."
    most = max(abs(one - other) for pair in both for one, other in zip(*pair, strict=True))
    return (
        f"Limits of the two differ by at most {100 * most:.1f} points: they are made in different ways, so that one "
        "speaks for the other."
    )


def _cautions(rows: list[dict[str, Any]]) -> str:
    few = sum(bool(row["caution"]) for row in rows)
    if not few:
        return ""
    told = "One interval carries" if few == 1 else f"{few} intervals carry"
    return (
        f"{told} a caution: simulations found that 95 % intervals hold for 90 images or more and rates of 0.02 to 0.98."
    )


def _curves(result: Result, rows: list[dict[str, Any]]) -> Section:
    from benchmark.charts import Row, curves_by_k

    drawn: list[Row] = [
        {
            "model": row["model"],
            "family": row["family"],
            "premise_class": row["level"],
            "k": row["k"],
            "value": row["value"],
            "low": (row["band"] or [None, None])[0],
            "high": (row["band"] or [None, None])[1],
            "n": row["value_n"],
        }
        for row in rows
    ]
    reach = sorted(row["critical"] for row in rows)
    between = f"{reach[0]:.2f} to {reach[-1]:.2f}" if reach[0] != reach[-1] else f"{reach[0]:.2f}"
    return Section(
        "Bands for whole curves",
        "A band holds for all cutoffs of a curve at once: in 95 of 100 studies the whole curve lies in it. It reaches "
        f"{between} standard errors where an interval for one cutoff alone reaches 1.96. "
        "Above seven models the figure shows lines alone; the table below has every band.",
        figure=curves_by_k(drawn, metric=f"{result['metric']}@K"),
    )


def _all(result: Result, rows: list[dict[str, Any]]) -> Section:
    return Section(
        "Every cutoff",
        "The same at each K, with the band of the curve that it belongs to.",
        [
            Column("model", "Model"),
            Column("level_name", "Class"),
            Column("k", "K", "count"),
            Column("value", f"{result['metric']}@K", "rate"),
            Column("value_interval", "Wilson, effective n", "interval"),
            Column("bootstrap", "Bootstrap", "interval"),
            Column("band", "Band", "interval"),
            Column("value_n", "n", "count"),
        ],
        rows,
    )


KIND = Kind(
    slug="intervals",
    title="Intervals and bands",
    question="How sure is each rate, and each whole curve?",
    method="Answers about one image resemble each other, so images are what is drawn. Beside Wilson's interval at the "
    "effective sample size (doi:10.1093/jssam/smz006) stands one by a studentised bootstrap of the images (Davison and "
    "Hinkley 1997, section 2.4), 2,000 repetitions. Bands over the cutoffs are simultaneous: Wilson's with the sup-t "
    "critical value of the same bootstrap (doi:10.1002/jae.2656). All are 95 %.",
    read=read,
    run=run,
    sections=sections,
    defaults={"measure": "corr_tp", "label": MEAN},
    choices={"measure": list(MEASURES.items())},
    choices_of=inputs.label_choices,
    names={"measure": "Measure", "label": "Labels of"},
)
