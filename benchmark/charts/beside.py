"""Several estimates of the same things beside each other, with their intervals, as a Vega-Lite spec."""

from collections.abc import Sequence
from typing import Any, TypedDict

from benchmark.charts import parts
from benchmark.charts.look import LIGHT, SHAPES, Look
from benchmark.charts.parts import Spec

STEP = 9  # px for each estimate


class Beside(TypedDict):
    """One estimate of one thing from n labels; `value`, `low` and `high` are None where undefined."""

    name: str
    estimate: str
    value: float | None
    low: float | None
    high: float | None
    n: int


def beside(rows: Sequence[Beside], *, metric: str, look: Look = LIGHT) -> Spec:
    """A line of points and whiskers for each thing, an estimate below the other, told apart by colour and shape.

    Parameters
    ----------
    rows : sequence of Beside
        Things and estimates keep the order in which they first come; undefined ones leave their place empty.
    metric : str
        Name of the horizontal axis.
    look : Look
        Colours of the page.

    Returns
    -------
    dict
        A Vega-Lite spec; its `description` is the text alternative.
    """
    data = [dict(row) for row in rows]
    rule = {"x": parts.rate("low", metric, zero=False), "x2": {"field": "high"}}
    names, estimates = (parts.in_order(row[key] for row in data) for key in ("name", "estimate"))
    colours, shapes = (parts.cycled(values, len(estimates)) for values in (look.colours, SHAPES))
    key: dict[str, Any] = {"field": "estimate", "type": "nominal", "title": None, "sort": estimates}
    scale = {"domain": estimates}
    color = key | {"scale": scale | {"range": colours}, "legend": {"orient": "top", "columns": 3, "labelLimit": 300}}
    shape = key | {"scale": scale | {"range": shapes}}
    return parts.chart(data, _describe(rows, metric), look) | {
        "width": 480,
        "height": {"step": STEP, "for": "offset"},
        "encoding": {
            "y": {"field": "name", "type": "nominal", "sort": names, "title": None, "axis": {"labelLimit": 260}},
            "yOffset": key | {"scale": scale},
            "color": color,
            "tooltip": parts.tooltip(metric, {"name": "Of", "estimate": "Estimate"}),
        },
        "layer": [
            {"mark": {"type": "rule", "strokeWidth": 1.5}, "encoding": rule},
            {
                "mark": {"type": "point", "filled": True, "size": 40, "opacity": 1},
                "encoding": {"x": {"field": "value", "type": "quantitative"}, "shape": shape},
            },
        ],
    }


def _describe(rows: Sequence[Beside], metric: str) -> str:
    if not rows:
        return f"{metric}: no estimate."
    said = [
        f"{row['name']}, {row['estimate']}: "
        + ("undefined" if row["value"] is None else f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]")
        for row in rows
    ]
    return f"{metric} with 95 % intervals. {'; '.join(said)}."
