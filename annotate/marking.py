"""A text in pieces for a page: what changed, where the description stands, what a finding means. Pure."""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from annotate import drafting
from annotate.linting import Finding, Severity


class Piece(NamedTuple):
    """A piece of a text. `severity` is that of the gravest finding that means it, empty where none does."""

    text: str
    changed: bool = False
    described: bool = False
    severity: str = ""


def pieces(segments: Iterable[drafting.Segment], *, description: str, findings: Iterable[Finding]) -> list[Piece]:
    """The text of `segments`, cut wherever a mark begins or ends.

    Parameters
    ----------
    segments : iterable of Segment
        The text, with what another text lacks.
    description : str
        What is marked as the description, wherever it stands word for word.
    findings : iterable of Finding
        Those about this very text; one without a span marks nothing.

    Examples
    --------
    >>> plain = [drafting.Segment("Is the cat asleep?", False)]
    >>> [piece.text for piece in pieces(plain, description="the cat", findings=[])]
    ['Is ', 'the cat', ' asleep?']
    """
    changed, text = [], ""
    for segment in segments:
        if segment.changed:
            changed.append((len(text), len(text) + len(segment.text)))
        text += segment.text
    described = drafting.occurrences(text, description)
    found = [(finding.span, finding.severity) for finding in findings if finding.span]
    ends = {end for span in (*changed, *described, *(span for span, _ in found)) for end in span}
    cuts = sorted({0, len(text)} | {end for end in ends if 0 < end < len(text)})
    return [
        Piece(
            text[start:stop],
            any(a <= start and stop <= b for a, b in changed),
            any(a <= start and stop <= b for a, b in described),
            _gravest(severity for (a, b), severity in found if a <= start and stop <= b),
        )
        for start, stop in pairwise(cuts)
    ]


def _gravest(severities: Iterable[Severity]) -> str:
    there = set(severities)
    return next((str(one) for one in (Severity.ERROR, Severity.WARNING) if one in there), "")
