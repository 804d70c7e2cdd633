"""What an analysis is made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from benchmark.models import ResultSet

type Parameters = dict[str, Any]
type Result = dict[str, Any]
type Value = str | int | float | bool | None


@dataclass(frozen=True)
class Column:
    """A column of a section's table. `rate` is a proportion, `interval` a pair [low, high], `points` percentage points.

    A value of None is shown as undefined; the row's `reason` says why. `digits` are the decimals shown, those of the
    kind where None; files hold every digit.
    """

    key: str
    title: str
    kind: Literal["text", "rate", "interval", "points", "count", "number", "p"] = "text"
    digits: int | None = None


@dataclass(frozen=True)
class Section:
    """A part of an analysis's page: a heading, what a reader takes from it, a table, a figure (Vega-Lite spec)."""

    title: str
    words: str
    columns: Sequence[Column] = ()
    rows: Sequence[dict[str, Any]] = ()
    figure: dict[str, Any] | None = None


@dataclass(frozen=True)
class Kind:
    """One kind of analysis.

    Attributes
    ----------
    slug, title : str
        Its name in addresses, and to people.
    question : str
        What it answers, as one sentence a reader understands.
    method : str
        How, in a few sentences, with the source (paper section, DOI).
    read : callable
        (result set, parameters) -> inputs: a dataclass of arrays and plain values, whose bytes are hashed.
        Raises `fpco_site.errors.Invalid` with a sentence where there is nothing to analyse.
    run : callable
        (inputs, parameters, generator) -> a result of plain JSON values; undefined is None beside a `reason`.
    sections : callable
        A stored result -> the parts of its page.
    defaults : dict
        The parameters and their defaults.
    limits : dict
        The least and the greatest value of a parameter that is a number.
    choices : dict
        Of a parameter that is one of few values: the values with their names.
    long : bool
        Whether a worker runs it, because it takes more than a moment.
    unblinded : bool
        Whether it tells how far people's labels fit those of others, and so is withheld from who labels.
    names : dict
        What a parameter is called on the page; its own name where there is none.
    choices_of : callable
        (result set) -> choices that depend on it, as `choices`.
    random : bool
        Whether it draws; without, no seed is stored.
    version : int
        Raised when the kind computes something else from the same inputs, so that it is not found stored.
    """

    slug: str
    title: str
    question: str
    method: str
    read: Callable[[ResultSet, Parameters], Any]
    run: Callable[[Any, Parameters, np.random.Generator], Result]
    sections: Callable[[Result], list[Section]]
    defaults: Parameters = field(default_factory=dict)
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    choices: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    long: bool = False
    unblinded: bool = False
    names: dict[str, str] = field(default_factory=dict)
    choices_of: Callable[[ResultSet], dict[str, list[tuple[str, str]]]] | None = None
    random: bool = True
    version: int = 1
