"""Do corrections last? The first false-premise turn against the last, and what becomes of each dialogue."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.analyses import inputs
from benchmark.analyses.inputs import MEAN, Labels, estimate
from benchmark.analyses.kinds import Column, Kind, Parameters, Result, Section
from benchmark.charts import analyses as charts
from benchmark.models import ResultSet
from benchmark.statistics.changes import change
from benchmark.statistics.dialogues import INCOMPLETE, PATTERNS, patterns
from benchmark.statistics.patterns import ItemCounts, by_image, single_windows
from benchmark.statistics.rates import rates
from fpco_site.errors import Invalid

LOSS = 5.0
_SAME = 1e-9  # points that differ by less are equal as fractions


@dataclass(frozen=True)
class Inputs:
    labels: Labels


def read(result_set: ResultSet, parameters: Parameters) -> Inputs:
    labels = inputs.read(result_set)
    if len(labels.false_turns) < 2:
        raise Invalid("Whether corrections last takes at least two false-premise turns, and this dataset has one.")
    return Inputs(labels)


def run(found: Inputs, parameters: Parameters, rng: np.random.Generator) -> Result:
    labels, chosen = found.labels, found.labels.chosen(parameters["label"])
    first, last = labels.false_turns[0], labels.false_turns[-1]
    counts = labels.counts(chosen, single_windows([first, last]))
    rows = [_change(labels, counts, row, parameters["loss"]) for row in range(len(labels.models))]
    lost = [-row["points"] for row in rows if row["points"] is not None]
    seen = patterns(labels.labelled[:, chosen], labels.correction[:, chosen], labels.false_turns)
    return {
        "images": int(counts.n.shape[-1]),
        "first": first,
        "last": last,
        "label": inputs.label_words(labels, parameters["label"]),
        "loss": parameters["loss"],
        "rows": rows,
        "losing": sum(row["loses"] is True for row in rows),
        "models": len(lost),
        "largest": max(lost) if lost else None,
        "patterns": [_patterns(labels, seen[row], row) for row in range(len(labels.models))],
    }


def _change(labels: Labels, counts: ItemCounts, row: int, loss: float) -> dict[str, Any]:
    found = change(inputs.one(counts, row, 0), inputs.one(counts, row, 1))
    points = None if found.value is None else 100 * found.value
    interval = None if found.low is None or found.high is None else [100 * found.low, 100 * found.high]
    return {
        "model": labels.models[row],
        "family": labels.families[row],
        "first": found.first,
        "last": found.second,
        "points": points,
        "points_interval": interval,
        "loses": None if points is None else -points > loss + _SAME,
        "n": found.second_n,
        "reason": found.reason,
    }


def _patterns(labels: Labels, seen: NDArray[np.int8], row: int) -> dict[str, Any]:
    """Shares of a model's dialogues by pattern; under the mean, the mean over detectors. `seen`: (detector, item)."""
    whole = (seen != INCOMPLETE).all(axis=0)
    n = whole.astype(np.int64)
    shares = {
        name: rates(by_image(ItemCounts(n, np.where(whole, (seen == at).mean(axis=0), 0.0)), labels.images)).at()
        for at, name in enumerate(PATTERNS)
    }
    values = {key: value for name, found in shares.items() for key, value in estimate(name, found).items()}
    n_dialogues = int(whole.sum())
    return {
        "model": labels.models[row],
        "family": labels.families[row],
        **{key: value for key, value in values.items() if not key.endswith("_n")},
        "n": n_dialogues,
        "left_out": len(whole) - n_dialogues,
        "reason": "" if n_dialogues else "no dialogue whose false-premise turns are all labelled",
    }


def sections(result: Result) -> list[Section]:
    return [_changes(result), _kept(result)]


def _changes(result: Result) -> Section:
    first, last, loss = result["first"], result["last"], result["loss"]
    rows = sorted(result["rows"], key=lambda row: (row["points"] is None, row["points"] or 0.0))
    words = (
        f"{result['losing']} of {result['models']} models lose more than {loss:g} points of TurnCorr from turn {first} "
        f"to turn {last}"
    )
    if result["largest"] is not None and result["largest"] > 0:
        words += f"; the largest loss is {result['largest']:.2f} points, of {rows[0]['model']}"
    points = [{**row, "low": _end(row, 0), "high": _end(row, 1)} for row in rows if row["points"] is not None]
    title = f"Change of TurnCorr from turn {first} to turn {last}, points"
    return Section(
        f"Turn {first} to turn {last}",
        f"{words}. A dialogue corrected at one turn is more likely to be corrected at the other, and the interval "
        f"takes that into account. Labels: {result['label']}.{inputs.few(result['images'])}",
        [
            Column("model", "Model"),
            Column("first", f"TurnCorr@{first}", "rate"),
            Column("last", f"TurnCorr@{last}", "rate"),
            Column("points", "Change, points", "points"),
            Column("points_interval", "95 % interval", "interval", 2),
            Column("loses", f"Loses more than {loss:g}"),
            Column("n", "n", "count"),
        ],
        rows,
        charts.changes(points, title=title, threshold=loss) if points else None,
    )


def _end(row: dict[str, Any], at: int) -> float | None:
    return row["points_interval"][at] if row["points_interval"] else None


def _kept(result: Result) -> Section:
    rows = sorted(result["patterns"], key=lambda row: (row["always"] is None, -(row["always"] or 0.0)))
    known = [row for row in rows if row["n"]]
    shares = [
        {"model": row["model"], "pattern": name, "share": row[name], "n": row["n"]}
        for row in known
        for name in PATTERNS
    ]
    left_out = sum(row["left_out"] for row in rows)
    words = (
        "What becomes of each dialogue over its false-premise turns. Always: corrected at every one; never: at none; "
        "stops: from the first on, then no more; starts: at first not, then to the end; mixed: anything else."
    )
    if left_out:
        words += f" {left_out:,} dialogues are left out, for a label of theirs is missing."
    columns = [Column("model", "Model")]
    for name in PATTERNS:
        columns += [
            Column(name, name.capitalize(), "rate"),
            Column(f"{name}_interval", "95 % interval", "interval"),
        ]
    columns += [Column("n", "Dialogues", "count"), Column("left_out", "Left out", "count")]
    return Section("Dialogue by dialogue", words, columns, rows, charts.pattern_bars(shares) if shares else None)


KIND = Kind(
    slug="persistence",
    title="Persistence",
    question="Do models keep correcting, or do they give in as the dialogue goes on?",
    method="TurnCorr at the last false-premise turn minus that at the first, over the same images (arXiv 2609.03331), "
    "with an adjusted 95 % interval of the paired difference, clustered by image (doi:10.3102/1076998611411915). "
    "Patterns are of each detector's labels of a dialogue; under the mean, the mean of both "
    f"detectors' shares. {inputs.CLUSTERED}",
    read=read,
    run=run,
    sections=sections,
    defaults={"loss": LOSS, "label": MEAN},
    limits={"loss": (0, 100)},
    names={"label": "Labels", "loss": "Points that count as a loss"},
    choices_of=inputs.label_choices,
    random=False,
)
