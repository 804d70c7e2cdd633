"""Vega-Lite specs of small multiples and of the change from the first false-premise turn to the last."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmark.charts import parts
from benchmark.charts.look import LIGHT, Look
from benchmark.charts.parts import Data, Spec

PANELS = 4
LABEL = 13  # pixels that a label of a line's end needs
LEAST_HEIGHT = 260


def lines_by_class(
    rows: Sequence[Mapping[str, Any]],
    *,
    x: str,
    x_title: str,
    metric: str,
    order: Sequence[Any] = (),
    look: Look = LIGHT,
) -> Spec:
    """A panel for each model, a line for each premise class over `x`, with intervals as whiskers.

    Parameters
    ----------
    rows : sequence of mapping
        With `model`, `premise_class`, the field `x`, `value`, `low`, `high` and `n`; models keep their order.
    x, x_title : str
        Field of the horizontal axis, and its title.
    metric : str
        Name of the rate.
    order : sequence
        The values of `x` in order; as they come if empty.
    look : Look
        Colours of the page.

    Returns
    -------
    dict
        A Vega-Lite spec; its `description` is the text alternative.
    """
    data = [dict(row) | {"premise_class": parts.LEVELS.get(row["premise_class"], row["premise_class"])} for row in rows]
    steps = list(order) or parts.in_order(row[x] for row in data)
    models, levels = parts.in_order(row["model"] for row in data), parts.levels_of(data, "premise_class")
    colours, _ = parts.level_styles(levels)
    key = parts.line_key(levels, colours, "premise_class")
    fields = {"model": "Model", "premise_class": "Premise class", x: x_title}
    line: Spec = {
        "mark": {"type": "line", "point": {"size": 30, "filled": True, "strokeWidth": 0}, "strokeWidth": 1.75},
        "encoding": key | {"y": parts.rate("value", metric), "tooltip": parts.tooltip(metric, fields)},
    }
    whisker: Spec = {
        "mark": {"type": "rule", "strokeWidth": 1, "opacity": 0.6},
        "encoding": {"y": parts.rate("low", metric), "y2": {"field": "high"}, "color": key["color"]},
    }
    columns = min(PANELS, max(1, len(models)))
    wide = len(models) == 1
    axis = {"labelAngle": 0} | ({"labelOverlap": False} if wide else {})
    return parts.chart(data, _describe(data, metric, x, steps), look, columns=columns) | {
        "facet": {"field": "model", "type": "nominal", "title": None, "sort": models, "header": {"labelLimit": 200}},
        "columns": columns,
        "spec": {
            "width": 420 if wide else 190,
            "height": 220 if wide else 130,
            "encoding": {"x": {"field": x, "type": "ordinal", "title": x_title, "sort": steps, "axis": axis}},
            "layer": [whisker, line],
        },
    }


def slopes(
    rows: Sequence[Mapping[str, Any]],
    *,
    metric: str = "TurnCorr",
    look: Look = LIGHT,
    pinned: Mapping[str, str] = {},
) -> Spec:
    """A line for each model from the first turn to the last, named at its end with its change in points.

    Parameters
    ----------
    rows : sequence of mapping
        Two for each model, with `turn`, `value`, `low`, `high` and `n`; a model without both rates is left out.
    metric, look, pinned
        As in `curves_by_k`.

    Returns
    -------
    dict
        A Vega-Lite spec; its `description` is the text alternative.
    """
    turns = parts.in_order(sorted(row["turn"] for row in rows))
    ends = _with_both_ends(rows, turns)
    data, names, colours = parts.keyed(
        [dict(row) | {"at": f"Turn {row['turn']}"} for pair in ends for row in pair], look, pinned
    )
    height = max(LEAST_HEIGHT, LABEL * len(ends))
    domain = _label(data, ends, height)
    key = parts.line_key(names, colours, legend=len(ends) > len(look.colours))
    y: Spec = parts.rate("value", metric, zero=False)
    y["scale"] |= {"domain": domain, "nice": False, "clamp": False}
    x: Spec = {"field": "at", "type": "ordinal", "title": None, "axis": {"labelAngle": 0, "grid": True}}
    x |= {"sort": [f"Turn {turn}" for turn in turns]}
    tip = parts.tooltip(metric, {"model": "Model", "at": "At"})
    last: Spec = {"filter": f"datum.turn === {turns[-1] if turns else 0}"}
    line: Spec = {
        "mark": {"type": "line", "point": {"size": 36, "filled": True, "strokeWidth": 0}, "strokeWidth": 1.5},
        "encoding": key | {"y": y, "tooltip": tip, "detail": {"field": "model"}},
    }
    leader: Spec = {
        "transform": [last],
        "mark": {"type": "rule", "xOffset": 5, "x2Offset": 16, "strokeWidth": 0.75, "color": look.lines},
        "encoding": {"x2": {"field": "at"}, "y": y, "y2": {"field": "label_at"}},
    }
    label: Spec = {
        "transform": [last],
        "mark": {"type": "text", "align": "left", "dx": 19, "baseline": "middle"},
        "encoding": {"y": y | {"field": "label_at"}, "text": {"field": "label"}, "tooltip": tip},
    }
    return parts.chart(data, _describe_slopes(ends, metric), look) | {
        "width": 260,
        "height": height,
        "encoding": {"x": x},
        "layer": [line, leader, label],
    }


def _with_both_ends(rows: Sequence[Mapping[str, Any]], turns: Sequence[int]) -> list[list[Mapping[str, Any]]]:
    models: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: row["turn"]):
        if row["value"] is not None:
            models.setdefault(row["model"], []).append(row)
    order = parts.in_order(row["model"] for row in rows)
    return [models[name] for name in order if len(models.get(name, ())) == len(turns)]


def _label(data: Data, ends: Sequence[Sequence[Mapping[str, Any]]], height: int) -> list[float]:
    """Put each line's name and where it stands into the rows; returns the domain of the axis, labels and all."""
    if not ends:
        return [0.0, 1.0]
    values = [row["value"] for pair in ends for row in pair]
    room = max(max(values) - min(values), 0.02)
    places = parts.spread([pair[-1]["value"] for pair in ends], room * (LABEL + 2) / height)
    texts = {pair[0]["model"]: (place, _name(pair)) for pair, place in zip(ends, places, strict=True)}
    for row in data:
        row["label_at"], row["label"] = texts[row["model"]]
    pad = room * 0.03
    return [round(min(*values, *places) - pad, 6), round(max(*values, *places) + pad, 6)]


def _name(pair: Sequence[Mapping[str, Any]]) -> str:
    return f"{pair[0]['model']}  {_points(pair)}"


def _points(pair: Sequence[Mapping[str, Any]]) -> str:
    """The change in percentage points, with its sign."""
    return f"{100 * (pair[-1]['value'] - pair[0]['value']):+.1f}".replace("-", "\N{MINUS SIGN}")


def _describe_slopes(ends: Sequence[Sequence[Mapping[str, Any]]], metric: str) -> str:
    if not ends:
        return f"{metric}: no model has a rate at both turns."
    first, last = ends[0][0]["turn"], ends[0][-1]["turn"]
    lines = [
        f"{pair[0]['model']}: {pair[0]['value']:.3f} to {pair[-1]['value']:.3f}, {_points(pair)} points."
        for pair in ends
    ]
    return f"{metric} at turn {first} and at turn {last} of {len(ends)} models, in points. {' '.join(lines)}"


def _describe(data: Data, metric: str, x: str, steps: Sequence[Any]) -> str:
    if not data:
        return f"{metric}: no results yet."
    lines = []
    for model in parts.in_order(row["model"] for row in data):
        for level in parts.levels_of(data, "premise_class"):
            found = {row[x]: row for row in data if (row["model"], row["premise_class"]) == (model, level)}
            shown = [step for step in (steps if len(steps) <= PANELS else (steps[0], steps[-1])) if step in found]
            lines.append(f"{model}, {level}: {', '.join(f'{step} {parts.number(found[step])}' for step in shown)}.")
    return f"{metric} of {parts.models_in_words(data)} by premise class. {' '.join(lines)}"
