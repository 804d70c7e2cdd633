"""Files from a spec, without a browser and without the network.

The converter keeps Python's global lock while it draws, so two threads never draw at once, and whoever draws in a
request holds up that process: callers bound what they draw and keep what they drew.
"""

import json
import re
from typing import Any

FORMATS = ("svg", "png", "pdf")
VEGA_LITE = "6.4"

_REFERENCES = re.compile(rb"(?:^ +/[A-Za-z0-9]+ \d+ 0 R\n){2,}", re.MULTILINE)
_ROOT = re.compile(r"(<svg[^>]*>)")
_WHITE = r'\1<rect width="100%" height="100%" fill="white"/>'


def render(spec: dict[str, Any], format: str, *, scale: float = 2.0) -> bytes:
    """The chart as a file: `svg`, `png` or `pdf`; the same spec gives the same bytes.

    Parameters
    ----------
    spec : dict
        A Vega-Lite spec with inline data.
    format : str
        One of FORMATS.
    scale : float
        Pixels per unit of a PNG.

    Raises
    ------
    ValueError
        If the format is none of these, or Vega-Lite can't draw the spec.
    """
    import vl_convert

    source = json.dumps(spec, ensure_ascii=False)
    common: dict[str, Any] = {"vl_version": VEGA_LITE, "allowed_base_urls": []}
    if format == "svg":
        return vl_convert.vegalite_to_svg(source, **common).encode()
    if format == "png":
        return vl_convert.vegalite_to_png(_on_white(spec), scale=scale, **common)
    if format == "pdf":
        return _in_fixed_order(vl_convert.vegalite_to_pdf(source, **common))
    raise ValueError(f"A chart is drawn as {', '.join(FORMATS)}, not as {format!r}.")


def png_of(svg: str, *, scale: float, ppi: int) -> bytes:
    """A drawing as PNG of so many pixels per inch, a unit of it being `scale` points."""
    import vl_convert

    return vl_convert.svg_to_png(_ROOT.sub(_WHITE, svg, count=1), scale=scale, ppi=ppi)


def pdf_of(svg: str) -> bytes:
    """A drawing as PDF: a page as large as its root says, in points."""
    import vl_convert

    return _in_fixed_order(vl_convert.svg_to_pdf(svg))


def _on_white(spec: dict[str, Any]) -> str:
    """The spec for a PNG, which stands on white: half-transparent colours on none come out wrong."""
    return json.dumps(spec | {"background": "white"}, ensure_ascii=False)


def _in_fixed_order(pdf: bytes) -> bytes:
    """The PDF with the entries of its resource dictionaries sorted, no byte moved elsewhere.

    The converter writes them in an order that changes from call to call and means nothing.
    """
    return _REFERENCES.sub(lambda found: b"".join(sorted(found[0].splitlines(keepends=True))), pdf)
