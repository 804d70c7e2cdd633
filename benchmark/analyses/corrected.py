"""What would people find? Rates corrected for the detectors' error by the human labels of a closed validation set."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark import correcting, frames_corrected
from benchmark.analyses.corrected_words import sections
from benchmark.analyses.inputs import CLASSES
from benchmark.analyses.kinds import Kind, Parameters, Result
from benchmark.correcting import METHODS, PARTIAL, POOLED, POST_STRATIFIED, PPI, PPI_TUNED, ROGAN_GLADEN
from benchmark.frames_agreement import CORRECT
from benchmark.frames_corrected import Reading, Study
from benchmark.models import ResultSet
from benchmark.statistics.corrected import (
    Corrected,
    Layout,
    Sample,
    post_stratified,
    prediction_powered,
    raw,
    rogan_gladen,
    scored,
    undefined,
)
from benchmark.statistics.corrected_groups import partially_pooled
from benchmark.statistics.rates import caution, wilson
from fpco_site.errors import Invalid

NEWEST, ADJUDICATED = "newest", "adjudicated"
NOBODY = "nobody labelled answers to turns with a correct premise, so nothing is known of how well they are judged"
OVERALL = "overall"


def read(result_set: ResultSet, parameters: Parameters) -> Study:
    sets = frames_corrected.closed_sets(result_set)
    if not sets:
        raise Invalid("No validation set of this dataset is closed yet: rates are corrected by its human labels.")
    wanted = parameters["validation_set"]
    chosen = sets[0] if wanted == NEWEST else next((row for row in sets if str(row.pk) == wanted), None)
    if chosen is None:
        raise Invalid("This validation set is not a closed one of this dataset.")
    return frames_corrected.study(chosen, truth=parameters["truth"])


def choices_of(result_set: ResultSet) -> dict[str, list[tuple[str, str]]]:
    sets = frames_corrected.closed_sets(result_set)
    return {"validation_set": [(NEWEST, "the newest closed one"), *((str(row.pk), row.label_set.name) for row in sets)]}


@dataclass(frozen=True)
class _Slice:
    """A part of the answers: its rows say whose labels each estimate rests on; `images` which rows of counts are."""

    level: str
    sample: Sample
    counts: NDArray[np.int64]
    images: NDArray[np.int64]


OWN: dict[str, Callable[[_Slice, Layout], Corrected]] = {
    POST_STRATIFIED: lambda of, layout: post_stratified(of.sample, of.counts, layout, images=of.images),
    PPI: lambda of, layout: prediction_powered(of.sample, of.counts, layout, tuning=1.0, images=of.images),
    PPI_TUNED: lambda of, layout: prediction_powered(of.sample, of.counts, layout, images=of.images),
    ROGAN_GLADEN: lambda of, layout: rogan_gladen(of.sample, of.counts, layout),
}


def run(found: Study, parameters: Parameters, rng: np.random.Generator) -> Result:
    refused = correcting.refused(found.drawn)
    layout, reading = found.layout(), found.false
    models, classes = _by_model(found, reading), _by_class(reading)
    whole = _Slice(OVERALL, reading.sample, *reading.population())
    return {
        "set": found.validation_set,
        "result_set": found.result_set,
        "truth": found.truth,
        "detectors": found.detectors,
        "simulated": found.simulated,
        "k": found.k,
        "design": found.drawn.kind,
        "named": found.named,
        "frame": found.frame,
        "refused": {method: refused[method] for method in METHODS if method in refused},
        **_basis(reading),
        "error": _error(reading.sample, layout, refused),
        "overall": _rows(whole, layout, refused),
        "classes": [row for one in classes for row in _rows(one, layout, refused)],
        "models": [
            row
            for one, family, shared in zip(
                models, found.families, _shared(reading, models, layout, refused), strict=True
            )
            for row in [{**row, "family": family} for row in [*shared, *_rows(one, layout, refused)]]
        ],
        "correct": _correct(found, refused),
    }


def _basis(reading: Reading) -> dict[str, int]:
    """What the numbers rest on, and what was left out and why."""
    return {
        "drawn": reading.drawn,
        "n": reading.sample.n,
        "images": reading.sample.clusters,
        "undecided": reading.undecided,
        "unlabelled": reading.unlabelled,
        "undetected": reading.undetected,
        "answers": int(reading.counts.sum()),
        "unseen": reading.unseen,
    }


def _by_model(found: Study, reading: Reading) -> list[_Slice]:
    names = np.arange(len(found.models))
    return [
        _Slice(name, reading.sample.only(reading.models == at), *reading.population(models=names == at))
        for at, name in enumerate(found.models)
    ]


def _by_class(reading: Reading) -> list[_Slice]:
    return [
        _Slice(name, reading.sample.only(reading.places == name), *reading.population(items=reading.classes == name))
        for name in CLASSES
    ]


def _rows(of: _Slice, layout: Layout, refused: dict[str, str]) -> list[dict[str, Any]]:
    """Each estimate by the slice's own labels."""
    uncorrected = raw(of.counts, layout)
    return [
        _row(of.level, method, undefined(refused[method], of.sample), uncorrected)
        if method in refused
        else _row(of.level, method, estimator(of, layout), uncorrected)
        for method, estimator in OWN.items()
    ]


def _shared(
    reading: Reading, models: Sequence[_Slice], layout: Layout, refused: dict[str, str]
) -> list[list[dict[str, Any]]]:
    """For each model, the estimates that rest on everybody's labels."""
    everybody = reading.sample
    if POOLED in refused or PARTIAL in refused:
        reasons = {method: refused.get(method) or refused[ROGAN_GLADEN] for method in (POOLED, PARTIAL)}
        told = [{method: undefined(reasons[method], everybody) for method in (POOLED, PARTIAL)} for _ in models]
    else:
        moved = partially_pooled(everybody, reading.models, [one.counts for one in models], layout)
        every = int(reading.counts.sum())
        told = [
            {POOLED: rogan_gladen(everybody, one.counts, layout, most=every), PARTIAL: own}
            for one, own in zip(models, moved, strict=True)
        ]
    return [
        [_row(one.level, method, estimate, raw(one.counts, layout)) for method, estimate in both.items()]
        for one, both in zip(models, told, strict=True)
    ]


def _row(level: str, method: str, found: Corrected, uncorrected: Corrected) -> dict[str, Any]:
    return {
        "level": level,
        "method": method,
        "raw": uncorrected.value,
        "raw_interval": _interval(uncorrected),
        "raw_n": uncorrected.n,
        "value": found.value,
        "interval": _interval(found),
        "n": found.n,
        "images": found.images,
        "tuning": found.tuning,
        "more": found.more,
        "more_reason": found.more_reason,
        "reason": found.reason,
        "caution": "; ".join(filter(None, [found.note, caution(found.value, found.images)])),
    }


def _interval(found: Corrected) -> list[float] | None:
    return None if found.low is None or found.high is None else [found.low, found.high]


def _error(sample: Sample, layout: Layout, refused: dict[str, str]) -> list[dict[str, Any]]:
    """Sensitivity and specificity of the detectors' mean label, weighted by the draw."""
    made = []
    for name, kept in (("sensitivity", sample.truth > 0.5), ("specificity", sample.truth < 0.5)):
        row: dict[str, Any] = {"name": name, "n": int(kept.sum()), "value": None, "interval": None}
        row |= {"reason": "", "caution": ""}
        if reason := refused.get(ROGAN_GLADEN) or ("" if kept.any() else "no such answer in the sample"):
            made.append(row | {"reason": reason})
            continue
        known = sample.only(kept)
        share = scored(known, layout)
        value = share.value if name == "sensitivity" else 1 - share.value
        low, high = (float(limit) for limit in wilson(value, share.size))
        made.append(row | {"value": value, "interval": [low, high], "caution": caution(value, known.clusters)})
    return made


def _correct(found: Study, refused: dict[str, str]) -> dict[str, Any]:
    """CorrFP over all turns with a correct premise, corrected where people labelled some of their answers."""
    if not found.correct_turns:
        return {"k": None, "reason": "the dataset has no turn with a correct premise", "rows": []}
    k = found.correct_turns[-1]
    if found.correct is None:
        return {"k": k, "reason": NOBODY, "rows": []}
    reading, layout = found.correct, found.layout(premise=CORRECT)
    whole = _Slice(OVERALL, reading.sample, *reading.population())
    return {"k": k, "reason": "", "rows": _rows(whole, layout, refused), **_basis(reading)}


KIND = Kind(
    slug="corrected",
    title="Rates corrected for detector error",
    question="What rates would people find if they labelled every answer, and how sure is that?",
    method="CorrTP at the last cutoff over all answers to false-premise turns, corrected with the human labels of a "
    "probability sample of them. Post-stratified: the human rate among answers of which the detectors say the same, "
    "each at its known share (Holt & Smith 1979, doi:10.2307/2344652). Prediction-powered: the detectors' rate plus "
    "the mean departure of people from it (doi:10.1126/science.adi6000), tuned to the least variance "
    "(arXiv:2311.01453). Rogan-Gladen: freed of sensitivity and specificity (doi:10.1093/oxfordjournals.aje.a112510). "
    "Answers are weighted by 1 / inclusion probability. Partially pooled: empirical-Bayes shrinkage of each model's "
    "departure from the error of all (Morris 1983, doi:10.1080/01621459.1983.10477920). Intervals are 95 % and "
    "clustered by image, among labelled answers, among all and between both: recovered variances (Zou & Donner 2008, "
    "doi:10.1002/sim.3095) with exact limits at the effective sample size (Korn & Graubard 1998), for Rogan-Gladen "
    "Fieller's, for partial pooling Morris's.",
    read=read,
    run=run,
    sections=sections,
    defaults={"validation_set": NEWEST, "truth": ADJUDICATED},
    choices={
        "truth": [
            (ADJUDICATED, "adjudicated: what people agree on, else what was decided"),
            ("human-1", "the first annotator's labels"),
            ("human-2", "the second annotator's labels"),
        ]
    },
    choices_of=choices_of,
    names={"validation_set": "Human labels of", "truth": "The truth is"},
    unblinded=True,
    random=False,
    version=2,
)
