"""Does the ordering of the premise classes depend on how many turns are counted?"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmark.analyses import inputs
from benchmark.analyses.inputs import CLASSES, MEAN, NAMES, Labels, estimate
from benchmark.analyses.kinds import Column, Kind, Parameters, Result, Section
from benchmark.charts import analyses as charts
from benchmark.leaderboard import MEASURE_NAMES
from benchmark.models import ResultSet
from benchmark.statistics.means import mean_over_models
from benchmark.statistics.orders import falls, ordering
from benchmark.statistics.patterns import cumulative_windows, single_windows
from benchmark.statistics.rates import Rates, rates

MISSING = "a class has no labelled answer"


@dataclass(frozen=True)
class Inputs:
    labels: Labels


def read(result_set: ResultSet, parameters: Parameters) -> Inputs:
    return Inputs(inputs.read(result_set))


def run(found: Inputs, parameters: Parameters, rng: np.random.Generator) -> Result:
    labels = found.labels
    windows = (single_windows if parameters["measure"] == "turn_corr" else cumulative_windows)(labels.false_turns)
    chosen = labels.chosen(parameters["label"])
    counts = [labels.counts(chosen, windows, labels.of_class(name)) for name in CLASSES]
    by_model = [rates(one) for one in counts]
    means = [mean_over_models(one) for one in counts]
    return {
        "metric": MEASURE_NAMES[parameters["measure"]],
        "label": inputs.label_words(labels, parameters["label"]),
        "images": min(one.n.shape[-1] for one in counts),
        "rows": [_cutoff(labels, means, by_model, at, k) for at, k in enumerate(labels.false_turns)],
        "models": [_model(labels, by_model, row) for row in range(len(labels.models))],
    }


def _cutoff(labels: Labels, means: list[Rates], by_model: list[Rates], at: int, k: int) -> dict[str, Any]:
    """One cutoff: the means of the classes, their ordering, and which models keep the study's by themselves."""
    found = [mean.at(at) for mean in means]
    values = [one.value for one in found]
    kept = [falls([one.at(row, at).value for one in by_model]) for row in range(len(labels.models))]
    held = falls(values)
    return {
        "k": k,
        **{key: value for name, one in zip(CLASSES, found, strict=True) for key, value in estimate(name, one).items()},
        "ordering": ordering(values, CLASSES),
        "holds": held,
        "models_keep": sum(one is True for one in kept),
        "models": sum(one is not None for one in kept),
        "reason": MISSING if held is None else "",
    }


def _model(labels: Labels, by_model: list[Rates], row: int) -> dict[str, Any]:
    last = len(labels.false_turns) - 1
    found = [one.at(row, last) for one in by_model]
    kept = [falls([one.at(row, at).value for one in by_model]) for at in range(len(labels.false_turns))]
    return {
        "model": labels.models[row],
        "family": labels.families[row],
        **{key: value for name, one in zip(CLASSES, found, strict=True) for key, value in estimate(name, one).items()},
        "ordering": ordering([one.value for one in found], CLASSES),
        "holds": kept[-1],
        "cutoffs_keep": sum(one is True for one in kept),
        "reason": MISSING if kept[-1] is None else "",
    }


def sections(result: Result) -> list[Section]:
    return [_by_cutoff(result), _by_model(result)]


def _by_cutoff(result: Result) -> Section:
    rows, metric = result["rows"], result["metric"]
    held = [row for row in rows if row["holds"]]
    broken = ", ".join(str(row["k"]) for row in rows if not row["holds"])
    last = rows[-1]
    overall = (
        f"identity > attribute > location holds at every cutoff K = {rows[0]['k']} to {last['k']}."
        if len(held) == len(rows)
        else f"identity > attribute > location holds at {len(held)} of {len(rows)} cutoffs; not at K = {broken}."
    )
    words = (
        f"By the mean over models, {overall} The ordering is one of means: at K = {last['k']}, {last['models_keep']} "
        f"of {last['models']} models keep it by themselves. Labels: {result['label']}."
        f"{inputs.few(result['images'])}"
    )
    points = [
        {
            "k": row["k"],
            "class": NAMES[name],
            "value": row[name],
            "n": row[f"{name}_n"],
            **_ends(row[f"{name}_interval"]),
        }
        for name in CLASSES
        for row in rows
    ]
    columns = [Column("k", "K", "count")]
    for name in CLASSES:
        columns += [Column(name, NAMES[name], "rate"), Column(f"{name}_interval", "95 % interval", "interval")]
    columns += [
        Column("ordering", "Ordering"),
        Column("holds", "Holds"),
        Column("models_keep", "Models that keep it", "count"),
        Column("models", "of", "count"),
    ]
    return Section("At every cutoff", words, columns, rows, charts.class_means(points, metric=f"{metric}@K"))


def _ends(interval: list[float] | None) -> dict[str, float | None]:
    low, high = interval or (None, None)
    return {"low": low, "high": high}


def _by_model(result: Result) -> Section:
    last = result["rows"][-1]["k"]
    alone = [row["model"] for row in result["models"] if row["holds"] is False]
    words = f"Models that do not keep the ordering at K = {last}: {', '.join(alone)}." if alone else ""
    if not alone:
        words = f"Every model with labels in all three classes keeps the ordering at K = {last}."
    columns = [
        Column("model", "Model"),
        *(Column(name, f"{NAMES[name]}, K = {last}", "rate") for name in CLASSES),
        Column("ordering", "Ordering"),
        Column("holds", "Holds"),
        Column("cutoffs_keep", f"Cutoffs that keep it, of {len(result['rows'])}", "count"),
    ]
    return Section("Model by model", words, columns, result["models"])


KIND = Kind(
    slug="truncation",
    title="Truncation",
    question="Does identity > attribute > location hold wherever the dialogue is cut off?",
    method="At each cutoff K the rate of each model and premise class, then the mean over models; every model weighs "
    f"the same (arXiv 2609.03331). {inputs.CLUSTERED} All models answer about the same images, so the mean's interval "
    "is clustered by image too.",
    read=read,
    run=run,
    sections=sections,
    defaults={"measure": "corr_tp", "label": MEAN},
    choices={"measure": [("corr_tp", "CorrTP, up to turn K"), ("turn_corr", "TurnCorr, turn K alone")]},
    names={"label": "Labels"},
    choices_of=inputs.label_choices,
    random=False,
)
