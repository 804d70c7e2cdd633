"""A case study as one file: HTML with everything in it, or Markdown; the same rows make the same bytes.

A picture is in it only where its licence lets it be passed on; its author, source and licence are named either way.
This is response-level: whoever calls it has asked `blindness.require_open_eyes` before.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence

from django.template.loader import render_to_string

from annotate import image_csv
from annotate.drafting import Segment
from annotate.models import DatasetItem
from benchmark.cases import Group, Line
from benchmark.models import CaseStudy, DetectorLabel, Dialogue
from benchmark.reader import TurnView

PAPER = "FPCO-Dialog, arXiv 2609.03331"
# What Markdown, HTML in it and automatic links are made of; commas and full stops stay readable.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-!|~&=$:@^])")
_LEADING = re.compile(r"^(\s*)(\d+)([.)])")
_WWW = re.compile(r"(?i)\bwww\.")


def as_html(case: CaseStudy, groups: Sequence[Group]) -> str:
    """One self-contained page: no address is loaded, models' text is text."""
    shown = [(group, picture(group), credits_of(group.item)) for group in groups]
    return render_to_string("benchmark/case_export.html", {"case": case, "groups": shown, "paper": PAPER})


def as_markdown(case: CaseStudy, groups: Sequence[Group]) -> str:
    """The same as Markdown, each answer a quotation, everything special in a text escaped."""
    parts = [f"# {plain(case.name)}", f"Dataset: {plain(case.dataset.name)} ({case.dataset.dataset_hash})."]
    if case.note:
        parts.append(plain(case.note))
    for group in groups:
        parts += _group(group)
    parts.append(f"Benchmark: {PAPER}.")
    return "\n\n".join(parts) + "\n"


def plain(text: str) -> str:
    """Any text so that Markdown shows its letters and nothing else; lines stay apart.

    Examples
    --------
    >>> plain("1. <b>no</b>")
    '1\\\\. \\\\<b\\\\>no\\\\</b\\\\>'
    """
    text = text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()
    lines = (_WWW.sub(r"www\\.", _SPECIAL.sub(r"\\\1", line.strip())) for line in text.splitlines())
    return "\\\n".join(_LEADING.sub(r"\1\2\\\3", line) or "\N{NO-BREAK SPACE}" for line in lines)


def picture(group: Group) -> str:
    """The picture as a data address; blank where its licence or the dataset leaves it out, or its file is gone."""
    image = group.item.image
    if image is None or group.withheld_picture:
        return ""
    try:
        with image.file.open("rb") as file:
            return f"data:{image.mime};base64,{b64encode(file.read()).decode()}"
    except FileNotFoundError:
        return ""


def credits_of(item: DatasetItem) -> list[tuple[str, str, str]]:
    """Author, source and licence of a picture: what, words, and an address where there is one of the web."""
    source = " ".join(filter(None, (item.get_source_display(), item.source_id)))
    rows = [
        ("Photograph", item.author or "author unknown", ""),
        ("Source", source, _web(item.landing_url)),
        ("Licence", item.license or "unknown", _web(item.license_url)),
    ]
    return [row for row in rows if row[1]]


def side_name(side: Dialogue) -> str:
    """The model, and that it is simulated where it is."""
    return f"{side.run.model.name}{' (simulated)' if side.run.simulated else ''}"


def said(label: DetectorLabel, *, false_premise: bool) -> str:
    """A detector's label in words."""
    kind = ("correction" if label.detect else "cooperation") if false_premise else None
    words = kind or ("needless correction" if label.detect else "no correction")
    return f"{label.detector}: {words}{' (simulated)' if label.detector.simulated else ''}"


def _web(address: str) -> str:
    return address if image_csv.web_address(address) else ""


def _group(group: Group) -> list[str]:
    item = group.item
    places = (item.get_premise_class_display(), item.get_complexity_display(), item.get_category_display())
    parts = [f"## {plain(item.key)}", plain(", ".join(places))]
    data = picture(group)
    parts.append(f"![The photograph of {plain(item.key)}]({data})" if data else f"*{plain(_left_out(group))}*")
    parts.append("; ".join(_credit(*row) for row in credits_of(item)) + ".")
    parts.append(
        f"Target: {plain(item.target_description)}\\\nFalse premise: {plain(item.modified_target_description)}"
    )
    for line in group.lines:
        parts += _line(group, line)
    return parts


def _left_out(group: Group) -> str:
    return group.withheld_picture or "The file of this picture is missing."


def _credit(what: str, words: str, address: str) -> str:
    return f"{what}: {plain(words)}" + (f" (<{_quoted(address)}>)" if address else "")


def _quoted(address: str) -> str:
    return re.sub(r"[<>\s\\]", lambda found: f"%{ord(found[0]):02X}", address)


def _line(group: Group, line: Line) -> Iterable[str]:
    false = line.question.false_premise
    yield f"### Turn {line.question.number}{' (false premise)' if false else ''}"
    yield _marked(line.asked)
    if false:
        yield f"Correct: {_marked(line.correct)}"
    for side, cell in zip(group.sides, line.cells, strict=True):
        yield f"**{plain(side_name(side))}**{_outcome(cell)}"
        if cell.response is not None:
            yield "\n".join(f"> {text}" for text in plain(cell.response.text).split("\n"))
        if cell.labels:
            yield "; ".join(plain(said(label, false_premise=false)) for label in cell.labels)


def _outcome(cell: TurnView) -> str:
    return "" if cell.outcome == "answered" else f" ({plain(cell.outcome_words)})"


def _marked(parts: Sequence[Segment]) -> str:
    """A question with the words that differ in bold; spaces stay outside, where Markdown wants them."""
    return "".join(_part(part) for part in parts)


def _part(part: Segment) -> str:
    text = part.text
    if not text.strip():
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}**{plain(text)}**{after}" if part.changed else f"{before}{plain(text)}{after}"
