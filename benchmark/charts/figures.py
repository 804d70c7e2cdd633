"""Vega-Lite specs of the study's curves and bars, from plain rows."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from benchmark.charts import parts
from benchmark.charts.look import LIGHT, Look
from benchmark.charts.parts import Data, Spec

PANELS = 4
SAID_BY_MODEL = 7
STEPS = (11, 6.5)  # pixels of a bar where models are few, and where they are many: all of them fit a page


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


def curves_by_k(
    rows: Sequence[Mapping[str, object]],
    *,
    metric: str = "CorrTP@K",
    title: str = "",
    look: Look = LIGHT,
    pinned: Mapping[str, str] = {},
    x_title: str = "K",
) -> Spec:
    """A panel for each premise class, a line for each model over the cutoffs K.

    Up to seven models have a colour, a shape and a dash each, with their intervals as bands; more are
    coloured by family, or the pinned ones alone, and each line's name and interval are in its tooltip.

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
    pinned : mapping of str to str
        Colours of models by name.
    x_title : str
        What the cutoffs are called.

    Returns
    -------
    dict
        A Vega-Lite spec; its `description` is the text alternative.
    """
    data, names, colours = parts.keyed([_plain(row) for row in rows], look, pinned)
    few = len({row["model"] for row in data}) <= len(look.colours)
    key = parts.line_key(names, colours)
    line: Spec = {
        "mark": {
            "type": "line",
            "point": {"size": 30, "filled": True, "strokeWidth": 0},
            "strokeWidth": 1.75 if few else 1.25,
        },
        "encoding": key
        | {
            "y": parts.rate("value", metric),
            "tooltip": parts.tooltip(metric, {"model": "Model", "premise_class": "Premise class", "k": x_title}),
        },
    }
    band: Spec = {
        "mark": {"type": "area", "opacity": 0.15},
        "encoding": {"y": parts.rate("low", metric), "y2": {"field": "high"}, "color": key["color"]},
    }
    panels = parts.levels_of(data, "premise_class")
    columns = min(PANELS, max(1, len(panels)))
    spec = parts.chart(data, _describe(data, metric), look, title=title, columns=columns)
    return spec | {
        "facet": {"field": "premise_class", "type": "nominal", "title": None, "sort": panels},
        "columns": columns,
        "spec": {
            "width": 190,
            "height": 200,
            "encoding": {
                "x": {"field": "k", "type": "ordinal", "title": x_title, "axis": {"labelAngle": 0}},
                "detail": {"field": "model"},
            },
            "layer": [band, line] if few else [line],
        },
    }


def bars_by_class(
    rows: Sequence[Mapping[str, object]],
    *,
    metric: str = "CorrTP@10",
    title: str = "",
    look: Look = LIGHT,
    by: str = "premise_class",
    of: str = "Premise class",
) -> Spec:
    """A group of bars for each model, one bar a premise class, with its interval as a whisker.

    Parameters
    ----------
    rows : sequence of Row
        One for each model and class, in any order; models keep the order in which they first come.
    metric, title, look
        As in `curves_by_k`.
    by, of : str
        Field of the rows that makes the bars of a group, and its title.

    Returns
    -------
    dict
        A Vega-Lite spec; its `description` is the text alternative.
    """
    data = [_plain(row, by) for row in rows]
    models, levels = parts.in_order(row["model"] for row in data), parts.levels_of(data, by)
    colours, fills = parts.level_styles(levels)
    style: Spec = {"field": by, "type": "nominal", "title": None, "legend": {"orient": "top", "symbolStrokeWidth": 1}}
    bar: Spec = {
        "mark": {"type": "bar", "strokeWidth": 1},
        "encoding": {
            "x": parts.rate("value", metric),
            "fill": style | {"scale": {"domain": levels, "range": fills}},
            "stroke": style | {"scale": {"domain": levels, "range": colours}},
            "tooltip": parts.tooltip(metric, {"model": "Model", by: of}),
        },
    }
    whisker: Spec = {
        "mark": {"type": "rule", "strokeWidth": 1},
        "encoding": {"x": parts.rate("low", metric), "x2": {"field": "high"}},
    }
    offset = {"field": by, "type": "nominal", "sort": levels, "scale": {"domain": levels}}
    y = {"field": "model", "type": "nominal", "sort": models, "title": None, "axis": {"labelLimit": 240}}
    return parts.chart(data, _describe(data, metric, by, of.lower()), look, title=title) | {
        "width": 560,
        "height": {"step": STEPS[len(models) > SAID_BY_MODEL], "for": "offset"},
        "encoding": {"y": y, "yOffset": offset},
        "layer": [bar, whisker],
    }


def _plain(row: Mapping[str, object], by: str = "premise_class") -> dict[str, Any]:
    plain: dict[str, Any] = dict(row)
    return plain | {by: parts.LEVELS.get(plain[by], plain[by])}


def _describe(data: Data, metric: str, by: str = "premise_class", of: str = "premise class") -> str:
    """The chart in words: the first and last point of each model and level, or the range where models are many."""
    if not data:
        return f"{metric}: no results yet."
    head = f"{metric} of {parts.models_in_words(data)} by {of}."
    models, levels = parts.in_order(row["model"] for row in data), parts.levels_of(data, by)
    if len(models) > SAID_BY_MODEL:
        return " ".join([head, *(_range(data, by, level) for level in levels)])
    lines = [_ends(data, by, model, level) for model in models for level in levels]
    return " ".join([head, *filter(None, lines)])


def _ends(data: Data, by: str, model: str, level: str) -> str:
    points = [row for row in data if (row["model"], row[by]) == (model, level)]
    ends = sorted(points, key=lambda row: row.get("k", 0))
    shown = ends[:1] + ends[-1:] if len(ends) > 1 else ends
    return f"{model}, {level}: {' to '.join(_point(row) for row in shown)}." if shown else ""


def _range(data: Data, by: str, level: str) -> str:
    """From the lowest to the highest model at the last cutoff."""
    last = max((row.get("k", 0) for row in data), default=0)
    found = [row for row in data if row[by] == level and row.get("k", 0) == last and row["value"] is not None]
    if not found:
        return f"{level}: undefined."
    low, high = (pick(found, key=lambda row: row["value"]) for pick in (min, max))
    at = f" at K = {last}" if last else ""
    return f"{level}: from {low['value']:.3f} ({low['model']}) to {high['value']:.3f} ({high['model']}){at}."


def _point(row: Mapping[str, Any]) -> str:
    where = f" at K = {row['k']}" if "k" in row else ""
    if row["value"] is None:
        return f"undefined{where} (n = {row['n']})"
    return f"{row['value']:.3f}{where} (n = {row['n']:,})"
