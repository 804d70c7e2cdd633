"""How far does the same model, run again over the same dataset, say the same?"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark import frames
from benchmark.analyses import inputs
from benchmark.analyses.inputs import MEAN, estimate
from benchmark.analyses.kinds import Column, Kind, Parameters, Result, Section
from benchmark.charts import analyses as charts
from benchmark.frames_patterns import pattern_arrays
from benchmark.models import Pattern, ResultSet, Run
from benchmark.models.runs import RunState
from benchmark.services import patterns
from benchmark.statistics.changes import change
from benchmark.statistics.patterns import ItemCounts, by_image, mean_item_counts, single_windows, window
from benchmark.statistics.rates import Estimate, rates
from fpco_site.errors import Invalid

RATES = ("corr_tp", "corr_fp")


@dataclass(frozen=True)
class Inputs:
    """Masks of all runs of the models that were run more than once; `labelled` has shape (run, detector, item).

    `models` are names and `runs` numbers, one for each run; runs of one model stand side by side.
    """

    models: list[str]
    runs: list[int]
    detectors: list[str]
    images: NDArray[np.int64]
    labelled: NDArray[np.int64]
    correction: NDArray[np.int64]
    false_turns: list[int]
    true_turns: list[int]


def read(result_set: ResultSet, parameters: Parameters) -> Inputs:
    found = frames.masks(result_set)
    if not found.detectors:
        raise Invalid("Nothing can be compared before a detector was asked about these answers.")
    held = [row.detector_id for row in result_set.detectors.order_by("position")]
    slugs = [row.slug for row in found.detectors]
    label = parameters["label"]
    chosen = found.primary if label == MEAN else [slugs.index(label)]
    runs = _repeated(result_set, [held[at] for at in chosen])
    if not runs:
        name = result_set.dataset.name
        raise Invalid(
            f"No model was run twice over {name} with answers that were labelled, so there is nothing to compare."
        )
    labelled, correction = pattern_arrays([run.pk for run in runs], [held[at] for at in chosen], found.items)
    return Inputs(
        models=[f"{run.model.name} (simulated)" if run.simulated else run.model.name for run in runs],
        runs=[run.pk for run in runs],
        detectors=[found.detectors[at].name for at in chosen],
        images=found.images,
        labelled=labelled,
        correction=correction,
        false_turns=list(found.false_turns),
        true_turns=list(found.true_turns),
    )


def _repeated(result_set: ResultSet, detectors: list[int]) -> list[Run]:
    """Runs over the dataset that hold labels of these detectors, of models that have more than one."""
    started = Run.objects.filter(dataset=result_set.dataset_id).exclude(state=RunState.DRAFT).select_related("model")
    runs = list(started.order_by("model__name", "pk"))
    patterns.refresh(runs=runs)
    labelled = set(Pattern.objects.filter(run__in=runs, detector__in=detectors).values_list("run", flat=True))
    runs = [run for run in runs if run.pk in labelled]
    models = [run.model_id for run in runs]
    return [run for run in runs if models.count(run.model_id) > 1]


def run(found: Inputs, parameters: Parameters, rng: np.random.Generator) -> Result:
    pairs = [
        _pair(found, first, second)
        for first, second in combinations(range(len(found.runs)), 2)
        if found.models[first] == found.models[second]
    ]
    return {
        "detectors": found.detectors,
        "k_tp": found.false_turns[-1],
        "k_fp": found.true_turns[-1] if found.true_turns else None,
        "images": len(np.unique(found.images)),
        "pairs": pairs,
    }


def _pair(found: Inputs, first: int, second: int) -> dict[str, Any]:
    turns = sorted([*found.true_turns, *found.false_turns])
    same = _same(found, first, second, single_windows(turns))
    by_turn = rates(same)
    overall = rates(_summed(same)).at()
    return {
        "model": found.models[first],
        "first_run": found.runs[first],
        "second_run": found.runs[second],
        **estimate("same", overall),
        "turns": [{"turn": turn, **_ends(by_turn.at(at))} for at, turn in enumerate(turns)],
        "rates": [_difference(found, first, second, name) for name in RATES if name == "corr_tp" or found.true_turns],
        "reason": overall.reason,
    }


def _same(found: Inputs, first: int, second: int, windows: list[int]) -> ItemCounts:
    """Answers that both runs have labelled, and those of them that got the same label; the mean over detectors."""
    both = found.labelled[first] & found.labelled[second]
    alike = both & ~(found.correction[first] ^ found.correction[second])
    detectors = range(len(found.detectors))
    counts = mean_item_counts([both[one] for one in detectors], [alike[one] for one in detectors], windows)
    return by_image(counts, found.images)


def _summed(counts: ItemCounts) -> ItemCounts:
    return ItemCounts(counts.n.sum(axis=0), counts.corrections.sum(axis=0))


def _ends(found: Estimate) -> dict[str, Any]:
    return {"value": found.value, "low": found.low, "high": found.high, "n": found.n, "reason": found.reason}


def _difference(found: Inputs, first: int, second: int, name: str) -> dict[str, Any]:
    turns = found.false_turns if name == "corr_tp" else found.true_turns
    moved = change(_counts(found, first, turns), _counts(found, second, turns))
    points = None if moved.value is None else 100 * moved.value
    return {
        "rate": name,
        "first": moved.first,
        "first_n": moved.first_n,
        "second": moved.second,
        "second_n": moved.second_n,
        "points": points,
        "points_interval": None if moved.low is None or moved.high is None else [100 * moved.low, 100 * moved.high],
        "reason": moved.reason,
    }


def _counts(found: Inputs, run: int, turns: list[int]) -> ItemCounts:
    detectors = range(len(found.detectors))
    labelled, correction = found.labelled[run], found.correction[run]
    counts = by_image(
        mean_item_counts([labelled[one] for one in detectors], [correction[one] for one in detectors], [window(turns)]),
        found.images,
    )
    return inputs.one(counts, 0)


def sections(result: Result) -> list[Section]:
    return [_rates(result), _agreement(result)]


def _rates(result: Result) -> Section:
    names = {"corr_tp": f"CorrTP@{result['k_tp']}", "corr_fp": f"CorrFP@{result['k_fp']}"}
    rows = [
        {
            "model": pair["model"],
            "runs": f"{pair['first_run']} and {pair['second_run']}",
            **row,
            "rate": names[row["rate"]],
        }
        for pair in result["pairs"]
        for row in pair["rates"]
    ]
    told = [
        row
        for row in rows
        if row["points_interval"] and not row["points_interval"][0] <= 0 <= row["points_interval"][1]
    ]
    words = (
        f"{len(told)} of {len(rows)} differences have an interval that leaves out nought."
        if told
        else "No difference of rates is larger than which images were asked about could make it."
    )
    largest = max((abs(row["points"]) for row in rows if row["points"] is not None), default=None)
    if largest is not None:
        words += f" The largest is {largest:.2f} points."
    words += inputs.few(result["images"])
    columns = [
        Column("model", "Model"),
        Column("runs", "Runs"),
        Column("rate", "Rate"),
        Column("first", "First run", "rate"),
        Column("first_n", "n", "count"),
        Column("second", "Second run", "rate"),
        Column("second_n", "n", "count"),
        Column("points", "Difference, points", "points"),
        Column("points_interval", "95 % interval", "interval", 2),
    ]
    return Section("Rates of both runs", words, columns, rows)


def _agreement(result: Result) -> Section:
    rows = [
        {"model": pair["model"], "runs": f"{pair['first_run']} and {pair['second_run']}", **_turns(pair)}
        for pair in result["pairs"]
    ]
    points = [
        {"pair": f"{pair['model']}, runs {pair['first_run']} and {pair['second_run']}", **row}
        for pair in result["pairs"]
        for row in pair["turns"]
        if row["value"] is not None
    ]
    told = "; ".join(
        f"{pair['model']}, runs {pair['first_run']} and {pair['second_run']}: "
        + ("undefined" if pair["same"] is None else f"{pair['same']:.3f} of {pair['same_n']:,} answers")
        for pair in result["pairs"]
    )
    turns = [row["turn"] for row in result["pairs"][0]["turns"]]
    columns = [
        Column("model", "Model"),
        Column("runs", "Runs"),
        Column("same", "All turns", "rate"),
        Column("same_interval", "95 % interval", "interval"),
        Column("same_n", "n", "count"),
        *(Column(f"turn_{turn}", f"Turn {turn}", "rate") for turn in turns),
    ]
    words = (
        f"Share of answers that got the same label in both runs: {told}. Labels: {' and '.join(result['detectors'])}."
    )
    figure = charts.agreement_by_turn(points) if points else None
    return Section("Agreement of labels, turn by turn", words, columns, rows, figure)


def _turns(pair: dict[str, Any]) -> dict[str, Any]:
    by_turn = {f"turn_{row['turn']}": row["value"] for row in pair["turns"]}
    return {"same": pair["same"], "same_interval": pair["same_interval"], "same_n": pair["same_n"], **by_turn} | {
        "reason": pair["reason"] or "no answer that both runs have labelled"
    }


KIND = Kind(
    slug="repeat_runs",
    title="Repeated runs",
    question="Does a model that is run again over the same dataset say the same?",
    method="Every two runs of one model over the dataset whose answers were labelled, whichever of them counts in the "
    "result set. Each run's history is its own, so answers may part from turn to turn. The difference of rates is over "
    "the same images, with an adjusted 95 % interval clustered by image (doi:10.3102/1076998611411915). "
    f"With several detectors, agreement is the mean of theirs. {inputs.CLUSTERED}",
    read=read,
    run=run,
    sections=sections,
    defaults={"label": MEAN},
    names={"label": "Labels"},
    choices_of=inputs.label_choices,
    random=False,
)
