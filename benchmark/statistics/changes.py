"""The difference of two rates over the same images, with an interval clustered by image."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from benchmark.statistics.patterns import ItemCounts
from benchmark.statistics.rates import NO_LABELS

ONE_IMAGE = "no interval: all labels are of one image"


@dataclass(frozen=True)
class Change:
    """How much higher the second rate is than the first.

    Attributes
    ----------
    first, second, value : float or None
        Both rates and their difference, second - first, in [-1, 1]; None where undefined.
    low, high : float or None
        Its interval; None where there is none, and `reason` says why.
    first_n, second_n : int
        Labelled responses behind each rate.
    reason : str
        Why a number is missing, else empty.
    """

    first: float | None
    second: float | None
    value: float | None
    low: float | None
    high: float | None
    first_n: int
    second_n: int
    reason: str = ""


def change(first: ItemCounts, second: ItemCounts, *, level: float = 0.95) -> Change:
    r"""The difference of two rates whose labels are of the same images.

    With :math:`r = \sum c_i / \sum n_i` for each, image i moves the difference by
    :math:`u_i = (c_{2i} - r_2 n_{2i}) / N_2 - (c_{1i} - r_1 n_{1i}) / N_1`, which linearises it: of m images,
    :math:`x_i = m u_i + r_2 - r_1` is the difference on that image where each has as many labels. The interval is
    normal over these and two images more, one at +1 and one at -1: it is Bonett and Price's adjusted interval where an
    image has one label at each side. That a dialogue which is corrected at one turn tends to be at the other makes it
    narrower than two independent rates would.

    Parameters
    ----------
    first, second : ItemCounts
        Arrays of shape (image,), in the same order.
    level : float
        Coverage.

    References
    ----------
    Woodruff 1971, doi:10.2307/2283947 (linearisation).
    Bonett & Price 2012, Journal of Educational and Behavioral Statistics 37(4), 479-488,
    doi:10.3102/1076998611411915.

    Examples
    --------
    Of four dialogues, three are corrected at first and one later:

    >>> n = np.ones(4, dtype=np.int64)
    >>> change(ItemCounts(n, np.array([1.0, 1, 1, 0])), ItemCounts(n, np.array([1.0, 0, 0, 0]))).value
    -0.5
    """
    counts = [int(one.n.sum()) for one in (first, second)]
    values = [float(one.corrections.sum() / n) if n else None for one, n in zip((first, second), counts, strict=True)]
    before, after = values
    if before is None or after is None:
        return Change(before, after, None, None, None, counts[0], counts[1], NO_LABELS)
    value, there = after - before, (first.n + second.n) > 0
    if int(there.sum()) < 2:
        return Change(before, after, value, None, None, counts[0], counts[1], ONE_IMAGE)
    moves = (_moves(second, after) - _moves(first, before))[there]
    low, high = _limits(len(moves) * moves + value, level)
    return Change(before, after, value, low, high, counts[0], counts[1])


def _moves(counts: ItemCounts, value: float) -> NDArray[np.float64]:
    moves: NDArray[np.float64] = (counts.corrections - value * counts.n) / counts.n.sum()
    return moves


def _limits(differences: NDArray[np.float64], level: float) -> tuple[float, float]:
    """The normal interval over these differences and two more, +1 and -1."""
    adjusted = np.concatenate([differences, [1.0, -1.0]])
    reach = NormalDist().inv_cdf((1 + level) / 2) * float(np.sqrt(adjusted.var() / len(adjusted)))
    middle = float(adjusted.mean())
    return max(middle - reach, -1.0), min(middle + reach, 1.0)
