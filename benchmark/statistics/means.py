"""The mean of several models' rates over the same items, with an interval clustered by item."""

import numpy as np

from benchmark.statistics.patterns import ItemCounts
from benchmark.statistics.rates import Rates, wilson


def mean_over_models(counts: ItemCounts) -> Rates:
    r"""The mean over models of each model's own rate, so that every model weighs the same.

    All models answer about the same images, so the image is the cluster: item i moves the mean by
    :math:`u_i = \frac{1}{M} \sum_m (c_{mi} - r_m n_{mi}) / N_m`, with linearised variance
    :math:`v = m / (m - 1) \sum u_i^2` over m items. Wilson's interval is taken at :math:`n = r (1 - r) / v`, and at the
    number of items where v says nothing. It holds for these models: they are no sample of others.

    Parameters
    ----------
    counts : ItemCounts
        Arrays of shape (model, window, item).

    Returns
    -------
    Rates
        Arrays of shape (window,); `n` and `corrections` are those of all models. A model without labels in a window
        is left out of its mean.

    Examples
    --------
    >>> counts = ItemCounts(np.ones((2, 1, 4), dtype=np.int64), np.array([[[1.0, 1, 1, 1]], [[1.0, 0, 0, 0]]]))
    >>> float(mean_over_models(counts).value[0])
    0.625
    """
    n, corrections = counts.n.sum(axis=-1), counts.corrections.sum(axis=-1)
    there = n > 0
    rate = np.divide(corrections, n, out=np.zeros(n.shape), where=there)
    models = there.sum(axis=0)
    value = np.divide(rate.sum(axis=0), models, out=np.full(models.shape, np.nan), where=models > 0)
    weight = np.divide(1.0, n * np.maximum(models, 1), out=np.zeros(n.shape), where=there)
    moves = ((counts.corrections - rate[..., np.newaxis] * counts.n) * weight[..., np.newaxis]).sum(axis=0)
    items = (counts.n.sum(axis=0) > 0).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = items / (items - 1) * (moves**2).sum(axis=-1)
        effective = np.where(variance > 0, value * (1 - value) / variance, items)
    low, high = wilson(value, effective)
    return Rates(value, low, high, n.sum(axis=0), corrections.sum(axis=0), items)
