"""Agreement of more than two raters, and of changing ones: Fleiss' kappa and Krippendorff's alpha."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmark.statistics.agreement import ONE_LABEL_ONLY, PERFECT, Coefficient, Labels
from benchmark.statistics.bootstrap import ONE_IMAGE, by_cluster, percentiles, resample
from benchmark.statistics.coefficients import over

TOO_FEW = "no response with the labels that it takes"

Values = NDArray[np.float64]
Images = NDArray[np.generic] | None
Formula = Callable[[Values], Values]


@dataclass(frozen=True)
class Many:
    """How far several raters agree on detect.

    Attributes
    ----------
    wanted : int
        Labels a response must have for Fleiss' kappa.
    n : int
        Responses with exactly that many, which Fleiss' kappa rests on.
    same, split : int
        Of the responses with two labels or more, those whose labels are all alike, and the others.
    short, other : int
        Responses with fewer than two labels, in neither coefficient; and those with two or more but not `wanted`,
        which alpha takes and Fleiss' kappa leaves out.
    fleiss, alpha : Coefficient
        With bootstrap intervals by image; alpha rests on `same + split` responses.
    """

    wanted: int
    n: int
    same: int
    split: int
    short: int
    other: int
    fleiss: Coefficient
    alpha: Coefficient

    @property
    def paired(self) -> int:
        """Responses with two labels or more."""
        return self.same + self.split


def many(labels: Labels, clusters: NDArray[np.generic], *, wanted: int, bootstrap: bool = True) -> Many:
    r"""Fleiss' kappa and Krippendorff's alpha (nominal) of binary labels.

    With :math:`m_i` labels on response i, :math:`t_i` of them true and :math:`f_i` false:

    - Fleiss' kappa over the N responses with :math:`m_i = w`: :math:`(\bar P - P_e) / (1 - P_e)`,
      :math:`\bar P = \sum_i [t_i (t_i - 1) + f_i (f_i - 1)] / (N w (w - 1))`,
      :math:`P_e = p^2 + (1 - p)^2`, p the share of true labels;
    - alpha over the responses with :math:`m_i \ge 2`, missing labels and all:
      :math:`1 - (M - 1) \sum_i \frac{t_i f_i}{m_i - 1} / (T F)`, with T true and F false labels among M.

    Both are undefined where all labels are one and the same.

    Parameters
    ----------
    labels : ndarray of int8, shape (rater, response)
        1, 0, and -1 where there is none. Which rater gave a label does not matter.
    clusters : ndarray, shape (response,)
        The image of each response.
    wanted : int
        w above, at least 2.
    bootstrap : bool
        Without it there are no intervals.

    References
    ----------
    Fleiss 1971, doi:10.1037/h0031619. Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.

    Examples
    --------
    >>> rows = np.array([[1, 0, 1], [1, 0, 0], [1, 0, -1]], dtype=np.int8)
    >>> many(rows, np.arange(3), wanted=3).fleiss.value
    1.0
    """
    true = (labels == 1).sum(axis=0).astype(np.float64)
    false = (labels == 0).sum(axis=0).astype(np.float64)
    given = true + false
    full, paired = given == wanted, given >= 2
    same = paired & ((true == 0) | (false == 0))
    return Many(
        wanted=wanted,
        n=int(full.sum()),
        same=int(same.sum()),
        split=int((paired & ~same).sum()),
        short=int((~paired).sum()),
        other=int((paired & ~full).sum()),
        fleiss=_fleiss(true[full], wanted, clusters[full] if bootstrap else None),
        alpha=_alpha(true[paired], false[paired], clusters[paired] if bootstrap else None),
    )


def _fleiss(true: Values, wanted: int, clusters: Images) -> Coefficient:
    agreeing = true * (true - 1) + (wanted - true) * (wanted - true - 1)
    rows = np.stack([np.ones_like(true), true, agreeing], axis=-1)

    def kappa(sums: Values) -> Values:
        n, trues, pairs = np.moveaxis(sums, -1, 0)
        falses = n * wanted - trues
        apart = 2 * trues * falses  # (n w)^2 times 1 - P_e
        observed = pairs * n * wanted / (wanted - 1)  # (n w)^2 times P
        return over(observed - (n * wanted) ** 2 + apart, apart)

    return _estimated(rows, clusters, kappa)


def _alpha(true: Values, false: Values, clusters: Images) -> Coefficient:
    rows = np.stack([true, false, true * false / (true + false - 1)], axis=-1)

    def alpha(sums: Values) -> Values:
        trues, falses, apart = np.moveaxis(sums, -1, 0)
        return over(trues * falses - (trues + falses - 1) * apart, trues * falses)

    return _estimated(rows, clusters, alpha)


def _estimated(rows: Values, clusters: Images, of: Formula) -> Coefficient:
    """A coefficient of the rows' sum, with its bootstrap interval by cluster."""
    if not len(rows):
        return Coefficient(None, reason=TOO_FEW)
    value = float(of(rows.sum(axis=0)))
    if np.isnan(value):
        return Coefficient(None, reason=ONE_LABEL_ONLY)
    if value == 1:
        return Coefficient(value, reason=PERFECT)
    if clusters is None:
        return Coefficient(value)
    added = by_cluster(rows, clusters)
    if len(added) < 2:
        return Coefficient(value, reason=ONE_IMAGE)
    low, high, reason = percentiles(of(resample(added)))
    return Coefficient(value, low, high, reason=reason)
