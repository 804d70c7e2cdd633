"""Does the ordering of the classes hold when fewer images, or others, are drawn from each cell?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmark.statistics.patterns import ItemCounts
from benchmark.statistics.resampling import (
    Weights,
    drawn_with_replacement,
    drawn_without_replacement,
    resampled_rates,
)

TIE = 1e-12  # rates closer than that are the same


@dataclass(frozen=True)
class Orderings:
    """What became of the ordering over the repetitions.

    Attributes
    ----------
    kept, undefined : int
        Repetitions in which the means over models keep it, and in which a mean is undefined.
    kept_by_model, undefined_by_model : ndarray of int, shape (model,)
        The same for each model's own rates.
    means : ndarray of float, shape (class, repetition)
        Means over models.
    """

    kept: int
    undefined: int
    kept_by_model: NDArray[np.int64]
    undefined_by_model: NDArray[np.int64]
    means: NDArray[np.float64]


def stratified_weights(
    cells: NDArray[np.int64], size: int, *, replace: bool, repetitions: int, rng: np.random.Generator
) -> Weights:
    """How often each image is drawn when `size` are drawn from each cell; shape (image, repetition).

    Parameters
    ----------
    cells : ndarray of int, shape (image,)
        The cell of each image.
    size : int
        Images drawn from each cell.
    replace : bool
        Whether an image can be drawn again.

    Raises
    ------
    ValueError
        If a cell has fewer images than are to be drawn without replacement.
    """
    draw = drawn_with_replacement if replace else drawn_without_replacement
    weights = np.zeros((len(cells), repetitions), dtype=np.float32)
    for cell in np.unique(cells):
        members = np.flatnonzero(cells == cell)
        weights[members] = draw(len(members), size, repetitions, rng)
    return weights


def resampled_orderings(
    counts: ItemCounts, classes: NDArray[np.str_], order: Sequence[str], weights: Weights
) -> Orderings:
    """Whether the rates of the classes stay in this order, the highest first, in each repetition.

    Parameters
    ----------
    counts : ItemCounts
        Arrays of shape (model, image): one window.
    classes : ndarray of str, shape (image,)
        The class of each image.
    order : sequence of str
        Classes.
    weights : ndarray of float32, shape (image, repetition)
    """
    kept = [np.flatnonzero(classes == name) for name in order]
    rates = np.stack(
        [resampled_rates(ItemCounts(counts.n[:, at], counts.corrections[:, at]), weights[at]) for at in kept]
    )
    means = rates.mean(axis=1)
    return Orderings(
        int(in_order(means).sum()),
        int(np.isnan(means).any(axis=0).sum()),
        in_order(rates).sum(axis=1),
        np.isnan(rates).any(axis=0).sum(axis=1),
        means,
    )


def in_order(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether values fall strictly along the first axis; no where one is undefined.

    Examples
    --------
    >>> in_order(np.array([[0.5, 0.5], [0.4, 0.5], [0.1, 0.2]])).tolist()
    [True, False]
    """
    falls: NDArray[np.bool_] = (values[:-1] - values[1:] > TIE).all(axis=0)
    return falls
