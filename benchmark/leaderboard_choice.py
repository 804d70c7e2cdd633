"""What an address asks of the leaderboard, and the addresses of what is one step away."""

from collections.abc import Container
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from benchmark import published
from benchmark.frames import AVG, BREAKDOWNS, LEVELS, MEASURES, Masks
from benchmark.leaderboard import MEASURE_NAMES

LEFT_OUT, AS_NO = "left_out", "as_no"
GAPS = {LEFT_OUT: "left out", AS_NO: "taken as non-corrections"}
WHO = {"": "own and published", "own": "own", "published": "published"}
COLUMNS = {
    "n": "n",
    "match": "Like the paper",
    "dates": "Dates",
    "coverage": "Coverage",
    "classes": "Classes",
    "outcomes": "Outcomes",
}
SHOWN = ("n", "match", "dates", "coverage", "outcomes")
SORTS = ("value", "name", "family", "n", "labelled", "answered", "started", *LEVELS["premise_class"])


@dataclass(frozen=True)
class Choice:
    """What an address asks for; whatever it doesn't say, or says wrongly, is as the page shows it at first."""

    dataset: int | None = None
    measure: str = "corr_tp"
    k: int = 0
    column: str = AVG
    premise_class: str = ""
    complexity: str = ""
    category: str = ""
    gaps: str = LEFT_OUT
    who: str = ""
    family: tuple[str, ...] = ()
    q: str = ""
    sort: str = "-value"
    columns: tuple[str, ...] = SHOWN

    @classmethod
    def read(cls, given: QueryDict, found: Masks | None, dataset: int | None = None) -> "Choice":
        """From an address, for what there is: the cutoff is the last measured turn up to the one asked for."""
        measure = given.get("measure", "")
        measure = measure if measure in MEASURES else cls.measure
        turns = found.measured_turns(measure) if found else published_turns(measure)
        columns = found.columns if found else [AVG, *published.DETECTORS]
        asked = given.get("k", "")
        k = int(asked) if asked.isascii() and asked.isdecimal() and len(asked) < 4 else 99
        picked = tuple(name for name in COLUMNS if name in given.getlist("columns"))
        return cls(
            dataset=dataset,
            measure=measure,
            k=max((turn for turn in turns if turn <= k), default=min(turns, default=0)),
            column=_known(given, "column", columns, AVG if AVG in columns else next(iter(columns), "")),
            **{axis: _known(given, axis, LEVELS[axis], "") for axis in BREAKDOWNS},
            gaps=_known(given, "gaps", GAPS, LEFT_OUT),
            who=_known(given, "who", WHO, ""),
            family=tuple(sorted(set(given.getlist("family")))),
            q=given.get("q", "").strip()[:100],
            sort=_known(given, "sort", [sign + name for name in SORTS for sign in ("", "-")], cls.sort),
            columns=picked if "columns" in given else SHOWN,
        )

    @property
    def levels(self) -> dict[str, str]:
        """The level chosen of each axis, empty where all count."""
        return {axis: getattr(self, axis) for axis in BREAKDOWNS}

    @property
    def narrowed(self) -> bool:
        """Whether rows, gaps or columns are other than at first."""
        names = ("gaps", "who", "family", "columns")
        return any(getattr(self, entry.name) != entry.default for entry in fields(self) if entry.name in names)

    @property
    def metric(self) -> str:
        return f"{MEASURE_NAMES[self.measure]}@{self.k}"

    def query(self, **changed: Any) -> str:
        """As the end of an address, without what is as at first; the cutoff is always said."""
        made = replace(self, **changed)
        values = [
            (entry.name, value)
            for entry in fields(self)
            if (value := getattr(made, entry.name)) != entry.default or entry.name == "k"
        ]
        return urlencode([(name, value if value != () else "") for name, value in values], doseq=True)

    def sorted_by(self, name: str) -> str:
        """The address that sorts by a column; by the same one again, the other way round."""
        down = name not in ("name", "family", "started")
        first, second = (f"-{name}", name) if down else (name, f"-{name}")
        return self.query(sort=second if self.sort == first else first)


def published_turns(measure: str) -> tuple[int, ...]:
    """The cutoffs that the paper prints."""
    return published.PREFIX_TURNS if measure == "corr_fp" else published.FALSE_PREMISE_TURNS


def _known(given: QueryDict, name: str, values: Container[str], default: str) -> str:
    value = given.get(name, "")
    return value if value in values else default
