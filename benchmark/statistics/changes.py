"""The difference of two rates over the same items, with an interval clustered by item."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from benchmark.statistics.patterns import ItemCounts
from benchmark.statistics.rates import NO_LABELS

ONE_ITEM = "no interval: all labels are of one image"
NO_SPREAD = "no interval: every image tells the same"


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
    r"""The difference of two rates whose labels are of the same items.

    With :math:`r = \sum c_i / \sum n_i` for each, item i moves the difference by
    :math:`u_i = (c_{2i} - r_2 n_{2i}) / N_2 - (c_{1i} - r_1 n_{1i}) / N_1`; the linearised variance is
    :math:`m / (m - 1) \sum u_i^2` over the m items, and the interval is normal. That a dialogue which is corrected at
    one turn tends to be at the other makes it narrower than two independent rates would.

    Parameters
    ----------
    first, second : ItemCounts
        Arrays of shape (item,), in the same order.
    level : float
        Coverage.

    References
    ----------
    Woodruff 1971, Journal of the American Statistical Association 66(334), 411-414, doi:10.2307/2283947.

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
    moves = _moves(second, after) - _moves(first, before)
    items = int(((first.n + second.n) > 0).sum())
    spread = float((moves**2).sum())
    if items < 2 or spread == 0:
        reason = ONE_ITEM if items < 2 else NO_SPREAD
        return Change(before, after, after - before, None, None, counts[0], counts[1], reason)
    reach = NormalDist().inv_cdf((1 + level) / 2) * float(np.sqrt(items / (items - 1) * spread))
    value = after - before
    return Change(before, after, value, max(value - reach, -1.0), min(value + reach, 1.0), counts[0], counts[1])


def _moves(counts: ItemCounts, value: float) -> NDArray[np.float64]:
    moves: NDArray[np.float64] = (counts.corrections - value * counts.n) / counts.n.sum()
    return moves
