"""Agreement of two raters on binary labels: the 2x2 table, raw agreement and Cohen's kappa."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

NOTHING_SHARED = "no response that both labelled"
ONE_LABEL_ONLY = "both gave one and the same label throughout, so chance agreement is complete"
NO_SPREAD = "no interval: one of the two gave one and the same label throughout, so the asymptotic error is 0"
PERFECT = "no interval: at perfect agreement the asymptotic error is 0 whatever n is"


@dataclass(frozen=True)
class Agreement:
    """How far two raters agree on detect (true: a correction).

    Attributes
    ----------
    both, first_only, second_only, neither : int
        Responses by who saw a correction.
    left_out : int
        Responses that only one of the two labelled, or none.
    agreement, first_rate, second_rate : float or None
        Share of equal labels, and each one's correction rate; None without shared responses.
    kappa, low, high : float or None
        Cohen's kappa with its interval; None where undefined.
    reason : str
        Why kappa or its interval is missing, else empty.
    """

    both: int
    first_only: int
    second_only: int
    neither: int
    left_out: int
    agreement: float | None
    first_rate: float | None
    second_rate: float | None
    kappa: float | None
    low: float | None
    high: float | None
    reason: str = ""

    @property
    def n(self) -> int:
        """Responses that both labelled."""
        return self.both + self.first_only + self.second_only + self.neither


def compare(first: Sequence[bool | None], second: Sequence[bool | None], *, level: float = 0.95) -> Agreement:
    """Agreement of two raters' labels on the same responses in the same order.

    Parameters
    ----------
    first, second : sequence of bool or None, shape (response,)
        None where the rater gave no label; such a response is left out and counted.
    level : float
        Coverage of kappa's interval.

    Raises
    ------
    ValueError
        If the two differ in length.

    Examples
    --------
    >>> compare([True, False, None], [True, True, True]).left_out
    1
    """
    pairs = list(zip(first, second, strict=True))
    shared = [pair for pair in pairs if None not in pair]
    counts = [shared.count(pair) for pair in ((True, True), (True, False), (False, True), (False, False))]
    return from_table(counts[:2], counts[2:], left_out=len(pairs) - len(shared), level=level)


def from_masks(
    first: tuple[ArrayLike, ArrayLike],
    second: tuple[ArrayLike, ArrayLike],
    window: int,
    *,
    planned: ArrayLike | None = None,
    level: float = 0.95,
) -> Agreement:
    """Agreement of two detectors from their masks over turns (see `patterns`).

    Parameters
    ----------
    first, second : pair of array_like of int
        (labelled, correction) masks of the same items.
    window : int
        Mask of the turns to compare.
    planned : array_like of int, optional
        Masks of the responses there are; by default those that either detector labelled.
    level : float
        Coverage of kappa's interval.
    """
    labelled_1, correction_1, labelled_2, correction_2 = (
        np.asarray(masks, dtype=np.int64) & window for masks in (*first, *second)
    )
    shared = labelled_1 & labelled_2
    there = np.asarray(labelled_1 | labelled_2 if planned is None else planned, dtype=np.int64) & window
    return from_table(
        (_bits(shared & correction_1 & correction_2), _bits(shared & correction_1 & ~correction_2)),
        (_bits(shared & ~correction_1 & correction_2), _bits(shared & ~(correction_1 | correction_2))),
        left_out=_bits(there & ~shared),
        level=level,
    )


def from_table(
    first_true: Sequence[int], first_false: Sequence[int], *, left_out: int = 0, level: float = 0.95
) -> Agreement:
    r"""Agreement from the 2x2 table of counts.

    With p the shares of the table, agreement is :math:`p_o = p_{11} + p_{22}`, chance agreement
    :math:`p_e = \sum_i p_{i.} p_{.i}`, and kappa :math:`(p_o - p_e) / (1 - p_e)`. It is undefined
    where :math:`p_e = 1`: both raters gave one and the same label throughout.

    Parameters
    ----------
    first_true, first_false : pair of int
        Counts where the first rater said true, false; in each, (second said true, second said false).
    left_out : int
        Responses that are not in the table.
    level : float
        Coverage of the interval, kappa +- z SE, kept within [-1, 1].

    References
    ----------
    Cohen 1960, doi:10.1177/001316446002000104.
    Fleiss, Cohen & Everitt 1969, doi:10.1037/h0028106 (standard error).

    Examples
    --------
    >>> f"{from_table([20, 5], [10, 15]).kappa:.4f}"
    '0.4000'
    """
    (a, b), (c, d) = first_true, first_false
    n = a + b + c + d
    if n == 0:
        return Agreement(a, b, c, d, left_out, None, None, None, None, None, None, NOTHING_SHARED)
    shares = (a + d) / n, (a + b) / n, (a + c) / n
    by_chance = (a + b) * (a + c) + (c + d) * (b + d)  # n squared times p_e, exact
    if by_chance == n * n:
        return Agreement(a, b, c, d, left_out, *shares, None, None, None, ONE_LABEL_ONLY)
    kappa = (n * (a + d) - by_chance) / (n * n - by_chance)
    if a + d == n:
        return Agreement(a, b, c, d, left_out, *shares, kappa, None, None, PERFECT)
    if 0 in (a + b, c + d, a + c, b + d):
        return Agreement(a, b, c, d, left_out, *shares, kappa, None, None, NO_SPREAD)
    reach = NormalDist().inv_cdf((1 + level) / 2) * standard_error(first_true, first_false)
    return Agreement(a, b, c, d, left_out, *shares, kappa, max(kappa - reach, -1.0), min(kappa + reach, 1.0))


def standard_error(first_true: Sequence[int], first_false: Sequence[int]) -> float:
    r"""Asymptotic standard error of kappa for a table where kappa is defined.

    .. math::
        \frac{1}{n (1 - p_e)^4} \Big\{ \sum_i p_{ii} [(1 - p_e) - (p_{i.} + p_{.i})(1 - p_o)]^2
        + (1 - p_o)^2 \sum_{i \ne j} p_{ij} (p_{.i} + p_{j.})^2 - (p_o p_e - 2 p_e + p_o)^2 \Big\}

    is the variance (Fleiss, Cohen & Everitt 1969, doi:10.1037/h0028106).
    """
    counts: NDArray[np.float64] = np.array([first_true, first_false], dtype=np.float64)
    p = counts / counts.sum()
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    observed, chance = float(np.trace(p)), float(rows @ columns)
    diagonal = sum(p[i, i] * ((1 - chance) - (rows[i] + columns[i]) * (1 - observed)) ** 2 for i in range(2))
    off = sum(p[i, 1 - i] * (columns[i] + rows[1 - i]) ** 2 for i in range(2)) * (1 - observed) ** 2
    variance = float(diagonal + off) - (observed * chance - 2 * chance + observed) ** 2
    return sqrt(max(variance, 0.0) / counts.sum()) / (1 - chance) ** 2


def _bits(masks: NDArray[np.int64]) -> int:
    return int(np.bitwise_count(masks).sum())
