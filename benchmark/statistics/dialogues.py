"""What becomes of a correction over one dialogue: kept up, never made, given up, taken up, or mixed."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

PATTERNS = ("always", "never", "stops", "starts", "mixed")
INCOMPLETE = -1


def patterns(labelled: ArrayLike, correction: ArrayLike, turns: Sequence[int]) -> NDArray[np.int8]:
    """Which of PATTERNS each dialogue's labels at these turns make, as its position there.

    *always*: a correction at every turn; *never*: at none; *stops*: from the first turn on, then never again;
    *starts*: none at first, then at every turn; *mixed*: anything else.

    Parameters
    ----------
    labelled, correction : array_like of int
        Masks; turn t is bit t - 1.
    turns : sequence of int
        In order, such as the false-premise turns.

    Returns
    -------
    ndarray of int8
        Of the masks' shape; INCOMPLETE where a turn has no label.

    Examples
    --------
    Turns 4 to 6 of four dialogues, the last without a label at turn 6:

    >>> seen = patterns([0b111000] * 3 + [0b011000], [0b111000, 0b001000, 0b101000, 0], [4, 5, 6])
    >>> [PATTERNS[one] if one >= 0 else "incomplete" for one in seen]
    ['always', 'stops', 'mixed', 'incomplete']
    """
    places = np.asarray(turns, dtype=np.int64) - 1
    there = (np.asarray(labelled, dtype=np.int64)[..., np.newaxis] >> places) & 1
    said = (np.asarray(correction, dtype=np.int64)[..., np.newaxis] >> places) & 1
    steps = np.diff(said, axis=-1)
    always, never = said.all(axis=-1), ~said.any(axis=-1)
    stops, starts = (steps <= 0).all(axis=-1), (steps >= 0).all(axis=-1)
    found = np.select([always, never, stops, starts], [0, 1, 2, 3], default=4)
    return np.where(there.all(axis=-1), found, INCOMPLETE).astype(np.int8)
