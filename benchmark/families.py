"""A colour and a mark for each family of models, the same wherever a family shows: never colour alone.

Colours are Okabe and Ito's in the order of `charts.look`; the pages name them `family-0` to `family-6`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from benchmark.charts.look import OKABE_ITO, SHAPES
from benchmark.published import FAMILIES

# Outlines around (0, 0), about 8 units wide.
PATHS = {
    "circle": "M4 0A4 4 0 1 1 -4 0A4 4 0 1 1 4 0Z",
    "square": "M-3.5 -3.5H3.5V3.5H-3.5Z",
    "triangle-up": "M0 -4.2L4.4 3.6H-4.4Z",
    "diamond": "M0 -4.8L4.3 0L0 4.8L-4.3 0Z",
    "cross": "M-1.4 -4.2H1.4V-1.4H4.2V1.4H1.4V4.2H-1.4V1.4H-4.2V-1.4H-1.4Z",
    "triangle-down": "M0 4.2L-4.4 -3.6H4.4Z",
    "triangle-right": "M4.2 0L-3.6 4.4V-4.4Z",
}


@dataclass(frozen=True)
class Mark:
    """How a family is drawn: which colour, and the outline of its mark."""

    colour: int
    path: str


def marks(families: Iterable[str]) -> dict[str, Mark]:
    """The mark of each family: the paper's have fixed ones, others those that are left, by name."""
    others = sorted(set(families) - set(FAMILIES))
    return {
        name: Mark(at % len(OKABE_ITO), PATHS[SHAPES[at % len(SHAPES)]]) for at, name in enumerate((*FAMILIES, *others))
    }
