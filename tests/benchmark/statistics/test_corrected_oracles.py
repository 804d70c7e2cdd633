"""Corrected rates compared with truescore, and with what ppi-python says of recorded samples."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmark.statistics.corrected import (
    Layout,
    Sample,
    post_stratified,
    prediction_powered,
    rogan_gladen,
)

RECORDED = Path(__file__).resolve().parents[2] / "data" / "ppi_python.jsonl"
LAYOUT = Layout(np.array([0.0, 0.5, 1.0]), np.zeros(3, dtype=np.int64))
ONE = Layout(np.array([0.0, 1.0]), np.zeros(2, dtype=np.int64))
Z = 1.959964


def recorded() -> list[dict]:
    with RECORDED.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def read(case: dict) -> tuple[Sample, Sample, np.ndarray, np.ndarray]:
    """The sample without and with its weights, and the patterns of all answers and of the unlabelled ones."""
    rows = np.array([row[:3] for row in case["labelled"] for _ in range(int(row[3]))])
    patterns = (2 * rows[:, 1]).astype(np.int64)
    images = np.arange(len(rows))
    plain = Sample(rows[:, 0], patterns, np.ones(len(rows)), images)
    apart = np.repeat([int(2 * score) for score, _ in case["unlabelled"]], [int(n) for _, n in case["unlabelled"]])
    everything = np.concatenate([patterns, apart])
    kinds = np.eye(3, dtype=np.int64)
    return plain, Sample(rows[:, 0], patterns, rows[:, 2], images), kinds[everything], kinds[apart]


def test_prediction_powered_estimates_are_ppi_pythons() -> None:
    cases = recorded()
    assert len(cases) == 60
    for case in cases:
        plain, weighted, everything, apart = read(case)
        assert prediction_powered(plain, everything, LAYOUT, tuning=1.0).value == pytest.approx(
            case["plain"], abs=1e-12
        )
        assert prediction_powered(weighted, apart, LAYOUT, tuning=1.0).value == pytest.approx(
            case["weighted"], abs=1e-12
        )


def test_power_tuned_estimates_are_ppi_pythons() -> None:
    """They cut lambda where it counts the unlabelled answers alone, we where it counts all: at 1, ours is plain PPI."""
    cut = 0
    for case in recorded():
        sample, _, everything, _ = read(case)
        found = prediction_powered(sample, everything, LAYOUT)
        cut += found.tuning == 1
        assert found.value == pytest.approx(case["plain" if found.tuning == 1 else "tuned"], abs=1e-12)
    assert cut <= 6


def test_errors_are_ppi_pythons() -> None:
    """At lambda 0.7 with the unlabelled answers apart; they divide by n, we by n - 1."""
    for case in recorded():
        sample, _, _, apart = read(case)
        scores = LAYOUT.scores[sample.patterns]
        errors = [np.var(sample.truth - 0.7 * scores), 0.49 * np.var(LAYOUT.scores[apart.argmax(axis=1)])]
        theirs = sum(one / n for one, n in zip(errors, (sample.n, len(apart)), strict=True))
        assert (case["high"] - case["low"]) / 2 / Z == pytest.approx(theirs**0.5, rel=1e-6)
        mine = sum(one / (n - 1) for one, n in zip(errors, (sample.n, len(apart)), strict=True))
        assert prediction_powered(sample, apart, LAYOUT, tuning=0.7).error == pytest.approx(mine**0.5, rel=1e-9)


def made(seed: int, n: int, labelled: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A detector's labels of n answers, the truth of the first, and which these are."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < rng.uniform(0.2, 0.8)
    judge = rng.random(n) < np.where(truth, rng.uniform(0.7, 0.95), rng.uniform(0.02, 0.2))
    index = rng.choice(n, labelled, replace=False)
    return judge.astype(int), truth[index].astype(int), index


def sample_of(judge: np.ndarray, gold: np.ndarray, index: np.ndarray) -> tuple[Sample, np.ndarray]:
    sample = Sample(gold.astype(np.float64), judge[index], np.ones(len(index)), index)
    return sample, np.eye(2, dtype=np.int64)[judge]


@pytest.mark.parametrize("seed", range(20))
def test_estimates_are_truescores(seed: int) -> None:
    import truescore

    judge, gold, index = made(seed, 3000, 400)
    sample, counts = sample_of(judge, gold, index)
    theirs = truescore.ppi_estimate(judge, gold, index)
    mine = prediction_powered(sample, counts, ONE)
    assert mine.value == pytest.approx(theirs.point, abs=1e-12)
    fixed = truescore.ppi_estimate(judge, gold, index, lambda_=0.7)
    apart = counts[np.setdiff1d(np.arange(len(judge)), index)]
    assert prediction_powered(sample, apart, ONE, tuning=0.7).error == pytest.approx(fixed.standard_error, rel=1e-9)
    other = truescore.rogan_gladen_estimate(judge, gold, index)
    corrected = rogan_gladen(sample, counts, ONE)
    assert corrected.value == pytest.approx(other.point, abs=1e-12)
    assert corrected.error == pytest.approx((other.high - other.low) / 2 / Z, rel=1 / sample.truth.sum())
    # Within strata of the detector's own labels there is nothing left to power: theirs are human rates, weighted.
    names = np.where(judge == 1, "yes", "no")
    shares = {"yes": float(judge.mean()), "no": 1 - float(judge.mean())}
    strata = truescore.post_stratified_estimate(judge, gold, index, names, shares)
    assert post_stratified(sample, counts, ONE).value == pytest.approx(strata.point, abs=1e-12)


def test_errors_clustered_by_image_are_truescores() -> None:
    """Whole images are labelled or not, five answers each, which are alike."""
    import truescore

    rng = np.random.default_rng(8)
    images, index = np.repeat(np.arange(600), 5), np.arange(500)
    truth = np.repeat(rng.random(600) < 0.4, 5)
    judge = np.where(rng.random(3000) < 0.85, truth, ~truth).astype(int)
    gold = np.where(rng.random(500) < 0.95, truth[:500], ~truth[:500]).astype(int)
    theirs = truescore.ppi_estimate(judge, gold, index, lambda_=0.7, clusters=images)
    sample = Sample(gold.astype(np.float64), judge[:500], np.ones(500), images[:500])
    apart = np.eye(2, dtype=np.int64)[judge].reshape(600, 5, 2).sum(axis=1)[100:]
    mine = prediction_powered(sample, apart, ONE, tuning=0.7)
    assert mine.value == pytest.approx(theirs.point, abs=1e-12)
    assert mine.error == pytest.approx(theirs.standard_error, rel=1e-9)
    alone = truescore.ppi_estimate(judge, gold, index, lambda_=0.7)
    assert (mine.error or 0) > 1.3 * (alone.standard_error or 0)
