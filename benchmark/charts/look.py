"""Colours and lines of the charts, for light and dark pages and for paper."""

from dataclasses import dataclass
from typing import Any

# Okabe and Ito's palette for all kinds of colour vision, without its black; yellow, the palest, is last.
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")


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
        "legend": words | {"symbolStrokeWidth": 2},
        "header": {"labelColor": look.text, "titleColor": look.text, "labelFontSize": 12},
        "title": {"color": look.text, "anchor": "start", "fontWeight": "normal"},
    }
