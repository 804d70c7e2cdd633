"""The heat map of the 36 cells of the benchmark, as a Vega-Lite spec."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.charts import parts
from benchmark.charts.heat import INK, SHADE, SQUARE
from benchmark.charts.look import LIGHT, Look
from benchmark.charts.parts import Data, Spec


def cell_map(
    rows: Sequence[Mapping[str, Any]],
    *,
    metric: str,
    classes: Sequence[str],
    categories: Sequence[str],
    complexities: Sequence[str],
    look: Look = LIGHT,
) -> Spec:
    """A square for each complexity, category and premise class, shaded and lettered; a row of panels a model.

    Parameters
    ----------
    rows : sequence of mapping
        With `model`, `premise_class`, `category`, `complexity` (names as shown), `value`, `low`, `high` and `n`.
    metric : str
        Name of the rate.
    classes, categories, complexities : sequence of str
        The names in order.
    look : Look
        Colours of the page.

    Returns
    -------
    dict
        A Vega-Lite spec; its `description` is the text alternative.
    """
    data = [dict(row) | {"text": "–" if row["value"] is None else f"{row['value']:.2f}"} for row in rows]
    models = parts.in_order(row["model"] for row in data)
    axis: Spec = {"ticks": False, "domain": False, "labelAngle": 0, "grid": False}
    fields = {"model": "Model", "complexity": "Complexity", "category": "Category", "premise_class": "Premise class"}
    facet: Spec = {"column": _panel("complexity", complexities, {"labelPadding": 4})}
    if len(models) > 1:
        facet["row"] = _panel("model", models, {"labelAngle": 0, "labelAlign": "left", "labelLimit": 150})
    return parts.chart(data, _describe(data, metric, classes), look, columns=len(complexities)) | {
        "facet": facet,
        "spacing": {"row": 8, "column": 14},
        "spec": {
            "width": 200,
            "height": 72,
            "encoding": {
                "x": {
                    "field": "category",
                    "type": "nominal",
                    "sort": list(categories),
                    "title": None,
                    "axis": dict(axis),
                },
                "y": {
                    "field": "premise_class",
                    "type": "nominal",
                    "sort": list(classes),
                    "title": None,
                    "axis": dict(axis),
                },
                "tooltip": parts.tooltip(metric, fields),
            },
            "layer": [
                {"mark": SQUARE, "encoding": {"color": SHADE}},
                {"mark": {"type": "text"}, "encoding": {"text": {"field": "text"}, "color": INK}},
            ],
        },
    }


def _panel(field: str, names: Sequence[str], header: Spec) -> Spec:
    return {"field": field, "type": "nominal", "sort": list(names), "title": None, "header": header}


def _describe(data: Data, metric: str, classes: Sequence[str]) -> str:
    """For each model and class the cells between which its rates lie."""
    if not data:
        return f"{metric}: no results yet."
    lines = []
    for model in parts.in_order(row["model"] for row in data):
        for name in classes:
            found = [row for row in data if (row["model"], row["premise_class"]) == (model, name)]
            known = [row for row in found if row["value"] is not None]
            if known:
                low, high = (pick(known, key=lambda row: row["value"]) for pick in (min, max))
                lines.append(f"{model}, {name}: from {_cell(low)} to {_cell(high)}.")
            else:
                lines.append(f"{model}, {name}: undefined.")
    return f"{metric} in each cell of complexity, category and premise class. {' '.join(lines)}"


def _cell(row: Mapping[str, Any]) -> str:
    return f"{row['value']:.3f} ({row['complexity']}, {row['category']}, n = {row['n']:,})"
