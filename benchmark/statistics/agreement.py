"""Agreement of two raters on binary labels: the 2x2 table and what it says, with intervals and reasons."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmark.statistics.bootstrap import ONE_IMAGE, Limits, by_cluster, percentiles, resample
from benchmark.statistics.coefficients import ac1_error, coefficients, kappa_error
from benchmark.statistics.patterns import ItemCounts
from benchmark.statistics.rates import rates

NOTHING_SHARED = "no response that both labelled"
ONE_LABEL_ONLY = "both gave one and the same label throughout, so chance agreement is complete"
NO_SPREAD = "no interval: one of the two gave one and the same label throughout, so it can't vary"
PERFECT = "no interval: at perfect agreement no resample can differ, whatever n is"
NO_CORRECTION = "neither saw a correction"
NO_COOPERATION = "both saw a correction throughout"

Labels = NDArray[np.int8]
Tables = NDArray[np.int64]


@dataclass(frozen=True)
class Coefficient:
    """A coefficient with its intervals; None where undefined.

    Attributes
    ----------
    value : float or None
    low, high : float or None
        The interval that respects the clustering of responses by image.
    asymptotic_low, asymptotic_high : float or None
        The textbook interval; only where responses are independent (one an image).
    reason : str
        Why the value or its interval is missing, else empty.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    asymptotic_low: float | None = None
    asymptotic_high: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class LeftOut:
    """Responses that are not in a table, by whose label is missing."""

    first_missing: int = 0
    second_missing: int = 0
    both_missing: int = 0

    @property
    def n(self) -> int:
        return self.first_missing + self.second_missing + self.both_missing


@dataclass(frozen=True)
class Agreement:
    """How far two raters agree on detect (true: a correction).

    Attributes
    ----------
    both, first_only, second_only, neither : int
        Responses by who saw a correction.
    left_out : LeftOut
        Responses that only one of the two labelled, or none.
    clusters : int
        Images that the responses are of.
    independent : bool
        Whether each image has one response.
    first_rate, second_rate, prevalence, bias : float or None
        Each one's correction rate; prevalence and bias index, absolute; None without shared responses.
    agreement, pabak : Coefficient
        Wilson's interval at the effective sample size (`rates.rates`).
    kappa, ac1, positive, negative : Coefficient
        Bootstrap by image (`bootstrap`), for kappa and AC1 the asymptotic interval beside it.
    """

    both: int
    first_only: int
    second_only: int
    neither: int
    left_out: LeftOut
    clusters: int
    independent: bool
    first_rate: float | None
    second_rate: float | None
    prevalence: float | None
    bias: float | None
    agreement: Coefficient
    pabak: Coefficient
    kappa: Coefficient
    ac1: Coefficient
    positive: Coefficient
    negative: Coefficient

    @property
    def n(self) -> int:
        """Responses that both labelled."""
        return self.both + self.first_only + self.second_only + self.neither

    @property
    def differ(self) -> int:
        """Responses on which they disagree."""
        return self.first_only + self.second_only


def codes(labels: Sequence[bool | None]) -> Labels:
    """Labels as 1, 0 and -1 where there is none."""
    return np.array([-1 if label is None else int(label) for label in labels], dtype=np.int8)


def compare(
    first: Sequence[bool | None], second: Sequence[bool | None], *, clusters: ArrayLike | None = None
) -> Agreement:
    """Agreement of two raters' labels on the same responses in the same order.

    Parameters
    ----------
    first, second : sequence of bool or None, shape (response,)
        None where the rater gave no label; such a response is left out and counted.
    clusters : array_like, shape (response,), optional
        The image of each response; by default each has one of its own.

    Raises
    ------
    ValueError
        If the two differ in length.

    Examples
    --------
    >>> compare([True, False, None], [True, True, True]).left_out.first_missing
    1
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} labels can't be compared with {len(second)}.")
    of = np.arange(len(first)) if clusters is None else np.asarray(clusters)
    return from_labels(codes(first), codes(second), of)


def from_labels(first: Labels, second: Labels, clusters: NDArray[np.generic], *, bootstrap: bool = True) -> Agreement:
    """The same from codes (`codes`), with the cluster of each response."""
    shared = (first >= 0) & (second >= 0)
    cell = 2 * (1 - first[shared].astype(np.int64)) + (1 - second[shared].astype(np.int64))
    names, of = np.unique(clusters[shared], return_inverse=True)
    tables = np.bincount(4 * of + cell, minlength=4 * len(names)).reshape(-1, 4)
    left_out = LeftOut(
        first_missing=int(((first < 0) & (second >= 0)).sum()),
        second_missing=int(((first >= 0) & (second < 0)).sum()),
        both_missing=int(((first < 0) & (second < 0)).sum()),
    )
    return from_clusters(tables, left_out=left_out, bootstrap=bootstrap)


def from_masks(
    first: tuple[ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike],
    window: int,
    *,
    planned: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    bootstrap: bool = True,
) -> Agreement:
    """Agreement of two detectors from their masks over turns (see `patterns`).

    Parameters
    ----------
    first, second : pair of array_like of int, shape (..., item)
        (labelled, correction) masks of the same dialogues.
    window : int
        Mask of the turns to compare.
    planned : array_like of int, optional
        Masks of the responses there are; by default those that either detector labelled.
    clusters : array_like of int, shape (item,), optional
        The image of each item; by default each has one of its own.
    """
    labelled_1, correction_1, labelled_2, correction_2 = (
        np.asarray(masks, dtype=np.int64) & window for masks in (*first, *second)
    )
    shared = labelled_1 & labelled_2
    there = np.asarray(labelled_1 | labelled_2 if planned is None else planned, dtype=np.int64) & window
    cells = (
        shared & correction_1 & correction_2,
        shared & correction_1 & ~correction_2,
        shared & ~correction_1 & correction_2,
        shared & ~(correction_1 | correction_2),
    )
    by_item = np.stack([_bits_by_item(cell) for cell in cells], axis=-1)
    left_out = LeftOut(
        first_missing=_bits(there & labelled_2 & ~labelled_1),
        second_missing=_bits(there & labelled_1 & ~labelled_2),
        both_missing=_bits(there & ~(labelled_1 | labelled_2)),
    )
    tables = by_item if clusters is None else by_cluster(by_item, np.asarray(clusters))
    return from_clusters(tables, left_out=left_out, bootstrap=bootstrap)


def from_table(first_true: Sequence[int], first_false: Sequence[int]) -> Agreement:
    """Agreement from the 2x2 table of independent responses; asymptotic intervals alone.

    Parameters
    ----------
    first_true, first_false : pair of int
        Counts where the first rater said true, false; in each, (second said true, second said false).

    Examples
    --------
    >>> f"{from_table([20, 5], [10, 15]).kappa.value:.4f}"
    '0.4000'
    """
    cells: Tables = np.array([*first_true, *first_false], dtype=np.int64)
    return from_clusters(np.repeat(np.eye(4, dtype=np.int64), cells, axis=0), bootstrap=False)


def from_clusters(tables: Tables, *, left_out: LeftOut | None = None, bootstrap: bool = True) -> Agreement:
    """Agreement from the 2x2 table (both, first only, second only, neither) of each image.

    Parameters
    ----------
    tables : ndarray of int, shape (cluster, 4)
        In any order; an image without a shared response counts as none.
    left_out : LeftOut, optional
        Responses that are in no table.
    bootstrap : bool
        Without it, kappa, AC1, positive and negative agreement have no clustered interval.
    """
    tables = tables[tables.sum(axis=1) > 0]
    total = tables.sum(axis=0)
    a, b, c, d = (int(count) for count in total)
    n, values = a + b + c + d, coefficients(total)
    limits = _limits(tables) if bootstrap and n else {}
    independent = bool(n) and int(tables.sum(axis=1).max()) == 1

    def made(name: str, undefined: str = NOTHING_SHARED, error: float | None = None) -> Coefficient:
        value = _known(getattr(values, name))
        if value is None:
            return Coefficient(None, reason=undefined if n else NOTHING_SHARED)
        fixed = _fixed(name, a, b, c, d)
        low, high, reason = (None, None, fixed) if fixed else limits.get(name, (None, None, ""))
        if not independent or fixed or error is None:
            return Coefficient(value, low, high, reason=reason)
        return Coefficient(value, low, high, *_around(value, error), reason)

    return Agreement(
        a,
        b,
        c,
        d,
        left_out or LeftOut(),
        len(tables),
        independent,
        first_rate=(a + b) / n if n else None,
        second_rate=(a + c) / n if n else None,
        prevalence=_known(values.prevalence),
        bias=_known(values.bias),
        **_raw(tables),
        kappa=made("kappa", ONE_LABEL_ONLY, kappa_error(total) if _known(values.kappa) is not None else None),
        ac1=made("ac1", error=ac1_error(total) if n > 1 else None),
        positive=made("positive", NO_CORRECTION),
        negative=made("negative", NO_COOPERATION),
    )


def _limits(tables: Tables) -> dict[str, Limits]:
    """Bootstrap intervals; the same whichever of the two raters comes first."""
    names = ("kappa", "ac1", "positive", "negative")
    if len(tables) < 2:
        return dict.fromkeys(names, (None, None, ONE_IMAGE))
    drawn = coefficients(resample(_oriented(tables)))
    return {name: percentiles(getattr(drawn, name)) for name in names}


def _oriented(tables: Tables) -> Tables:
    """The same tables whichever rater comes first: the one that alone sees more corrections, or else by image."""
    swapped = tables[:, [0, 2, 1, 3]]
    first_only, second_only = int(tables[:, 1].sum()), int(tables[:, 2].sum())
    if first_only != second_only:
        return tables if first_only > second_only else swapped
    return max(tables, swapped, key=lambda rows: sorted(rows.tolist()))


def _raw(tables: Tables) -> dict[str, Coefficient]:
    """Raw agreement and PABAK, which is a line through it, so that their intervals are one."""
    agreed = tables[:, 0] + tables[:, 3]
    found = rates(ItemCounts(tables.sum(axis=1)[np.newaxis], agreed[np.newaxis].astype(np.float64))).at(0)
    if found.value is None or found.low is None or found.high is None:
        return dict.fromkeys(("agreement", "pabak"), Coefficient(None, reason=NOTHING_SHARED))
    return {
        "agreement": Coefficient(found.value, found.low, found.high),
        "pabak": Coefficient(2 * found.value - 1, 2 * found.low - 1, 2 * found.high - 1),
    }


def _fixed(name: str, a: int, b: int, c: int, d: int) -> str:
    """Why a coefficient can't vary over resamples of this table, so that an interval would pretend certainty."""
    if b + c == 0:
        return PERFECT
    if name == "kappa" and 0 in (a + b, c + d, a + c, b + d):
        return NO_SPREAD
    return ""


def _around(value: float, error: float) -> tuple[float, float]:
    reach = _quantile() * error
    return max(value - reach, -1.0), min(value + reach, 1.0)


@cache
def _quantile() -> float:
    return NormalDist().inv_cdf(0.975)


def _known(value: NDArray[np.float64]) -> float | None:
    return None if np.isnan(value) else float(value)


def _bits(masks: NDArray[np.int64]) -> int:
    return int(np.bitwise_count(masks).sum())


def _bits_by_item(masks: NDArray[np.int64]) -> NDArray[np.int64]:
    counts = np.bitwise_count(np.atleast_2d(masks)).astype(np.int64)
    by_item: NDArray[np.int64] = counts.reshape(-1, counts.shape[-1]).sum(axis=0)
    return by_item
