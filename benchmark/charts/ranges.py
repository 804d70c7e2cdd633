"""Estimates as points with their intervals, one line each, as a Vega-Lite spec."""

from collections.abc import Sequence
from typing import Any, TypedDict

from benchmark.charts import parts
from benchmark.charts.look import LIGHT, Look
from benchmark.charts.parts import Spec


class Range(TypedDict):
    """One line: `value`, `low` and `high` are None where undefined; `note` stands beside it."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    note: str


def ranges(rows: Sequence[Range], *, metric: str, look: Look = LIGHT) -> Spec:
    """A point and a whisker for each row, in the order given, with its note at the right.

    Parameters
    ----------
    rows : sequence of Range
    metric : str
        Name of the horizontal axis.
    look : Look
        Colours of the page.

    Returns
    -------
    dict
        A Vega-Lite spec; its `description` is the text alternative.
    """
    y = {"field": "name", "type": "nominal", "sort": [row["name"] for row in rows], "title": None}
    scale = {"zero": False}
    return parts.chart([dict(row) for row in rows], _describe(rows, metric), look) | {
        "width": 480,
        "height": {"step": 18},
        "encoding": {"y": y | {"axis": {"labelLimit": 260, "grid": True}}, "tooltip": _tooltip(metric)},
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 1.5},
                "encoding": {
                    "x": {"field": "low", "type": "quantitative", "title": metric, "scale": scale},
                    "x2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 44, "color": look.colours[0], "opacity": 1},
                "encoding": {"x": {"field": "value", "type": "quantitative"}},
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 6, "color": look.text, "fontSize": 11},
                "encoding": {"x": {"value": 484}, "text": {"field": "note"}},
            },
        ],
    }


def _tooltip(metric: str) -> list[dict[str, Any]]:
    rate = {"type": "quantitative", "format": ".3f"}
    return [
        {"field": "name", "type": "nominal", "title": "Model"},
        {"field": "value", "title": metric} | rate,
        {"field": "low", "title": "Interval from"} | rate,
        {"field": "high", "title": "to"} | rate,
        {"field": "note", "type": "nominal", "title": "Group"},
    ]


def _describe(rows: Sequence[Range], metric: str) -> str:
    said = []
    for row in rows:
        note = f" ({row['note']})" if row["note"] else ""
        if row["value"] is None:
            said.append(f"{row['name']}: undefined{note}.")
        elif row["low"] is None or row["high"] is None:
            said.append(f"{row['name']}: {row['value']:.3f}{note}.")
        else:
            said.append(f"{row['name']}: {row['value']:.3f}, {row['low']:.3f} to {row['high']:.3f}{note}.")
    return f"{metric} with intervals. {' '.join(said)}"
