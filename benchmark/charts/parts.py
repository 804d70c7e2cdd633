"""What the charts are put together from: the key of their lines, axes of rates, tooltips, words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmark.charts.look import DASHES, LEVEL_COLOURS, LEVEL_FILLS, NEUTRAL, SHAPES, Look, config
from benchmark.published import FAMILIES

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
LEVELS = {"overall": "Overall", "identity": "Identity", "attribute": "Attribute", "location": "Location"}
OVERALL = LEVELS["overall"]
OTHERS = "other models"
Spec = dict[str, Any]
Data = list[dict[str, Any]]


def chart(data: Data, description: str, look: Look, *, title: str = "", columns: int = 1) -> Spec:
    """What every spec begins with; `columns` is how many panels stand beside each other."""
    spec: Spec = {
        "$schema": SCHEMA,
        "description": description,
        "background": "transparent",
        "config": config(look),
        "usermeta": {"columns": columns},
        "data": {"values": data},
    }
    return spec | ({"title": title} if title else {})


def in_order(values: Iterable[Any]) -> list[Any]:
    """The different values, each where it first comes."""
    return list(dict.fromkeys(values))


def levels_of(data: Data, field: str) -> list[str]:
    """The levels there are: the study's classes in their order, then others as they come."""
    there = in_order(row[field] for row in data)
    return [name for name in LEVELS.values() if name in there] + [name for name in there if name not in LEVELS.values()]


def keyed(data: Data, look: Look, pinned: Mapping[str, str]) -> tuple[Data, list[str], list[str]]:
    """The rows with the `key` that their line goes by, the keys in order, and a colour for each.

    Up to as many models as there are colours have one each; more go by family or, where colours are pinned to some,
    by those and all others in grey. A pinned model keeps its colour whatever else is shown.
    """
    models = in_order(row["model"] for row in data)
    pinned = {name: colour for name, colour in pinned.items() if name in models}
    if len(models) <= len(look.colours):
        free = [colour for colour in look.colours if colour not in pinned.values()]
        free += [colour for colour in look.colours if colour not in free]
        taken = iter(free)
        return [row | {"key": row["model"]} for row in data], models, [pinned.get(m) or next(taken) for m in models]
    if pinned:
        data = [row | {"key": row["model"] if row["model"] in pinned else OTHERS} for row in data]
        data.sort(key=lambda row: row["key"] != OTHERS)  # what comes last is drawn on top
        return data, [*pinned, OTHERS], [*pinned.values(), NEUTRAL]
    families = sorted({row["family"] for row in data}, key=family_place)
    return [row | {"key": row["family"]} for row in data], families, cycled(look.colours, len(families))


def family_place(family: str) -> tuple[int, str]:
    """Families come in the same order wherever they are coloured: the study's, then others by name."""
    return FAMILIES.index(family) if family in FAMILIES else len(FAMILIES), family


def line_key(names: list[str], colours: Sequence[str], field: str = "key", *, legend: bool = True) -> Spec:
    """Colour, shape and dash together, so that no line is told by colour alone."""
    base: Spec = {"field": field, "type": "nominal", "title": None, "legend": None}
    if legend:
        base["legend"] = {"symbolOpacity": 1, "symbolStrokeWidth": 0}
    return {
        "color": base | {"scale": {"domain": names, "range": list(colours)}},
        "shape": base | {"scale": {"domain": names, "range": cycled(SHAPES, len(names))}},
        "strokeDash": base | {"scale": {"domain": names, "range": [list(d) for d in cycled(DASHES, len(names))]}},
    }


def level_styles(levels: Sequence[str]) -> tuple[list[str], list[str]]:
    """A colour and a fill for each level of an axis: a class keeps its own, and what is over all levels is grey."""
    classes = [level for level in LEVELS.values() if level != OVERALL]
    others = [level for level in levels if level not in LEVELS.values()]
    place = {level: at for at, level in enumerate(classes)} | {level: at for at, level in enumerate(others)}
    colours, fills = (
        [palette[place[level] % len(palette)] if level in place else NEUTRAL for level in levels]
        for palette in (LEVEL_COLOURS, LEVEL_FILLS)
    )
    return colours, fills


def rate(field: str, title: str | None, *, zero: bool = True) -> Spec:
    """An axis of rates."""
    axis = {"format": ".2~f", "tickCount": 5}
    return {"field": field, "type": "quantitative", "title": title, "scale": {"zero": zero}, "axis": axis}


def tooltip(metric: str, fields: Mapping[str, str]) -> list[Spec]:
    """What a mark says when it is pointed at: these fields by their titles, then the estimate."""
    number = {"type": "quantitative", "format": ".3f"}
    return [
        *({"field": field, "type": "nominal", "title": title} for field, title in fields.items()),
        {"field": "value", "title": metric} | number,
        {"field": "low", "title": "95 % interval from"} | number,
        {"field": "high", "title": "to"} | number,
        {"field": "n", "type": "quantitative", "title": "n", "format": ","},
    ]


def cycled[T](values: Sequence[T], length: int) -> list[T]:
    return [values[index % len(values)] for index in range(length)]


def number(row: Mapping[str, Any]) -> str:
    """An estimate in words: value and n, or that it is undefined."""
    return f"undefined (n = {row['n']})" if row["value"] is None else f"{row['value']:.3f} (n = {row['n']:,})"


def models_in_words(data: Data) -> str:
    count = len({row["model"] for row in data})
    return f"{count} model{'s' if count != 1 else ''}"


def spread(values: Sequence[float], gap: float) -> list[float]:
    """The values moved apart to at least `gap`, as little as that takes: where labels of a line's end can stand.

    Examples
    --------
    >>> spread([0.5, 0.5, 0.9], 0.1)
    [0.45, 0.55, 0.9]
    """
    order = sorted(range(len(values)), key=lambda at: values[at])
    groups: list[tuple[float, list[int]]] = []  # centre, members from low to high
    for at in order:
        groups.append((values[at], [at]))
        while len(groups) > 1 and _overlap(groups[-2], groups[-1], gap):
            (_, low), (_, high) = groups[-2:]
            members = low + high
            groups[-2:] = [(sum(values[m] for m in members) / len(members), members)]
    placed = dict.fromkeys(order, 0.0)
    for centre, members in groups:
        for step, at in enumerate(members):
            placed[at] = round(centre + gap * (step - (len(members) - 1) / 2), 6)
    return [placed[at] for at in range(len(values))]


def _overlap(low: tuple[float, list[int]], high: tuple[float, list[int]], gap: float) -> bool:
    reach = gap * (len(low[1]) + len(high[1])) / 2
    return high[0] - low[0] < reach - 1e-12
