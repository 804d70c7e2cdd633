"""The two published figures as Vega-Lite specs: the same spec on screen and in the paper.

`curves_by_k` and `bars_by_class` turn plain rows into a spec with its own text alternative;
`render` makes SVG, PNG or PDF of it without a browser, the same bytes every time.
"""

from benchmark.charts.figures import Row, bars_by_class, curves_by_k
from benchmark.charts.look import DARK, LIGHT, OKABE_ITO, Look
from benchmark.charts.rendering import FORMATS, render

__all__ = ["DARK", "FORMATS", "LIGHT", "OKABE_ITO", "Look", "Row", "bars_by_class", "curves_by_k", "render"]
