"""How answers are chosen for people to label: the designs, their strata and their numbers. Pure functions.

A design says into which stratum an answer falls and how many are drawn from each stratum; `sampling` draws.
An answer's inclusion probability is that of the draw, given the frame: the number drawn from its stratum by the
number that could be drawn there. Where answers that name a model are replaced they can't be drawn, so the
probability counts without them and the sample stands for the answers that name none.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from hashlib import sha256
from itertools import product
from typing import Any, NamedTuple

from benchmark import sampling
from benchmark.sampling import Cell, Draw, Stratum, Unit
from fpco_site.errors import Invalid

CORRECT_TURNS = "correct turns"
ALL = "all answers"
BOTH, ONE_SIDED, NEITHER = "both", "one-sided", "neither"
DISAGREE, AGREE = "detectors disagree", "detectors agree"
STUDY_NUMBER = 6
MOST = 100_000
TOTAL, OF_EACH_LABEL, OF_EACH_SIDE = 360, 90, 180


class Kind(StrEnum):
    """What the strata are made of."""

    MODEL_CLASS = "model_class"
    RANDOM = "random"
    LABEL = "label"
    DISAGREEMENT = "disagreement"


class Naming(StrEnum):
    """What happens to answers that name a model or its maker."""

    LEAVE = "leave"
    REPLACE = "replace"


@dataclass(frozen=True)
class Plan:
    """What an author decides before a draw.

    Attributes
    ----------
    kind : Kind
        The design; the study's is model by class.
    number : int
        Answers of each stratum; at random, in all; by disagreement, those on which the detectors disagree.
    agreeing : int
        By disagreement: answers on which the detectors agree.
    each_detector : bool
        By label: one-sided answers are a stratum for each detector, not one for both.
    correct : int
        Answers of each model from turns with a correct premise, as a stratum of their own; 0 for none.
    naming : Naming
        Whether answers that name a model stay or give their place to the next draw.

    Raises
    ------
    Invalid
        If a number can't be drawn.
    """

    kind: Kind = Kind.MODEL_CLASS
    number: int = STUDY_NUMBER
    agreeing: int = 0
    each_detector: bool = False
    correct: int = 0
    naming: Naming = Naming.LEAVE

    def __post_init__(self) -> None:
        least = 0 if self.kind == Kind.DISAGREEMENT and self.agreeing > 0 else 1
        if self.number < least:
            raise Invalid(f"Draw at least one answer {'in all' if self.kind == Kind.RANDOM else 'of each stratum'}.")
        if min(self.agreeing, self.correct) < 0:
            raise Invalid("No fewer than 0 answers can be drawn.")
        if max(self.number, self.agreeing, self.correct) > MOST:
            raise Invalid(f"At most {MOST:,} answers of a stratum can be drawn.")

    @property
    def needs_labels(self) -> bool:
        """Whether strata are made of what the detectors said."""
        return self.kind in {Kind.LABEL, Kind.DISAGREEMENT}

    @property
    def levels(self) -> list[str]:
        """What the parts of a stratum's name stand for."""
        return {
            Kind.MODEL_CLASS: ["model", "premise_class"],
            Kind.RANDOM: ["all"],
            Kind.LABEL: ["detector labels"],
            Kind.DISAGREEMENT: ["disagreement"],
        }[self.kind]

    def wanted(self, stratum: Stratum) -> int:
        """How many answers are wanted of a stratum."""
        if stratum[-1] == CORRECT_TURNS:
            return self.correct
        return self.agreeing if stratum == (AGREE,) else self.number

    @classmethod
    def read(cls, kept: dict[str, Any]) -> "Plan":
        """From what `asdict` made of a plan. Raises Invalid where it isn't one."""
        try:
            return cls(**{**kept, "kind": Kind(kept["kind"]), "naming": Naming(kept["naming"])})
        except (KeyError, TypeError, ValueError) as error:
            raise Invalid("How this set was drawn is not known, so the draw can't be repeated.") from error


# By what name forms, commands and the API ask for the number of a design.
NUMBERS = {
    Kind.MODEL_CLASS: "per_cell",
    Kind.RANDOM: "total",
    Kind.LABEL: "per_label",
    Kind.DISAGREEMENT: "disagreeing",
}


def stated(given: Mapping[str, Any]) -> Plan:
    """The plan of a form, a command or a call: numbers of other designs than the chosen one are not read."""
    kind = Kind(given["design"])
    return Plan(
        kind=kind,
        number=given[NUMBERS[kind]],
        agreeing=(given["agreeing"] or 0) if kind == Kind.DISAGREEMENT else 0,
        each_detector=bool(given["each_detector"]) and kind == Kind.LABEL,
        correct=given["correct"] or 0,
        naming=Naming(given["naming"]),
    )


class Candidate(NamedTuple):
    """An answer that could be drawn; `labels` are those of the primary pair, `named` that it names a model."""

    key: str
    model: str
    premise_class: str
    correct_turn: bool
    labels: tuple[bool | None, ...]
    named: bool


@dataclass(frozen=True)
class Frame:
    """Every answer that could be drawn, and the levels that strata are made of, even those without an answer."""

    candidates: list[Candidate]
    models: list[str]
    classes: list[str]
    detectors: list[str]


@dataclass(frozen=True)
class Survey:
    """What a draw would be made from: its strata, answers that are in none, and those that name a model."""

    cells: tuple[Cell, ...]
    frame: int
    left_out: int
    named: dict[Stratum, int]

    @property
    def drawn(self) -> int:
        """How many answers the draw takes."""
        return sum(cell.given for cell in self.cells)

    @property
    def shortfalls(self) -> list[Cell]:
        """The strata that hold too few."""
        return [cell for cell in self.cells if cell.short]

    @property
    def found(self) -> int:
        """How many answers of the frame name a model or its maker."""
        return sum(self.named.values())

    @property
    def fingerprint(self) -> str:
        """Another one where any number of the survey is another."""
        shown = [self.frame, self.left_out, *([*cell.stratum, *cell[1:]] for cell in self.cells)]
        return sha256(_canonical([shown, sorted(self.named.items())]).encode()).hexdigest()


def stratum_of(plan: Plan, candidate: Candidate, detectors: list[str]) -> Stratum | None:
    """The stratum into which an answer falls; None where the design has none for it, as without both labels."""
    if candidate.correct_turn:
        return (candidate.model, CORRECT_TURNS) if plan.correct else None
    if plan.kind == Kind.MODEL_CLASS:
        return (candidate.model, candidate.premise_class)
    if plan.kind == Kind.RANDOM:
        return (ALL,)
    if len(candidate.labels) < 2 or None in candidate.labels:
        return None
    first, second = candidate.labels[:2]
    if plan.kind == Kind.DISAGREEMENT:
        return (AGREE,) if first == second else (DISAGREE,)
    if first == second:
        return (BOTH,) if first else (NEITHER,)
    return (only(detectors[0 if first else 1]),) if plan.each_detector else (ONE_SIDED,)


def only(detector: str) -> str:
    """The stratum of answers in which this detector alone sees a correction."""
    return f"only {detector}"


def strata(plan: Plan, frame: Frame) -> list[Stratum]:
    """Every stratum of a design, whether the frame holds an answer of it or not."""
    one_sided = [only(name) for name in frame.detectors[:2]] if plan.each_detector else [ONE_SIDED]
    made: dict[Kind, list[Stratum]] = {
        Kind.MODEL_CLASS: list(product(frame.models, frame.classes)),
        Kind.RANDOM: [(ALL,)],
        Kind.LABEL: [(name,) for name in (BOTH, *one_sided, NEITHER)],
        Kind.DISAGREEMENT: [(DISAGREE,), (AGREE,)],
    }
    return made[plan.kind] + [(model, CORRECT_TURNS) for model in frame.models if plan.correct]


def survey(plan: Plan, frame: Frame) -> Survey:
    """What would be drawn from, before anything is drawn: needs no seed and tells of no single answer."""
    units, named = _units(plan, frame)
    barred = _barred(plan, named)
    cells = sampling.survey(units, plan.wanted, strata=strata(plan, frame), barred=barred)
    per_stratum: dict[Stratum, int] = {}
    for key, stratum in units:
        if key in named:
            per_stratum[stratum] = per_stratum.get(stratum, 0) + 1
    return Survey(cells, len(units), len(frame.candidates) - len(units), per_stratum)


def draw(plan: Plan, frame: Frame, seed: int) -> Draw:
    """Draw by a plan; the same plan, answers and seed give the same draw in any order, on any machine."""
    units, named = _units(plan, frame)
    return sampling.draw(units, plan.wanted, seed, strata=strata(plan, frame), barred=_barred(plan, named))


def _units(plan: Plan, frame: Frame) -> tuple[list[Unit], set[str]]:
    """The answers that fall into a stratum, and the keys of those among them that name a model."""
    placed = [(candidate, stratum_of(plan, candidate, frame.detectors)) for candidate in frame.candidates]
    units = [Unit(candidate.key, stratum) for candidate, stratum in placed if stratum is not None]
    return units, {candidate.key for candidate, stratum in placed if stratum is not None and candidate.named}


def _barred(plan: Plan, named: set[str]) -> set[str]:
    return named if plan.naming == Naming.REPLACE else set()


def record(plan: Plan, found: Survey, drawn: Draw, *, named: Iterable[str]) -> dict[str, Any]:
    """How a set was drawn, as data. `named` are the keys, drawn or not, of answers that name a model."""
    named = set(named)
    probabilities = sorted({unit.probability for unit in drawn.drawn})
    return {
        "kind": str(plan.kind),
        "plan": asdict(plan),
        "strata": plan.levels,
        "frame": found.frame,
        "left_out": found.left_out,
        "drawn": len(drawn.drawn),
        "naming": {
            "rule": str(plan.naming),
            "found": found.found,
            "replaced": drawn.replaced,
            "drawn": sum(unit.key in named for unit in drawn.drawn),
        },
        "cells": [
            {
                "stratum": list(cell.stratum),
                "size": cell.size,
                "named": found.named.get(cell.stratum, 0),
                "wanted": cell.wanted,
                "drawn": cell.given,
                "probability": cell.probability,
            }
            for cell in drawn.cells
        ],
        "shortfalls": [
            {"stratum": list(cell.stratum), "available": cell.available, "wanted": cell.wanted}
            for cell in drawn.shortfalls
        ],
        "probabilities": {"low": probabilities[0], "high": probabilities[-1]} if probabilities else None,
    }


def canonical(plan: Plan, seed: int, drawn: Draw) -> str:
    """A draw as canonical JSON: plan, seed, and every answer drawn with its stratum and probability.

    Keys are sorted, there are no spaces, all is ASCII: the same draw is the same bytes everywhere.
    """
    return _canonical(
        {
            "format": "fpco-draw/1",
            "plan": asdict(plan),
            "seed": seed,
            "strata": [[*cell] for cell in drawn.cells],
            "drawn": [[*unit] for unit in drawn.drawn],
        }
    )


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
