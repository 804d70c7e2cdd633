"""Coefficients compared with scikit-learn, statsmodels, irrCAC and krippendorff on a thousand random tables."""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmark.statistics.agreement_many import many
from benchmark.statistics.coefficients import ac1_error, coefficients, kappa_error

TABLES = 1_000
RECORDED = Path(__file__).resolve().parents[2] / "data" / "irrcac.csv"


def tables() -> Iterator[list[int]]:
    """Small and large, balanced and lopsided, some with empty cells."""
    rng = np.random.default_rng(4711)
    for _ in range(TABLES):
        n = int(rng.choice([3, 10, 40, 360, 5000]))
        yield rng.multinomial(n, rng.dirichlet([0.6] * 4)).tolist()


def test_kappa_is_scikit_learns() -> None:
    from sklearn import config_context
    from sklearn.metrics import cohen_kappa_score

    given = list(tables())
    undefined = 0
    for table, mine in zip(given, coefficients(given).kappa, strict=True):
        if np.isnan(mine):
            undefined += 1
            assert sum(table) in (table[0], table[3])
            continue
        with config_context(assume_finite=True, skip_parameter_validation=True):
            theirs = cohen_kappa_score([1, 1, 0, 0], [1, 0, 1, 0], sample_weight=table)
        assert mine == pytest.approx(theirs, abs=1e-9)
    assert undefined < TABLES / 10


def test_kappa_and_its_error_are_statsmodels() -> None:
    from statsmodels.stats.inter_rater import cohens_kappa

    given = list(tables())
    for table, mine in zip(given, coefficients(given).kappa, strict=True):
        if np.isnan(mine):
            continue
        with np.errstate(invalid="ignore"):  # it divides by an error of 0 for a test that is not asked for
            theirs = cohens_kappa(np.reshape(table, (2, 2)))
        assert mine == pytest.approx(theirs.kappa, abs=1e-9)
        assert kappa_error(table) ** 2 == pytest.approx(max(theirs.var_kappa, 0), abs=1e-9)


def test_ac1_its_error_pabak_and_alpha_are_irrcacs() -> None:
    """irrCAC needs older pandas and SciPy than this project: tests/data/irrcac.py recorded what it says."""
    with RECORDED.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == TABLES
    given = np.array([[int(row[name]) for name in "abcd"] for row in rows])
    mine = coefficients(given)
    for name, values in (("ac1", mine.ac1), ("pabak", mine.pabak), ("kappa", mine.kappa)):
        assert values == pytest.approx([float(row[name]) for row in rows], abs=1e-9)
    for table, row in zip(given, rows, strict=True):
        assert ac1_error(table) == pytest.approx(float(row["ac1_se"]), abs=1e-9)
        labels = np.repeat(np.array([[1, 1, 0, 0], [1, 0, 1, 0]], dtype=np.int8), table, axis=1)
        found = many(labels, np.arange(labels.shape[1]), wanted=2, bootstrap=False)
        assert found.alpha.value == pytest.approx(float(row["alpha"]), abs=1e-9)


def ratings() -> Iterator[np.ndarray]:
    """Labels of three to five raters on up to forty answers; -1 where there is none."""
    rng = np.random.default_rng(1812)
    for _ in range(TABLES):
        shape = int(rng.integers(3, 6)), int(rng.integers(2, 40))
        truth = rng.random(shape[1]) < rng.random()
        labels = np.where(rng.random(shape) < 0.15, ~truth, truth).astype(np.int8)
        labels[rng.random(shape) < 0.1] = -1
        yield labels


def test_fleiss_kappa_is_statsmodels() -> None:
    from statsmodels.stats.inter_rater import fleiss_kappa

    compared = 0
    for labels in ratings():
        full = labels[:, (labels >= 0).all(axis=0)]
        mine = many(labels, np.arange(labels.shape[1]), wanted=len(labels), bootstrap=False)
        assert mine.n == full.shape[1]
        if mine.fleiss.value is None:
            assert full.size == 0 or len(np.unique(full)) == 1
            continue
        counts = np.stack([(full == 0).sum(axis=0), (full == 1).sum(axis=0)], axis=-1)
        assert mine.fleiss.value == pytest.approx(fleiss_kappa(counts), abs=1e-9)
        compared += 1
    assert compared > TABLES / 2


def test_alpha_is_krippendorffs() -> None:
    import krippendorff

    compared = 0
    for labels in ratings():
        mine = many(labels, np.arange(labels.shape[1]), wanted=len(labels), bootstrap=False).alpha.value
        paired = labels[:, (labels >= 0).sum(axis=0) >= 2]
        if mine is None:
            assert len(np.unique(paired[paired >= 0])) < 2
            continue
        known = np.where(labels < 0, np.nan, labels)
        theirs = krippendorff.alpha(reliability_data=known, level_of_measurement="nominal")
        assert mine == pytest.approx(theirs, abs=1e-9)
        compared += 1
    assert compared > TABLES / 2
