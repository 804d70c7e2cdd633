"""Do models that correct false premises also reject true ones? CorrFP against CorrTP."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmark.analyses import inputs
from benchmark.analyses.inputs import MEAN, Labels, estimate
from benchmark.analyses.kinds import Column, Kind, Parameters, Result, Section
from benchmark.charts import analyses as charts
from benchmark.models import ResultSet
from benchmark.statistics.correlations import spearman
from benchmark.statistics.orders import ranks
from benchmark.statistics.patterns import ItemCounts
from benchmark.statistics.rates import caution, rates
from fpco_site.errors import Invalid

REPETITIONS = 2_000


@dataclass(frozen=True)
class Inputs:
    labels: Labels


def read(result_set: ResultSet, parameters: Parameters) -> Inputs:
    labels = inputs.read(result_set)
    if not labels.true_turns:
        raise Invalid("Over-correction takes premise-correct turns, and this dataset has none.")
    return Inputs(labels)


def run(found: Inputs, parameters: Parameters, rng: np.random.Generator) -> Result:
    labels, chosen = found.labels, found.labels.chosen(parameters["label"])
    counts = labels.counts(chosen, [labels.false_window(), labels.true_window()])
    both = rates(counts)
    tp, fp = ([both.at(row, at) for row in range(len(labels.models))] for at in (0, 1))
    correlation = spearman(_window(counts, 0), _window(counts, 1), rng, repetitions=REPETITIONS)
    tp_ranks, fp_ranks = (ranks([one.value for one in column]) for column in (tp, fp))
    images = int(counts.n.shape[-1])
    rows = [
        {
            "model": labels.models[row],
            "family": labels.families[row],
            **estimate("corr_tp", tp[row]),
            "corr_tp_rank": tp_ranks[row],
            **estimate("corr_fp", fp[row]),
            "corr_fp_rank": fp_ranks[row],
            "corrections_fp": fp[row].corrections,
            "caution": caution(fp[row].value, images),
            "reason": tp[row].reason or fp[row].reason,
        }
        for row in range(len(labels.models))
    ]
    return {
        "k_tp": labels.last,
        "k_fp": labels.true_turns[-1],
        "label": inputs.label_words(labels, parameters["label"]),
        "rows": rows,
        "correlation": asdict(correlation),
        "repetitions": REPETITIONS,
        "images": images,
    }


def _window(counts: ItemCounts, at: int) -> ItemCounts:
    return ItemCounts(counts.n[:, at], counts.corrections[:, at])


def sections(result: Result) -> list[Section]:
    tp, fp = f"CorrTP@{result['k_tp']}", f"CorrFP@{result['k_fp']}"
    rows = sorted(result["rows"], key=lambda row: (row["corr_tp"] is None, -(row["corr_tp"] or 0.0), row["model"]))
    points = [_point(row) for row in rows if row["corr_tp"] is not None and row["corr_fp"] is not None]
    columns = [
        Column("model", "Model"),
        Column("corr_tp", tp, "rate"),
        Column("corr_tp_interval", "95 % interval", "interval"),
        Column("corr_tp_rank", "Rank", "count"),
        Column("corr_fp", fp, "rate", 4),
        Column("corr_fp_interval", "95 % interval", "interval", 4),
        Column("corr_fp_rank", "Rank", "count"),
        Column("corrections_fp", "Needless corrections", "count"),
        Column("corr_fp_n", "of", "count"),
    ]
    figure = charts.scatter(points, x_title=tp, y_title=fp) if points else None
    return [Section(f"{fp} against {tp}", _words(result, tp, fp), columns, rows, figure)]


def _words(result: Result, tp: str, fp: str) -> str:
    rho = result["correlation"]
    if rho["value"] is None:
        told = f"There is {rho['reason']}."
    else:
        interval = "" if rho["low"] is None else f", 95 % interval [{rho['low']:.2f}, {rho['high']:.2f}] over images"
        told = f"Spearman's rank correlation over {rho['n']} models is {rho['value']:.2f}{interval}. {_reading(rho)}"
    known = [row for row in result["rows"] if row["corr_fp"] is not None]
    counts = sorted(row["corrections_fp"] for row in known)
    rest = f" A model's {fp} rests on {counts[0]:g} to {counts[-1]:g} needless corrections." if counts else ""
    if rare := sum(bool(row["caution"]) for row in known):
        rest += (
            f" For {rare} of {len(known)} models it is so rare, or of so few images, that the interval may cover less "
        )
        rest += "than it says."
    return f"{told}{rest} Numbers in the figure are ranks by {tp}. Labels: {result['label']}."


def _reading(rho: dict[str, Any]) -> str:
    if rho["low"] is None or rho["low"] <= 0 <= rho["high"]:
        return "Over other images it might as well be none: no trade between the two is shown."
    if rho["value"] > 0:
        return "Models that correct false premises more also reject correct ones more."
    return "Models that correct false premises more reject correct ones less."


def _point(row: dict[str, Any]) -> dict[str, Any]:
    (x_low, x_high), (y_low, y_high) = row["corr_tp_interval"], row["corr_fp_interval"]
    return {
        "model": row["model"],
        "family": row["family"],
        "rank": row["corr_tp_rank"],
        "x": row["corr_tp"],
        "x_low": x_low,
        "x_high": x_high,
        "y": row["corr_fp"],
        "y_low": y_low,
        "y_high": y_high,
    }


KIND = Kind(
    slug="over_correction",
    title="Over-correction",
    question="Do models that correct more false premises also reject more correct ones?",
    method="CorrFP over all premise-correct turns against CorrTP over all false-premise turns (arXiv 2609.03331). "
    f"{inputs.CLUSTERED} The interval of Spearman's rank correlation (doi:10.2307/1412159) is the percentile interval "
    f"of {REPETITIONS:,} bootstrap repetitions that draw images; these models are no sample of others.",
    read=read,
    run=run,
    sections=sections,
    defaults={"label": MEAN},
    names={"label": "Labels"},
    choices_of=inputs.label_choices,
)
