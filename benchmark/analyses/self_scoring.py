"""Does it matter that a detector scores itself? The study's leave-one-judge-out check, and each detector alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmark.analyses import inputs
from benchmark.analyses.inputs import Labels, estimate
from benchmark.analyses.kinds import Column, Kind, Parameters, Result, Section
from benchmark.models import ResultSet
from benchmark.statistics.orders import ranks
from benchmark.statistics.rates import Estimate, Rates, rates
from fpco_site.errors import Invalid

BY_ID, NONE = "by_id", "none"
PAIR = 2
DECLARATIONS = ("first_is", "second_is")
NO_LABELS = "no answer that the detectors concerned labelled"


@dataclass(frozen=True)
class Inputs:
    """`selves` holds, for each primary detector, the positions of the models that it is, and `how` that is known."""

    labels: Labels
    selves: list[list[int]]
    how: list[str]


def read(result_set: ResultSet, parameters: Parameters) -> Inputs:
    labels = inputs.read(result_set)
    if len(labels.primary) != PAIR:
        raise Invalid("The check needs a pair of primary detectors: one scores the model that the other one is.")
    models = [row.model for row in result_set.held_runs]
    selves, how = [], []
    for detector, name in zip(result_set.primary, DECLARATIONS, strict=True):
        declared = parameters[name]
        if declared == BY_ID:
            selves.append([at for at, model in enumerate(models) if model.model_id == detector.model_id])
            how.append(f"by its model id {detector.model_id}")
        else:
            selves.append([at for at, model in enumerate(models) if model.name == declared])
            how.append("as declared")
    return Inputs(labels, selves, how)


def choices_of(result_set: ResultSet) -> dict[str, list[tuple[str, str]]]:
    names = [row.model.name for row in result_set.held_runs]
    offered = [(BY_ID, "whichever has its model id"), (NONE, "none of these models"), *((name, name) for name in names)]
    return dict.fromkeys(DECLARATIONS, offered)


def run(found: Inputs, parameters: Parameters, rng: np.random.Generator) -> Result:
    labels, windows = found.labels, [found.labels.false_window()]
    first, second = labels.primary
    mean = rates(labels.counts([first, second], windows))
    alone = [rates(labels.counts([one], windows)) for one in (first, second)]
    scored = [_scored(at, found.selves, mean, alone) for at in range(len(labels.models))]
    by_mean = [mean.at(at, 0) for at in range(len(labels.models))]
    by_one = [[one.at(at, 0) for at in range(len(labels.models))] for one in alone]
    rank_mean, rank_scored = _ranks(by_mean), _ranks([value for value, _ in scored])
    rank_alone = [_ranks(column) for column in by_one]
    return {
        "k": labels.last,
        "detectors": [_detector(found, at) for at in range(PAIR)],
        "rows": [
            {
                "model": name,
                "family": labels.families[at],
                "by": by,
                **estimate("mean", by_mean[at]),
                "mean_rank": rank_mean[at],
                **estimate("check", value),
                "check_rank": rank_scored[at],
                **estimate("first", by_one[0][at]),
                "first_rank": rank_alone[0][at],
                **estimate("second", by_one[1][at]),
                "second_rank": rank_alone[1][at],
                "reason": NO_LABELS if None in (by_mean[at].value, value.value) else "",
            }
            for at, (name, (value, by)) in enumerate(zip(labels.models, scored, strict=True))
        ],
        "moved": _moved(rank_mean, rank_scored),
        "moved_alone": [_moved(rank_mean, column) for column in rank_alone],
    }


def _scored(at: int, selves: list[list[int]], mean: Rates, alone: list[Rates]) -> tuple[Estimate, str]:
    """A model's score in the check, and which detector gave it: -1 in `selves` never, both where it is neither."""
    own = [detector for detector, models in enumerate(selves) if at in models]
    if len(own) == PAIR:
        return Estimate(None, None, None, 0, 0.0, "it is both detectors"), "nobody"
    if not own:
        return mean.at(at, 0), "mean"
    other = 1 - own[0]
    return alone[other].at(at, 0), ("first", "second")[other]


def _detector(found: Inputs, at: int) -> dict[str, Any]:
    labels, position = found.labels, found.labels.primary[at]
    return {
        "slug": labels.detectors[position],
        "name": labels.detector_names[position],
        "models": [labels.models[one] for one in found.selves[at]],
        "how": found.how[at],
    }


def _ranks(values: Sequence[Estimate]) -> list[int | None]:
    return ranks([found.value for found in values])


def _moved(before: Sequence[int | None], after: Sequence[int | None]) -> int:
    return sum(one != other for one, other in zip(before, after, strict=True))


def sections(result: Result) -> list[Section]:
    return [_check(result), _alone(result)]


def _check(result: Result) -> Section:
    names = {"first": result["detectors"][0]["name"], "second": result["detectors"][1]["name"]}
    rows = [
        {
            **row,
            "by": {"mean": "mean of both", "nobody": "nobody", **{k: f"{v} alone" for k, v in names.items()}}[
                row["by"]
            ],
        }
        for row in _by_rank(result, "mean_rank")
    ]
    return Section(
        "No detector scores itself",
        f"{_who(result)} {_outcome(result)}",
        [
            Column("model", "Model"),
            Column("mean", f"CorrTP@{result['k']}, mean", "rate", 4),
            Column("mean_interval", "95 % interval", "interval", 4),
            Column("mean_rank", "Rank", "count"),
            Column("by", "In the check scored by"),
            Column("check", "Score in the check", "rate", 4),
            Column("check_interval", "95 % interval", "interval", 4),
            Column("check_rank", "Rank in the check", "count"),
            Column("check_n", "n", "count"),
        ],
        rows,
    )


def _who(result: Result) -> str:
    lines = []
    for row in result["detectors"]:
        if row["models"]:
            lines.append(f"{row['name']} is the model {' and '.join(row['models'])} ({row['how']}).")
        elif row["how"] == "as declared":
            lines.append(f"{row['name']} is none of these models, as declared.")
        else:
            lines.append(f"No model here is {row['name']} ({row['how']}); if one is, declare it and run this again.")
    return " ".join(lines)


def _outcome(result: Result) -> str:
    if not any(row["models"] for row in result["detectors"]):
        return "So no model's score changes."
    changed = [row for row in result["rows"] if row["by"] in ("first", "second")]
    told = "; ".join(
        f"{row['model']} goes from {_number(row['mean'])} to {_number(row['check'])}, "
        f"{_ranked(row['mean_rank'], row['check_rank'])}"
        for row in changed
    )
    moved = result["moved"]
    kept = "The ranking of all models is unchanged." if not moved else f"{moved} models change rank."
    return f"Scored by the other detector alone: {told}. All other models keep the mean of both. {kept}"


def _ranked(before: int | None, after: int | None) -> str:
    if before == after:
        return f"rank {_number(before)} both times"
    return f"rank {_number(before)} before and {_number(after)} after"


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)


def _alone(result: Result) -> Section:
    first, second = (row["name"] for row in result["detectors"])
    moved = result["moved_alone"]
    return Section(
        "Every model under each detector alone",
        f"Another question: what if one detector scored every model? Against the ranking by the mean, {moved[0]} "
        f"models change rank under {first} alone and {moved[1]} under {second} alone.",
        [
            Column("model", "Model"),
            Column("mean_rank", "Rank by the mean", "count"),
            Column("first", f"{first} alone", "rate", 4),
            Column("first_interval", "95 % interval", "interval", 4),
            Column("first_rank", "Rank", "count"),
            Column("second", f"{second} alone", "rate", 4),
            Column("second_interval", "95 % interval", "interval", 4),
            Column("second_rank", "Rank", "count"),
        ],
        _by_rank(result, "mean_rank"),
    )


def _by_rank(result: Result, key: str) -> list[dict[str, Any]]:
    return sorted(result["rows"], key=lambda row: (row[key] is None, row[key] or 0, row["model"]))


KIND = Kind(
    slug="self_scoring",
    title="Self-scoring check",
    question="Do the ranks hold when no detector scores the model that it is itself?",
    method="Leave one judge out, as the study does (arXiv 2609.03331): each model that is a detector is scored by the "
    "other detector alone, all others keep the mean of both; CorrTP at the last cutoff. A detector is a model here "
    f"where both have the same model id, or where that is declared. {inputs.CLUSTERED}",
    read=read,
    run=run,
    sections=sections,
    defaults=dict.fromkeys(DECLARATIONS, BY_ID),
    names={"first_is": "The first detector is", "second_is": "The second detector is"},
    choices_of=choices_of,
    random=False,
)
