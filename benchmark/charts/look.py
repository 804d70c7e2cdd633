"""Colours and lines of the charts, for light and dark pages and for paper."""

from dataclasses import dataclass
from typing import Any

# Okabe and Ito's palette for all kinds of colour vision, without its black; yellow, the palest, is last.
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
COLOUR_NAMES = ("blue", "vermillion", "green", "purple", "orange", "sky", "yellow")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
DASHES = ((1, 0), (6, 3), (2, 2), (8, 2, 2, 2), (10, 4), (4, 2, 1, 2, 1, 2), (1, 3))
# What stands beside the coloured: all together, or models that nobody pointed out; seen on white and on black.
NEUTRAL = "#959da6"
# Levels of an axis, told apart without colour too: beside each other they are dark, pale and hollow.
LEVEL_COLOURS = ("#0072B2", "#E69F00", "#D55E00", "#009E73")
LEVEL_FILLS = ("#0072B2", "rgba(230,159,0,0.55)", "rgba(213,94,0,0.14)", "rgba(0,158,115,0.55)")


@dataclass(frozen=True)
class Look:
    """What a chart takes from the page around it; the background is always transparent."""

    text: str = "#1f2328"
    lines: str = "#8c959f"
    grid: str = "#d8dee4"
    colours: tuple[str, ...] = OKABE_ITO
    font: str = "Helvetica, Arial, sans-serif"


LIGHT = Look()
DARK = Look(text="#e6edf3", lines="#7d8590", grid="#30363d")


def config(look: Look) -> dict[str, Any]:
    """Vega-Lite config of a look."""
    words = {"labelColor": look.text, "titleColor": look.text, "titleFontWeight": "normal"}
    return {
        "font": look.font,
        "view": {"stroke": None},
        "axis": words | {"domainColor": look.lines, "tickColor": look.lines, "gridColor": look.grid},
        "legend": words | {"symbolStrokeWidth": 2, "orient": "bottom", "columns": 5, "labelLimit": 240},
        "header": {"labelColor": look.text, "titleColor": look.text, "labelFontSize": 12},
        "title": {"color": look.text, "anchor": "start", "fontWeight": "normal"},
        "text": {"color": look.text, "fontSize": 10},
        "rule": {"color": look.text},
    }
