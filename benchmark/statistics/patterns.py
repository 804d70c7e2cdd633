"""Bit masks over the turns of one dialogue, and what they count.

For one run, item and detector, two small integers hold everything that the rates need: `labelled`
(the turns that this detector labelled) and `correction` (those it labelled as a correction). Turn t
is bit t - 1. Arrays of masks have any leading shape and the items last.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Masks = NDArray[np.unsignedinteger | np.signedinteger]


@dataclass(frozen=True)
class ItemCounts:
    """Labels of each item within each window of turns.

    Attributes
    ----------
    n : ndarray of int, shape (..., window, item)
        Responses that were labelled.
    corrections : ndarray of float, shape (..., window, item)
        Corrections among them; halves where two detectors are averaged.
    """

    n: NDArray[np.int64]
    corrections: NDArray[np.float64]


def window(turns: Iterable[int]) -> int:
    """The mask of these turns, counted from 1.

    Examples
    --------
    >>> window([1, 2, 3])
    7
    """
    mask = 0
    for turn in turns:
        if turn < 1:
            raise ValueError(f"Turns count from 1, not {turn}.")
        mask |= 1 << (turn - 1)
    return mask


def cumulative_windows(turns: Sequence[int]) -> list[int]:
    """One mask per cutoff K in turns: these turns up to and with K.

    Examples
    --------
    >>> cumulative_windows([4, 5])
    [8, 24]
    """
    return [window(turn for turn in turns if turn <= k) for k in turns]


def single_windows(turns: Sequence[int]) -> list[int]:
    """One mask per turn.

    Examples
    --------
    >>> single_windows([4, 5])
    [8, 16]
    """
    return [window([turn]) for turn in turns]


def pack(labels: ArrayLike) -> NDArray[np.int64]:
    """Masks from booleans of shape (..., turn).

    Examples
    --------
    >>> pack([[True, False, True]]).tolist()
    [5]
    """
    bits = np.asarray(labels, dtype=bool)
    weights = np.left_shift(np.int64(1), np.arange(bits.shape[-1], dtype=np.int64))
    packed: NDArray[np.int64] = np.where(bits, weights, 0).sum(axis=-1, dtype=np.int64)
    return packed


def item_counts(labelled: ArrayLike, correction: ArrayLike, windows: Sequence[int]) -> ItemCounts:
    """Count one detector's labels by window and item.

    Parameters
    ----------
    labelled, correction : array_like of int, shape (..., item)
        Masks. A correction bit without its labelled bit doesn't count.
    windows : sequence of int
        Masks of the turns to count, such as `cumulative_windows([4, 5, 6])`.

    Returns
    -------
    ItemCounts
        With the windows as the last axis but one.
    """
    both = _aligned([labelled], [correction])
    return _counts(both[0][0], [both[1][0]], windows)


def mean_item_counts(
    labelled: Sequence[ArrayLike], correction: Sequence[ArrayLike], windows: Sequence[int]
) -> ItemCounts:
    """Count the mean of several detectors' labels over the responses that all of them labelled.

    Parameters
    ----------
    labelled, correction : sequence of array_like of int, each of shape (..., item)
        One entry per detector, in the same order.
    windows : sequence of int
        As in `item_counts`.

    Raises
    ------
    ValueError
        If there is no detector, or not one `correction` for each `labelled`.
    """
    if not labelled or len(labelled) != len(correction):
        raise ValueError("The mean needs the same number of labelled and correction masks, at least one of each.")
    labelled_masks, correction_masks = _aligned(labelled, correction)
    by_all = np.bitwise_and.reduce(labelled_masks, axis=0)
    return _counts(by_all, list(correction_masks), windows)


def by_image(counts: ItemCounts, images: NDArray[np.int64]) -> ItemCounts:
    """The same counts with the items of one image added up: images, not items, are what was drawn.

    Parameters
    ----------
    counts : ItemCounts
        Arrays of shape (..., window, item).
    images : ndarray of int, shape (item,)
        The image of each item.

    Returns
    -------
    ItemCounts
        Arrays of shape (..., window, image), images in the order in which they first come.

    Examples
    --------
    >>> by_image(item_counts([1, 1, 1], [1, 0, 1], [1]), np.array([7, 5, 7])).corrections.tolist()
    [[2.0, 0.0]]
    """
    names, first, of = np.unique(images, return_index=True, return_inverse=True)
    if len(names) == len(images):
        return counts
    order = np.argsort(first[of], kind="stable")
    starts = np.concatenate([[0], np.flatnonzero(np.diff(first[of][order])) + 1])
    n, corrections = (np.add.reduceat(values[..., order], starts, axis=-1) for values in (counts.n, counts.corrections))
    return ItemCounts(n, corrections)


def fill_gaps(labelled: ArrayLike, correction: ArrayLike, planned: ArrayLike) -> tuple[Masks, Masks]:
    """Masks in which every planned turn without a label counts as a non-correction.

    Parameters
    ----------
    labelled, correction : array_like of int
        As in `item_counts`.
    planned : array_like of int
        Mask of the turns that should have been labelled, one for all items or one for each.

    Returns
    -------
    labelled, correction : ndarray of int
        Ready for `item_counts`, with every planned turn labelled.
    """
    known = np.asarray(labelled, dtype=np.int64)
    return known | np.asarray(planned, dtype=np.int64), np.asarray(correction, dtype=np.int64) & known


def _aligned(
    labelled: Sequence[ArrayLike], correction: Sequence[ArrayLike]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    masks = np.asarray(labelled, dtype=np.int64), np.asarray(correction, dtype=np.int64)
    if masks[0].shape != masks[1].shape:
        raise ValueError(f"Labelled masks {masks[0].shape} and correction masks {masks[1].shape} differ in shape.")
    return masks


def _counts(
    labelled: NDArray[np.int64], corrections: Sequence[NDArray[np.int64]], windows: Sequence[int]
) -> ItemCounts:
    turns = np.asarray(windows, dtype=np.int64)[:, np.newaxis]
    # Only the windows' bits count, and in small numbers there is four times less to go through.
    small = np.uint16 if turns.max(initial=0) < 1 << 16 else np.int64
    seen = labelled.astype(small)[..., np.newaxis, :] & turns.astype(small)
    total = np.zeros(seen.shape)
    for mask in corrections:
        total += np.bitwise_count(seen & mask.astype(small)[..., np.newaxis, :])
    total /= len(corrections)
    return ItemCounts(n=np.bitwise_count(seen).astype(np.int64), corrections=total)
