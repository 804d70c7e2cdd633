"""A chart as a file for a paper: exactly as wide as a column, with type of the size that a column takes."""

import copy
import math
import re
from typing import Any

from benchmark.charts.parts import Spec
from benchmark.charts.rendering import FORMATS, pdf_of, png_of, render

MILLIMETRES = {"single": 84, "double": 174}  # one column of a two-column page, and both
PANELS_ABREAST = {"single": 2, "double": 4}
LEGEND_ABREAST = {"single": 2, "double": 4}
PNG_PPI = 300
PIXELS_PER_MM = 96 / 25.4
TYPE = 9  # pixels of 1/96 inch, about 7 point
LEAST_PANEL = 40
CLOSE = 1.5  # pixels
TRIES = 3

_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)" viewBox="0 0 ([\d.]+) ([\d.]+)"')


def figure(spec: Spec, form: str, width: str) -> bytes:
    """The chart as `svg`, `png` (300 per inch) or `pdf`, exactly 84 or 174 mm wide; the same bytes every time.

    Parameters
    ----------
    spec : dict
        Of this package: how many panels stand abreast is in its `usermeta`.
    form : str
        `svg`, `png` or `pdf`.
    width : str
        `single` or `double`.

    Raises
    ------
    ValueError
        If there is no such form or width.
    """
    if width not in MILLIMETRES:
        raise ValueError(f"A figure is {' or '.join(MILLIMETRES)} column wide, not {width!r}.")
    if form not in FORMATS:
        raise ValueError(f"A figure is drawn as {', '.join(FORMATS)}, not as {form!r}.")
    svg, wanted = _fitted(spec, width), MILLIMETRES[width]
    if form == "svg":
        return _resized(svg, wanted, "mm").encode()
    points = wanted / 25.4 * 72
    if form == "png":
        return png_of(svg, scale=points / _size(svg)[0], ppi=PNG_PPI)
    return pdf_of(_resized(svg, points))


def at_width(spec: Spec, width: str) -> Spec:
    """The same spec with the type and the panels of a column; `panel` widths are only a first guess."""
    made = copy.deepcopy(spec)
    meta = made.get("usermeta", {})
    abreast = meta.get("columns", 1)
    if "columns" in made:
        made["columns"] = abreast = min(abreast, PANELS_ABREAST[width])
        made["usermeta"] = meta | {"columns": abreast}
    made["config"] = _small(made.get("config", {}), width)
    _set_panel(made, MILLIMETRES[width] * PIXELS_PER_MM / abreast - 30)
    if width == "single" and "column" in made.get("facet", {}):
        made["spec"]["encoding"]["x"]["axis"] |= {"labelAngle": -90}  # names do not fit beside each other
    return made


def _fitted(spec: Spec, width: str) -> str:
    """The drawing, within a pixel or two as wide as the column."""
    made, wanted = at_width(spec, width), MILLIMETRES[width] * PIXELS_PER_MM
    abreast = made.get("usermeta", {}).get("columns", 1)
    for _ in range(TRIES):
        svg = render(made, "svg").decode()
        natural = _size(svg)[0]
        panel = _panel(made)
        better = max(LEAST_PANEL, panel + (wanted - natural) / abreast)
        if abs(natural - wanted) <= CLOSE or math.isclose(better, panel):
            break
        _set_panel(made, better)
    return svg


def _small(config: dict[str, Any], width: str) -> dict[str, Any]:
    """The config with the type of a paper."""
    words = {"labelFontSize": TYPE, "titleFontSize": TYPE}
    sizes: dict[str, dict[str, Any]] = {
        "axis": words,
        "legend": words | {"columns": LEGEND_ABREAST[width], "symbolSize": 50, "labelLimit": 130, "rowPadding": 1},
        "header": words,
        "title": {"fontSize": TYPE + 1},
        "text": {"fontSize": TYPE - 1},
    }
    return config | {name: config.get(name, {}) | more for name, more in sizes.items()}


def _panel(spec: Spec) -> float:
    return float(spec.get("spec", spec)["width"])


def _set_panel(spec: Spec, width: float) -> None:
    spec.get("spec", spec)["width"] = round(max(LEAST_PANEL, width), 2)


def _size(svg: str) -> tuple[float, float]:
    found = _SIZE.search(svg)
    if found is None:
        raise ValueError("The drawing does not say how large it is.")
    return float(found[1]), float(found[2])


def _resized(svg: str, width: float, unit: str = "") -> str:
    """The drawing with this width on its root, in points where there is no unit."""
    across, down = _size(svg)
    sizes = f'width="{width:.6g}{unit}" height="{down * width / across:.6g}{unit}"'
    return _SIZE.sub(lambda found: f'{sizes} viewBox="0 0 {found[3]} {found[4]}"', svg, count=1)
