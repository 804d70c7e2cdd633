"""Which items of a dataset are the variants of one image: two substitutions, A and B, for each premise class."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotate.axes import PremiseClass
from annotate.models import DatasetItem

SETS = ("A", "B")
BOTH = "both"


@dataclass(frozen=True)
class Variants:
    """`items` has shape (image, class, 2): the position of each variant among the dataset's items by key.

    Images that lack a variant are not in it; `left_out` counts them.
    """

    items: NDArray[np.int64]
    left_out: int

    def keeping(self, chosen: str, size: int) -> NDArray[np.bool_]:
        """Which of a dataset's `size` items are of this set, or, for `both`, of either."""
        keep = np.zeros(size, dtype=bool)
        keep[self.items if chosen == BOTH else self.items[..., SETS.index(chosen)]] = True
        return keep


def read(dataset: int) -> Variants | None:
    """The variants of a dataset; None where it holds none."""
    rows = DatasetItem.objects.filter(dataset=dataset).order_by("key")
    place = {row: at for at, row in enumerate(rows.values_list("parent", "premise_class", "variant")) if row[0]}
    wanted = {
        parent: [[(parent, name, letter) for letter in SETS] for name in PremiseClass.values]
        for parent in sorted({row[0] for row in place})
    }
    whole = [of for of in wanted.values() if all(one in place for pair in of for one in pair)]
    items = [[[place[one] for one in pair] for pair in of] for of in whole]
    shape = (len(whole), len(PremiseClass.values), len(SETS))
    return Variants(np.array(items, dtype=np.int64).reshape(shape), len(wanted) - len(whole)) if wanted else None
