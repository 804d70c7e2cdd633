r"""What a 2x2 table of two raters says: formulas over many tables at once, and asymptotic errors.

A table is (a, b, c, d): both true, only the first true, only the second true, neither.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]


class Coefficients(NamedTuple):
    """Arrays of one shape; NaN where a coefficient is undefined."""

    agreement: Values
    kappa: Values
    ac1: Values
    positive: Values
    negative: Values
    prevalence: Values
    bias: Values

    @property
    def pabak(self) -> Values:
        r""":math:`2 p_o - 1` (Byrt, Bishop & Carlin 1993)."""
        return 2 * self.agreement - 1


def coefficients(tables: ArrayLike) -> Coefficients:
    r"""Every coefficient of each table.

    With n = a + b + c + d and :math:`p_o = (a + d) / n`:

    - Cohen's kappa :math:`(p_o - p_e) / (1 - p_e)`, :math:`p_e = [(a+b)(a+c) + (c+d)(b+d)] / n^2`;
      undefined where :math:`p_e = 1`: both gave one and the same label throughout;
    - Gwet's AC1 :math:`(p_o - p_e) / (1 - p_e)`, :math:`p_e = 2 \pi (1 - \pi)`,
      :math:`\pi = (2a + b + c) / 2n`;
    - positive agreement :math:`2a / (2a + b + c)`, negative :math:`2d / (2d + b + c)`;
    - prevalence index :math:`|a - d| / n`, bias index :math:`|b - c| / n`.

    Parameters
    ----------
    tables : array_like of counts, shape (..., 4)

    Returns
    -------
    Coefficients
        Arrays of shape (...).

    References
    ----------
    Cohen 1960, doi:10.1177/001316446002000104. Gwet 2008, doi:10.1348/000711006X126600.
    Cicchetti & Feinstein 1990, doi:10.1016/0895-4356(90)90159-M (positive and negative agreement).
    Byrt, Bishop & Carlin 1993, doi:10.1016/0895-4356(93)90018-V (prevalence, bias, PABAK).

    Examples
    --------
    >>> round(float(coefficients([20, 5, 10, 15]).kappa), 4)
    0.4
    """
    a, b, c, d = np.moveaxis(np.asarray(tables, dtype=np.float64), -1, 0)
    n = a + b + c + d
    by_chance = (a + b) * (a + c) + (c + d) * (b + d)  # n squared times p_e, exact in whole numbers
    true, false = 2 * a + b + c, 2 * d + b + c
    return Coefficients(
        agreement=over(a + d, n),
        kappa=over(n * (a + d) - by_chance, n * n - by_chance),
        ac1=over(2 * n * (a + d) - true * false, 2 * n * n - true * false),
        positive=over(2 * a, true),
        negative=over(2 * d, false),
        prevalence=over(abs(a - d), n),
        bias=over(abs(b - c), n),
    )


def kappa_error(table: ArrayLike) -> float:
    r"""Asymptotic standard error of Cohen's kappa over independent responses, where kappa is defined.

    .. math::
        \frac{1}{n (1 - p_e)^4} \Big\{ \sum_i p_{ii} [(1 - p_e) - (p_{i.} + p_{.i})(1 - p_o)]^2
        + (1 - p_o)^2 \sum_{i \ne j} p_{ij} (p_{.i} + p_{j.})^2 - (p_o p_e - 2 p_e + p_o)^2 \Big\}

    is the variance (Fleiss, Cohen & Everitt 1969, doi:10.1037/h0028106).
    """
    counts = np.asarray(table, dtype=np.float64).reshape(2, 2)
    p = counts / counts.sum()
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    observed, chance = float(np.trace(p)), float(rows @ columns)
    diagonal = sum(p[i, i] * ((1 - chance) - (rows[i] + columns[i]) * (1 - observed)) ** 2 for i in range(2))
    off = sum(p[i, 1 - i] * (columns[i] + rows[1 - i]) ** 2 for i in range(2)) * (1 - observed) ** 2
    variance = float(diagonal + off) - (observed * chance - 2 * chance + observed) ** 2
    return sqrt(max(variance, 0.0) / counts.sum()) / (1 - chance) ** 2


def ac1_error(table: ArrayLike) -> float:
    r"""Asymptotic standard error of Gwet's AC1 over independent responses; NaN for fewer than two.

    Each response i has a value :math:`\gamma_i = \frac{p_i - p_e}{1 - p_e} -
    2 (1 - \gamma) \frac{e_i - p_e}{1 - p_e}` with :math:`p_i` 1 where the two agree, else 0, and
    :math:`e_i` = :math:`1 - \pi` where both say true, :math:`\pi` where both say false, else 1/2; the variance
    is :math:`\sum_i (\gamma_i - \gamma)^2 / (n (n - 1))` (Gwet 2008, doi:10.1348/000711006X126600).
    """
    counts = np.asarray(table, dtype=np.float64)
    n = float(counts.sum())
    if n < 2:
        return float("nan")
    a, b, c, _ = counts
    pi = (2 * a + b + c) / (2 * n)
    chance = 2 * pi * (1 - pi)
    whole = float(coefficients(counts).ac1)
    agree, expected = np.array([1.0, 0.0, 0.0, 1.0]), np.array([1 - pi, 0.5, 0.5, pi])
    each = (agree - chance) / (1 - chance) - 2 * (1 - whole) * (expected - chance) / (1 - chance)
    return sqrt(float(counts @ (each - whole) ** 2) / (n * (n - 1)))


def over(part: Values, whole: Values) -> Values:
    """A ratio of arrays; NaN where the whole is 0."""
    undefined = np.full(np.shape(whole), np.nan)
    ratio: Values = np.divide(part, whole, out=undefined, where=whole > 0)
    return ratio
