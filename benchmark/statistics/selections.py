"""How often an ordering of classes survives when one of two substitutions is picked at random."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

type By = Literal["class", "image"]

_SAME = 1e-9  # rates that differ by less are equal as fractions


def selected_rates(
    n: NDArray[np.int64], corrections: NDArray[np.float64], rng: np.random.Generator, *, repetitions: int, by: By
) -> NDArray[np.float64]:
    """Each model's rate of each class, under random picks of set A or B.

    Parameters
    ----------
    n, corrections : ndarray, shape (model, image, class, 2)
        Labels and corrections; the last axis is A, B.
    rng : numpy.random.Generator
        Picks with a fair coin.
    repetitions : int
        How many selections.
    by : str
        `class`: a coin for each image and class; `image`: one for each image, for its three classes together.

    Returns
    -------
    ndarray of float, shape (repetition, model, class)
        NaN where nothing picked is labelled.
    """
    _, images, classes, _ = n.shape
    coins = rng.integers(2, size=(repetitions, images, classes if by == "class" else 1))
    picks = np.broadcast_to(coins, (repetitions, images, classes)).astype(np.float64)
    seen, said = (_picked(array.astype(np.float64), picks) for array in (n, corrections))
    rates: NDArray[np.float64] = np.divide(said, seen, out=np.full(seen.shape, np.nan), where=seen > 0)
    return rates


def falling(rates: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether the values of the last axis fall strictly; a NaN among them never does.

    Examples
    --------
    >>> falling(np.array([[0.5, 0.3, 0.1], [0.5, 0.3, 0.3], [0.5, np.nan, 0.1]])).tolist()
    [True, False, False]
    """
    fall: NDArray[np.bool_] = (rates[..., :-1] - rates[..., 1:] > _SAME).all(axis=-1)
    return fall


def _picked(array: NDArray[np.float64], picks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums over images of A's value, or B's where picked; shape (repetition, model, class)."""
    difference = array[..., 1] - array[..., 0]
    picked: NDArray[np.float64] = array[..., 0].sum(axis=1) + np.einsum("ric,mic->rmc", picks, difference)
    return picked
