"""The figures as Vega-Lite specs: the same spec on screen and in the paper.

`curves_by_k`, `bars_by_class`, `lines_by_class`, `slopes`, `cell_map` and `heat_map` turn plain rows into a spec with
its own text alternative; `render` makes SVG, PNG or PDF of it without a browser, the same bytes every time, and
`paper.figure` the same at the width of a column.
"""

from benchmark.charts.cells import cell_map
from benchmark.charts.figures import Row, bars_by_class, curves_by_k
from benchmark.charts.heat import heat_map
from benchmark.charts.lines import lines_by_class, slopes
from benchmark.charts.look import DARK, LIGHT, OKABE_ITO, Look
from benchmark.charts.rendering import FORMATS, render

__all__ = [
    "DARK",
    "FORMATS",
    "LIGHT",
    "OKABE_ITO",
    "Look",
    "Row",
    "bars_by_class",
    "cell_map",
    "curves_by_k",
    "heat_map",
    "lines_by_class",
    "render",
    "slopes",
]
