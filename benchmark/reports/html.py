"""A report as one HTML file: styles and drawings are in it, and it loads nothing and runs nothing."""

import re
from base64 import b64encode
from hashlib import sha256
from typing import Any
from xml.etree import ElementTree

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from benchmark import charts
from benchmark.reports.content import Document

SVG = "http://www.w3.org/2000/svg"
STYLE = "benchmark/report_file.css"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


def write(document: Document) -> str:
    """The whole file as text, the same for the same document."""
    figures = [part.figure for chapter in document.chapters for part in chapter.parts if part.figure is not None]
    drawings = {id(figure): drawing(figure, f"f{number}-") for number, figure in enumerate(figures, 1)}
    chapters = [
        (chapter.title, [(part, drawings.get(id(part.figure), "")) for part in chapter.parts])
        for chapter in document.chapters
    ]
    style = render_to_string(STYLE)
    policy = f"default-src 'none'; style-src 'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'"
    context = {"document": document, "chapters": chapters, "policy": policy, "style": mark_safe(style)}
    return render_to_string("benchmark/report_file.html", context)


def drawing(spec: dict[str, Any], prefix: str) -> SafeString:
    """A figure as an SVG element whose ids begin with `prefix`, so that several stand in one file.

    It is taken apart and put together again: what is no plain drawing is refused, and every text in it is escaped.

    Raises
    ------
    ValueError
        If the drawing could load or run something.
    """
    root = ElementTree.fromstring(charts.render(spec, "svg"))
    for element in root.iter():
        if not element.tag.startswith(f"{{{SVG}}}") or element.tag.endswith(("}script", "}foreignObject", "}style")):
            raise ValueError(f"A figure's drawing holds {element.tag}.")
        for name, value in list(element.attrib.items()):
            if name.endswith("href") or name.startswith("on") or name == "style":
                raise ValueError(f"A figure's drawing holds the attribute {name}.")
            element.set(name, prefix + value if name == "id" else _REFERENCE.sub(rf"url(#{prefix}\1)", value))
    root.set("role", "img")
    root.set("aria-label", str(spec.get("description", "")))
    ElementTree.register_namespace("", SVG)
    return mark_safe(ElementTree.tostring(root, encoding="unicode"))
