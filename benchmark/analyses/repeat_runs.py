"""How far does the same model, run again over the same dataset, say the same?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from itertools import combinations
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import Count, Max
from numpy.typing import NDArray

from benchmark import frames
from benchmark.analyses import inputs
from benchmark.analyses.inputs import MEAN, estimate
from benchmark.analyses.kinds import Column, Kind, Parameters, Result, Section
from benchmark.charts import analyses as charts
from benchmark.frames_patterns import pattern_arrays
from benchmark.models import Pattern, Response, ResultSet, Run
from benchmark.models.runs import RunState
from benchmark.services import patterns
from benchmark.statistics.changes import change
from benchmark.statistics.patterns import ItemCounts, by_image, item_counts, mean_item_counts, single_windows, window
from benchmark.statistics.rates import Estimate, rates
from fpco_site.errors import Invalid

type Asked = tuple[tuple[int, datetime], ...]  # runs by their number, and when they were made
RATES = ("corr_tp", "corr_fp")


@dataclass(frozen=True)
class Inputs:
    """Masks of all runs of the models that were run more than once; `labelled` has shape (run, detector, item).

    `models` are names and `runs` numbers, one for each run; runs of one model stand side by side. `texts` has shape
    (run, item, turn): a number for each answer's text, the same for the same text, 0 where there is none.
    """

    models: list[str]
    runs: list[int]
    detectors: list[str]
    images: NDArray[np.int64]
    labelled: NDArray[np.int64]
    correction: NDArray[np.int64]
    texts: NDArray[np.int64]
    false_turns: list[int]
    true_turns: list[int]


def read(result_set: ResultSet, parameters: Parameters) -> Inputs:
    found = frames.masks(result_set)
    if not found.detectors:
        raise Invalid("Nothing can be compared before a detector was asked about these answers.")
    held = [row.detector_id for row in result_set.held_detectors]
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
        texts=_texts(runs, found.items, found.turns),
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


def _texts(runs: list[Run], items: Sequence[int], turns: int) -> NDArray[np.int64]:
    """What each run answered, as numbers that are the same for the same text.

    Answers never change, so their number and the newest tell one state of them from all others: this process keeps
    what it read of it. Within a transaction nothing is kept, for its rows may yet be taken back.
    """
    asked = tuple((run.pk, run.created_at) for run in runs)
    if connection.in_atomic_block:
        return _numbers(asked, tuple(items), turns)
    state = Response.objects.filter(dialogue__run__in=runs).aggregate(n=Count("pk"), newest=Max("pk"))
    return _kept_numbers(asked, tuple(items), turns, (connection.settings_dict["NAME"], *state.values()))


@lru_cache(maxsize=4)
def _kept_numbers(asked: Asked, items: tuple[int, ...], turns: int, state: tuple[Any, ...]) -> NDArray[np.int64]:
    """`_numbers` in one state of the database."""
    return _numbers(asked, items, turns)


def _numbers(asked: Asked, items: tuple[int, ...], turns: int) -> NDArray[np.int64]:
    runs = [pk for pk, _ in asked]
    numbers = np.zeros((len(runs), len(items), turns), dtype=np.int64)
    run_at, item_at = ({pk: at for at, pk in enumerate(pks)} for pks in (runs, items))
    rows = Response.objects.filter(dialogue__run__in=runs).order_by()
    for run, item, turn, text in rows.values_list("dialogue__run", "dialogue__item", "turn", "text").iterator():
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=7).digest()
        numbers[run_at[run], item_at[item], turn - 1] = 1 + int.from_bytes(digest)
    return numbers


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
    windows = single_windows(turns)
    return {
        "model": found.models[first],
        "first_run": found.runs[first],
        "second_run": found.runs[second],
        **_shares(_same_labels(found, first, second, windows), turns),
        "words": _shares(_same_words(found, first, second, windows), turns),
        "rates": [_difference(found, first, second, name) for name in RATES if name == "corr_tp" or found.true_turns],
    }


def _shares(same: ItemCounts, turns: list[int]) -> dict[str, Any]:
    """The share that is the same over all turns and at each, with intervals."""
    by_turn, overall = rates(same), rates(_summed(same)).at()
    return {
        **estimate("same", overall),
        "turns": [{"turn": turn, **_ends(by_turn.at(at))} for at, turn in enumerate(turns)],
        "reason": overall.reason,
    }


def _same_labels(found: Inputs, first: int, second: int, windows: list[int]) -> ItemCounts:
    """Answers that both runs have labelled, and those of them that got the same label; the mean over detectors."""
    both = found.labelled[first] & found.labelled[second]
    alike = both & ~(found.correction[first] ^ found.correction[second])
    detectors = range(len(found.detectors))
    counts = mean_item_counts([both[one] for one in detectors], [alike[one] for one in detectors], windows)
    return by_image(counts, found.images)


def _same_words(found: Inputs, first: int, second: int, windows: list[int]) -> ItemCounts:
    """Answers that both runs have, and those of them that are the same text, sign by sign."""
    one, other = found.texts[first], found.texts[second]
    bits = 1 << np.arange(found.texts.shape[-1], dtype=np.int64)
    both, alike = ((kept * bits).sum(axis=-1) for kept in ((one > 0) & (other > 0), (one > 0) & (one == other)))
    return by_image(item_counts(both, alike, windows), found.images)


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
        row for pair in result["pairs"] for row in (_turns(pair, "label", pair), _turns(pair, "text", pair["words"]))
    ]
    points = [
        {"pair": _name(pair), **row} for pair in result["pairs"] for row in pair["turns"] if row["value"] is not None
    ]
    turns = [row["turn"] for row in result["pairs"][0]["turns"]]
    columns = [
        Column("model", "Model"),
        Column("runs", "Runs"),
        Column("what", "The same"),
        Column("same", "All turns", "rate"),
        Column("same_interval", "95 % interval", "interval"),
        Column("same_n", "n", "count"),
        *(Column(f"turn_{turn}", f"Turn {turn}", "rate") for turn in turns),
    ]
    words = (
        f"Share of answers that got the same label in both runs: {_told(result, lambda pair: pair)}. "
        f"Labels: {' and '.join(result['detectors'])}.\n\n"
        f"Share of answers that are the same text, sign by sign: {_told(result, lambda pair: pair['words'])}."
    )
    figure = charts.agreement_by_turn(points) if points else None
    return Section("Agreement of labels and words, turn by turn", words, columns, rows, figure)


def _name(pair: dict[str, Any]) -> str:
    return f"{pair['model']}, runs {pair['first_run']} and {pair['second_run']}"


def _told(result: Result, of: Callable[[dict[str, Any]], dict[str, Any]]) -> str:
    """The share over all turns of each pair of runs, for a sentence."""
    shares = [(_name(pair), of(pair)) for pair in result["pairs"]]
    return "; ".join(
        f"{name}: {'undefined' if one['same'] is None else f'{one["same"]:.3f} of {one["same_n"]:,} answers'}"
        for name, one in shares
    )


def _turns(pair: dict[str, Any], what: str, shares: dict[str, Any]) -> dict[str, Any]:
    return {
        "model": pair["model"],
        "runs": f"{pair['first_run']} and {pair['second_run']}",
        "what": what,
        **{name: shares[name] for name in ("same", "same_interval", "same_n")},
        **{f"turn_{row['turn']}": row["value"] for row in shares["turns"]},
        "reason": shares["reason"] or f"no answer that both runs have{' labelled' if what == 'label' else ''}",
    }


KIND = Kind(
    slug="repeat_runs",
    title="Repeated runs",
    question="Does a model that is run again over the same dataset say the same?",
    method="Every two runs of one model over the dataset whose answers were labelled, whichever of them counts in the "
    "result set. Each run's history is its own, so answers may part from turn to turn. Texts are compared sign by sign "
    "wherever both runs have one. The difference of rates is over the same images, with an adjusted 95 % interval "
    "clustered by image (doi:10.3102/1076998611411915). With several detectors, agreement of labels is the mean of "
    f"theirs. {inputs.CLUSTERED}",
    read=read,
    run=run,
    sections=sections,
    defaults={"label": MEAN},
    names={"label": "Labels"},
    choices_of=inputs.label_choices,
    random=False,
    version=2,
)
