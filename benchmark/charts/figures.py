"""Vega-Lite specs of the two published figures, from plain rows."""

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

from benchmark.charts.look import LIGHT, SHAPES, Look, config

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
CLASSES = {"overall": "Overall", "identity": "Identity", "attribute": "Attribute", "location": "Location"}
Spec = dict[str, Any]


class Row(TypedDict):
    """One estimate: `value`, `low` and `high` are rates in [0, 1], None where undefined."""

    model: str
    family: str
    premise_class: str
    k: NotRequired[int]
    value: float | None
    low: float | None
    high: float | None
    n: int


def curves_by_k(rows: Sequence[Row], *, metric: str = "CorrTP@K", title: str = "", look: Look = LIGHT) -> Spec:
    """A panel for each premise class, a line for each model over the cutoffs K.

    Up to seven models have a colour and a shape each, with their intervals as bands; more are
    coloured by family, and each line's name and interval are in its tooltip.

    Parameters
    ----------
    rows : sequence of Row
        With `k`, in any order; models and families keep the order in which they first come.
    metric : str
        Name of the rate on the vertical axis.
    title : str
        Over the chart; none if empty.
    look : Look
        Colours of the page.

    Returns
    -------
    dict
        A Vega-Lite spec; its `description` is the text alternative.
    """
    data = [_plain(row) for row in rows]
    models = _in_order(row["model"] for row in data)
    by, names = ("model", models) if len(models) <= len(look.colours) else ("family", _families(data))
    line = {"mark": {"type": "line", "point": {"size": 36, "filled": True}}, "encoding": _key(by, names, look)}
    line["encoding"] |= {"y": _rate("value", metric), "tooltip": _tooltip(metric, with_k=True)}
    band = {
        "mark": {"type": "area", "opacity": 0.15},
        "encoding": {"y": _rate("low", metric), "y2": {"field": "high"}, "color": _key(by, names, look)["color"]},
    }
    x = {"field": "k", "type": "ordinal", "title": "K", "axis": {"labelAngle": 0}}
    return _chart(title, look, data, _describe(data, metric, models)) | {
        "facet": _facet(data),
        "columns": 4,
        "spec": {
            "width": 190,
            "height": 220,
            "encoding": {"x": x, "detail": {"field": "model"}},
            "layer": [band, line] if by == "model" else [line],
        },
    }


def bars_by_class(rows: Sequence[Row], *, metric: str = "CorrTP@10", title: str = "", look: Look = LIGHT) -> Spec:
    """A group of bars for each model, one bar a premise class, with its interval as a whisker.

    Parameters
    ----------
    rows : sequence of Row
        One for each model and class, in any order; models keep the order in which they first come.
    metric, title, look
        As in `curves_by_k`.

    Returns
    -------
    dict
        A Vega-Lite spec; its `description` is the text alternative.
    """
    data = [_plain(row) for row in rows]
    models, classes = _in_order(row["model"] for row in data), _classes(data)
    colour = {
        "field": "premise_class",
        "type": "nominal",
        "title": None,
        "scale": {"domain": classes, "range": _cycled(look.colours, len(classes))},
        "legend": {"orient": "top"},
    }
    offset = {"field": "premise_class", "type": "nominal", "sort": classes, "scale": {"domain": classes}}
    bar = {
        "mark": {"type": "bar"},
        "encoding": {"x": _rate("value", metric), "color": colour, "tooltip": _tooltip(metric, with_k=False)},
    }
    whisker = {
        "mark": {"type": "rule", "color": look.text, "strokeWidth": 1},
        "encoding": {"x": _rate("low", metric), "x2": {"field": "high"}},
    }
    y = {"field": "model", "type": "nominal", "sort": models, "title": None, "axis": {"labelLimit": 240}}
    return _chart(title, look, data, _describe(data, metric, models)) | {
        "width": 560,
        "height": {"step": 11, "for": "offset"},
        "encoding": {"y": y, "yOffset": offset},
        "layer": [bar, whisker],
    }


def _chart(title: str, look: Look, data: list[dict[str, Any]], description: str) -> Spec:
    spec: Spec = {
        "$schema": SCHEMA,
        "description": description,
        "background": "transparent",
        "config": config(look),
        "data": {"values": data},
    }
    return spec | ({"title": title} if title else {})


def _plain(row: Row) -> dict[str, Any]:
    return dict(row) | {"premise_class": CLASSES.get(row["premise_class"], row["premise_class"])}


def _in_order(values: Any) -> list[str]:
    return list(dict.fromkeys(values))


def _families(data: list[dict[str, Any]]) -> list[str]:
    return _in_order(row["family"] for row in data)


def _classes(data: list[dict[str, Any]]) -> list[str]:
    """Classes there are: the study's in their order, then others as they come."""
    there = _in_order(row["premise_class"] for row in data)
    return [name for name in CLASSES.values() if name in there] + [n for n in there if n not in CLASSES.values()]


def _cycled(values: Sequence[str], length: int) -> list[str]:
    return [values[index % len(values)] for index in range(length)]


def _key(field: str, names: list[str], look: Look) -> Spec:
    """Colour and shape together, so that no line is told by colour alone."""
    legend = {"orient": "bottom", "columns": 5, "labelLimit": 240, "symbolOpacity": 1}
    base = {"field": field, "type": "nominal", "title": None, "legend": legend}
    return {
        "color": base | {"scale": {"domain": names, "range": _cycled(look.colours, len(names))}},
        "shape": base | {"scale": {"domain": names, "range": _cycled(SHAPES, len(names))}},
    }


def _rate(field: str, metric: str) -> Spec:
    axis = {"format": ".2~f"}
    return {"field": field, "type": "quantitative", "title": metric, "scale": {"zero": True}, "axis": axis}


def _facet(data: list[dict[str, Any]]) -> Spec:
    return {"field": "premise_class", "type": "nominal", "title": None, "sort": _classes(data)}


def _tooltip(metric: str, *, with_k: bool) -> list[Spec]:
    rate = {"type": "quantitative", "format": ".3f"}
    cutoff = [{"field": "k", "type": "ordinal", "title": "K"}] if with_k else []
    return [
        {"field": "model", "type": "nominal", "title": "Model"},
        {"field": "premise_class", "type": "nominal", "title": "Premise class"},
        *cutoff,
        {"field": "value", "title": metric} | rate,
        {"field": "low", "title": "95 % interval from"} | rate,
        {"field": "high", "title": "to"} | rate,
        {"field": "n", "type": "quantitative", "title": "n", "format": ","},
    ]


def _describe(data: list[dict[str, Any]], metric: str, models: list[str]) -> str:
    """The chart in words: for each model and class its first and last point."""
    if not data:
        return f"{metric}: no results yet."
    lines = []
    for model in models:
        for premise_class in _classes(data):
            points = [row for row in data if (row["model"], row["premise_class"]) == (model, premise_class)]
            ends = sorted(points, key=lambda row: row.get("k", 0))
            shown = ends[:1] + ends[-1:] if len(ends) > 1 else ends
            if shown:
                lines.append(f"{model}, {premise_class}: {' to '.join(_point(row) for row in shown)}.")
    return f"{metric} of {len(models)} model{'s' if len(models) != 1 else ''} by premise class. " + " ".join(lines)


def _point(row: dict[str, Any]) -> str:
    where = f" at K = {row['k']}" if "k" in row else ""
    if row["value"] is None:
        return f"undefined{where} (n = {row['n']})"
    return f"{row['value']:.3f}{where} (n = {row['n']:,})"
