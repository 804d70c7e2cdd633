"""The heat map of all pairs of raters, as a Vega-Lite spec."""

from collections.abc import Sequence
from typing import Any, TypedDict

from benchmark.charts import parts
from benchmark.charts.look import LIGHT, Look
from benchmark.charts.parts import Spec

# One hue from light to dark, so that it reads in grey; the words in a cell are dark on light and light on dark.
PALE, DEEP, NONE = "#eef5fa", "#00456e", "#e1e4e8"
ON_PALE, ON_DEEP = "#1b2027", "#ffffff"
SWITCH = 0.55
SHADE = {
    "condition": {"test": "datum.value === null", "value": NONE},
    "field": "value",
    "type": "quantitative",
    "scale": {"domain": [0, 1], "range": [PALE, DEEP], "clamp": True},
    "legend": None,
}
INK = {"condition": {"test": f"datum.value !== null && datum.value > {SWITCH}", "value": ON_DEEP}, "value": ON_PALE}
SQUARE = {"type": "rect", "stroke": "#8c959f", "strokeWidth": 0.5, "invalid": None}  # undefined is drawn, too


class Pair(TypedDict):
    """Two raters: `value` is None where the coefficient is undefined, and `reason` says why."""

    first: str
    second: str
    value: float | None
    n: int
    reason: str


def heat_map(pairs: Sequence[Pair], names: Sequence[str], *, metric: str = "Cohen's kappa", look: Look = LIGHT) -> Spec:
    """A square for each ordered pair of raters, shaded and lettered with their coefficient.

    Parameters
    ----------
    pairs : sequence of Pair
        Both orders of each pair; a rater beside itself is left blank.
    names : sequence of str
        Raters in the order of rows and columns.
    metric : str
        What the squares show.
    look : Look
        Colours of the page.

    Returns
    -------
    dict
        A Vega-Lite spec; its `description` is the text alternative.
    """
    data = [{**pair, "text": _text(pair["value"])} for pair in pairs]
    place = {"type": "nominal", "sort": list(names), "title": None}
    axis = {"labelLimit": 150, "ticks": False, "domain": False}
    return parts.chart(data, _describe(pairs, metric), look) | {
        "width": {"step": 84},
        "height": {"step": 38},
        "encoding": {
            "x": {"field": "second", "axis": axis | {"orient": "top", "labelAngle": 0, "labelLimit": 80}} | place,
            "y": {"field": "first", "axis": axis} | place,
            "tooltip": _tooltip(metric),
        },
        "layer": [
            {"mark": SQUARE, "encoding": {"color": SHADE}},
            {"mark": {"type": "text", "fontSize": 12}, "encoding": {"text": {"field": "text"}, "color": INK}},
        ],
    }


def _text(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def _tooltip(metric: str) -> list[dict[str, Any]]:
    return [
        {"field": "first", "type": "nominal", "title": "First"},
        {"field": "second", "type": "nominal", "title": "Second"},
        {"field": "text", "type": "nominal", "title": metric},
        {"field": "n", "type": "quantitative", "title": "n", "format": ","},
        {"field": "reason", "type": "nominal", "title": "Note"},
    ]


def _describe(pairs: Sequence[Pair], metric: str) -> str:
    """The map in words, each pair once."""
    seen: set[frozenset[str]] = set()
    lines = []
    for pair in pairs:
        both = frozenset((pair["first"], pair["second"]))
        if both not in seen:
            seen.add(both)
            lines.append(f"{pair['first']} and {pair['second']}: {_text(pair['value'])} (n = {pair['n']:,}).")
    return f"{metric} of each pair of raters. {' '.join(lines)}" if lines else f"{metric}: no pair of raters yet."
