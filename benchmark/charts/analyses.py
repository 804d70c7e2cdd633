"""Vega-Lite specs of the analyses' figures, from plain rows. Colour never tells alone: shape, place or dash do too."""

from collections.abc import Sequence
from typing import Any

from benchmark.charts.look import LIGHT, OKABE_ITO, SHAPES
from benchmark.charts.parts import Spec, chart, cycled, in_order, tooltip

type Rows = Sequence[dict[str, Any]]

ZERO = "#8c959f"
ABREAST = 4
SETS = (OKABE_ITO[0], OKABE_ITO[4])  # dark and pale, so that they are told apart in grey
# From corrected throughout, over the two ways between, to never: light to dark, so that it reads in grey.
SHADES = {
    "always": "#0b3c5d",
    "stops": "#D55E00",
    "mixed": "#b9c0c8",
    "starts": "#56B4E9",
    "never": "#f0e4b0",
}


def class_means(rows: Rows, *, metric: str) -> Spec:
    """A line for each premise class over the cutoffs, with its interval as a band; rows: `k`, `class`, `value`, ..."""
    names = in_order(row["class"] for row in rows)
    x = {"field": "k", "type": "ordinal", "title": "K", "axis": {"labelAngle": 0}}
    colour = _nominal("class", names, OKABE_ITO)
    lines = {
        "mark": {"type": "line", "point": {"size": 48, "filled": True}},
        "encoding": {
            "y": _rate("value", f"{metric}, mean over models"),
            "color": colour,
            "shape": _nominal("class", names, SHAPES),
            "tooltip": [_text("class", "Class"), _number("k", "K", ""), *tooltip(metric, {})],
        },
    }
    band = {
        "mark": {"type": "area", "opacity": 0.15},
        "encoding": {"y": _rate("low", f"{metric}, mean over models"), "y2": {"field": "high"}, "color": colour},
    }
    said = "; ".join(f"{row['class']} at {row['k']}: {_words(row['value'])}" for row in rows)
    return _spec(f"{metric} averaged over models, by premise class and cutoff. {said}.", rows) | {
        "width": 420,
        "height": 260,
        "encoding": {"x": x},
        "layer": [band, lines],
    }


def changes(rows: Rows, *, title: str, threshold: float) -> Spec:
    """A dot for each model's change in points with its interval; a dashed rule where a loss counts as one."""
    order = [row["model"] for row in rows]
    y = {"field": "model", "type": "nominal", "sort": order, "title": None, "axis": {"labelLimit": 240}}
    x = {"field": "points", "type": "quantitative", "title": title}
    dot = {
        "mark": {"type": "point", "filled": True, "size": 60, "color": OKABE_ITO[0]},
        "encoding": {"x": x, "tooltip": [_text("model", "Model"), _number("points", "Points", ".2f")]},
    }
    rule = {
        "mark": {"type": "rule", "color": OKABE_ITO[0], "strokeWidth": 2},
        "encoding": {"x": x | {"field": "low"}, "x2": {"field": "high"}},
    }
    said = "; ".join(f"{row['model']} {_points(row['points'])}" for row in rows)
    return _spec(f"{title} for each model. {said}.", rows) | {
        "width": 420,
        "height": {"step": 20},
        "encoding": {"y": y},
        "layer": [_line_at(0.0, []), _line_at(-threshold, [5, 4]), rule, dot],
    }


def pattern_bars(rows: Rows) -> Spec:
    """A bar of whole dialogues for each model, cut by pattern; rows: `model`, `pattern`, `share`, `n`."""
    order = in_order(row["model"] for row in rows)
    names = list(SHADES)
    data = [{**row, "place": names.index(row["pattern"])} for row in rows]
    share = {"field": "share", "type": "quantitative", "stack": "zero", "title": "Share of dialogues"}
    said = "; ".join(f"{row['model']} {row['pattern']} {_words(row['share'])}" for row in rows)
    return _spec(f"Share of dialogues by what becomes of the correction. {said}.", data) | {
        "width": 460,
        "height": {"step": 18},
        "mark": {"type": "bar", "stroke": ZERO, "strokeWidth": 0.5},
        "encoding": {
            "y": {"field": "model", "type": "nominal", "sort": order, "title": None, "axis": {"labelLimit": 240}},
            "x": share | {"scale": {"domain": [0, 1]}, "axis": {"format": "%"}},
            "color": {
                "field": "pattern",
                "type": "nominal",
                "title": None,
                "scale": {"domain": names, "range": list(SHADES.values())},
                "legend": {"orient": "top"},
            },
            "order": {"field": "place", "type": "quantitative"},
            "tooltip": [
                _text("model", "Model"),
                _text("pattern", "Pattern"),
                _number("share", "Share", ".3f"),
                _number("n", "Dialogues", ","),
            ],
        },
    }


def scatter(rows: Rows, *, x_title: str, y_title: str) -> Spec:
    """A mark for each model at two rates with both intervals, coloured and shaped by family, its `rank` beside it."""
    families = in_order(row["family"] for row in rows)
    x = {"field": "x", "type": "quantitative", "title": x_title, "scale": {"domain": [0, 1]}}
    y = {"field": "y", "type": "quantitative", "title": y_title, "scale": {"zero": True}}
    colour = _nominal("family", families, OKABE_ITO)
    thin = {"type": "rule", "strokeWidth": 1, "opacity": 0.5}
    point = {
        "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
        "encoding": {
            "x": x,
            "y": y,
            "color": colour,
            "shape": _nominal("family", families, SHAPES),
            "tooltip": [_text("model", "Model"), _number("x", x_title, ".3f"), _number("y", y_title, ".4f")],
        },
    }
    rank = {
        "mark": {"type": "text", "align": "left", "dx": 6, "dy": -6, "fontSize": 9},
        "encoding": {"x": x, "y": y, "text": {"field": "rank"}},
    }
    said = "; ".join(f"{row['model']}: {_words(row['x'])}, {_words(row['y'], 4)}" for row in rows)
    return _spec(f"{y_title} against {x_title}, one mark a model. {said}.", rows) | {
        "width": 520,
        "height": 360,
        "layer": [
            {
                "mark": thin,
                "encoding": {"x": x | {"field": "x_low"}, "x2": {"field": "x_high"}, "y": y, "color": colour},
            },
            {
                "mark": thin,
                "encoding": {"x": x, "y": y | {"field": "y_low"}, "y2": {"field": "y_high"}, "color": colour},
            },
            point,
            rank,
        ],
    }


def agreement_by_turn(rows: Rows) -> Spec:
    """A line for each repeated pair of runs over the turns; rows: `pair`, `turn`, `value`, ..."""
    names = in_order(row["pair"] for row in rows)
    said = "; ".join(f"{row['pair']} at turn {row['turn']}: {_words(row['value'])}" for row in rows)
    return _spec(f"Share of answers that got the same label in both runs, by turn. {said}.", rows) | {
        "width": 420,
        "height": 240,
        "mark": {"type": "line", "point": {"size": 48, "filled": True}},
        "encoding": {
            "x": {"field": "turn", "type": "ordinal", "title": "Turn", "axis": {"labelAngle": 0}},
            "y": _rate("value", "Same label in both runs") | {"scale": {"domain": [0, 1]}},
            "color": _nominal("pair", names, OKABE_ITO),
            "shape": _nominal("pair", names, SHAPES),
            "tooltip": [_text("pair", "Runs"), _number("turn", "Turn", ""), *tooltip("Same label", {})],
        },
    }


def substitutions(rows: Rows, *, metric: str) -> Spec:
    """For each model a bar a class and set of substitutions; rows: `model`, `class`, `set`, `value`, ..."""
    models, classes = in_order(row["model"] for row in rows), in_order(row["class"] for row in rows)
    said = "; ".join(f"{row['model']}, {row['class']}, set {row['set']}: {_words(row['value'])}" for row in rows)
    bar = {
        "mark": {"type": "bar"},
        "encoding": {
            "y": _rate("value", metric),
            "color": _nominal("set", ["A", "B"], SETS),
            "tooltip": [_text("model", "Model"), _text("class", "Class"), _text("set", "Set"), *tooltip(metric, {})],
        },
    }
    whisker = {
        "mark": {"type": "rule", "color": LIGHT.text},
        "encoding": {"y": _rate("low", metric), "y2": {"field": "high"}},
    }
    return _spec(
        f"{metric} by class under the substitutions A and B. {said}.", rows, columns=min(len(models), ABREAST)
    ) | {
        "facet": {"field": "model", "type": "nominal", "title": None, "sort": models},
        "columns": ABREAST,
        "spec": {
            "width": 150,
            "height": 200,
            "encoding": {
                "x": {"field": "class", "type": "nominal", "sort": classes, "title": None, "axis": {"labelAngle": 0}},
                "xOffset": {"field": "set", "type": "nominal", "scale": {"domain": ["A", "B"]}},
            },
            "layer": [bar, whisker],
        },
    }


def _spec(description: str, data: Rows, *, columns: int = 1) -> Spec:
    return chart([dict(row) for row in data], description, LIGHT, columns=columns)


def _nominal(field: str, names: Sequence[str], values: Sequence[str]) -> Spec:
    scale = {"domain": list(names), "range": cycled(values, len(names))}
    legend = {"orient": "top", "labelLimit": 240, "symbolOpacity": 1}
    return {"field": field, "type": "nominal", "title": None, "legend": legend, "scale": scale}


def _rate(field: str, title: str) -> Spec:
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"zero": True},
        "axis": {"format": ".2~f"},
    }


def _text(field: str, title: str) -> Spec:
    return {"field": field, "type": "nominal", "title": title}


def _number(field: str, title: str, form: str) -> Spec:
    return {"field": field, "type": "quantitative", "title": title} | ({"format": form} if form else {})


def _line_at(x: float, dash: list[int]) -> Spec:
    mark = {"type": "rule", "color": ZERO, "strokeDash": dash}
    return {
        "data": {"values": [{"at": x}]},
        "mark": mark,
        "encoding": {"y": {}, "x": {"field": "at", "type": "quantitative"}},
    }


def _words(value: float | None, digits: int = 3) -> str:
    return "undefined" if value is None else f"{value:.{digits}f}"


def _points(value: float | None) -> str:
    return "undefined" if value is None else f"{value:+.2f}"
