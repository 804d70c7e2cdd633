"""Files from a spec, without a browser and without the network."""

import json
import re
from typing import Any

FORMATS = ("svg", "png", "pdf")
VEGA_LITE = "6.4"

_REFERENCES = re.compile(rb"(?:^ +/[A-Za-z0-9]+ \d+ 0 R\n){2,}", re.MULTILINE)


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
        return vl_convert.vegalite_to_png(source, scale=scale, **common)
    if format == "pdf":
        return _in_fixed_order(vl_convert.vegalite_to_pdf(source, **common))
    raise ValueError(f"A chart is drawn as {', '.join(FORMATS)}, not as {format!r}.")


def _in_fixed_order(pdf: bytes) -> bytes:
    """The PDF with the entries of its resource dictionaries sorted, no byte moved elsewhere.

    The converter writes them in an order that changes from call to call and means nothing.
    """
    return _REFERENCES.sub(lambda found: b"".join(sorted(found[0].splitlines(keepends=True))), pdf)
