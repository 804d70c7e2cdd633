"""A detector against labels that are taken as the truth: sensitivity and specificity."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmark.statistics.agreement import Labels
from benchmark.statistics.patterns import ItemCounts
from benchmark.statistics.rates import Estimate, estimate, rates


@dataclass(frozen=True)
class Accuracy:
    """How often a detector finds what the truth says.

    Attributes
    ----------
    sensitivity, specificity : Estimate
        Share of the true corrections that it labels as such; share of the others that it labels as none.
        Wilson's interval at the effective sample size, for answers of one image resemble each other.
    sensitivity_plain, specificity_plain : Estimate
        The same with Wilson's interval as if all answers were independent.
    found, left_alone : int
        True corrections that the detector labels as such; others that it labels as none.
    n : int
        Responses that both labelled.
    left_out : int
        Responses without the truth or without the detector's label.
    """

    sensitivity: Estimate
    specificity: Estimate
    sensitivity_plain: Estimate
    specificity_plain: Estimate
    found: int
    left_alone: int
    n: int
    left_out: int


def accuracy(truth: Labels, labels: Labels, clusters: NDArray[np.generic]) -> Accuracy:
    """Sensitivity and specificity of labels against the truth.

    Parameters
    ----------
    truth, labels : ndarray of int8, shape (response,)
        1, 0, and -1 where there is none.
    clusters : ndarray, shape (response,)
        The image of each response.

    Examples
    --------
    >>> found = accuracy(np.array([1, 1, 0], np.int8), np.array([1, 0, 0], np.int8), np.arange(3))
    >>> found.sensitivity.value, found.specificity.value
    (0.5, 1.0)
    """
    shared = (truth >= 0) & (labels >= 0)
    names, of = np.unique(clusters[shared], return_inverse=True)
    n, right = np.zeros((2, len(names)), dtype=np.int64), np.zeros((2, len(names)), dtype=np.int64)
    kind = 1 - truth[shared].astype(np.int64)  # 0: a correction, 1: none
    np.add.at(n, (kind, of), 1)
    np.add.at(right, (kind, of), (truth[shared] == labels[shared]).astype(np.int64))
    clustered = rates(ItemCounts(n, right.astype(np.float64)))
    found, left_alone = (int(hits) for hits in right.sum(axis=1))
    corrections, others = (int(count) for count in n.sum(axis=1))
    return Accuracy(
        sensitivity=clustered.at(0),
        specificity=clustered.at(1),
        sensitivity_plain=estimate(found, corrections),
        specificity_plain=estimate(left_alone, others),
        found=found,
        left_alone=left_alone,
        n=corrections + others,
        left_out=int((~shared).sum()),
    )
